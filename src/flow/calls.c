/*
 * calls.c - opening and closing calls, innermost last.
 */
#include "base.h"
#include "cuda/process.h"
#include "flow/calls.h"
#include "flow/record.h"
#include "flow/segment.h"
#include "flow/tracker.h"

/*
 * Stack pointers further apart than this are taken to be on different stacks.
 * A single frame larger than that is also taken so, which does no harm: its
 * call still nests, and only what a lost return would have shown is missed.
 */
#define NO_NUMBER	UINT32_MAX	/* -1 */
#define NEAR_BYTES	(256u << 10)

/* Its place on the stack tells whether it has been left; a syscall is left when anything else is seen. */
static bool has_frame(const struct call *call)
{
	return call->kind != REC_SYS_ENTER;
}

static bool is_near(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) < NEAR_BYTES;
}

static int tell(struct calls *c, struct task *t, const struct rec_hdr *rec, const struct call *call, uint32_t depth,
		uint16_t kind, uint16_t ending, uint64_t began)
{
	struct event ev = {
		.rec = rec, .task = t, .time = c->time, .began = began, .kind = kind, .ending = ending, .depth = depth, .call = call,
	};

	t->last = c->time;
	t->last_call = began;
	c->counts->events++;
	return segment_event(c->segment, &ev);
}

/* The innermost call ends. */
static int close_top(struct calls *c, struct task *t, const struct rec_hdr *rec, uint16_t ending)
{
	static const uint16_t exit_of[REC_KINDS] = {
		[REC_FUNC_ENTRY] = REC_FUNC_EXIT, [REC_SYS_ENTER] = REC_SYS_EXIT, [REC_CUDA_ENTRY] = REC_CUDA_EXIT,
	};
	struct call *call = &t->call[--t->depth];
	int err = 0;

	if (ending == ENDED_INFERRED)
		c->counts->inferred++;
	if (call->cuda)
		err = cuda_call_leave(call->cuda, ending == ENDED_SEEN ? (const void *)rec : NULL);
	if (call->cuda) {
		c->counts->cuda_nodes += call->cuda->is_node_unknown;
		c->counts->cuda_graphs += call->cuda->is_graph_partly;
		c->counts->cuda_captures += call->cuda->is_capture_lost;
	}
	err = err ?: tell(c, t, rec, call, t->depth, exit_of[call->kind], ending, c->time);
	if (call->cuda && ending == ENDED_INFERRED && call->cuda->fn->plan.out) {
		cuda_call_free(t->gave);
		t->gave = TAKE(call->cuda);
	}
	cuda_call_free(TAKE(call->cuda));
	return err;
}

static int close_down_to(struct calls *c, struct task *t, const struct rec_hdr *rec, size_t depth)
{
	int err = 0;

	while (t->depth > depth && !err)
		err = close_top(c, t, rec, ENDED_INFERRED);
	return err;
}

/* A syscall open when something else of the task is seen has come back unseen. */
static int close_open_syscall(struct calls *c, struct task *t, const struct rec_hdr *rec)
{
	if (t->depth && t->call[t->depth - 1].kind == REC_SYS_ENTER)
		return close_top(c, t, rec, ENDED_INFERRED);
	return 0;
}

/* The depth up to which calls lie on the stack of @sp or on stacks left for it: those above it are on another. */
static size_t depth_of_stack(const struct task *t, uint64_t sp)
{
	size_t n = t->depth;

	while (n && !is_near(t->call[n - 1].sp, sp))
		n--;
	return n;
}

/*
 * Has the frame of @call been left when the task is about to run @next? At the
 * same place only one whose return would not be seen, or if @next is known to have
 * been called: else it is a tail call, whose returns come both, innermost first.
 */
static bool is_left(const struct call *call, const struct call *next)
{
	if (!is_near(call->sp, next->sp))
		return false;
	return call->sp < next->sp ||
	       (call->sp == next->sp && (call->flags & REC_F_NO_EXIT || next->flags & REC_F_CALLED));
}

