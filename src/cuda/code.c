/*
 * code.c - the kernels of a cubin, and the entries of a fat binary.
 *
 * A cubin has a symbol for each kernel, with its section; a section ".nv.info.KERNEL" that belongs to the same section
 * and lists the parameters; and ".nv.info", which lists the registers by the symbol's number. Each table is gone through
 * once. What is read at places that the image itself names (a name, a kernel's list) counts against the bytes that an
 * honest image can have there, so that a million symbols with one long name end too.
 */
#include <elf.h>

#include "base.h"
#include "cuda/code.h"
#include "cuda/ptx.h"
#include "cuda/unpack.h"

#define EM_CUDA_CODE	190u		/* EM_CUDA */
#define SHT_CUDA_INFO	0x70000000u	/* ".nv.info" and ".nv.info.KERNEL" */
#define STO_CUDA_ENTRY	0x10u		/* of st_other: this function is a kernel */
#define INFO_NAME	".nv.info"

struct reader {
	code_kernel_fn	fn;
	void	       *ctx;
	struct unpacker unpacker;
};

/* ---- a kernel's list of attributes ---- */

/*
 * Each: its form, its number, then two bytes that are its value, or for INFO_SIZED the length of what follows.
 * INFO_PARAM (12 bytes): 0 at 0, which parameter at 4, where it begins at 6, its bytes << 18 at 8.
 * INFO_PARAM_V2, where one is too long for that: the same, its bytes at 8.
 */
enum info_form { INFO_EMPTY = 1, INFO_BYTE, INFO_HALF, INFO_SIZED };
enum info_number { INFO_PARAM = 0x17, INFO_PARAMS_BYTES = 0x19, INFO_REGS = 0x2f, INFO_PARAM_V2 = 0x45 };

#define INFO_PARAM_BYTES	12u

struct info {
	uint8_t	       form, number;
	uint16_t       value;	/* INFO_SIZED: the bytes at @data */
	const uint8_t *data;
};

struct span {
	const uint8_t *at;
	size_t	       len;
};

/* Takes the first one off @s. False: it has none, or is damaged, and then it is not empty. */
static bool next_info(struct info *i, struct span *s)
{
	size_t len = 4;

	if (s->len < len)
		return false;
	*i = (struct info){ s->at[0], s->at[1], get_u16(s->at + 2), s->at + 4 };
	if (i->form < INFO_EMPTY || i->form > INFO_SIZED)
		return false;
	if (i->form == INFO_SIZED)
		len += i->value;
	if (len > s->len)
		return false;
	*s = (struct span){ s->at + len, s->len - len };
	return true;
}

struct params {
	unsigned count, highest;	/* seen; the highest number of one, + 1 */
	uint32_t bytes;			/* the end of the last */
	int	 said;			/* INFO_PARAMS_BYTES; -1: not there */
	bool	 is_strange;
};

static void add_param(struct params *p, const struct info *i)
{
	unsigned at, size;

	if (i->form != INFO_SIZED || i->value != INFO_PARAM_BYTES) {
		p->is_strange = true;
		return;
	}
	at = get_u16(i->data + 6);
	size = i->number == INFO_PARAM ? get_u32(i->data + 8) >> 18 : get_u16(i->data + 8);
	p->count++;
	p->highest = MAX(p->highest, get_u16(i->data + 4) + 1u);
	p->bytes = MAX(p->bytes, at + size);
}

/* Told only where all is there, once, and within the length that the list gives too. */
static void read_params(struct code_kernel *k, struct span s)
{
	struct params p = { .said = -1 };
	struct info i;

	while (next_info(&i, &s)) {
		if (i.number == INFO_PARAM || i.number == INFO_PARAM_V2)
			add_param(&p, &i);
		else if (i.number == INFO_PARAMS_BYTES && i.form == INFO_HALF)
			p.said = i.value;
	}
	if (s.len || p.is_strange || p.count != p.highest || (p.said >= 0 && (p.bytes > (uint32_t)p.said || (p.said && !p.count))))
		return;
	k->params = p.count;
	k->param_bytes = p.bytes;
}

/* ---- a cubin ---- */

