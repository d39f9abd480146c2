/*
 * sites_x86.c - where each function of an x86-64 image is probed.
 *
 * What a probe costs depends on the instruction under it: a few are emulated by
 * the kernel, most are single-stepped at ten times the cost, some are refused
 * (arch/x86/kernel/uprobes.c). Often a cheap one lies a few instructions behind
 * the function's start, and a probe there sees the same entry and the same
 * return address, as long as the way there is straight, nothing jumps into it
 * and it leaves %rsp alone. So the first WINDOW instructions are looked at, and
 * all code is searched for direct branches into them. Where %rsp moved, the site
 * tells of the entry but not where the return address lies.
 *
 * A Go function begins with a check of its stack (cmp 0x10(%r14),%rsp; jbe). Where
 * that finds it too small, runtime.morestack makes a larger one and runs the
 * function again from its first instruction. So the site lies behind the check,
 * which is passed once in a call.
 *
 * The search is quick because it decodes little: first the bytes a site may be
 * chosen among are marked, as if nothing jumped there; then every byte of the
 * code is taken for the start of a branch. What leads to a marked byte by 32
 * bits is believed, since chance hardly makes one. What does by 8 bits is
 * believed only if decoding its function finds it too. In a Go image so is what
 * does by 32 bits: of large ones some would else be counted wrong, and their code
 * has no data in it that would lead the decoding astray.
 *
 * A nop of five bytes is a site only where it begins a function: kernels that
 * rewrite it into a call write below %rsp, where a leaf function in its middle
 * may keep variables.
 */
#if defined(__x86_64__)

#include <Zydis/Zydis.h>

#include "base.h"
#include "reader.h"

#define WINDOW		8	/* instructions */
#define NOP5		5	/* bytes */
#define TINY_BYTES	32
#define BODY_MAX	4096	/* a longer body is not looked through: it is not tiny */
#define RED_PUSHED_MAX	4096	/* a site behind a larger frame is not worth its risk */

#define EMULATED_NOP	8	/* bytes: longer ones are single-stepped */

/* What the choice has to know of one instruction. */
struct step {
	unsigned	len;
	enum site_class class;
	bool		is_nop5;	/* five bytes, whatever its form: on some kernel it may be rewritten */
	bool		is_known_nop5;	/* of a form that is */
	bool		is_landing;	/* endbr64 */
	bool		is_end;		/* what follows is reached otherwise, or not always */
	bool		sp_unknown;	/* %rsp moved, nobody knows how far */
	int		pushed;		/* bytes it moved down */
	unsigned	flags;		/* FUNC_LOADS, FUNC_ARGS_GONE: what it does to the sites after it */
	bool		may_panic;	/* it may fault, which Go makes an error that a caller can handle */
};

/* The way from a function's start to the instruction at hand. */
struct walk {
	uint64_t at;
	unsigned flags;
	int	 pushed;
	bool	 only_landing;	/* nothing but endbr64 lies before */
};

static bool has_prefix(const ZydisDecodedInstruction *insn, uint8_t byte)
{
	for (unsigned i = 0; i < insn->raw.prefix_count; i++)
		if (insn->raw.prefixes[i].value == byte)
			return true;
	return false;
}

/* is_prefix_bad() and good_insns_64[] of the kernel, and what it takes but should not. */
static bool is_refused(const ZydisDecodedInstruction *insn)
{
	static const uint8_t bad_prefixes[] = { 0x26, 0x2e, 0x36, 0x3e, 0xf0 };
	static const uint8_t bad_opcodes[] = {
		0x6c, 0x6d, 0x6e, 0x6f,				/* ins, outs */
		0x8e,						/* mov to a segment register */
		0x9c, 0x9d,					/* pushf would show the program the single-step flag */
		0xca, 0xcb, 0xcc, 0xcd, 0xcf,			/* far returns, int, iret */
		0xe4, 0xe5, 0xe6, 0xe7, 0xec, 0xed, 0xee, 0xef,	/* in, out */
		0xf1, 0xf4, 0xfa, 0xfb,				/* int1, hlt, cli, sti */
	};
	static const uint8_t bad_0f_opcodes[] = {
		0x00, 0x01, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,	/* system, syscall, ud2 */
		0x30, 0x34, 0x35, 0x37, 0x78, 0x79, 0xae,
	};
	uint8_t op = insn->opcode;

	for (size_t i = 0; i < sizeof(bad_prefixes); i++)
		if (has_prefix(insn, bad_prefixes[i]))
			return true;
	if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return true;
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
		if (op == 0xc7 && insn->raw.modrm.reg == 7)	/* xbegin: its abort address would be elsewhere */
			return true;
		return memchr(bad_opcodes, op, sizeof(bad_opcodes)) ||
		       (op == 0xff && (insn->raw.modrm.reg == 3 || insn->raw.modrm.reg == 5));
	}
	if (insn->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return memchr(bad_0f_opcodes, op, sizeof(bad_0f_opcodes));
	return false;
}

