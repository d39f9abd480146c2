/*
 * ownstack.c - follows r10, the end of a function's frame, and pointers made of it, through all ways the code can take.
 *
 * The lowest byte that is accessed counts, or that a function is given a pointer to: it goes upwards from there.
 * The instructions are those that the kernel runs, which it has rid of what is never reached with our constants.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#include "base.h"
#include "log.h"
#include "source/ownstack.h"

#define DEPTH_MAX	48	/* 64 is too much: BPF_PRIV_STACK_MIN_SIZE; depths are rounded up to 16 before they are compared */
#define FRAME_MAX	512	/* MAX_BPF_STACK */

/* What a register may hold: no pointer into the frame, one to so many bytes below its end, or one to an unknown place. */
#define NO_POINTER	(-1)
#define UNKNOWN		(FRAME_MAX + 1)

#define REGISTERS	16	/* r0 to r10, and those the kernel has for itself */
#define LAST_ARGUMENT	5

struct registers {
	int16_t at[REGISTERS];
	bool	is_known;		/* false: their instruction has not been reached yet */
};

struct walk {
	const struct bpf_insn *code;
	size_t		  count;
	struct registers *before;	/* each instruction */
	size_t		 *todo;		/* instructions to go on from, each once at most */
	size_t		  todos;
	bool		 *is_todo;
	int		  depth;	/* the most so far */
};

static bool is_pointer(int16_t at)
{
	return at != NO_POINTER;
}

static int16_t either(int16_t a, int16_t b)
{
	if (a == b || !is_pointer(b))
		return a;
	return is_pointer(a) ? UNKNOWN : b;
}

/* The code at @to can be reached with @r. */
static void reach(struct walk *w, size_t to, const struct registers *r)
{
	struct registers *known, all = *r;

	if (to >= w->count) {
		w->depth = UNKNOWN;
		return;
	}
	known = &w->before[to];
	for (int i = 0; i < REGISTERS && known->is_known; i++)
		all.at[i] = either(known->at[i], r->at[i]);
	if (known->is_known && !memcmp(known->at, all.at, sizeof(all.at)))
		return;
	*known = all;
	if (!w->is_todo[to])
		w->todo[w->todos++] = to;
	w->is_todo[to] = true;
}

/* A function begins at @start, with a frame of its own. */
static void begin(struct walk *w, size_t start)
{
	struct registers r = { .is_known = true };

	for (int i = 0; i < REGISTERS; i++)
		r.at[i] = i == BPF_REG_10 ? 0 : NO_POINTER;
	reach(w, start, &r);
}

/* @add bytes from where @at points to. */
static int16_t moved(int16_t at, int64_t add)
{
	int64_t to = at - add;

	if (!is_pointer(at))
		return NO_POINTER;
	return at == UNKNOWN || to < 0 || to > FRAME_MAX ? UNKNOWN : to;
}

static void use(struct walk *w, int16_t at)
{
	if (is_pointer(at))
		w->depth = MAX(w->depth, at);
}

static void use_at(struct walk *w, int16_t at, int16_t offset)
{
	use(w, moved(at, offset));
}

/* A pointer that is stored may be loaded anywhere. */
static void store(struct walk *w, int16_t value)
{
	if (is_pointer(value))
		w->depth = UNKNOWN;
}

static void compute(struct registers *r, const struct bpf_insn *i)
{
	bool is_wide = BPF_CLASS(i->code) == BPF_ALU64, has_source = BPF_SRC(i->code) == BPF_X;
	int16_t source = has_source ? r->at[i->src_reg] : NO_POINTER, *to = &r->at[i->dst_reg];

	switch (BPF_OP(i->code)) {
	case BPF_MOV:
		*to = is_pointer(source) && (!is_wide || i->off) ? UNKNOWN : source;
		break;
	case BPF_ADD:
	case BPF_SUB:
		if (is_wide && !has_source) {
			*to = moved(*to, BPF_OP(i->code) == BPF_ADD ? i->imm : -(int64_t)i->imm);
			break;
		}
		/* fallthrough */
	default:
		if (is_pointer(*to) || is_pointer(source))
			*to = UNKNOWN;
	}
}

/* Of a function of ours the kernel tells in off how far it is. */
static void call(struct walk *w, size_t at, struct registers *r)
{
	const struct bpf_insn *i = &w->code[at];

	if (i->src_reg == BPF_PSEUDO_CALL)
		begin(w, at + 1 + i->off);
	for (int arg = 1; arg <= LAST_ARGUMENT; arg++)
		use(w, r->at[arg]);
	for (int lost = 0; lost <= LAST_ARGUMENT; lost++)
		r->at[lost] = NO_POINTER;
}