struct cubin {
	const uint8_t *at;
	size_t	       len;
	const uint8_t *sections;	/* the table */
	size_t	       nsections;
	struct span    section_names, symbols, names, info;
	uint32_t      *info_of;		/* owned; by section: which lists the parameters of the kernel in it; 0: none */
	uint16_t      *regs;		/* owned; by symbol; NULL: not told */
	uint32_t       arch;
	size_t	       left;		/* bytes that may still be read at places the image names */
};

static void cubin_clear(struct cubin *c)
{
	free(c->info_of);
	free(c->regs);
}

static struct span span_of(const struct cubin *c, uint64_t at, uint64_t len)
{
	if (at > c->len || len > c->len - at)
		return (struct span){};
	return (struct span){ c->at + at, len };
}

static Elf64_Shdr section(const struct cubin *c, size_t n)
{
	Elf64_Shdr s = {};

	if (n < c->nsections)
		memcpy(&s, c->sections + n * sizeof(s), sizeof(s));
	return s;
}

/* Empty where the file has no bytes of it. */
static struct span bytes_of(const struct cubin *c, const Elf64_Shdr *s)
{
	return s->sh_type == SHT_NULL || s->sh_type == SHT_NOBITS ? (struct span){} : span_of(c, s->sh_offset, s->sh_size);
}

static bool spend(struct cubin *c, size_t n)
{
	bool is_there = n <= c->left;

	c->left -= MIN(n, c->left);
	return is_there;
}

/* The string at @at, its NUL not counted. Empty: there is none. */
static struct span string(struct cubin *c, const struct span *table, uint32_t at)
{
	const uint8_t *from, *end;
	size_t room;

	if (at >= table->len)
		return (struct span){};
	from = table->at + at;
	room = MIN(table->len - at, c->left);
	end = memchr(from, 0, room);
	spend(c, end ? (size_t)(end - from) : room);
	return end ? (struct span){ from, end - from } : (struct span){};
}

static bool is_named(const struct cubin *c, uint32_t at, const char *name, size_t len)
{
	const struct span *table = &c->section_names;

	return at < table->len && len < table->len - at && !memcmp(table->at + at, name, len);
}

/* The architecture is in the flags, by the ABI's version: 8 is what nvcc 13.0 makes; of 7 no image was to be had here. */
static uint32_t arch_of(const Elf64_Ehdr *h)
{
	switch (h->e_ident[EI_ABIVERSION]) {
	case 7:
		return h->e_flags & 0xff;
	case 8:
		return h->e_flags >> 8 & 0xff;
	default:
		return 0;
	}
}

static bool read_header(struct cubin *c)
{
	Elf64_Ehdr h;
	Elf64_Shdr first;
	struct span names;
	size_t fits;

	if (c->len < sizeof(h))
		return false;
	memcpy(&h, c->at, sizeof(h));
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB ||
	    h.e_machine != EM_CUDA_CODE || h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shoff >= c->len)
		return false;
	c->arch = arch_of(&h);
	c->sections = c->at + h.e_shoff;
	fits = (c->len - h.e_shoff) / sizeof(Elf64_Shdr);
	c->nsections = MIN(fits, 1u);
	first = section(c, 0);	/* it has the numbers that are too large for the header */
	c->nsections = MIN(fits, h.e_shnum ?: first.sh_size);
	first = section(c, h.e_shstrndx == SHN_XINDEX ? first.sh_link : h.e_shstrndx);
	names = bytes_of(c, &first);
	c->section_names = names;
	return names.len;
}

/* Finds the tables, and which section tells of which. Returns 0 or -ENOMEM. */
static int read_sections(struct cubin *c)
{
	c->info_of = calloc(c->nsections, sizeof(*c->info_of));
	if (!c->info_of)
		return -ENOMEM;
	for (size_t n = 1; n < c->nsections; n++) {
		Elf64_Shdr s = section(c, n), names = section(c, s.sh_link);

		if (s.sh_type == SHT_SYMTAB && !c->symbols.len && s.sh_entsize == sizeof(Elf64_Sym)) {
			c->symbols = bytes_of(c, &s);
			c->names = bytes_of(c, &names);
		} else if (s.sh_type == SHT_CUDA_INFO && is_named(c, s.sh_name, INFO_NAME, sizeof(INFO_NAME))) {
			c->info = bytes_of(c, &s);
		} else if (s.sh_type == SHT_CUDA_INFO && s.sh_info < c->nsections) {
			c->info_of[s.sh_info] = n;
		}
	}
	return 0;
}

