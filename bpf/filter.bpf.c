/*
 * filter.bpf.c - function probes when --filter, --notrace, --depth or --max-stack is given.
 *
 * uftrace's rules. Inside a call of a COOKIE_OUT function nothing is recorded. A
 * COOKIE_IN function lets in what it calls, and the depth that is left begins anew
 * at --depth. Where a file has COOKIE_IN functions, what is in none is not recorded.
 * What is recorded takes one off the depth for what it calls; at none left, nothing is.
 * --max-stack is how many recorded calls may be open: in the last of them none is looked at.
 *
 * A task has frames, innermost last: each says what holds for calls below its stack
 * pointer. A call that changes nothing gets no frame, so without --depth there are
 * few. Frames are left as the tracker leaves calls (src/flow/calls.c): by the stack
 * pointer of the next entry or return, whether the way out was a return, longjmp()
 * or an exception. So nothing is counted up and down, and nothing can drift.
 */
#include "filter.bpf.h"
#include "function.bpf.h"
#include "held.bpf.h"
#include "point.bpf.h"
#include "rate.bpf.h"
#include "trigger.bpf.h"

#define FRAME_IN	1u	/* inside a COOKIE_IN function */
#define FRAME_OUT	2u	/* inside a COOKIE_OUT function */
#define FRAME_STATE	(FRAME_IN | FRAME_OUT)
#define FRAME_UNSEEN	4u	/* its return is not probed */
#define FRAME_HOME	8u	/* on the task's home stack */
#define FRAME_SHOWN	16u	/* its call was recorded */
#define FRAME_ASKED	32u	/* COOKIE_TRIGGER: its return asks this frame, and no other's, whether it was */

#define NO_LIMIT	0xffu
#define NO_LEVELS	0xffffu

const volatile __u32 depth_max = NO_LIMIT;	/* --depth */
const volatile __u32 level_max = NO_LEVELS;	/* --max-stack */

#define HAS_LIMITS	(level_max != NO_LEVELS || depth_max != NO_LIMIT || has_triggers || rate_max)

static __always_inline bool is_same_stack(const struct frame *f, __u64 sp, __u32 flags)
{
	return is_one_stack(f->sp, f->flags & FRAME_HOME ? FILTER_HOME : 0, sp, flags);
}

/* The same question as calls.c asks, of a frame on the stack of @sp. */
static __always_inline bool is_left(const struct frame *f, __u64 sp, __u32 flags)
{
	return f->sp < sp || (f->sp == sp && (f->flags & FRAME_UNSEEN || flags & REC_F_CALLED));
}

static __always_inline struct frame *frame_at(struct frames *f, __u64 i)
{
	return &f->frame[i & (FILTER_FRAMES - 1)];
}

struct leaving {
	struct frames *f;
	__u64	       sp, count;
	__u32	       flags;
	__u32	       func;		/* that returns; NO_FUNC: it is an entry */
	__u32	       own;		/* flags of the frame of that call, FRAME_ASKED among them; 0: none was found */
	bool	       on_stack;	/* a frame of this stack was found: those before it were opened elsewhere since */
	bool	       elsewhere;	/* there were such */
	__u64	       unseen;		/* sp of the outermost recorded call that was left; 0: none */
};

/* Tail calls: at one place return first those that were called last, then their callers, each a return of its own. */
static __always_inline bool is_asked_here(const struct frame *top, const struct leaving *l)
{
	return l->func != NO_FUNC && top->flags & FRAME_ASKED && top->sp == l->sp;
}

static long leave_frame(__u32 i, struct leaving *l)
{
	struct frame *top;

	if (!l->count)
		return 1;
	top = frame_at(l->f, l->count - 1);
	if (is_same_stack(top, l->sp, l->flags)) {
		l->on_stack = 1;
		if (!is_left(top, l->sp, l->flags))
			return 1;
		if (is_asked_here(top, l)) {
			if (top->func != l->func)
				return 1;
			l->own = top->flags;
			l->count--;
			return 1;
		}
	} else if (l->on_stack) {
		return 1;
	} else {
		l->elsewhere = true;
	}
	if (top->flags & FRAME_SHOWN)
		l->unseen = top->sp;
	l->count--;
	return 0;
}

/* Drop the frames that were left when the task is at @l->sp. On a new stack, one that has no frame, none was. */
static __always_inline void leave_frames(struct leaving *l)
{
	struct frames *f = l->f;
	struct frame *top = frame_at(f, f->count - 1);

	l->count = f->count;
	if (!f->count || (is_same_stack(top, l->sp, l->flags) && !is_left(top, l->sp, l->flags)))
		return;
	bpf_loop(FILTER_FRAMES, leave_frame, l, 0);
	if (l->on_stack)
		f->count = l->count;
	else
		l->unseen = 0;
}

