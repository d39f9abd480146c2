/*
 * ehframe.c - function starts from .eh_frame, for what no symbol tells: stripped files.
 *
 * Each FDE says where a piece of code begins and how long it is. Not every
 * piece is a function: gcc's cold halves have one too. Theirs begin in the
 * middle of a frame, so their first rule sets the CFA or saves registers before
 * any advance, which no function's first instruction has done yet.
 *
 * Layout: LSB 5.0, 10.6 "Exception Frames"; rules: DWARF 5, 6.4.2.
 */
#include "base.h"
#include "reader.h"

/* Pointer encodings, LSB 5.0 10.5.1: the low half says how, the high one relative to what. */
enum { PE_ABSPTR = 0x00, PE_UDATA2 = 0x02, PE_UDATA4 = 0x03, PE_UDATA8 = 0x04, PE_SDATA2 = 0x0a, PE_SDATA4 = 0x0b,
       PE_SDATA8 = 0x0c, PE_PCREL = 0x10 };

/* Call frame instructions, DWARF 5 7.24; the first three have an operand in the low six bits. */
enum { CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0, CFA_NOP = 0x00, CFA_SET_LOC = 0x01,
       CFA_ADVANCE1 = 0x02, CFA_ADVANCE4 = 0x04, CFA_UNDEFINED = 0x07, CFA_MIPS_ADVANCE8 = 0x1d,
       CFA_GNU_ARGS_SIZE = 0x2e, CFA_AARCH64_SIGN = 0x2d };

#if defined(__x86_64__)
#define RETURN_COLUMN	16	/* System V ABI AMD64, figure 3.36 */
#else
#define RETURN_COLUMN	30	/* AADWARF64, 4.1: lr */
#endif

#define CIE_BYTES_MAX	64	/* of its augmentation and pointers; the longest in use has about 20 */

struct cie {
	uint64_t at;		/* where it begins in the section; ~0: none read yet */
	uint8_t	 encoding;	/* of an FDE's address */
	bool	 has_data;	/* its FDEs have an augmentation length */
	bool	 is_signal;	/* a signal's return trampoline: its caller is no caller */
	bool	 is_known;	/* false: one of a kind we do not know */
};

/* A place in a piece of bytes; `failed` once it went past the end. */
struct cursor {
	const struct piece *p;
	uint64_t at, end;
	bool	 failed;
};

static uint8_t take_u8(struct cursor *c)
{
	if (c->at >= c->end) {
		c->failed = true;
		return 0;
	}
	return c->p->data[c->at++];
}

static uint64_t take_le(struct cursor *c, unsigned bytes)
{
	uint64_t v = 0;

	if (c->failed || c->end - c->at < bytes) {
		c->failed = true;
		return 0;
	}
	memcpy(&v, c->p->data + c->at, bytes);
	c->at += bytes;
	return v;
}

static uint64_t take_uleb(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t b = take_u8(c);

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->failed = true;
	return 0;
}

static uint64_t take_pointer(struct cursor *c, uint8_t encoding)
{
	uint64_t here = c->p->addr + c->at, v;

	switch (encoding & 0x0f) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8: v = take_le(c, 8); break;
	case PE_UDATA4: v = take_le(c, 4); break;
	case PE_SDATA4: v = (int64_t)(int32_t)take_le(c, 4); break;
	case PE_UDATA2: v = take_le(c, 2); break;
	case PE_SDATA2: v = (int64_t)(int16_t)take_le(c, 2); break;
	default:	c->failed = true; return 0;
	}
	if ((encoding & 0x70) == PE_PCREL)
		return v + here;
	if (encoding & 0xf0)	/* relative to data or text, or indirect: not of functions in linked files */
		c->failed = true;
	return v;
}

/* @c stands behind the CIE's id. */
static void read_cie(struct cursor *c, struct cie *cie)
{
	const char *augmentation;
	uint8_t version = take_u8(c);
	uint64_t text;

	text = c->at;
	c->end = MIN(c->end, text + CIE_BYTES_MAX);
	while (take_u8(c))
		;
	augmentation = (const char *)c->p->data + text;
	if (c->failed || (version != 1 && version != 3) || (*augmentation && *augmentation != 'z'))
		return;
	take_uleb(c);		/* code alignment */
	take_uleb(c);		/* data alignment: signed, but as long */
	if (version == 1)
		take_u8(c);	/* the return address's column */
	else
		take_uleb(c);
	cie->encoding = PE_ABSPTR;
	for (const char *a = augmentation; *a && !c->failed; a++) {
		if (*a == 'z') {
			cie->has_data = true;
			take_uleb(c);
		} else if (*a == 'R') {
			cie->encoding = take_u8(c);
		} else if (*a == 'L') {
			take_u8(c);
		} else if (*a == 'P') {
			uint8_t encoding = take_u8(c);

			take_pointer(c, encoding & 0x0f);
		} else if (*a == 'S') {
			cie->is_signal = true;
		} else if (*a != 'B' && *a != 'G') {
			return;
		}
	}
	cie->is_known = !c->failed;
}

/* What the rules before the first advance say: an ordinary start, a start without a caller, or the middle of a frame. */
enum start { START_PLAIN, START_OUTERMOST, START_INSIDE };

