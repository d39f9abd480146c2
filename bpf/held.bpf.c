/*
 * held.bpf.c - function probes when --time-filter or --caller-filter is given.
 *
 * uftrace's rules. A call that took longer than the time is recorded, and with it
 * all that it was called by. So at its entry a call is only remembered, and what it
 * came to is decided when it has been left: by its return, or, where that is not
 * seen, by the stack pointer of the next entry or return, as the tracker leaves calls
 * (src/flow/calls.c). Where a file has functions of --caller-filter, only those are
 * decided about; the others are recorded for being on the way to one.
 *
 * What was held is sent as an entry that bears the time it began (REC_F_HELD).
 * Callers began earlier and are sent earlier, so within a task these times are in
 * order. All records of this file go through the one ring of the CPU, so an exit
 * does not pass the entries that are sent with it.
 *
 * The programs at tracepoints run before those of syscall.bpf.c and task.bpf.c, by the
 * order in which they are attached: so what is sent here comes before what ends it.
 */
#include "filter.bpf.h"
#include "function.bpf.h"
#include "point.bpf.h"
#include "heldvalues.bpf.h"
#include "trigger.bpf.h"

const volatile bool calls_are_held;
const volatile bool syscalls_are_held;
const volatile bool calls_are_filtered;		/* by --filter and its like, too */
const volatile bool values_are_held;
const volatile __u64 least_ns;			/* --time-filter: what is recorded takes longer */

/* ---- sending what was held ---- */

struct sending {
	struct held_calls *h;
	struct held_values *values;	/* or NULL */
	struct task_state *t;
	__u64		   id;		/* of the task whose calls they are, as bpf_get_current_pid_tgid() has it */
	__u64		   until;	/* send the calls before this one */
};

static __always_inline void *send_begin(__u64 id, struct task_state *t, __u32 class, __u16 kind, __u16 size)
{
	struct rec_hdr *rec = NULL;
	void *ring = ring_of_this_cpu();

	if (ring && !(lose_one_in && bpf_get_prandom_u32() % lose_one_in == 0))
		rec = bpf_ringbuf_reserve(ring, size, 0);
	if (!rec) {
		count_lost(t, class);
		return NULL;
	}
	rec_fill_of(id, rec, kind, size);
	return rec;
}

/* Of call @i, which has values in the store. */
static __noinline int send_with_values(struct held_calls *h, struct held_values *values, struct task_state *t, __u64 id,
				       __u64 i)
{
	struct held *call = held_at(h, i);
	__u64 from = values_end(h, i), len = 8 * words_between(from, call->flags >> HELD_END_SHIFT);
	struct held_record *r;

	if (!values)
		return 0;
	r = &values->told[id != bpf_get_current_pid_tgid()];
	asm volatile("" : "+r"(len), "+r"(from));
	if (len > VALUES_MAX || from >= HELD_WORDS)
		return 0;
	bpf_probe_read_kernel(r->values, len, values->bytes + 8 * from);
	*(__u64 *)(r->values + len) = call->began;
	r->rec.f.func = call->func;
	r->rec.f.commit = 0;
	r->rec.f.sp = call->sp;
	r->rec.values_len = len;
	rec_send_of(id, t, CLASS_FUNCTION, REC_FUNC_ENTRY_ARGS, (__u16)call->flags | REC_F_HELD, &r->rec.f.hdr,
		    sizeof(r->rec) + len + sizeof(__u64), sizeof(*r));
	return 0;
}

/* Of a call that has none. */
static __always_inline void send_plain(const struct held *call, struct task_state *t, __u64 id)
{
	struct rec_func_held *r = send_begin(id, t, CLASS_FUNCTION, REC_FUNC_ENTRY, sizeof(*r));

	if (!r)
		return;
	r->f.hdr.flags = (__u16)call->flags | REC_F_HELD;
	r->f.func = call->func;
	r->f.commit = 0;
	r->f.sp = call->sp;
	r->began = call->began;
	rec_end(r);
}

/* @values, @t: may be NULL. */
static __always_inline void send_call(struct held_calls *h, struct held_values *values, struct task_state *t, __u64 id)
{
	__u64 i = h->told++;
	struct held *call = held_at(h, i);

	if (values_are_held && call->flags & HELD_VALUES) {
		send_with_values(h, values, t, id, i);
		return;
	}
	if (values_are_held && call->flags & HELD_UNKEPT)
		count_filtered(HELD_WITHOUT_VALUES, 1);
	send_plain(call, t, id);
}