/* The address of a function of ours is for one that calls it: bpf_loop(). */
static void load_constant(struct walk *w, size_t at, struct registers *r)
{
	const struct bpf_insn *i = &w->code[at];

	if (i->src_reg == BPF_PSEUDO_FUNC)
		begin(w, at + 1 + i->imm);
	r->at[i->dst_reg] = NO_POINTER;
}

/* Goes on to where the jump at @at may lead. */
static void jump(struct walk *w, size_t at, struct registers *r)
{
	const struct bpf_insn *i = &w->code[at];
	bool is_far = i->code == (BPF_JMP32 | BPF_JA);

	switch (BPF_OP(i->code)) {
	case BPF_EXIT:
		return;
	case BPF_CALL:
		call(w, at, r);
		break;
	case BPF_JA:
		reach(w, at + 1 + (is_far ? i->imm : i->off), r);
		return;
	default:
		reach(w, at + 1 + i->off, r);
	}
	reach(w, at + 1, r);
}

static void step(struct walk *w, size_t at)
{
	const struct bpf_insn *i = &w->code[at];
	struct registers r = w->before[at];
	size_t next = at + 1;

	switch (BPF_CLASS(i->code)) {
	case BPF_JMP:
	case BPF_JMP32:
		jump(w, at, &r);
		return;
	case BPF_ALU:
	case BPF_ALU64:
		compute(&r, i);
		break;
	case BPF_LD:			/* a constant of 64 bits: two places long */
		load_constant(w, at, &r);
		next++;
		break;
	case BPF_LDX:
		use_at(w, r.at[i->src_reg], i->off);
		r.at[i->dst_reg] = NO_POINTER;
		break;
	case BPF_ST:
		use_at(w, r.at[i->dst_reg], i->off);
		break;
	case BPF_STX:
		use_at(w, r.at[i->dst_reg], i->off);
		store(w, r.at[i->src_reg]);
		break;
	}
	reach(w, next, &r);
}

int ownstack_depth(const struct bpf_insn *code, size_t count)
{
	__cleanup(free_ptr) void *before = calloc(count, sizeof(struct registers));
	__cleanup(free_ptr) void *todo = calloc(count, sizeof(size_t));
	__cleanup(free_ptr) void *is_todo = calloc(count, sizeof(bool));
	struct walk w = { .code = code, .count = count, .before = before, .todo = todo, .is_todo = is_todo };

	if (!before || !todo || !is_todo)
		return -ENOMEM;
	if (count > INT16_MAX)
		return -E2BIG;			/* off may not have had room for how far a function is */
	begin(&w, 0);
	while (w.todos) {
		size_t at = w.todo[--w.todos];

		w.is_todo[at] = false;
		step(&w, at);
	}
	return w.depth > FRAME_MAX ? -ERANGE : w.depth;
}

/* The instructions of the program @fd as the kernel has them, to be freed; NULL: it does not show them. */
static struct bpf_insn *kernel_code(int fd, size_t *count)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info), bytes;
	__cleanup(free_ptr) void *code = NULL;

	if (bpf_obj_get_info_by_fd(fd, &info, &len) || !info.xlated_prog_len)
		return NULL;
	bytes = info.xlated_prog_len;
	code = calloc(1, bytes);
	info = (struct bpf_prog_info){ .xlated_prog_len = bytes, .xlated_prog_insns = (uintptr_t)code };
	len = sizeof(info);
	if (!code || bpf_obj_get_info_by_fd(fd, &info, &len) || !info.xlated_prog_insns || info.xlated_prog_len != bytes)
		return NULL;
	*count = bytes / sizeof(struct bpf_insn);
	return TAKE(code);
}

bool ownstack_has(const struct bpf_program *prog)
{
	size_t count = 0;
	__cleanup(free_ptr) void *code = kernel_code(bpf_program__fd(prog), &count);
	int depth = code ? ownstack_depth(code, count) : -ENODATA;

	if (depth >= 0 && depth <= DEPTH_MAX)
		return true;
	if (depth < 0)
		detail("BPF program %s: how much stack it has cannot be told: %s", bpf_program__name(prog), strerror(-depth));
	else
		detail("BPF program %s: %d bytes of stack", bpf_program__name(prog), depth);
	return false;
}
