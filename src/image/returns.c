/*
 * returns.c - functions that need care, by what their code does with their return address or their stack.
 *
 * A return probe puts the kernel's address in place of the return address. Who reads that does something with it: returns
 * from elsewhere (libffi's ffi_call_unix64() has what it calls run above its own frame, and the kernel then takes its
 * return for one that will not come), returns twice (setjmp()), or looks who called. And who leaves its stack for another
 * returns out of order: a coroutine's switch. Names tell that of some (names.c), and of none in a stripped file.
 *
 * Each function is followed from its start to its first call, branches not taken, over a few instructions: code that does
 * such things is written by hand and does little else, or looks at the address at once.
 */
#include "base.h"
#include "reader.h"

#if defined(__x86_64__)

#include <Zydis/Zydis.h>

#define FOLLOWED	32	/* instructions */

/* What is known of a frame at one instruction. */
struct frame {
	int64_t	 pushed;	/* bytes between %rsp and the return address */
	int64_t	 bp_height;	/* the same of %rbp, where has_bp */
	bool	 has_bp;
	uint32_t place;		/* a bit for each register that holds a place on this stack */
	uint32_t own;		/* ... that came from this stack: such a place, or what lies there */
	bool	 takes_return;	/* the return address is read */
	bool	 saves_sp, loads_sp;	/* for, and of, another stack */
};

struct insn {
	ZydisDecodedInstruction i;
	ZydisDecodedOperand	op[ZYDIS_MAX_OPERAND_COUNT];
};

static ZydisRegister whole(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

static uint32_t bit(ZydisRegister reg)
{
	return ZydisRegisterGetClass(whole(reg)) == ZYDIS_REGCLASS_GPR64 ? 1u << ZydisRegisterGetId(whole(reg)) : 0;
}

static bool is_own(const struct frame *f, ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_RSP || bit(reg) & f->own;
}

static bool holds_place(const struct frame *f, const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       (op->reg.value == ZYDIS_REGISTER_RSP || bit(op->reg.value) & f->place);
}

static bool is_register(const ZydisDecodedOperand *op, ZydisRegister reg)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value == reg;
}

/* The operand lies where the return address does. */
static bool is_return_address(const struct frame *f, const ZydisDecodedOperand *op)
{
	if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type == ZYDIS_MEMOP_TYPE_AGEN ||
	    op->mem.index != ZYDIS_REGISTER_NONE || !(op->actions & ZYDIS_OPERAND_ACTION_MASK_READ))
		return false;
	return (op->mem.base == ZYDIS_REGISTER_RSP && op->mem.disp.value == f->pushed) ||
	       (op->mem.base == ZYDIS_REGISTER_RBP && f->has_bp && op->mem.disp.value == f->bp_height);
}

/* Of this stack: %rsp, a copy of it, or what lies there. */
static bool comes_from_here(const struct frame *f, const ZydisDecodedOperand *op)
{
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return is_own(f, op->reg.value);
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && is_own(f, op->mem.base);
}

static bool copies(const ZydisDecodedInstruction *i)
{
	return i->mnemonic == ZYDIS_MNEMONIC_MOV || i->mnemonic == ZYDIS_MNEMONIC_LEA;
}

/* %rsp is written: false when nobody knows what it is then. */
static bool move_sp(struct frame *f, const struct insn *in)
{
	const ZydisDecodedOperand *from = &in->op[1];
	int64_t imm = from->imm.value.s;

	switch (in->i.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		f->pushed += in->i.operand_width / 8;
		return true;
	case ZYDIS_MNEMONIC_POP:
		f->pushed -= in->i.operand_width / 8;
		return !is_register(&in->op[0], ZYDIS_REGISTER_RSP);
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_ADD:
		f->pushed += in->i.mnemonic == ZYDIS_MNEMONIC_SUB ? imm : -imm;
		return from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
	case ZYDIS_MNEMONIC_LEA:
		f->pushed -= from->mem.disp.value;
		return from->mem.base == ZYDIS_REGISTER_RSP && from->mem.index == ZYDIS_REGISTER_NONE;
	case ZYDIS_MNEMONIC_MOV:
		f->loads_sp |= !f->has_bp && !comes_from_here(f, from);
		return f->loads_sp;
	case ZYDIS_MNEMONIC_XCHG:
		f->saves_sp = f->loads_sp = !f->has_bp;
		return f->loads_sp;
	default:
		return false;
	}
}