static long send_next(__u32 i, struct sending *s)
{
	if (s->h->told >= s->until)
		return 1;
	send_call(s->h, s->values, s->t, s->id);
	return 0;
}

static __always_inline struct held_values *values_of(struct task_struct *task)
{
	return values_are_held ? room_of(&held_values, task) : NULL;
}

static __always_inline struct task_state *telling_task(void)
{
	struct task_state *t = my_task();

	if (t && t->flags & TASK_HAS_LOST)
		report_lost(t);
	return t;
}

/* Whose calls these are: the current task's. */
static __always_inline struct sending sending_own(struct held_calls *h)
{
	return (struct sending){ .h = h, .t = telling_task(), .id = bpf_get_current_pid_tgid(),
				 .values = values_of(bpf_get_current_task_btf()) };
}

static __always_inline void send_held(struct sending *s, __u64 until)
{
	s->until = until;
	if (s->h->told < until)
		bpf_loop(HELD_MAX, send_next, s, 0);
}

/* As struct sending, in little stack: a task may wait in a program that calls what follows (gate.bpf.c). */
struct telling {
	struct held_calls *h;
	__u64		   until;
};

static long send_next_own(__u32 i, struct telling *own)
{
	if (own->h->told >= own->until)
		return 1;
	send_call(own->h, values_of(bpf_get_current_task_btf()), telling_task(), bpf_get_current_pid_tgid());
	return 0;
}

/* The calls of the current task before @until. */
static __noinline int send_own_until(struct held_calls *h, __u64 until)
{
	struct telling own = { h, until };

	if (h->told < until)
		bpf_loop(HELD_MAX, send_next_own, &own, 0);
	return 0;
}

static __always_inline void send_syscall(struct sending *s)
{
	struct held_syscall *call = &s->h->syscall;
	struct rec_sys_held *r = send_begin(s->id, s->t, CLASS_SYSCALL, REC_SYS_ENTER, sizeof(*r));

	if (!r)
		return;
	r->hdr.flags = call->flags | REC_F_HELD;
	r->nr = call->nr;
	r->text_len = 0;
	__builtin_memcpy(r->arg, call->arg, sizeof(r->arg));
	r->began = call->began;
	rec_end(r);
}

/* Of a call of the current task. */
static __noinline int send_exit(__u32 func, __u64 sp)
{
	struct task_state *t = my_task();
	struct rec_func *r = t ? rec_begin(t, CLASS_FUNCTION, REC_FUNC_EXIT, sizeof(*r)) : NULL;

	if (!r)
		return 0;
	r->func = func;
	r->commit = 0;
	r->sp = sp;
	rec_end(r);
	return 0;
}

/* ---- which of them ---- */

struct judging {
	struct held_calls *h;
	__u64		   now;
	__u32		   least;	/* the calls before this one are not asked about */
	__u32		   until;	/* those before this one are to be sent */
};

static long judge_innermost(__u32 i, struct judging *j)
{
	struct held *call;

	if (j->until <= j->least) {
		j->until = 0;
		return 1;
	}
	call = held_at(j->h, j->until - 1);
	if (call->flags & HELD_MEANT && (__s64)(j->now - call->began) > (__s64)least_ns)
		return 1;
	j->until--;
	return 0;
}

/* How many calls are to be sent, from the outermost on, for what those from @from on have come to; 0: none. */
static __noinline __u64 judged_from(struct held_calls *h, __u64 from, __u64 now)
{
	struct judging j = { .h = h, .now = now, .least = from, .until = h->count };

	if (j.least < h->told)
		j.least = h->told;
	if (j.until <= j.least)
		return 0;
	bpf_loop(HELD_MAX, judge_innermost, &j, 0);
	return j.until;
}

/*
 * The calls from @count on have been left; @func: the outermost of them, or NO_FUNC when that was not seen.
 * Returns 1 when it was told, and its exit is still to be: with HELD_RESULT in @flags.
 */
static __always_inline int left_from(struct held_calls *h, __u64 count, __u32 func, __u32 flags)
{
	__u64 until = judged_from(h, count, bpf_ktime_get_ns());
	bool is_told, is_owed;

	if (until)
		send_own_until(h, until);
	is_told = h->told > count;
	is_owed = is_told && flags & HELD_RESULT;
	count_filtered(FILTERED_CALLS, h->count - (is_told ? h->told : count));
	if (is_told && !is_owed)
		send_exit(func, held_at(h, count)->sp);
	if (is_told)
		h->told = count;
	h->count = count;
	return is_owed;
}

