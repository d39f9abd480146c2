/* How much stack a BPF program has, as its instructions tell it. */
#include <linux/bpf.h>

#include "base.h"
#include "source/ownstack.h"
#include "test.h"

#define OP(code_, dst, src, off_, imm_)	{ .code = (code_), .dst_reg = (dst), .src_reg = (src), .off = (off_), .imm = (imm_) }

#define STORE(base, off)	OP(BPF_ST | BPF_MEM | BPF_DW, base, 0, off, 0)
#define STORE_REG(base, off, r)	OP(BPF_STX | BPF_MEM | BPF_DW, base, r, off, 0)
#define LOAD(to, base, off)	OP(BPF_LDX | BPF_MEM | BPF_DW, to, base, off, 0)
#define ADD_ATOMIC(base, off, r)	OP(BPF_STX | BPF_ATOMIC | BPF_DW, base, r, off, BPF_ADD)
#define COPY(to, from)		OP(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define COPY_32(to, from)	OP(BPF_ALU | BPF_MOV | BPF_X, to, from, 0, 0)
#define SET(to, n)		OP(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, n)
#define MOVE(to, n)		OP(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, n)
#define MOVE_BACK(to, n)	OP(BPF_ALU64 | BPF_SUB | BPF_K, to, 0, 0, n)
#define MOVE_REG(to, by)	OP(BPF_ALU64 | BPF_ADD | BPF_X, to, by, 0, 0)
#define MASK(to, n)		OP(BPF_ALU64 | BPF_AND | BPF_K, to, 0, 0, n)
#define JUMP(off)		OP(BPF_JMP | BPF_JA, 0, 0, off, 0)
#define JUMP_FAR(imm)		OP(BPF_JMP32 | BPF_JA, 0, 0, 0, imm)
#define JUMP_IF(r, n, off)	OP(BPF_JMP | BPF_JEQ | BPF_K, r, 0, off, n)
#define HELPER(n)		OP(BPF_JMP | BPF_CALL, 0, 0, 0, n)
#define CALL(off)		OP(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, off, 1)	/* as the kernel shows it */
#define FUNCTION(to, imm)	OP(BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_FUNC, 0, imm), OP(0, 0, 0, 0, 0)
#define CONSTANT(to, imm)	OP(BPF_LD | BPF_IMM | BPF_DW, to, 0, 0, imm), OP(0, 0, 0, 0, 0)
#define EXIT			OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

#define DEPTH(...)								\
	({									\
		const struct bpf_insn code_[] = { __VA_ARGS__ };		\
		ownstack_depth(code_, ARRAY_SIZE(code_));			\
	})

TEST(a_program_that_has_no_frame_needs_no_stack)
{
	CHECK_INT(DEPTH(SET(0, 0), EXIT), 0);
	CHECK_INT(DEPTH(LOAD(0, 1, 8), STORE(1, -400), EXIT), 0);	/* the context is not the frame */
}

TEST(the_lowest_byte_of_the_frame_that_is_accessed_counts)
{
	CHECK_INT(DEPTH(STORE(10, -48), STORE(10, -8), EXIT), 48);
	CHECK_INT(DEPTH(STORE(10, -56), EXIT), 56);
	CHECK_INT(DEPTH(LOAD(1, 10, -64), EXIT), 64);
	CHECK_INT(DEPTH(STORE_REG(10, -72, 1), EXIT), 72);
	CHECK_INT(DEPTH(ADD_ATOMIC(10, -80, 1), EXIT), 80);
	CHECK_INT(DEPTH(STORE(10, -512), EXIT), 512);
	CHECK(DEPTH(STORE(10, -520), EXIT) < 0);
}

TEST(what_a_function_is_given_a_pointer_to_is_in_the_frame)
{
	CHECK_INT(DEPTH(COPY(2, 10), MOVE(2, -40), HELPER(1), EXIT), 40);
	CHECK_INT(DEPTH(COPY(6, 10), MOVE_BACK(6, 48), COPY(2, 6), MOVE(2, 8), HELPER(1), EXIT), 40);
	CHECK_INT(DEPTH(COPY(6, 10), MOVE(6, -16), STORE(6, -16), EXIT), 32);
	CHECK_INT(DEPTH(COPY(6, 10), MOVE(6, -64), SET(6, 1), HELPER(1), EXIT), 0);
	CHECK_INT(DEPTH(COPY(2, 10), MOVE(2, -64), SET(2, 1), HELPER(1), EXIT), 0);
}

