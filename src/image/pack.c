/*
 * pack.c - an image as one block of bytes, and back.
 *
 * The block crosses from the image child, which may have been taken over by the
 * file it read, so unpacking believes nothing: each length, offset and
 * enumeration is checked, and the result is as sane as image_read() makes it.
 * What cannot be checked, such as where in the target's own file a probe goes,
 * can hurt no one but that target.
 */
#include "base.h"
#include "debug.h"
#include "image.h"

#define MAGIC		0x31676d6972636572ull	/* "recrimg1" */
#define FUNCS_MAX	(64u << 20)
#define ALL_FLAGS	(FUNC_PLT | FUNC_MOVED | FUNC_ENTRY_ONLY | FUNC_NEVER | FUNC_TINY | FUNC_LOADS | FUNC_ARGS_GONE | FUNC_START_REFUSED | \
			 FUNC_RESOLVER)
#define OFFSET_MAX	(1ull << 62)	/* of a file: the kernel's loff_t is signed */
#define SP_MAX		65536u

enum {
	IS_GO = 1, IS_PIE = 2, HAS_UNWINDER = 4, IS_STRIPPED = 8, SWITCHES_STACKS = 16,
	WALKER_SHIFT = 5, WALKER = 3 << WALKER_SHIFT,	/* enum walker */
	HAS_PLAIN = 128,
	HAS_DEBUG = 256,		/* the block of a struct debug comes last */
	HAS_NEEDED = 512,		/* image.needed comes before that */
	HAS_USDT = 1024,		/* a struct packed_usdt and its probes, between the two */
	IMAGE_FLAGS = 2047
};

/* The head of the block; then func_count packed_funcs, then the texts: path, interp, names, needed. */
struct packed_head {
	uint64_t magic, len;
	uint64_t ino;
	uint32_t dev, gen;
	uint64_t load_addr, load_size, phdr_addr, text_offset, text_addr, unwind_site;
	uint64_t func_count, names_len;
	uint32_t path_len, interp_len;	/* their NUL included; 0: NULL */
	uint32_t flags, first_func, go_minor, no_plt_calls;
	char	 build_id[40];		/* with NULs behind it when it is shorter */
	uint64_t since;			/* 0 in blocks of a time that did not know it */
};

struct packed_func {
	uint64_t addr, size, site, nop5_site, entry_site;
	uint32_t sp_offset, entry_sp_offset;
	uint32_t name;		/* in names */
	uint8_t	 site_class, flags;
	uint16_t more_flags;	/* those from 256 on, divided by that */
};

/* Before the probes, struct usdt_probe each. */
struct packed_usdt {
	uint64_t count, malformed;
};

_Static_assert(sizeof(struct usdt_probe) == 8 * 3 + USDT_NAME_MAX + USDT_TEXT_MAX + ARGS_MAX * sizeof(struct usdt_arg),
	       "no holes");
_Static_assert(sizeof(struct packed_func) == 56, "no holes: no byte leaves that was not written");
_Static_assert(sizeof(struct packed_head) == 168, "no holes");

static bool has_usdt(const struct image *img)
{
	return img->usdt.count || img->usdt.malformed;
}

static uint32_t flags_of(const struct image *img)
{
	return (img->is_go ? IS_GO : 0) | (img->is_pie ? IS_PIE : 0) | (img->has_unwinder ? HAS_UNWINDER : 0) |
	       (img->is_stripped ? IS_STRIPPED : 0) | (img->switches_stacks ? SWITCHES_STACKS : 0) |
	       (img->has_plain ? HAS_PLAIN : 0) | (uint32_t)img->walker << WALKER_SHIFT |
	       (img->debug ? HAS_DEBUG : 0) | (img->needed ? HAS_NEEDED : 0) |
	       (has_usdt(img) ? HAS_USDT : 0);
}

static size_t usdt_packed_len(const struct image *img)
{
	return has_usdt(img) ? sizeof(struct packed_usdt) + img->usdt.count * sizeof(*img->usdt.probe) : 0;
}

