/*
 * plt.c - stubs that call library functions, named by the slot each jumps through.
 *
 * Linkers lay stubs out in many ways (.plt, .plt.sec, .plt.got, with and
 * without endbr64 or bti, lazy or not). All end alike, in a jump through a slot
 * of the GOT, and the slot's relocation names the function. So each stub is
 * decoded, and no layout has to be known. The first part of a lazy stub of a
 * CET build, and PLT0 which calls the dynamic linker, jump otherwise and are
 * rightly not found.
 */
#include "base.h"
#include "reader.h"

#define STUB_STEP	8	/* stubs begin at multiples of it, in all layouts */
#define STUB_MAX	24

static bool starts_with(const uint8_t *code, size_t len, const char *bytes, size_t count)
{
	return len >= count && !memcmp(code, bytes, count);
}

/* [endbr64] [mov $n,%r11d] [bnd] jmp *slot(%rip); the mov is mold's. */
unsigned plt_stub_x86(const uint8_t *code, size_t len, uint64_t addr, uint64_t *slot)
{
	size_t at = 0;
	int32_t offset;

	if (starts_with(code, len, "\xf3\x0f\x1e\xfa", 4))
		at += 4;
	if (starts_with(code + at, len - at, "\x41\xbb", 2))
		at += 6;
	if (at < len && starts_with(code + at, len - at, "\xf2", 1))
		at++;
	if (at + 6 > len || !starts_with(code + at, len - at, "\xff\x25", 2))
		return 0;
	memcpy(&offset, code + at + 2, sizeof(offset));
	*slot = addr + at + 6 + (int64_t)offset;
	return at + 6;
}

/* [bti c] adrp x16, page; ldr x17, [x16, #low]; add x16, x16, #low; br x17. */
unsigned plt_stub_arm64(const uint8_t *code, size_t len, uint64_t addr, uint64_t *slot)
{
	uint32_t insn[5];
	size_t at = 0;
	int64_t page;

	if (len < 16)
		return 0;
	memcpy(insn, code, MIN(len, sizeof(insn)));
	if (insn[0] == 0xd503245f && len >= 20)
		at = 1;
	if ((insn[at] & 0x9f00001f) != 0x90000010 || (insn[at + 1] & 0xffc003ff) != 0xf9400211)
		return 0;
	if (insn[at + 3] != 0xd61f0220)
		return 0;
	page = (int64_t)((uint64_t)(insn[at] >> 5 & 0x7ffff) << 2 | (insn[at] >> 29 & 3)) << 43 >> 43;
	*slot = ((addr + at * 4) & ~0xfffull) + page * 4096 + (insn[at + 1] >> 10 & 0xfff) * 8;
	return (at + 4) * 4;
}

#if defined(__x86_64__)
#define plt_stub	plt_stub_x86
enum { RELOC_GLOB = R_X86_64_GLOB_DAT, RELOC_JUMP = R_X86_64_JUMP_SLOT, RELOC_RESOLVER = R_X86_64_IRELATIVE };
#else
#define plt_stub	plt_stub_arm64
enum { RELOC_GLOB = R_AARCH64_GLOB_DAT, RELOC_JUMP = R_AARCH64_JUMP_SLOT, RELOC_RESOLVER = R_AARCH64_IRELATIVE };
#endif

static int add_slot(struct reader *r, const Elf64_Rela *rel, const struct piece *syms, const struct piece *strings)
{
	struct slot s = { .addr = rel->r_offset };
	uint32_t type = ELF64_R_TYPE(rel->r_info);
	uint64_t at = ELF64_R_SYM(rel->r_info) * sizeof(Elf64_Sym);
	Elf64_Sym sym;
	int err;

	if (type == RELOC_RESOLVER) {
		s.resolver = rel->r_addend;
	} else if (type == RELOC_GLOB || type == RELOC_JUMP) {
		if (at > syms->len || syms->len - at < sizeof(sym))
			return 0;
		memcpy(&sym, syms->data + at, sizeof(sym));
		if (ELF64_ST_TYPE(sym.st_info) == STT_OBJECT || ELF64_ST_TYPE(sym.st_info) == STT_TLS)
			return 0;
		err = reader_name(r, piece_string(strings, sym.st_name), &s.name);
		if (err)
			return err;
	} else {
		return 0;
	}
	if (r->slot_count >= FUNCTIONS_MAX)
		return -EFBIG;
	if (grow(&r->slot, &r->slot_room, r->slot_count, sizeof(*r->slot)))
		return -ENOMEM;
	r->slot[r->slot_count++] = s;
	return 0;
}

static int add_slots(struct reader *r, const struct piece *rels, const struct piece *syms, const struct piece *strings)
{
	int err = 0;

	for (size_t at = 0; !err && at + sizeof(Elf64_Rela) <= rels->len; at += sizeof(Elf64_Rela)) {
		Elf64_Rela rel;

		memcpy(&rel, rels->data + at, sizeof(rel));
		err = add_slot(r, &rel, syms, strings);
	}
	return err;
}