/* The last place is kept for a frame that ends all recording, which no other follows. */
static __always_inline void push_frame(struct frames *f, const struct frame *new)
{
	if (f->count >= FILTER_FRAMES - !(new->flags & FRAME_OUT))
		return;
	*frame_at(f, f->count) = *new;
	f->count++;
}

/* What becomes of a call of @cookie where @now holds; @next: what holds for the calls that it makes. */
static __always_inline int judge(const struct frame *now, __u64 cookie, struct frame *next)
{
	*next = *now;
	if (now->flags & FRAME_OUT)
		return FILTER_SKIP;
	if (cookie & COOKIE_OUT) {
		next->flags |= FRAME_OUT;
		return FILTER_WATCH;
	}
	if (cookie & COOKIE_IN) {
		next->flags |= FRAME_IN;
		next->depth = depth_max;
	} else if (cookie & COOKIE_ONLY && !(now->flags & FRAME_IN)) {
		return FILTER_SKIP;
	}
	next->depth = trigger_depth(cookie, next->depth);
	if (cookie & COOKIE_HIDE)
		return FILTER_WATCH;
	if (!next->depth)
		return FILTER_SKIP;
	next->depth -= next->depth != NO_LIMIT;
	return FILTER_SHOW;
}

/* With a limit, what is not recorded must tell where a recorded call has been left whose return is not seen. */
static __always_inline bool needs_frame(const struct frame *now, const struct frame *next, int verdict, __u32 flags)
{
	if (next->flags & FRAME_ASKED)
		return true;
	if (now->depth != next->depth || now->level != next->level || (now->flags ^ next->flags) & FRAME_STATE)
		return true;
	return verdict == FILTER_SHOW && flags & REC_F_NO_EXIT && HAS_LIMITS;
}

/* Does no filter take the call out? How deep it is does not matter. */
static __always_inline bool is_meant(const struct frame *now, __u64 cookie)
{
	if ((now->flags & FRAME_OUT) || cookie & COOKIE_OUT)
		return false;
	return cookie & COOKIE_IN || now->flags & FRAME_IN || !(cookie & COOKIE_ONLY);
}

/* Triggers act before the call itself is recorded, or not. Returns whether the process is switched off. */
static __always_inline bool is_switched_off(const struct frame *now, __u64 cookie)
{
	if (!has_switches)
		return false;
	if (cookie & COOKIE_TRIGGER && is_meant(now, cookie))
		trigger_switch(cookie);
	return trigger_is_off();
}

static __always_inline bool is_beyond(const struct frame *now)
{
	return level_max != NO_LEVELS && now->level >= level_max;
}

/* Of what lies beyond, what else would be recorded is counted. */
static __always_inline int count_deep(int verdict)
{
	count_filtered(verdict == FILTER_SHOW ? FILTERED_DEEP : FILTERED_CALLS, 1);
	return FILTER_SKIP;
}

static __always_inline __u32 frame_flags(__u32 flags)
{
	return (flags & REC_F_NO_EXIT ? FRAME_UNSEEN : 0) | (flags & FILTER_HOME ? FRAME_HOME : 0);
}

/*
 * The tracker sees less than we do: tell it of what was left, unless the record of the call at hand will, or
 * who holds calls back does.
 */
static __always_inline void tell_left(const struct leaving *l, int verdict)
{
	if (calls_are_held || !l->unseen || (verdict == FILTER_SHOW && !l->elsewhere))
		return;
	if (!call_record(bpf_get_current_task_btf(), REC_FUNC_EXIT, 0, NO_FUNC, l->unseen))
		function_lost();
}

