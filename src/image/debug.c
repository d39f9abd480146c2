/*
 * debug.c - what debug information tells of functions: kept, packed and unpacked.
 */
#include "base.h"
#include "debug.h"

#define TEXTS_MAX	(256u << 20)
#define FUNCS_MAX	4000000u

/* The head of a block; the functions, the enumerations and the texts follow it. */
struct packed_debug {
	uint64_t func_count, enum_count, texts_len, is_cut;
};

_Static_assert(sizeof(struct debug_func) == 24, "no holes: no byte leaves that was not written");

struct debug *debug_create(void)
{
	struct debug *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->texts = calloc(1, 64);
	d->texts_room = 64;
	d->texts_len = 1;		/* the empty text */
	if (!d->texts) {
		free(d);
		return NULL;
	}
	return d;
}

void debug_destroy(struct debug *d)
{
	if (!d)
		return;
	free(d->func);
	free(d->enumeration);
	free(d->texts);
	free(d);
}

static bool is_safe(char c)
{
	return (unsigned char)c > ' ' && c != 0x7f;
}

uint32_t debug_text(struct debug *d, const char *text)
{
	size_t len = strlen(text) + 1, at = d->texts_len, room = d->texts_room;
	char *more;

	if (len == 1 || len > TEXTS_MAX - at)
		return 0;
	while (room < at + len)
		room *= 2;
	more = room == d->texts_room ? d->texts : realloc(d->texts, room);
	if (!more)
		return 0;
	d->texts = more;
	d->texts_room = room;
	memcpy(more + at, text, len);
	for (char *c = more + at; *c; c++)
		if (!is_safe(*c))
			*c = '_';
	d->texts_len += len;
	return at;
}

/* The folder stands before the path, in one text, of which the caller gets the end. */
uint32_t debug_path(struct debug *d, const char *folder, const char *path)
{
	__cleanup(free_ptr) char *whole = NULL;
	uint32_t at;

	if (!*folder || !*path)
		return debug_text(d, path);
	if (asprintf(&whole, "%s/%s", folder, path) < 0)
		return 0;
	at = debug_text(d, whole);
	return at ? at + strlen(folder) + 1 : 0;
}

const char *debug_whole_path(const struct debug *d, uint32_t text)
{
	while (text && d->texts[text - 1])
		text--;
	return debug_at(d, text);
}

bool debug_has_lines(const struct debug *d)
{
	for (size_t i = 0; d && i < d->count; i++)
		if (d->func[i].line)
			return true;
	return false;
}

int debug_add(struct debug *d, const struct debug_func *f)
{
	if (d->count >= FUNCS_MAX)
		return -EFBIG;
	if (grow(&d->func, &d->room, d->count, sizeof(*d->func)))
		return -ENOMEM;
	d->func[d->count++] = *f;
	return 0;
}

int debug_add_enum(struct debug *d, const char *text)
{
	uint32_t at;

	if (grow(&d->enumeration, &d->enum_room, d->enum_count, sizeof(*d->enumeration)))
		return -ENOMEM;
	at = debug_text(d, text);
	if (!at)
		return -ENOMEM;
	d->enumeration[d->enum_count++] = at;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct debug_func *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Two functions that were folded into one may take different arguments: nothing is said of those. */
void debug_sort(struct debug *d)
{
	size_t n = 0;

	if (d->count)
		qsort(d->func, d->count, sizeof(*d->func), by_address);
	for (size_t i = 0; i < d->count; i++) {
		struct debug_func *before = n ? &d->func[n - 1] : NULL;

		if (!before || before->addr != d->func[i].addr) {
			d->func[n++] = d->func[i];
			continue;
		}
		if (strcmp(debug_at(d, before->args), debug_at(d, d->func[i].args)))
			before->args = 0;
		if (strcmp(debug_at(d, before->result), debug_at(d, d->func[i].result)))
			before->result = 0;
	}
	d->count = n;
}

const struct debug_func *debug_find(const struct debug *d, uint64_t addr)
{
	const struct debug_func key = { .addr = addr };

	return d && d->count ? bsearch(&key, d->func, d->count, sizeof(*d->func), by_address) : NULL;
}

/* ---- across a pipe, or into a file ---- */

static size_t block_len(const struct packed_debug *h)
{
	return sizeof(*h) + h->func_count * sizeof(struct debug_func) + h->enum_count * sizeof(uint32_t) + h->texts_len;
}

static struct packed_debug head_of(const struct debug *d)
{
	return (struct packed_debug){ d->count, d->enum_count, d->texts_len, d->is_cut };
}

size_t debug_packed_len(const struct debug *d)
{
	const struct packed_debug h = head_of(d);

	return block_len(&h);
}

static void *put(void *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
	return (char *)to + len;
}

void debug_pack(const struct debug *d, void *to)
{
	const struct packed_debug h = head_of(d);

	to = put(to, &h, sizeof(h));
	to = put(to, d->func, d->count * sizeof(*d->func));
	to = put(to, d->enumeration, d->enum_count * sizeof(*d->enumeration));
	put(to, d->texts, d->texts_len);
}

static const void *take(void *array, size_t *count, const void *from, size_t n, size_t size)
{
	void **ret = array;

	*count = n;
	*ret = malloc(MAX(n * size, (size_t)1));
	if (*ret && n)
		memcpy(*ret, from, n * size);
	return (const char *)from + n * size;
}

static bool is_sane(const struct debug *d)
{
	if (d->texts[0] || d->texts[d->texts_len - 1])
		return false;
	for (size_t i = 0; i < d->texts_len; i++)
		if (d->texts[i] && !is_safe(d->texts[i]))
			return false;		/* they are written into files of lines and words */
	for (size_t i = 0; i < d->count; i++) {
		const struct debug_func *f = &d->func[i];

		if (MAX(MAX(f->args, f->result), f->file) >= d->texts_len || (i && f->addr <= f[-1].addr))
			return false;
	}
	for (size_t i = 0; i < d->enum_count; i++)
		if (d->enumeration[i] >= d->texts_len)
			return false;
	return true;
}

int debug_unpack(struct debug **ret, const void *data, size_t len)
{
	struct packed_debug h;
	struct debug *d;
	int err;

	if (len < sizeof(h))
		return -EBADMSG;
	memcpy(&h, data, sizeof(h));
	if (h.func_count > FUNCS_MAX || h.enum_count > FUNCS_MAX || !h.texts_len || h.texts_len > TEXTS_MAX ||
	    h.is_cut > 1 || block_len(&h) != len)
		return -EBADMSG;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	data = take(&d->func, &d->count, (const char *)data + sizeof(h), h.func_count, sizeof(*d->func));
	data = take(&d->enumeration, &d->enum_count, data, h.enum_count, sizeof(*d->enumeration));
	take(&d->texts, &d->texts_len, data, h.texts_len, 1);
	d->room = d->count;
	d->enum_room = d->enum_count;
	d->texts_room = d->texts_len;
	d->is_cut = h.is_cut;
	err = !d->func || !d->enumeration || !d->texts ? -ENOMEM : is_sane(d) ? 0 : -EBADMSG;
	if (err)
		debug_destroy(d);
	else
		*ret = d;
	return err;
}