static void pack_usdt(const struct image *img, uint8_t *to)
{
	struct packed_usdt h = { img->usdt.count, img->usdt.malformed };

	memcpy(to, &h, sizeof(h));
	if (h.count)
		memcpy(to + sizeof(h), img->usdt.probe, h.count * sizeof(*img->usdt.probe));
}

static void pack_head(const struct image *img, struct packed_head *h)
{
	*h = (struct packed_head){
		.magic = MAGIC,
		.ino = img->ino, .dev = img->dev, .gen = img->gen, .since = img->since,
		.load_addr = img->load_addr, .load_size = img->load_size, .phdr_addr = img->phdr_addr,
		.text_offset = img->text_offset, .text_addr = img->text_addr, .unwind_site = img->unwind_site,
		.func_count = img->func_count, .names_len = img->names_len,
		.path_len = img->path ? strlen(img->path) + 1 : 0,
		.interp_len = img->interp ? strlen(img->interp) + 1 : 0,
		.flags = flags_of(img), .first_func = img->first_func, .go_minor = img->go_minor,
		.no_plt_calls = img->no_plt_calls,
	};
	memcpy(h->build_id, img->build_id, sizeof(h->build_id));
	h->len = sizeof(*h) + h->func_count * sizeof(struct packed_func) + h->path_len + h->interp_len + h->names_len +
		 (img->needed ? strlen(img->needed) + 1 : 0) + usdt_packed_len(img);
	if (img->debug)
		h->len += debug_packed_len(img->debug);
}

int image_pack(const struct image *img, void **ret, size_t *len)
{
	struct packed_head h;
	struct packed_func *pf;
	uint8_t *block, *text;

	pack_head(img, &h);
	block = malloc(h.len);
	if (!block)
		return -ENOMEM;
	memcpy(block, &h, sizeof(h));
	pf = (void *)(block + sizeof(h));
	for (size_t i = 0; i < img->func_count; i++) {
		const struct func *f = &img->func[i];

		pf[i] = (struct packed_func){
			.addr = f->addr, .size = f->size,
			.site = f->site, .nop5_site = f->nop5_site, .entry_site = f->entry_site,
			.sp_offset = f->sp_offset, .entry_sp_offset = f->entry_sp_offset,
			.name = f->name - img->names, .site_class = f->site_class, .flags = f->flags, .more_flags = f->flags >> 8,
		};
	}
	text = block + sizeof(h) + h.func_count * sizeof(*pf);
	memcpy(text, img->path ?: "", h.path_len);
	memcpy(text + h.path_len, img->interp ?: "", h.interp_len);
	if (h.names_len)
		memcpy(text + h.path_len + h.interp_len, img->names, h.names_len);
	text += h.path_len + h.interp_len + h.names_len;
	if (img->needed)
		text = (uint8_t *)stpcpy((char *)text, img->needed) + 1;
	if (has_usdt(img))
		pack_usdt(img, text);
	if (img->debug)
		debug_pack(img->debug, text + usdt_packed_len(img));
	*ret = block;
	*len = h.len;
	return 0;
}

static bool is_sane_head(const struct packed_head *h, size_t len)
{
	char id[sizeof(h->build_id) + 1] = "";
	uint64_t want = sizeof(*h);

	if (h->magic != MAGIC || h->len != len || h->flags & ~IMAGE_FLAGS)
		return false;
	if (h->func_count > FUNCS_MAX || h->names_len > len || h->path_len > len || h->interp_len > len)
		return false;
	want += h->func_count * sizeof(struct packed_func) + h->path_len + h->interp_len + h->names_len;
	if (want > len || (h->func_count && !h->names_len))
		return false;
	memcpy(id, h->build_id, sizeof(h->build_id));
	if (id[strspn(id, "0123456789abcdef")])
		return false;
	return h->unwind_site < OFFSET_MAX && h->text_offset < OFFSET_MAX &&
	       h->load_size < OFFSET_MAX && h->load_addr < OFFSET_MAX;
}