static int add_section_slots(struct reader *r, const struct piece *syms, const struct piece *strings)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->elf.sec_count; i++) {
		const Elf64_Shdr *sec = &r->elf.sec[i];
		struct piece rels;

		if (sec->sh_type != SHT_RELA || !(sec->sh_flags & SHF_ALLOC))
			continue;
		err = elf_read_section(&r->elf, sec, &rels);
		err = err ?: add_slots(r, &rels, syms, strings);
		piece_free(&rels);
	}
	return err;
}

static int add_dynamic_slots(struct reader *r, const struct piece *syms, const struct piece *strings)
{
	static const int tables[][2] = { { DT_JMPREL, DT_PLTRELSZ }, { DT_RELA, DT_RELASZ } };
	struct dynamic d;
	int err = dynamic_read(&r->elf, &d);

	for (size_t i = 0; !err && i < ARRAY_SIZE(tables); i++) {
		struct piece rels;

		if (!d.value[tables[i][0]])
			continue;
		err = elf_read_addr(&r->elf, d.value[tables[i][0]], d.value[tables[i][1]], &rels);
		err = err ?: add_slots(r, &rels, syms, strings);
		piece_free(&rels);
	}
	return err;
}

static int by_address(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int slots_read(struct reader *r)
{
	const Elf64_Shdr *dynsym = elf_section_of_type(&r->elf, SHT_DYNSYM);
	struct piece syms = { 0 }, strings = { 0 };
	int err;

	if (dynsym && dynsym->sh_link < r->elf.sec_count) {
		err = elf_read_section(&r->elf, dynsym, &syms);
		err = err ?: elf_read_section(&r->elf, &r->elf.sec[dynsym->sh_link], &strings);
	} else {
		err = dynamic_symbols(&r->elf, &syms, &strings);
	}
	if (!err || err == -ENOENT)	/* a static program has no symbols here, but IFUNC slots */
		err = r->elf.sec_count ? add_section_slots(r, &syms, &strings) :
					 add_dynamic_slots(r, &syms, &strings);
	piece_free(&syms);
	piece_free(&strings);
	if (r->slot_count)
		qsort(r->slot, r->slot_count, sizeof(*r->slot), by_address);
	return err == -ENOENT ? 0 : err;
}

const struct slot *reader_slot(const struct reader *r, uint64_t addr)
{
	struct slot key = { .addr = addr };

	return r->slot_count ? bsearch(&key, r->slot, r->slot_count, sizeof(key), by_address) : NULL;
}

/* The name of the IFUNC whose resolver is at @addr, among found[0 .. count-1], which are in order. */
static int resolver_name(struct reader *r, size_t count, uint64_t addr, uint32_t *ret)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r->found[mid].addr == addr) {
			*ret = r->found[mid].name;
			return 0;
		}
		if (r->found[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	*ret = 0;
	return 0;
}

static int add_stub(struct reader *r, const struct slot *slot, size_t sorted, uint64_t addr, uint64_t size)
{
	struct found *f;
	int err;

	err = reader_found(r, &f);
	if (err)
		return err;
	f->addr = addr;
	f->size = size;
	f->flags = FUNC_PLT;
	f->name = slot->name;
	return slot->resolver ? resolver_name(r, sorted, slot->resolver, &f->name) : 0;
}

/* Where no sections say which part of the code is stubs, all of it is looked at: the slot must fit to believe one. */
static int read_span(struct reader *r, const struct span *span, size_t sorted)
{
	const struct code *code = reader_code(r, span->addr);
	uint64_t end = span->addr + span->len, target = 0;
	size_t before = r->found_count;
	int err = 0;

	if (!code)
		return 0;
	for (uint64_t at = ROUND_UP(span->addr, STUB_STEP); !err && at < end; at += STUB_STEP) {
		size_t offset = at - code->piece.addr, len = MIN(end - at, (uint64_t)STUB_MAX);
		const struct slot *slot;
		unsigned size;

		size = plt_stub(code->piece.data + offset, len, at, &target);
		slot = size ? reader_slot(r, target) : NULL;
		if (!slot || (!slot->name && !slot->resolver))
			continue;
		err = add_stub(r, slot, sorted, at, ROUND_UP(size, STUB_STEP));
	}
	/* A stub is as long as the way to the next one, where that is not far. */
	for (size_t i = before; i + 1 < r->found_count; i++)
		if (r->found[i + 1].addr - r->found[i].addr <= STUB_MAX)
			r->found[i].size = r->found[i + 1].addr - r->found[i].addr;
	return err;
}

int plt_read(struct reader *r)
{
	size_t sorted = r->found_count;
	int err = 0;

	for (size_t i = 0; !err && i < r->span_count; i++)
		if (r->span[i].is_plt || !r->elf.sec_count)
			err = read_span(r, &r->span[i], sorted);
	return err;
}