static int close_left(struct calls *c, struct task *t, const struct rec_hdr *rec, const struct call *next)
{
	size_t depth = depth_of_stack(t, next->sp);

	if (!depth)
		return 0;			/* a stack not seen before, or one that has no open call */
	while (depth && is_left(&t->call[depth - 1], next))
		depth--;
	return close_down_to(c, t, rec, depth);
}

/* Not before the task did, which may have been unknown until now, nor before what was told of its calls. */
static uint64_t began_in_order(const struct calls *c, const struct task *t, const struct rec_hdr *rec)
{
	if (!(rec->flags & REC_F_HELD))
		return c->time;
	return MIN(MAX(record_began(rec), MAX(t->begin, t->last_call)), c->time);
}

int calls_enter(struct calls *c, struct task *t, const struct rec_hdr *rec, const struct call *call)
{
	int err = close_open_syscall(c, t, rec);

	if (has_frame(call))
		err = err ?: close_left(c, t, rec, call);
	err = err ?: grow(&t->call, &t->call_room, t->depth, sizeof(*t->call));
	if (err) {
		cuda_call_free(call->cuda);
		return err;
	}
	t->call[t->depth++] = *call;
	return tell(c, t, rec, &t->call[t->depth - 1], t->depth - 1, call->kind, ENDED_SEEN, began_in_order(c, t, rec));
}

/* @kind 0: of any. */
static bool is_call_of(const struct call *call, uint16_t kind, uint32_t id, uint64_t sp)
{
	return has_frame(call) && (call->kind == kind || !kind) && (call->id == id || id == CALL_ANY) && call->sp == sp;
}

int calls_exit_function(struct calls *c, struct task *t, const struct rec_hdr *rec, uint16_t kind, uint32_t id,
			uint64_t sp)
{
	size_t n = t->depth;
	int err;

	while (n && !is_call_of(&t->call[n - 1], kind, id, sp))
		n--;
	if (!n) {				/* closed before, or its entry was lost */
		c->counts->unmatched++;
		return close_left(c, t, rec, &(struct call){ .sp = sp });
	}
	err = close_down_to(c, t, rec, n);
	return err ?: close_top(c, t, rec, ENDED_SEEN);
}

int calls_leave(struct calls *c, struct task *t, const struct rec_hdr *rec, uint64_t sp)
{
	size_t n = t->depth;

	while (n && !is_call_of(&t->call[n - 1], 0, CALL_ANY, sp))
		n--;
	if (!n)
		return 0;			/* closed before */
	while (n && is_call_of(&t->call[n - 1], 0, CALL_ANY, sp))
		n--;
	return close_down_to(c, t, rec, n);
}

int calls_pass(struct calls *c, struct task *t, const struct rec_hdr *rec, uint64_t sp)
{
	/* A function that has pushed nothing is still there: what is at its very place is not left. */
	const struct call here = { .sp = sp - 1 };

	return close_open_syscall(c, t, rec) ?: close_left(c, t, rec, &here);
}

int calls_exit_syscall(struct calls *c, struct task *t, const struct rec_hdr *rec, uint32_t nr)
{
	const struct call *top = t->depth ? &t->call[t->depth - 1] : NULL;
	int err;

	if (!top || top->kind != REC_SYS_ENTER || top->id != nr) {
		c->counts->unmatched++;		/* execve's own, a new thread's clone, a signal's return, which has no number */
		err = close_open_syscall(c, t, rec);
		if (err || nr == NO_NUMBER)
			return err;
		return tell(c, t, rec, NULL, t->depth, REC_SYS_EXIT, ENDED_SEEN, c->time);
	}
	return close_top(c, t, rec, ENDED_SEEN);
}

int calls_close_all(struct calls *c, struct task *t, const struct rec_hdr *rec)
{
	int err = 0;

	while (t->depth && !err)
		err = close_top(c, t, rec, ENDED_WITH_TASK);
	return err;
}