/* ---- entering and leaving ---- */

/* The same question as calls.c asks, of a call on the stack of @sp. @flags, @func: as in struct held_step. */
static __always_inline bool was_left(const struct held *call, __u64 sp, __u32 flags, __u32 func)
{
	if (call->sp != sp)
		return call->sp < sp;
	if (func != NO_FUNC)
		return call->func != func;		/* tail calls: it returns before its caller does */
	return call->flags & REC_F_NO_EXIT || flags & REC_F_CALLED;
}

static long step_back(__u32 i, struct held_calls **in)
{
	struct held_calls *h = *in;
	struct held_step *s = &h->step;
	struct held *top;

	if (!s->count)
		return 1;
	top = held_at(h, s->count - 1);
	if (is_one_stack(top->sp, top->flags, s->sp, s->flags)) {
		s->on_stack = true;
		if (!was_left(top, s->sp, s->flags, s->func))
			return 1;
	} else if (s->on_stack) {
		return 1;
	}
	s->count--;
	return 0;
}

static __noinline __u64 count_open(struct held_calls *h, __u64 sp, __u32 flags, __u32 func)
{
	h->step = (struct held_step){ .sp = sp, .count = h->count, .flags = flags, .func = func };
	bpf_loop(HELD_MAX, step_back, &h, 0);
	return h->step.on_stack ? h->step.count : h->count;
}

/* How many calls are open yet. On a new stack, one that has no call, none was left. @func as in struct held_step. */
static __always_inline __u64 still_open(struct held_calls *h, __u64 sp, __u32 flags, __u32 func)
{
	struct held *top = held_at(h, h->count - 1);

	if (!h->count || (is_one_stack(top->sp, top->flags, sp, flags) && !was_left(top, sp, flags, func)))
		return h->count;
	return count_open(h, sp, flags, func);
}

__noinline int held_enter(__u64 sp, __u64 cookie, __u32 flags, bool is_kept)
{
	struct held_calls *h = room_make(&held_calls, &held_calls_blank, bpf_get_current_task_btf());
	struct held *call;
	__u64 open;

	if (!h) {
		function_lost();
		return 1;
	}
	open = still_open(h, sp, flags, NO_FUNC);
	if (open < h->count)
		left_from(h, open, NO_FUNC, 0);
	if (!is_kept)
		return 1;
	if (h->count >= HELD_MAX) {
		count_filtered(HELD_TOO_DEEP, 1);
		return 1;
	}
	if (cookie & COOKIE_CALLER || !(cookie & COOKIE_CALLERS_ONLY))
		flags |= HELD_MEANT;
	call = held_at(h, h->count);
	call->sp = sp;
	call->func = cookie & COOKIE_FUNC;
	call->flags = values_are_held ? flags | values_end(h, h->count) << HELD_END_SHIFT : flags;
	call->began = bpf_ktime_get_ns();
	h->count++;
	return 0;
}

__noinline int held_leave(__u64 sp, __u64 cookie, __u32 flags)
{
	struct held_calls *h = room_of(&held_calls, bpf_get_current_task_btf());
	__u32 func = cookie & COOKIE_FUNC;
	bool is_seen;
	__u64 open;

	if (!h)
		return 0;
	open = still_open(h, sp, flags, func);
	is_seen = open && held_at(h, open - 1)->sp == sp && held_at(h, open - 1)->func == func;
	if (!is_seen && open == h->count)
		return 0;
	return left_from(h, is_seen ? open - 1 : open, is_seen ? func : NO_FUNC, is_seen ? flags : 0);
}

/* ---- probes: as those of function.bpf.c ---- */

static __always_inline int held_event(__u64 sp, __u64 cookie, __u32 flags)
{
	int verdict = calls_are_filtered ? filter_enter(sp, cookie, flags) : FILTER_SHOW, none;

	if (verdict == FILTER_SHOW) {
		none = held_enter(sp, cookie, flags, true);
		if (trigger_actions(cookie))
			trigger_finish(cookie);
		return none;
	}
	held_enter(sp, cookie, flags, false);
	return verdict != FILTER_WATCH;
}