TEST(a_call_leaves_no_pointer_in_the_registers_of_arguments)
{
	CHECK_INT(DEPTH(COPY(2, 10), MOVE(2, -8), HELPER(1), MOVE(2, -100), HELPER(1), EXIT), 8);
	CHECK_INT(DEPTH(COPY(6, 10), MOVE(6, -8), HELPER(1), STORE(6, -100), EXIT), 108);
}

TEST(every_way_through_the_code_is_taken)
{
	CHECK_INT(DEPTH(JUMP_IF(1, 0, 2), STORE(10, -8), EXIT, STORE(10, -24), EXIT), 24);
	CHECK_INT(DEPTH(JUMP(1), STORE(10, -64), STORE(10, -8), EXIT), 8);
	CHECK_INT(DEPTH(JUMP_FAR(1), STORE(10, -64), STORE(10, -8), EXIT), 8);
	CHECK_INT(DEPTH(COPY(6, 10), JUMP_IF(1, 0, 2), MOVE(6, -8), JUMP(1), MOVE(6, -8), STORE(6, 0), EXIT), 8);
	CHECK_INT(DEPTH(SET(6, 0), JUMP_IF(1, 0, 2), COPY(6, 10), MOVE(6, -32), STORE(6, -8), EXIT), 40);
	CHECK(DEPTH(COPY(6, 10), MOVE(6, -32), JUMP_IF(1, 0, -2), STORE(6, 0), EXIT) < 0);	/* down for ever */
	CHECK_INT(DEPTH(COPY(6, 10), MOVE(6, -32), STORE(6, 0), JUMP_IF(1, 0, -2), EXIT), 32);
}

TEST(a_constant_of_64_bits_has_two_places)
{
	CHECK_INT(DEPTH(CONSTANT(6, -1), STORE(10, -16), EXIT), 16);
	CHECK_INT(DEPTH(COPY(6, 10), CONSTANT(6, 1), STORE(6, -64), EXIT), 0);
}

TEST(each_function_has_a_frame_of_its_own_and_the_largest_counts)
{
	CHECK_INT(DEPTH(STORE(10, -40), CALL(1), EXIT, STORE(10, -48), EXIT), 48);
	CHECK_INT(DEPTH(STORE(10, -40), CALL(1), EXIT, STORE(10, -64), EXIT), 64);
	CHECK_INT(DEPTH(STORE(10, -40), CALL(1), EXIT, CALL(1), EXIT, STORE(10, -56), EXIT), 56);
	CHECK_INT(DEPTH(STORE(10, -40), CALL(2), CALL(1), EXIT, STORE(10, -16), EXIT), 40);
	CHECK_INT(DEPTH(COPY(1, 10), MOVE(1, -8), CALL(1), EXIT, STORE(1, -64), EXIT), 8);	/* r1 is not of its frame */
}

TEST(a_function_that_bpf_loop_calls_is_looked_at)
{
	CHECK_INT(DEPTH(FUNCTION(2, 4), HELPER(BPF_FUNC_loop), SET(0, 0), EXIT, STORE(10, -56), EXIT), 56);
}

TEST(code_that_nothing_leads_to_does_not_count)
{
	CHECK_INT(DEPTH(STORE(10, -8), EXIT, STORE(10, -64), EXIT), 8);
}

TEST(a_pointer_that_cannot_be_followed_makes_the_answer_unknown)
{
	CHECK(DEPTH(COPY(2, 10), MOVE_REG(2, 3), HELPER(1), EXIT) < 0);
	CHECK(DEPTH(COPY(2, 10), MOVE_REG(3, 2), STORE(3, 0), EXIT) < 0);
	CHECK(DEPTH(COPY(2, 10), MASK(2, -16), STORE(2, 0), EXIT) < 0);
	CHECK(DEPTH(COPY_32(2, 10), STORE(2, 0), EXIT) < 0);
	CHECK(DEPTH(COPY(2, 10), MOVE(2, -8), STORE_REG(10, -16, 2), EXIT) < 0);	/* it may be loaded again anywhere */
	CHECK(DEPTH(COPY(2, 10), MOVE(2, 8), STORE(2, 0), EXIT) < 0);
	CHECK_INT(DEPTH(COPY(2, 10), MOVE_REG(2, 3), STORE(10, -8), EXIT), 8);		/* nothing is done with it */
}

TEST(code_that_leads_nowhere_makes_the_answer_unknown)
{
	CHECK(DEPTH(STORE(10, -8)) < 0);
	CHECK(DEPTH(JUMP(5), EXIT) < 0);
	CHECK(DEPTH(JUMP(-5), EXIT) < 0);
	CHECK(DEPTH(CALL(-5), EXIT) < 0);
}