/* @prev: the function before, or NULL. */
static bool is_sane_func(const struct packed_func *f, const struct packed_func *prev, const struct packed_head *h)
{
	if (f->addr >= h->load_size || f->size > h->load_size - f->addr || (prev && f->addr <= prev->addr))
		return false;
	if (f->site >= OFFSET_MAX || f->nop5_site >= OFFSET_MAX || f->entry_site >= OFFSET_MAX)
		return false;
	if (f->sp_offset > SP_MAX || f->entry_sp_offset > SP_MAX)
		return false;
	return f->site_class < SITE_CLASSES && f->site_class != SITE_NOP5 && !((f->flags | f->more_flags << 8) & ~ALL_FLAGS) &&
	       f->name < h->names_len;
}

/* A text of @len bytes that must be one string, copied; NULL for none. */
static int take_text(char **ret, const char *text, size_t len)
{
	*ret = NULL;
	if (!len)
		return 0;
	if (strnlen(text, len) != len - 1)
		return -EBADMSG;
	*ret = strdup(text);
	return *ret ? 0 : -ENOMEM;
}

/* The one text whose length nothing tells but its NUL. Moves @at behind it. */
static int take_needed(struct image *img, const struct packed_head *h, const char **at, const char *end)
{
	size_t len = h->flags & HAS_NEEDED ? strnlen(*at, end - *at) + 1 : 0;

	if (len > (size_t)(end - *at))
		return -EBADMSG;
	*at += len;
	return take_text(&img->needed, *at - len, len);
}

static bool is_text(const char *text, size_t room)
{
	size_t len = strnlen(text, room);

	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return len < room;
}

static bool is_sane_arg(const struct usdt_arg *a)
{
	if (a->place > USDT_MEMORY || a->scale > 3 || a->shift > 8 || a->base >= USDT_REGISTERS ||
	    a->index >= USDT_REGISTERS)
		return false;
	if (a->size != 1 && a->size != 2 && a->size != 4 && a->size != 8)
		return false;
	return a->format == VALUE_SIGNED || a->format == VALUE_UNSIGNED || a->format == VALUE_HEX ||
	       (a->format == VALUE_FLOAT && a->size >= 4);
}

static bool is_sane_probe(const struct usdt_probe *p)
{
	if (!p->site || p->site >= OFFSET_MAX || p->semaphore >= OFFSET_MAX || p->count > ARGS_MAX)
		return false;
	for (unsigned i = 0; i < p->count; i++)
		if (!is_sane_arg(&p->arg[i]))
			return false;
	return is_text(p->name, sizeof(p->name)) && is_text(p->text, sizeof(p->text));
}

/* Moves @at behind the probes. */
static int take_usdt(struct image *img, const struct packed_head *h, const char **at, const char *end)
{
	struct usdt_probes *all = &img->usdt;
	struct packed_usdt head;

	if (!(h->flags & HAS_USDT))
		return 0;
	if ((size_t)(end - *at) < sizeof(head))
		return -EBADMSG;
	memcpy(&head, *at, sizeof(head));
	*at += sizeof(head);
	if (head.count > (size_t)(end - *at) / sizeof(*all->probe))
		return -EBADMSG;
	all->malformed = head.malformed;
	all->probe = calloc(MAX(head.count, (uint64_t)1), sizeof(*all->probe));
	if (!all->probe)
		return -ENOMEM;
	memcpy(all->probe, *at, head.count * sizeof(*all->probe));
	*at += head.count * sizeof(*all->probe);
	for (all->count = 0; all->count < head.count; all->count++)
		if (!is_sane_probe(&all->probe[all->count]))
			return -EBADMSG;
	return 0;
}