__noinline int filter_enter(__u64 sp, __u64 cookie, __u32 flags)
{
	struct frame now = { sp, NO_FUNC, 0, depth_max, frame_flags(flags) | FRAME_UNSEEN }, next;
	struct frames *f = room_make(&filter_frames, &filter_frames_blank, bpf_get_current_task_btf());
	struct leaving l = { .f = f, .sp = sp, .flags = flags, .func = NO_FUNC };
	bool is_off, is_shed, is_deep;
	int verdict;

	if (!f) {
		function_lost();
		return FILTER_SKIP;
	}
	leave_frames(&l);
	if (f->count)
		now = *frame_at(f, f->count - 1);
	else
		push_frame(f, &now);		/* tells this stack from one that the task may go over to */
	verdict = judge(&now, cookie, &next);
	is_deep = is_beyond(&now);
	if (is_deep) {
		verdict = count_deep(verdict);
		next = now;
		flags |= REC_F_NO_EXIT;
	}
	is_off = !is_deep && is_switched_off(&now, cookie);
	is_shed = rate_max && verdict == FILTER_SHOW && !is_off && rate_sheds(cookie & COOKIE_FUNC);
	if (verdict == FILTER_SHOW && (is_off || is_shed)) {
		verdict = FILTER_SKIP;
		next.depth += next.depth != NO_LIMIT;
		flags |= REC_F_NO_EXIT;
	}
	if (verdict == FILTER_SHOW && level_max != NO_LEVELS)
		next.level++;
	tell_left(&l, verdict);
	if (verdict != FILTER_SHOW && !is_shed && !is_deep)
		count_filtered(FILTERED_CALLS, 1);
	next.flags &= FRAME_STATE;
	if (has_triggers && cookie & COOKIE_TRIGGER && verdict != FILTER_SKIP && !(flags & REC_F_NO_EXIT))
		next.flags |= FRAME_ASKED;
	if (!needs_frame(&now, &next, verdict, flags))
		return verdict == FILTER_SHOW ? FILTER_SHOW : FILTER_SKIP;
	next.sp = sp;
	next.func = cookie & COOKIE_FUNC;
	next.flags |= frame_flags(flags) | (verdict == FILTER_SHOW ? FRAME_SHOWN : 0);
	push_frame(f, &next);
	return verdict;
}

__noinline int filter_leave(__u64 sp, __u64 cookie, __u32 flags)
{
	struct frame now = { sp, NO_FUNC, 0, depth_max, 0 }, next;
	struct frames *f = room_of(&filter_frames, bpf_get_current_task_btf());
	struct leaving l = {
		.f = f, .sp = sp, .flags = flags | REC_F_CALLED, .func = cookie & COOKIE_FUNC,	/* its own frame, too */
	};

	if (!f)
		return 0;
	leave_frames(&l);
	if (has_triggers && cookie & COOKIE_TRIGGER)
		return !!(l.own & FRAME_SHOWN);
	if (f->count)
		now = *frame_at(f, f->count - 1);
	return judge(&now, cookie, &next) == FILTER_SHOW && !is_beyond(&now);
}

/* ---- probes: as those of function.bpf.c ---- */

/* The call, recorded if it is to be. Returns enum filter_verdict; *@lost: it was to be, and there was no room. */
static __always_inline int filter_event(struct task_state *t, struct task_struct *task, __u32 flags, __u64 sp,
					__u64 cookie, __u32 home, bool *lost)
{
	int verdict = filter_enter(sp, cookie, flags | home);

	if (verdict != FILTER_SHOW)
		return verdict;
	*lost = entry_record(t, task, flags, sp, cookie);
	if (trigger_actions(cookie))
		trigger_finish(cookie);
	return verdict;
}

UPROBE(filter_session, ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = user_sp(ctx);
	struct task_struct *task;
	struct task_state *t;
	bool returns, is_shown, lost = false;
	__u32 flags;
	int verdict;

	if (is_return(ctx)) {
		is_shown = filter_leave(sp - RETURN_POPS, cookie, FILTER_HOME);
		return was_shown(cookie, is_shown) ? exit_record(ctx, cookie) : 0;
	}
	task = bpf_get_current_task_btf();
	t = state_of(task);
	if (!t)
		return 1;
	returns = returns_probed(t, task) && is_home(t, task, sp);
	flags = call_flags(task, ctx, sp, cookie, returns);
	cookie = settled_cookie(ctx, cookie);
	verdict = filter_event(t, task, flags, sp, cookie, returns ? FILTER_HOME : 0, &lost);
	if (lost)
		return_lost(t, flags);
	return lost || verdict == FILTER_SKIP || !returns;
}

UPROBE(filter_entry, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	__u64 cookie, sp;
	__u32 flags;
	bool lost;

	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	sp = user_sp(ctx);
	if (is_told(t, cookie, sp))
		return 0;
	sp = entry_sp(sp, cookie);
	flags = call_flags(task, ctx, sp, cookie, true);
	filter_event(t, task, flags, sp, settled_cookie(ctx, cookie), 0, &lost);
	return 0;
}

URETPROBE(filter_exit, ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	if (my_task() && filter_leave(user_sp(ctx) - RETURN_POPS, cookie, 0))
		exit_record(ctx, cookie);
	return 0;
}

/* ---- task life ---- */

AT_EXEC(filter_exec, task, old_tid, filename)
{
	struct frames *f;

	room_keep(&filter_frames, task, old_tid);
	f = room_of(&filter_frames, task);
	if (f)
		f->count = 0;
	return 0;
}

AT_EXIT(filter_task_exit, task)
{
	room_leave(&filter_frames, task);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