/* Direct branches as the kernel tells them; with an operand-size prefix it refuses them. */
static bool is_direct_branch(const ZydisDecodedInstruction *insn)
{
	uint8_t op = insn->opcode;

	if (insn->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return op == 0xe8 || op == 0xe9 || op == 0xeb || (op & 0xf0) == 0x70;
	return insn->opcode_map == ZYDIS_OPCODE_MAP_0F && (op & 0xf0) == 0x80;
}

/* push_setup_xol_ops(): one byte, or two of which the first is REX.B. */
static bool is_emulated_push(const ZydisDecodedInstruction *insn, const uint8_t *code)
{
	if (insn->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT || (insn->opcode & 0xf8) != 0x50)
		return false;
	return insn->length == 1 || (insn->length == 2 && code[0] == 0x41);
}

static enum site_class class_of(const ZydisDecodedInstruction *insn, const uint8_t *code)
{
	if (is_refused(insn))
		return SITE_REFUSED;
	if (is_direct_branch(insn))
		return has_prefix(insn, 0x66) ? SITE_REFUSED : SITE_CHEAP;
	if (is_emulated_push(insn, code))
		return SITE_CHEAP;
	if ((insn->mnemonic == ZYDIS_MNEMONIC_NOP || insn->mnemonic == ZYDIS_MNEMONIC_PAUSE) &&
	    insn->length <= EMULATED_NOP)
		return SITE_CHEAP;
	return SITE_DEAR;
}

static bool is_stack_pointer(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == ZYDIS_REGISTER_RSP;
}

static bool is_argument(ZydisRegister reg)
{
	switch (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg)) {
	case ZYDIS_REGISTER_RDI:
	case ZYDIS_REGISTER_RSI:
	case ZYDIS_REGISTER_RDX:
	case ZYDIS_REGISTER_RCX:
	case ZYDIS_REGISTER_R8:
	case ZYDIS_REGISTER_R9:
		return true;
	default:
		break;
	}
	switch (ZydisRegisterGetClass(reg)) {
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return ZydisRegisterGetId(reg) < 8;
	default:
		return false;
	}
}