static __always_inline int held_return(__u64 sp, __u64 cookie, __u32 flags)
{
	if (calls_are_filtered)
		filter_leave(sp, cookie, flags);
	if (recording)
		held_leave(sp, cookie, flags);
	return 0;
}

UPROBE(held_session, ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = user_sp(ctx);
	struct task_struct *task;
	struct task_state *t;
	__u32 flags;
	bool returns;

	if (is_return(ctx))
		return held_return(sp - RETURN_POPS, cookie, FILTER_HOME);
	task = bpf_get_current_task_btf();
	t = state_of(task);
	if (!t)
		return 1;
	returns = returns_probed(t, task) && is_home(t, task, sp);
	flags = call_flags(task, ctx, sp, cookie, returns);
	cookie = settled_cookie(ctx, cookie);
	return held_event(sp, cookie, flags | (returns ? FILTER_HOME : 0)) || !returns;
}

UPROBE(held_entry, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	__u64 cookie, sp;
	__u32 flags;

	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	sp = user_sp(ctx);
	if (is_told(t, cookie, sp))
		return 0;
	sp = entry_sp(sp, cookie);
	flags = call_flags(task, ctx, sp, cookie, true);
	held_event(sp, settled_cookie(ctx, cookie), flags);
	return 0;
}

URETPROBE(held_exit, ctx)
{
	return my_task() ? held_return(user_sp(ctx) - RETURN_POPS, bpf_get_attach_cookie(ctx), 0) : 0;
}

/* ---- system calls: held by sys_enter of syscall.bpf.c, whose sys_exit follows this ---- */

AT_SYS_EXIT(held_sys_exit, regs, ret)
{
	struct held_calls *h = recording ? room_of(&held_calls, bpf_get_current_task_btf()) : NULL;
	struct sending s;

	if (!h || !h->syscall.began || h->syscall.nr != (__u32)syscall_nr(regs))
		return 0;
	if ((__s64)(bpf_ktime_get_ns() - h->syscall.began) > (__s64)least_ns) {
		s = sending_own(h);
		send_held(&s, h->count);
		send_syscall(&s);
		h->syscall.is_told = true;
	} else {
		count_filtered(FILTERED_SYSCALLS, 1);
	}
	h->syscall.began = 0;
	return 0;
}

/* ---- ends ---- */

/* What is open is judged as of now, and nothing is open any more. */
static __always_inline void end_all(struct sending *s)
{
	struct held_calls *h = s->h;
	__u64 now = bpf_ktime_get_ns();

	if (h->syscall.began && (__s64)(now - h->syscall.began) > (__s64)least_ns) {
		send_held(s, h->count);
		send_syscall(s);
	} else {
		send_held(s, judged_from(s->h, 0, now));
	}
	count_filtered(FILTERED_CALLS, h->count - h->told);
	h->count = h->told = h->syscall.began = 0;
}

/* The current task's, @tid being its number until now. */
static __always_inline void end_own(__u32 tid)
{
	struct held_calls *h = recording ? room_of(&held_calls, bpf_get_current_task_btf()) : NULL;
	struct sending s;

	if (!h)
		return;
	s = sending_own(h);
	s.id = (s.id & ~0xffffffffull) | tid;
	end_all(&s);
}

AT_EXEC(held_exec, task, old_tid, filename)
{
	struct held_calls *h;

	room_keep(&held_calls, task, old_tid);
	if (values_are_held)
		room_keep(&held_values, task, old_tid);
	h = room_of(&held_calls, task);
	if (h && h->syscall.began) {
		h->syscall.began = 0;		/* its texts are gone, and what it takes is mostly a gate's waiting */
		count_filtered(FILTERED_SYSCALLS, 1);
	}
	end_own(old_tid);
	return 0;
}

AT_EXIT(held_task_exit, task)
{
	end_own(task->pid);
	room_leave(&held_calls, task);
	if (values_are_held)
		room_leave(&held_values, task);
	return 0;
}

/* Recording has stopped; tasks go on. */
SEC("?iter/task")
int held_stop(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct sending s = {};

	if (!task)
		return 0;
	s.t = known_task(task);
	s.h = room_of(&held_calls, task);
	s.values = values_of(task);
	if (!s.t || !s.h)
		return 0;
	s.id = (__u64)task->tgid << 32 | (__u32)task->pid;
	end_all(&s);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
