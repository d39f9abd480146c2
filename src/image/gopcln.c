/*
 * gopcln.c - functions of a stripped Go program, from the table its own runtime unwinds by.
 *
 * Go programs have no unwind tables of the usual kind, and strip leaves them
 * this one. Layout: Go's debug/gosym/pclntab.go and internal/abi. A header of
 * magic, zeroes, instruction quantum, pointer size; then words: number of
 * functions, number of files, since Go 1.18 the start of the text, and the offsets
 * of five tables. The functions' table holds pairs of (start, offset of a
 * record), and a record begins with the start again and the name's offset.
 */
#include "base.h"
#include "reader.h"

#define MAGIC_116	0xfffffffau
#define MAGIC_118	0xfffffff0u
#define MAGIC_120	0xfffffff1u

/* Indices of the header's words, behind the first eight bytes. */
enum { WORD_FUNCS, WORD_FILES, WORD_TEXT, WORD_NAMES, WORD_UNITS, WORD_FILE_NAMES, WORD_LINES, WORD_TABLE, WORDS };

struct gopcln {
	struct piece piece;
	uint64_t     word[WORDS];
	bool	     is_116;		/* starts are whole addresses, not offsets from the text's start */
};

static int read_head(struct reader *r, struct gopcln *t)
{
	const Elf64_Shdr *text = elf_section(&r->elf, ".text");
	uint32_t magic;
	size_t at = 8;

	if (!piece_u32(&t->piece, 0, &magic))
		return -ENOENT;
	t->is_116 = magic == MAGIC_116;
	if (!t->is_116 && magic != MAGIC_118 && magic != MAGIC_120)
		return -ENOENT;
	for (unsigned i = 0; i < WORDS; i++) {
		if (t->is_116 && i == WORD_TEXT)
			continue;
		if (!piece_u64(&t->piece, at, &t->word[i]))
			return -ENOENT;
		at += 8;
	}
	if (!t->is_116 && !t->word[WORD_TEXT] && text)	/* filled in by a relocation, in a PIE */
		t->word[WORD_TEXT] = text->sh_addr;
	for (unsigned i = WORD_NAMES; i < WORDS; i++)
		if (t->word[i] > t->piece.len)
			return -ENOENT;
	return 0;
}

/* The start and the record's offset of function @i; with @i = their number, the end of the last. */
static bool entry(const struct gopcln *t, uint64_t i, uint64_t *start, uint64_t *record)
{
	uint64_t at = t->word[WORD_TABLE] + i * (t->is_116 ? 16 : 8);
	uint32_t start32, record32;

	*record = 0;
	if (t->is_116) {
		(void)piece_u64(&t->piece, at + 8, record);
		return piece_u64(&t->piece, at, start);
	}
	if (!piece_u32(&t->piece, at, &start32))
		return false;
	*start = t->word[WORD_TEXT] + start32;
	if (piece_u32(&t->piece, at + 4, &record32))
		*record = record32;
	return true;
}

static int add_function(struct reader *r, const struct gopcln *t, uint64_t i)
{
	uint64_t start, next, record, unused;
	const struct span *span;
	struct found *f;
	uint32_t name;
	int err;

	if (!entry(t, i, &start, &record) || !entry(t, i + 1, &next, &unused) || next <= start)
		return 0;
	span = reader_span(r, start);
	if (!span || span->is_plt || record > t->piece.len)
		return 0;
	if (!piece_u32(&t->piece, t->word[WORD_TABLE] + record + (t->is_116 ? 8 : 4), &name))
		return 0;
	err = reader_found(r, &f);
	if (err)
		return err;
	f->addr = start;
	f->size = MIN(next - start, span->addr + span->len - start);
	return reader_name(r, piece_string(&t->piece, t->word[WORD_NAMES] + name), &f->name);
}

int gopcln_read(struct reader *r)
{
	const Elf64_Shdr *sec = elf_section(&r->elf, ".gopclntab") ?: elf_section(&r->elf, ".data.rel.ro.gopclntab");
	struct gopcln t = { 0 };
	int err;

	if (!r->img->is_go || !r->img->is_stripped)
		return 0;
	err = elf_read_section(&r->elf, sec, &t.piece);
	err = err ?: read_head(r, &t);
	for (uint64_t i = 0; !err && i < MIN(t.word[WORD_FUNCS], (uint64_t)FUNCTIONS_MAX); i++)
		err = add_function(r, &t, i);
	piece_free(&t.piece);
	return err == -ENOENT ? 0 : err;
}