/* How far an instruction that writes %rsp moves it down; false: not known, or up. */
static bool moved_by(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op, int *ret)
{
	int64_t by = -1;

	if (insn->mnemonic == ZYDIS_MNEMONIC_PUSH && insn->operand_width == 64)
		by = 8;
	else if (insn->mnemonic == ZYDIS_MNEMONIC_SUB && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		by = op[1].imm.value.s;
	else if (insn->mnemonic == ZYDIS_MNEMONIC_ADD && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		by = -op[1].imm.value.s;
	else if (insn->mnemonic == ZYDIS_MNEMONIC_LEA && op[1].mem.base == ZYDIS_REGISTER_RSP &&
		 op[1].mem.index == ZYDIS_REGISTER_NONE)
		by = -op[1].mem.disp.value;
	if (by < 0 || by > RED_PUSHED_MAX)
		return false;
	*ret = by;
	return true;
}

static bool may_fault(const ZydisDecodedOperand *op)
{
	return (op->mem.base != ZYDIS_REGISTER_RSP && op->mem.base != ZYDIS_REGISTER_RIP) || op->mem.index != ZYDIS_REGISTER_NONE;
}

static void see_effects(struct step *s, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op)
{
	bool moves = false;

	if (insn->mnemonic == ZYDIS_MNEMONIC_NOP || s->is_landing)
		return;
	s->may_panic = insn->mnemonic == ZYDIS_MNEMONIC_DIV || insn->mnemonic == ZYDIS_MNEMONIC_IDIV;
	for (unsigned i = 0; i < insn->operand_count; i++) {
		if (op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && op[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
			s->flags |= FUNC_LOADS;
			s->may_panic |= may_fault(&op[i]);
		}
		if (op[i].type != ZYDIS_OPERAND_TYPE_REGISTER || !(op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (is_stack_pointer(op[i].reg.value))
			moves = true;
		else if (is_argument(op[i].reg.value))
			s->flags |= FUNC_ARGS_GONE;
	}
	if (moves && !moved_by(insn, op, &s->pushed))
		s->sp_unknown = true;
}

static bool look(const ZydisDecoder *decoder, const uint8_t *code, size_t len, struct step *s)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;

	*s = (struct step){ 0 };
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, code, len, &insn, op)))
		return false;
	s->len = insn.length;
	s->class = class_of(&insn, code);
	s->is_nop5 = insn.mnemonic == ZYDIS_MNEMONIC_NOP && insn.length == NOP5;
	s->is_known_nop5 = s->is_nop5 && !memcmp(code, "\x0f\x1f\x44\x00", 4) && (code[4] == 0 || code[4] == 8);
	s->is_landing = insn.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
	s->is_end = insn.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE ||
		    insn.meta.category == ZYDIS_CATEGORY_RET || insn.meta.category == ZYDIS_CATEGORY_INTERRUPT ||
		    insn.meta.category == ZYDIS_CATEGORY_SYSCALL || insn.meta.category == ZYDIS_CATEGORY_SYSTEM ||
		    insn.meta.category == ZYDIS_CATEGORY_SYSRET || insn.mnemonic == ZYDIS_MNEMONIC_UD2;
	see_effects(s, &insn, op);
	return true;
}

static bool is_set(const uint8_t *bits, uint64_t at)
{
	return bits[at / 8] >> at % 8 & 1;
}

static void set(uint8_t *bits, uint64_t at)
{
	bits[at / 8] |= 1u << at % 8;
}

/* Does a branch lead to an address after @from, up to and including @to? */
static bool is_target_between(const struct code *code, uint64_t from, uint64_t to)
{
	for (uint64_t at = from + 1 - code->piece.addr; at <= to - code->piece.addr; at++)
		if (is_set(code->target, at))
			return true;
	return false;
}

/* @s at w->at: is it the site to take? */
static void consider(struct found *f, const struct step *s, const struct walk *w)
{
	bool is_moved = w->at != f->addr;

	f->seen = w->at;
	if (s->is_nop5) {
		if (s->is_known_nop5 && w->only_landing && w->at % PAGE_BYTES <= PAGE_BYTES - NOP5)
			f->nop5_site = w->at;
		return;
	}
	if (s->class == SITE_REFUSED) {
		f->flags |= is_moved ? 0 : FUNC_START_REFUSED;
		return;
	}
	if (w->pushed) {
		if (s->class == SITE_CHEAP && !f->entry_site) {
			f->entry_site = w->at;
			f->entry_sp_offset = w->pushed;
			f->entry_flags = w->flags | FUNC_MOVED;
		}
	} else if (!f->site || s->class < f->site_class) {
		f->site = w->at;
		f->site_class = s->class;
		f->flags &= ~(FUNC_LOADS | FUNC_ARGS_GONE | FUNC_MOVED);
		f->flags |= is_moved ? w->flags | FUNC_MOVED : 0;
	}
}

/* What an instruction is of Go's check of the stack. A large frame's lower end is computed first; a huge one's may wrap. */
enum part {
	NO_PART,
	START,		/* nothing yet */
	FINDS_G,	/* mov %fs:-8,%g: before Go 1.17, and in assembly; else %r14 is the goroutine */
	LOWERS,		/* lea -N(%rsp),%low */
	COPIES,		/* mov %rsp,%low */
	SUBTRACTS,	/* sub $N,%low */
	WRAPS,		/* jb */
	COMPARES,	/* cmp 0x10(%g),%low or %rsp */
	GROWS,		/* jbe */
	PARTS
};

#define BIT(part)	(1u << (part))

static const unsigned may_follow[PARTS] = {
	[FINDS_G] = BIT(START), [LOWERS] = BIT(START) | BIT(FINDS_G), [COPIES] = BIT(START) | BIT(FINDS_G),
	[SUBTRACTS] = BIT(COPIES), [WRAPS] = BIT(SUBTRACTS),
	[COMPARES] = BIT(START) | BIT(FINDS_G) | BIT(LOWERS) | BIT(WRAPS), [GROWS] = BIT(COMPARES),
};

#define GUARD_IN_G	0x10	/* g.stackguard0 */
#define G_IN_TLS	(-8)

struct check {
	ZydisRegister g, low;
};

static bool is_memory(const ZydisDecodedOperand *op, ZydisRegister base, int64_t disp)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.base == base && op->mem.index == ZYDIS_REGISTER_NONE &&
	       op->mem.disp.value == disp;
}