/* INFO_REGS (8 bytes): a symbol's number, registers. */
static int read_regs(struct cubin *c)
{
	size_t symbols = c->symbols.len / sizeof(Elf64_Sym);
	struct span s = c->info;
	struct info i;

	if (!symbols || !s.len)
		return 0;
	c->regs = calloc(symbols, sizeof(*c->regs));
	if (!c->regs)
		return -ENOMEM;
	while (next_info(&i, &s))
		if (i.number == INFO_REGS && i.form == INFO_SIZED && i.value == 8 && get_u32(i.data) < symbols &&
		    get_u32(i.data + 4) <= UINT16_MAX)
			c->regs[get_u32(i.data)] = get_u32(i.data + 4);
	return 0;
}

/* The list of the kernel's own section, where it has the kernel's name too. */
static void read_list(struct cubin *c, struct code_kernel *k, const Elf64_Sym *y)
{
	size_t n = y->st_shndx < c->nsections ? c->info_of[y->st_shndx] : 0, prefix = sizeof(INFO_NAME);
	Elf64_Shdr s = section(c, n);
	struct span list = bytes_of(c, &s);

	if (!n || !spend(c, k->name_len) || !is_named(c, s.sh_name, INFO_NAME ".", prefix) ||
	    s.sh_name > UINT32_MAX - prefix || !is_named(c, s.sh_name + prefix, k->name, k->name_len) ||
	    c->section_names.at[s.sh_name + prefix + k->name_len] || !list.len || !spend(c, list.len))
		return;
	read_params(k, list);
}

static int tell_symbol(struct reader *r, struct cubin *c, size_t n)
{
	struct code_kernel k = { .params = CODE_PARAMS_UNKNOWN, .arch = c->arch };
	struct span name;
	Elf64_Sym y;

	memcpy(&y, c->symbols.at + n * sizeof(y), sizeof(y));
	if (ELF64_ST_TYPE(y.st_info) != STT_FUNC || !(y.st_other & STO_CUDA_ENTRY) || y.st_shndx == SHN_UNDEF)
		return 0;
	name = string(c, &c->names, y.st_name);
	if (!name.len)
		return 0;
	k.name = (const char *)name.at;
	k.name_len = name.len;
	k.regs = c->regs ? c->regs[n] : 0;
	read_list(c, &k, &y);
	return r->fn(r->ctx, &k);
}

/* @arch: of the fat binary's entry, where the file does not tell it. */
static int cubin_kernels(struct reader *r, const void *image, size_t len, uint32_t arch)
{
	/* All names and lists come to less than the file; a name is also looked at in its section's. */
	__cleanup(cubin_clear) struct cubin c = { .at = image, .len = len, .left = len * 2 };
	int err;

	if (!read_header(&c))
		return 0;
	c.arch = c.arch ?: arch;
	err = read_sections(&c);
	if (!err)
		err = read_regs(&c);
	for (size_t n = 0; !err && n < c.symbols.len / sizeof(Elf64_Sym); n++)
		err = tell_symbol(r, &c, n);
	return err;
}

/* ---- a fat binary ---- */

#define FATBIN_BYTES	16u	/* its header: magic, its own bytes at 6, those behind it at 8 */
#define ENTRY_BYTES	64u	/* the least that an entry's has; options and a file's name make it longer */

enum entry_kind { ENTRY_PTX = 1, ENTRY_CUBIN };		/* 8: NVVM's code, for the linker */

#define ENTRY_LZ4	0x2000ull
#define ENTRY_ZSTD	0x8000ull

/*
 * The header: kind at 0, its bytes at 4, those behind it at 8 (filled up to 8), of them packed ones at 16, the architecture
 * at 28, flags at 40, bytes when unpacked at 56 (0: it is not packed).
 */
struct entry {
	uint16_t    kind;
	uint32_t    arch;
	enum pack   pack;
	bool	    is_strange;
	uint64_t    unpacked;
	struct span span;
};