static enum start start_of(struct cursor *c)
{
	while (c->at < c->end) {
		uint8_t op = take_u8(c);

		if (op == CFA_NOP || op == CFA_AARCH64_SIGN)
			continue;
		if (op == CFA_GNU_ARGS_SIZE) {
			take_uleb(c);
			continue;
		}
		if (op == CFA_UNDEFINED)
			return take_uleb(c) == RETURN_COLUMN ? START_OUTERMOST : START_INSIDE;
		if ((op & 0xc0) == CFA_ADVANCE || (op >= CFA_SET_LOC && op <= CFA_ADVANCE4) || op == CFA_MIPS_ADVANCE8)
			return START_PLAIN;
		return START_INSIDE;
	}
	return START_PLAIN;
}

/* @c stands behind the FDE's pointer to its CIE. */
static int add_fde(struct reader *r, struct cursor *c, const struct cie *cie)
{
	uint64_t addr = take_pointer(c, cie->encoding);
	uint64_t len = take_pointer(c, cie->encoding & 0x0f);
	const struct span *span;
	enum start start;
	struct found *f;
	int err;

	if (cie->has_data) {
		uint64_t skip = take_uleb(c);

		if (c->failed || skip > c->end - c->at)
			return 0;
		c->at += skip;
	}
	span = reader_span(r, addr);
	if (c->failed || !span || span->is_plt || !len)
		return 0;
	start = start_of(c);
	err = reader_found(r, &f);
	if (err)
		return err;
	f->addr = addr;
	f->size = MIN(len, span->addr + span->len - addr);
	f->is_part = start == START_INSIDE || cie->is_signal;
	f->flags = start == START_OUTERMOST ? FUNC_NEVER : 0;
	f->rank = UINT8_MAX;
	return 0;
}

/* One entry of the section at c->at; c->end is the section's. Returns 1 at the end of them. */
static int read_entry(struct reader *r, struct cursor *c, struct cie *cie)
{
	uint64_t len = take_le(c, 4), begin, id_at;
	struct cursor in;
	uint32_t id;
	int err = 0;

	if (len == UINT32_MAX)
		len = take_le(c, 8);
	begin = c->at;
	if (c->failed || !len || len > c->end - c->at)
		return 1;
	c->at += len;
	in = (struct cursor){ c->p, begin, begin + len, false };
	id_at = in.at;
	id = take_le(&in, 4);
	if (in.failed || !id)		/* a CIE: read when an FDE names it */
		return 0;
	if (id > id_at)
		return 0;
	if (cie->at != id_at - id) {
		struct cursor at_cie = { c->p, id_at - id, c->end, false };
		uint64_t cie_len = take_le(&at_cie, 4);

		*cie = (struct cie){ .at = id_at - id };
		if (at_cie.failed || cie_len > at_cie.end - at_cie.at)
			return 0;
		at_cie.end = at_cie.at + cie_len;
		if (!take_le(&at_cie, 4))
			read_cie(&at_cie, cie);
	}
	if (cie->is_known)
		err = add_fde(r, &in, cie);
	return err;
}

/* .eh_frame by its section, or by what .eh_frame_hdr points to: version, three encodings, then a pointer. */
static int find_frames(struct reader *r, struct piece *ret)
{
	const Elf64_Phdr *seg = elf_segment(&r->elf, PT_GNU_EH_FRAME);
	const Elf64_Shdr *sec = elf_section(&r->elf, ".eh_frame");
	struct piece head;
	struct cursor c;
	uint64_t addr;
	int err;

	*ret = (struct piece){ 0 };
	if (sec)
		return elf_read_section(&r->elf, sec, ret);
	if (!seg)
		return -ENOENT;
	err = elf_read(&r->elf, seg->p_offset, MIN(seg->p_filesz, 16ul), &head);
	if (err)
		return err;
	head.addr = seg->p_vaddr;
	c = (struct cursor){ &head, 4, head.len, head.len < 4 };
	addr = c.failed ? 0 : take_pointer(&c, head.data[1]);
	piece_free(&head);
	return c.failed ? -ENOENT : elf_read_addr(&r->elf, addr, PIECE_MAX, ret);
}

/*
 * Of the FDEs found after @known, which begin at found[first], keep those that
 * lie in no symbol; give a symbol without a size that of its FDE. A symbol in the middle
 * of a frame is never probed, whatever it is called.
 */
static void merge_frames(struct reader *r, size_t first)
{
	size_t n = first, at = 0;
	uint64_t end = 0;	/* of the symbols begun so far */

	for (size_t i = first; i < r->found_count; i++) {
		struct found *fde = &r->found[i];

		for (; at < first && r->found[at].addr <= fde->addr; at++) {
			if (!r->found[at].size && r->found[at].addr == fde->addr)
				r->found[at].size = fde->size;
			end = MAX(end, r->found[at].addr + MAX(r->found[at].size, 1ul));
		}
		if (at && r->found[at - 1].addr == fde->addr)
			r->found[at - 1].flags |= fde->flags | (fde->is_part ? FUNC_NEVER : 0);
		else if (fde->addr >= end)
			r->found[n++] = *fde;
	}
	r->found_count = n;
}

static int by_address(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int ehframe_read(struct reader *r)
{
	struct cie cie = { .at = UINT64_MAX };
	size_t first = r->found_count;
	struct piece frames;
	struct cursor c;
	int err;

	err = find_frames(r, &frames);
	if (err)
		return err == -ENOENT ? 0 : err;
	c = (struct cursor){ &frames, 0, frames.len, false };
	while (!err)
		err = read_entry(r, &c, &cie);
	piece_free(&frames);
	if (err < 0 || r->found_count == first)
		return MIN(err, 0);
	qsort(r->found + first, r->found_count - first, sizeof(*r->found), by_address);
	merge_frames(r, first);
	return 0;
}