static enum part part_of(struct check *c, const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *op)
{
	ZydisRegister to = op[0].type == ZYDIS_OPERAND_TYPE_REGISTER ? op[0].reg.value : ZYDIS_REGISTER_NONE;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_JB:
		return WRAPS;
	case ZYDIS_MNEMONIC_JBE:
		return GROWS;
	case ZYDIS_MNEMONIC_SUB:
		return to == c->low && op[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? SUBTRACTS : NO_PART;
	case ZYDIS_MNEMONIC_CMP:
		return to == c->low && is_memory(&op[1], c->g, GUARD_IN_G) ? COMPARES : NO_PART;
	case ZYDIS_MNEMONIC_LEA:
		c->low = to;
		return to != ZYDIS_REGISTER_RSP && insn->operand_width == 64 && op[1].mem.disp.value < 0 &&
		       is_memory(&op[1], ZYDIS_REGISTER_RSP, op[1].mem.disp.value) ? LOWERS : NO_PART;
	case ZYDIS_MNEMONIC_MOV:
		if (to != ZYDIS_REGISTER_NONE && to != ZYDIS_REGISTER_RSP && op[1].type == ZYDIS_OPERAND_TYPE_REGISTER) {
			c->low = to;
			return op[1].reg.value == ZYDIS_REGISTER_RSP ? COPIES : NO_PART;
		}
		c->g = to;
		return is_memory(&op[1], ZYDIS_REGISTER_NONE, G_IN_TLS) && op[1].mem.segment == ZYDIS_REGISTER_FS ? FINDS_G : NO_PART;
	default:
		return NO_PART;
	}
}

/* Where the check ends that a Go function at @start begins with; 0: it has none. */
static uint64_t behind_check(const ZydisDecoder *decoder, const struct code *code, uint64_t start, uint64_t end)
{
	struct check c = { ZYDIS_REGISTER_R14, ZYDIS_REGISTER_RSP };
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	enum part before = START;
	uint64_t at = start;

	while (at < end && ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, code->piece.data + (at - code->piece.addr),
							       MIN(end - at, (uint64_t)ZYDIS_MAX_INSTRUCTION_LENGTH), &insn, op))) {
		enum part part = part_of(&c, &insn, op);

		at += insn.length;
		if (!(may_follow[part] & BIT(before)))
			return 0;
		/* What makes the stack larger lies behind the body. */
		if ((part == WRAPS || part == GROWS) &&
		    (op[0].imm.value.s <= 0 || (uint64_t)op[0].imm.value.s >= end - at))
			return 0;
		if (part == GROWS)
			return at;
		before = part;
	}
	return 0;
}

/* The best site from @from on, which is the function's start or lies behind its check. */
static void choose_from(const ZydisDecoder *decoder, const struct code *code, uint64_t from, uint64_t end, struct found *f)
{
	bool is_checked = from != f->addr;
	struct walk w = { .at = from, .only_landing = !is_checked, .flags = is_checked ? FUNC_LOADS : 0 };
	uint64_t before = f->addr;

	for (unsigned i = 0; i < WINDOW && w.at < end; i++) {
		struct step s;

		if (!look(decoder, code->piece.data + (w.at - code->piece.addr), MIN(end - w.at, (uint64_t)ZYDIS_MAX_INSTRUCTION_LENGTH), &s))
			return;
		if (w.at != f->addr && is_target_between(code, before, w.at))
			return;
		consider(f, &s, &w);
		if (s.is_end || s.sp_unknown || f->site_class == SITE_CHEAP || (is_checked && s.may_panic))
			return;
		before = w.at;
		w.at += s.len;
		w.pushed += s.pushed;
		w.flags |= s.flags;
		w.only_landing &= s.is_landing;
		if (f->entry_site && w.pushed)
			return;
	}
}

static void choose(const struct reader *r, const ZydisDecoder *decoder, const struct code *code, struct found *f)
{
	uint64_t end = f->addr + f->size, from = r->img->is_go ? behind_check(decoder, code, f->addr, end) : 0;

	if (from)
		choose_from(decoder, code, from, end, f);
	if (!f->site && !f->entry_site)
		choose_from(decoder, code, f->addr, end, f);
}