static void set_bits(uint32_t *bits, uint32_t which, bool on)
{
	*bits = on ? *bits | which : *bits & ~which;
}

static void copy_register(struct frame *f, const struct insn *in, const ZydisDecodedOperand *to)
{
	const ZydisDecodedOperand *from = &in->op[1];
	bool is_copy = copies(&in->i) && comes_from_here(f, from);

	set_bits(&f->own, bit(to->reg.value), is_copy);
	set_bits(&f->place, bit(to->reg.value), is_copy && (in->i.mnemonic == ZYDIS_MNEMONIC_LEA || holds_place(f, from)));
	if (whole(to->reg.value) != ZYDIS_REGISTER_RBP)
		return;
	f->has_bp = is_copy && in->i.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(from, ZYDIS_REGISTER_RSP);
	f->bp_height = f->pushed;
}

static bool is_end(const ZydisDecodedInstruction *i)
{
	return i->meta.category == ZYDIS_CATEGORY_CALL || i->meta.category == ZYDIS_CATEGORY_RET ||
	       i->meta.category == ZYDIS_CATEGORY_UNCOND_BR || i->meta.category == ZYDIS_CATEGORY_INTERRUPT ||
	       i->mnemonic == ZYDIS_MNEMONIC_UD2;
}

/* The stack pointer, or a place on the stack, is stored elsewhere. */
static bool saves(const struct frame *f, const struct insn *in)
{
	if (in->i.mnemonic != ZYDIS_MNEMONIC_MOV || in->op[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	if (in->op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
		return is_register(&in->op[1], ZYDIS_REGISTER_RSP) && !is_register(&in->op[0], ZYDIS_REGISTER_RBP);
	return holds_place(f, &in->op[1]) && !is_own(f, in->op[0].mem.base);
}

/* Follows one instruction; false: no further. */
static bool follow(struct frame *f, const struct insn *in)
{
	bool moves = false;

	if (is_end(&in->i))
		return false;
	for (unsigned n = 0; n < in->i.operand_count; n++) {
		const ZydisDecodedOperand *op = &in->op[n];

		f->takes_return |= is_return_address(f, op);
		if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (whole(op->reg.value) == ZYDIS_REGISTER_RSP)
			moves = true;
		else
			copy_register(f, in, op);
	}
	f->saves_sp |= saves(f, in);
	return !moves || move_sp(f, in);
}

static struct frame follow_function(const ZydisDecoder *decoder, const struct code *code, const struct found *fn)
{
	struct frame f = { 0 };
	uint64_t at = fn->addr - code->piece.addr, end = MIN(at + fn->size, (uint64_t)code->piece.len);
	struct insn in;

	for (unsigned i = 0; i < FOLLOWED && at < end; i++) {
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(decoder, code->piece.data + at, MIN(end - at, (uint64_t)ZYDIS_MAX_INSTRUCTION_LENGTH),
						       &in.i, in.op)) || !follow(&f, &in))
			break;
		at += in.i.length;
	}
	return f;
}

int returns_read(struct reader *r)
{
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t i = 0; i < r->found_count; i++) {
		struct found *fn = &r->found[i];
		const struct code *code = reader_code(r, fn->addr);
		struct frame f;

		if (!code || fn->is_part || fn->flags & (FUNC_PLT | FUNC_ENTRY_ONLY | FUNC_NEVER))
			continue;
		f = follow_function(&decoder, code, fn);
		if (f.takes_return || f.loads_sp)
			fn->flags |= FUNC_ENTRY_ONLY;
		if (f.saves_sp && f.loads_sp)
			r->img->switches_stacks = true;
	}
	return 0;
}

#else

int returns_read(struct reader *r)
{
	(void)r;	/* returns are inferred, whatever a function does */
	return 0;
}

#endif