static enum pack pack_of(uint64_t flags)
{
	switch (flags & (ENTRY_LZ4 | ENTRY_ZSTD)) {
	case ENTRY_LZ4:
		return PACK_LZ4;
	case ENTRY_ZSTD:
		return PACK_ZSTD;
	default:
		return PACK_NONE;
	}
}

/* Takes the first one off @s. False: there is none that is whole. */
static bool next_entry(struct entry *e, struct span *s)
{
	uint64_t header, payload, packed;

	if (s->len < ENTRY_BYTES)
		return false;
	header = get_u32(s->at + 4);
	payload = get_u64(s->at + 8);
	packed = get_u32(s->at + 16);
	if (header < ENTRY_BYTES || header > s->len || payload > s->len - header)
		return false;
	*e = (struct entry){
		.kind = get_u16(s->at), .arch = get_u32(s->at + 28), .pack = pack_of(get_u64(s->at + 40)),
		.unpacked = get_u64(s->at + 56), .span = { s->at + header, payload },
	};
	if (e->pack == PACK_NONE)
		e->is_strange = e->unpacked || get_u64(s->at + 40) & (ENTRY_LZ4 | ENTRY_ZSTD);
	else
		e->is_strange = packed > payload;
	if (e->pack != PACK_NONE && !e->is_strange)
		e->span.len = packed;
	*s = (struct span){ s->at + header + payload, s->len - header - payload };
	return true;
}

static int tell_entry(struct reader *r, const struct entry *e)
{
	__cleanup(free_ptr) void *unpacked = NULL;
	struct span s = e->span;
	int err;

	if ((e->kind != ENTRY_PTX && e->kind != ENTRY_CUBIN) || e->is_strange)
		return 0;
	if (e->pack != PACK_NONE) {
		err = unpack(&unpacked, &r->unpacker, e->pack, s.at, s.len, e->unpacked);
		if (!unpacked)
			return err;
		s = (struct span){ unpacked, e->unpacked };
	}
	if (e->kind == ENTRY_PTX)
		return ptx_kernels((const char *)s.at, s.len, r->fn, r->ctx);
	return cubin_kernels(r, s.at, s.len, e->arch);
}

static int fatbin_kernels(struct reader *r, const uint8_t *image, size_t len)
{
	struct span s = {};
	struct entry e;
	int err = 0;

	if (len >= FATBIN_BYTES && get_u16(image + 6) >= FATBIN_BYTES && get_u16(image + 6) <= len) {
		s = (struct span){ image + get_u16(image + 6), len - get_u16(image + 6) };
		s.len = MIN(s.len, get_u64(image + 8));
	}
	for (unsigned n = 0; !err && n < CODE_ENTRIES_MAX && next_entry(&e, &s); n++)
		err = tell_entry(r, &e);
	return err;
}

int code_kernels(const void *image, size_t len, code_kernel_fn fn, void *ctx)
{
	struct reader r = { .fn = fn, .ctx = ctx, .unpacker.left = CODE_UNPACKED_TOTAL };
	int err;

	if (len >= SELFMAG && !memcmp(image, ELFMAG, SELFMAG))
		return cubin_kernels(&r, image, len, 0);
	if (len < sizeof(uint32_t) || get_u32(image) != CODE_FATBIN_MAGIC)
		return ptx_kernels(image, len, fn, ctx);
	err = fatbin_kernels(&r, image, len);
	unpacker_clear(&r.unpacker);
	return err;
}

/* ---- how long one is ---- */

/* 0: it goes on behind all addresses. */
static uint64_t end_of(uint64_t at, uint64_t len)
{
	return at + len < at ? 0 : at + len;
}

uint64_t code_bytes(const void *head, size_t len)
{
	uint64_t sections, segments;
	Elf64_Ehdr h;

	if (len >= FATBIN_BYTES && get_u32(head) == CODE_FATBIN_MAGIC)
		return end_of(get_u64((const uint8_t *)head + 8), get_u16((const uint8_t *)head + 6));
	if (len < sizeof(h) || memcmp(head, ELFMAG, SELFMAG))
		return 0;
	memcpy(&h, head, sizeof(h));
	sections = end_of(h.e_shoff, (uint64_t)h.e_shentsize * h.e_shnum);
	segments = end_of(h.e_phoff, (uint64_t)h.e_phentsize * h.e_phnum);
	return MAX(sections, segments);
}