/* The last function that begins at or before @addr; NULL: none. */
static struct found *found_before(const struct reader *r, uint64_t addr)
{
	size_t low = 0, high = r->found_count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r->found[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &r->found[low - 1] : NULL;
}

/* Decodes the function @p lies in, once, and marks where its direct branches lead. */
static void confirm(struct reader *r, const ZydisDecoder *minimal, struct code *code, uint64_t p)
{
	struct found *f = found_before(r, p);
	const struct span *span = reader_span(r, p);
	uint64_t at = f && f->addr >= span->addr ? f->addr : span->addr, end = span->addr + span->len;
	ZydisDecodedInstruction insn;

	if (f && at == f->addr) {
		if (f->is_scanned)
			return;
		f->is_scanned = true;
	}
	if (f && f + 1 < r->found + r->found_count)
		end = MIN(end, f[1].addr);
	while (at < end) {
		const uint8_t *bytes = code->piece.data + (at - code->piece.addr);

		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(minimal, NULL, bytes, MIN(end - at, (uint64_t)ZYDIS_MAX_INSTRUCTION_LENGTH),
							      &insn))) {
			at++;		/* data */
			continue;
		}
		at += insn.length;
		if (insn.raw.imm[0].size && insn.raw.imm[0].is_relative) {
			uint64_t to = at + insn.raw.imm[0].value.s - code->piece.addr;

			if (to < code->piece.len)
				set(code->target, to);
		}
	}
}

/* call or jmp *slot(%rip) where the slot is a library function's: what -fno-plt makes. crt1.o's own are not meant. */
static bool is_call_by_slot(const struct reader *r, uint64_t target)
{
	const struct slot *slot = reader_slot(r, target);
	const char *name = slot ? r->names + slot->name : "";

	return *name && strcmp(name, "__libc_start_main") && !(name_flags(name, false) & FUNC_NEVER);
}

/* The first bytes of branches; of two-byte opcodes the second, behind 0f. */
enum { NO_BRANCH, SHORT, NEAR, NEAR_IF_0F, BY_SLOT };

static const uint8_t branches[256] = {
	[0x70 ... 0x7f] = SHORT, [0xe0 ... 0xe3] = SHORT, [0xeb] = SHORT,
	[0xe8 ... 0xe9] = NEAR, [0x80 ... 0x8f] = NEAR_IF_0F,
	[0xff] = BY_SLOT,
};

/* Looks at each byte of @span as the start of a branch; @watched: bits of the bytes that matter. */
static void search(struct reader *r, const ZydisDecoder *minimal, struct code *code, const struct span *span,
		   const uint8_t *watched)
{
	const uint8_t *bytes = code->piece.data;
	uint64_t begin = span->addr - code->piece.addr, end = begin + span->len, len = code->piece.len;

	for (uint64_t p = begin; p + 1 < end; p++) {
		unsigned kind = branches[bytes[p]];
		uint64_t to;
		int32_t by;

		if (kind == NO_BRANCH || (kind == NEAR_IF_0F && (p == begin || bytes[p - 1] != 0x0f)))
			continue;
		if (kind != SHORT && p + 6 > len)
			continue;
		if (kind == SHORT) {
			to = p + 2 + (int8_t)bytes[p + 1];
			if (to < len && is_set(watched, to) && !is_set(code->target, to))
				confirm(r, minimal, code, code->piece.addr + p);
			continue;
		}
		if (kind == BY_SLOT) {
			memcpy(&by, bytes + p + 2, sizeof(by));
			if (bytes[p + 1] == 0x15 || bytes[p + 1] == 0x25)
				r->img->no_plt_calls += is_call_by_slot(r, code->piece.addr + p + 6 + (int64_t)by);
			continue;
		}
		memcpy(&by, bytes + p + 1, sizeof(by));
		to = p + 5 + (int64_t)by;
		if (to >= len || !is_set(watched, to) || is_set(code->target, to))
			continue;
		if (r->img->is_go)
			confirm(r, minimal, code, code->piece.addr + p);
		else
			set(code->target, to);
	}
}

/* Marks what of @code is passed on the way to a possible site; true when there is any. */
static bool watch(struct reader *r, const ZydisDecoder *full, const struct code *code, uint8_t *watched)
{
	bool any = false;

	for (size_t i = 0; i < r->found_count; i++) {
		struct found *f = &r->found[i], trial = *f;

		if (f->addr - code->piece.addr >= code->piece.len)
			continue;
		set(code->target, f->addr - code->piece.addr);	/* where one begins, others enter */
		if (f->is_part || f->flags & FUNC_PLT || !f->size)
			continue;
		choose(r, full, code, &trial);
		for (uint64_t at = f->addr + 1; at <= trial.seen; at++) {
			set(watched, at - code->piece.addr);
			any = true;
		}
	}
	return any;
}