static int take_names(struct image *img, const char *names, size_t len)
{
	if (!len)
		return 0;
	if (names[len - 1])
		return -EBADMSG;
	for (size_t i = 0; i < len; i++)
		if (names[i] && ((unsigned char)names[i] < ' ' || names[i] == 0x7f))
			return -EBADMSG;	/* they are written into files of lines */
	img->names = malloc(len);
	if (!img->names)
		return -ENOMEM;
	memcpy(img->names, names, len);
	img->names_len = len;
	return 0;
}

static int take_funcs(struct image *img, const struct packed_head *h, const uint8_t *at)
{
	struct packed_func pf, prev;

	img->func = calloc(MAX(h->func_count, 1ul), sizeof(*img->func));
	if (!img->func)
		return -ENOMEM;
	for (size_t i = 0; i < h->func_count; i++) {
		memcpy(&pf, at + i * sizeof(pf), sizeof(pf));	/* the block may be aligned to nothing */
		if (!is_sane_func(&pf, i ? &prev : NULL, h))
			return -EBADMSG;
		img->func[i] = (struct func){
			.addr = pf.addr, .size = pf.size,
			.site = pf.site, .nop5_site = pf.nop5_site, .entry_site = pf.entry_site,
			.sp_offset = pf.sp_offset, .entry_sp_offset = pf.entry_sp_offset,
			.site_class = pf.site_class, .flags = pf.flags | pf.more_flags << 8, .name = img->names + pf.name,
			.plain = image_plain(img, img->names + pf.name),
		};
		prev = pf;
	}
	img->func_count = h->func_count;
	return 0;
}

static void take_head(struct image *img, const struct packed_head *h)
{
	img->ino = h->ino;
	img->dev = h->dev;
	img->gen = h->gen;
	memcpy(img->build_id, h->build_id, sizeof(h->build_id));
	img->since = h->since;
	img->load_addr = h->load_addr;
	img->load_size = h->load_size;
	img->phdr_addr = h->phdr_addr;
	img->text_offset = h->text_offset;
	img->text_addr = h->text_addr;
	img->unwind_site = h->unwind_site;
	img->first_func = h->first_func;
	img->is_go = h->flags & IS_GO;
	img->is_pie = h->flags & IS_PIE;
	img->has_unwinder = h->flags & HAS_UNWINDER;
	img->is_stripped = h->flags & IS_STRIPPED;
	img->switches_stacks = h->flags & SWITCHES_STACKS;
	img->walker = (h->flags & WALKER) >> WALKER_SHIFT;
	img->has_plain = h->flags & HAS_PLAIN;
	img->go_minor = h->go_minor;
	img->no_plt_calls = h->no_plt_calls;
}

DEFINE_CLEANUP(image_destroy, struct image *)

int image_unpack(struct image **ret, const void *data, size_t len)
{
	__cleanup(image_destroyp) struct image *img = NULL;
	const uint8_t *funcs = (const uint8_t *)data + sizeof(struct packed_head);
	struct packed_head h;
	const char *text;
	int err;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, data, sizeof(h));
	if (!is_sane_head(&h, len))
		return -EBADMSG;
	img = calloc(1, sizeof(*img));
	if (!img)
		return -ENOMEM;
	take_head(img, &h);
	text = (const char *)funcs + h.func_count * sizeof(struct packed_func);
	err = take_text(&img->path, text, h.path_len);
	err = err ?: take_text(&img->interp, text + h.path_len, h.interp_len);
	err = err ?: take_names(img, text + h.path_len + h.interp_len, h.names_len);
	err = err ?: take_funcs(img, &h, funcs);
	text += h.path_len + h.interp_len + h.names_len;
	err = err ?: take_needed(img, &h, &text, (const char *)data + len);
	err = err ?: take_usdt(img, &h, &text, (const char *)data + len);
	if (!err && !(h.flags & HAS_DEBUG) && text != (const char *)data + len)
		err = -EBADMSG;
	if (!err && h.flags & HAS_DEBUG)
		err = debug_unpack(&img->debug, text, (const char *)data + len - text);
	if (err)
		return err;
	*ret = TAKE(img);
	return 0;
}
