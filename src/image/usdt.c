/*
 * usdt.c - the USDT probes of a file: .note.stapsdt, as systemtap's <sys/sdt.h> writes it.
 *
 * A note has three addresses (of the probe, of .stapsdt.base as the linker saw it,
 * of a semaphore) and three strings: provider, name, arguments. What is not such a note,
 * or whose place is no nop, is left out and counted: a breakpoint on anything else
 * would be one inside of an instruction.
 */
#include "base.h"
#include "reader.h"
#include "usdt.h"

#define NOTES_MAX	(16u << 20)	/* bytes; QEMU, which has the most, has about one million */
#define SYMBOLS_LOOKED	(32u << 20)	/* symbols that are looked at for names in arguments, in all */
#define NOTE_TYPE	3u
#define NOTE_WORDS	3

struct notes {
	struct reader *r;
	struct usdt_probes *probes;
	int64_t	     moved;		/* what prelink has added to all addresses */
	struct piece symbols, strings;	/* of .symtab, read when first needed */
	bool	     has_symbols;
	uint32_t     looked;
};

static void read_symbols(struct notes *n)
{
	const struct elf *e = &n->r->elf;
	const Elf64_Shdr *sec = elf_section_of_type(e, SHT_SYMTAB) ?: elf_section_of_type(e, SHT_DYNSYM);

	n->has_symbols = true;
	if (sec && sec->sh_link < e->sec_count && !elf_read_section(e, sec, &n->symbols))
		(void)elf_read_section(e, &e->sec[sec->sh_link], &n->strings);
}

static bool find_symbol(void *ctx, const char *name, size_t len, uint64_t *ret)
{
	struct notes *n = ctx;
	Elf64_Sym sym;

	if (!n->has_symbols)
		read_symbols(n);
	for (size_t at = 0; at + sizeof(sym) <= n->symbols.len && n->looked < SYMBOLS_LOOKED; at += sizeof(sym)) {
		const char *s;

		n->looked++;
		memcpy(&sym, n->symbols.data + at, sizeof(sym));
		s = piece_string(&n->strings, sym.st_name);
		if (sym.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(sym.st_info) == STT_TLS || strncmp(s, name, len) || s[len])
			continue;
		*ret = sym.st_value;
		return true;
	}
	return false;
}

/* The place in the file of @addr, in a segment with @flags; 0: none. */
static uint64_t file_offset(const struct elf *e, uint64_t addr, uint32_t flags)
{
	for (size_t i = 0; i < e->seg_count; i++) {
		const Elf64_Phdr *s = &e->seg[i];

		if (s->p_type == PT_LOAD && (s->p_flags & flags) == flags && addr >= s->p_vaddr &&
		    addr - s->p_vaddr < s->p_filesz)
			return addr - s->p_vaddr + s->p_offset;
	}
	return 0;
}

static bool is_nop(const struct elf *e, uint64_t offset)
{
	static const uint8_t x86[] = { 0x90 }, arm64[] = { 0x1f, 0x20, 0x03, 0xd5 };
	bool is_arm64 = ELF_MACHINE == EM_AARCH64;
	struct piece p;
	bool is;

	if (elf_read(e, offset, is_arm64 ? sizeof(arm64) : sizeof(x86), &p))
		return false;
	is = !memcmp(p.data, is_arm64 ? arm64 : x86, p.len);
	piece_free(&p);
	return is;
}

/* A string of the note that ends before @end; moves @at behind it. NULL: none. */
static const char *take_string(const char **at, const char *end)
{
	const char *s = *at;
	size_t len = strnlen(s, end - s);

	if (len == (size_t)(end - s))
		return NULL;
	*at += len + 1;
	return s;
}

/* They stand in files of lines, and in names that a reader splits at blanks. */
static void clean(char *s)
{
	for (; *s; s++)
		if (*s <= ' ' || *s > '~')
			*s = '_';
}

static int add_probe(struct notes *n, const uint64_t word[NOTE_WORDS], const char *provider, const char *name,
		     const char *args)
{
	const struct elf *e = &n->r->elf;
	uint64_t addr = word[0] + n->moved, site = file_offset(e, addr, PF_X);
	struct usdt_probes *all = n->probes;
	struct usdt_probe *p;

	if (all->count >= USDT_PROBES_MAX || !site || !*provider || !*name || !is_nop(e, site)) {
		all->malformed++;
		return 0;
	}
	if (grow(&all->probe, &all->room, all->count, sizeof(*p)))
		return -ENOMEM;
	p = &all->probe[all->count++];
	*p = (struct usdt_probe){ .site = site };
	if (word[2])
		p->semaphore = file_offset(e, word[2] + n->moved, PF_W);
	snprintf(p->name, sizeof(p->name), "%s:%s", provider, name);
	clean(p->name);
	snprintf(p->text, sizeof(p->text), "%s", args);
	for (char *c = p->text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '_';
	p->count = usdt_parse(p->arg, args, ELF_MACHINE, addr, find_symbol, n);
	return 0;
}

/* @desc: what the note holds, @len bytes. */
static int take_note(struct notes *n, const char *desc, size_t len)
{
	const char *at = desc + NOTE_WORDS * sizeof(uint64_t), *end = desc + len, *provider, *name, *args;
	const Elf64_Shdr *base = elf_section(&n->r->elf, ".stapsdt.base");
	uint64_t word[NOTE_WORDS];

	if (len < sizeof(word))
		goto malformed;
	memcpy(word, desc, sizeof(word));
	provider = take_string(&at, end);
	name = provider ? take_string(&at, end) : NULL;
	args = name ? take_string(&at, end) ?: "" : NULL;
	if (!args)
		goto malformed;
	n->moved = base && word[1] ? base->sh_addr - word[1] : 0;
	return add_probe(n, word, provider, name, args);
malformed:
	n->probes->malformed++;
	return 0;
}

static int take_notes(struct notes *n, const struct piece *p)
{
	uint32_t name_len, desc_len, type;
	size_t at = 0;
	int err = 0;

	while (!err && piece_u32(p, at, &name_len) && piece_u32(p, at + 4, &desc_len) && piece_u32(p, at + 8, &type)) {
		uint64_t name = at + 12, desc = name + ROUND_UP((uint64_t)name_len, 4);

		if (desc + desc_len > p->len) {
			n->probes->malformed++;
			break;
		}
		if (type == NOTE_TYPE && name_len == sizeof("stapsdt") &&
		    !memcmp(p->data + name, "stapsdt", sizeof("stapsdt")))
			err = take_note(n, (const char *)p->data + desc, desc_len);
		at = desc + ROUND_UP((uint64_t)desc_len, 4);
	}
	return err;
}

int usdt_read(struct reader *r)
{
	struct notes n = { .r = r, .probes = &r->img->usdt };
	const Elf64_Shdr *sec = elf_section(&r->elf, ".note.stapsdt");
	struct piece p = { 0 };
	int err;

	if (!sec || sec->sh_size > NOTES_MAX)
		return 0;
	err = elf_read_section(&r->elf, sec, &p);
	err = err ? 0 : take_notes(&n, &p);
	piece_free(&p);
	piece_free(&n.symbols);
	piece_free(&n.strings);
	return err;
}