static int find_targets(struct reader *r, const ZydisDecoder *full, const ZydisDecoder *minimal)
{
	for (size_t i = 0; i < r->code_count; i++) {
		struct code *code = &r->code[i];
		__cleanup(free_ptr) uint8_t *watched = calloc(1, code->piece.len / 8 + 1);

		code->target = calloc(1, code->piece.len / 8 + 1);
		if (!code->target || !watched)
			return -ENOMEM;
		if (!watch(r, full, code, watched))
			continue;
		for (size_t j = 0; j < r->span_count; j++)
			if (!r->span[j].is_plt && reader_code(r, r->span[j].addr) == code)
				search(r, minimal, code, &r->span[j], watched);
	}
	return 0;
}

/* Calls nothing, and is short or runs straight through: a probe would cost far more than the function. */
static bool is_tiny(const ZydisDecoder *minimal, const struct code *code, const struct found *f)
{
	uint64_t at = f->addr, end = f->addr + f->size;
	bool has_loop = false;

	if (f->size > BODY_MAX)
		return false;
	while (at < end) {
		const uint8_t *bytes = code->piece.data + (at - code->piece.addr);
		ZydisDecodedInstruction insn;
		uint64_t target;

		if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(minimal, NULL, bytes, end - at, &insn)))
			return false;
		if (insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && insn.opcode == 0xff &&
		    insn.raw.modrm.reg >= 2 && insn.raw.modrm.reg <= 5)
			return false;		/* by pointer: a call, or a tail call */
		at += insn.length;
		if (!is_direct_branch(&insn))
			continue;
		target = at + insn.raw.imm[0].value.s;
		if (insn.opcode == 0xe8 || target < f->addr || target >= end)
			return false;
		has_loop |= target < at;
	}
	return f->size < TINY_BYTES || !has_loop;
}

static void choose_stub(struct found *f)
{
	f->site = f->addr;	/* endbr64, or the jump itself: both single-stepped, and nothing cheap lies near */
	f->site_class = SITE_DEAR;
}

/* Entry alone is asked for: then the cheap site behind some pushes is the better one. */
static void take_entry_site(struct found *f)
{
	if (f->flags & FUNC_ENTRY_ONLY && f->entry_site && f->site_class != SITE_CHEAP) {
		f->site = f->entry_site;
		f->sp_offset = f->entry_sp_offset;
		f->site_class = SITE_CHEAP;
		f->flags = (f->flags & ~(FUNC_LOADS | FUNC_ARGS_GONE)) | f->entry_flags;
	}
	if (f->site_class == SITE_CHEAP)
		f->entry_site = f->entry_sp_offset = 0;
}

static void choose_one(const ZydisDecoder *full, const ZydisDecoder *minimal, const struct reader *r, struct found *f)
{
	const struct span *span = reader_span(r, f->addr);
	const struct code *code = reader_code(r, f->addr);

	f->site_class = SITE_REFUSED;
	if (!span || !code || !f->size)
		return;
	if (f->flags & FUNC_PLT)
		return choose_stub(f);
	choose(r, full, code, f);
	take_entry_site(f);
	if (f->site_class == SITE_DEAR && is_tiny(minimal, code, f))
		f->flags |= FUNC_TINY;
}

int sites_start(struct reader *r)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t i = 0; i < r->found_count; i++) {
		struct found *f = &r->found[i];
		const struct code *code = reader_code(r, f->addr);
		uint64_t at = code ? f->addr - code->piece.addr : 0;
		struct step s;

		f->site = f->addr;
		f->site_class = SITE_REFUSED;
		/* A nop of five bytes may be rewritten, which some kernels get wrong (nop5_site): not here. */
		if (code && look(&decoder, code->piece.data + at, MIN(code->piece.len - at, (uint64_t)ZYDIS_MAX_INSTRUCTION_LENGTH), &s) &&
		    !s.is_nop5)
			f->site_class = s.class;
	}
	return 0;
}

int sites_choose(struct reader *r)
{
	ZydisDecoder full, minimal;
	int err;

	ZydisDecoderInit(&full, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderInit(&minimal, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&minimal, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	err = find_targets(r, &full, &minimal);
	if (err)
		return err;
	for (size_t i = 0; i < r->found_count; i++)
		if (!r->found[i].is_part)
			choose_one(&full, &minimal, r, &r->found[i]);
	return 0;
}

#endif
