/*
 * function.bpf.h - the two records of a function, for the programs that make them: function.bpf.c, filter.bpf.c.
 */
#ifndef FUNCTION_BPF_H
#define FUNCTION_BPF_H

#include "callring.bpf.h"
#include "function.h"
#include "returns.bpf.h"
#include "stack.bpf.h"

static __noinline int function_lost(void)
{
	struct task_state *t = my_task();

	if (t)
		count_lost(t, CLASS_FUNCTION);
	return 0;
}

/* The stack pointer at the function's start, of the probe's own @site_sp: so many bytes below as the cookie says. */
static __always_inline __u64 entry_sp(__u64 site_sp, __u64 cookie)
{
	return site_sp + (cookie >> COOKIE_SP_SHIFT & COOKIE_SP);
}

/*
 * Was this hit told already, by the other of two links at the site? Which of them comes first is all the same: a note
 * left from before there were two says yes to the one and then no to the other. Such links are of entries alone
 * (may_own() in src/target.c).
 */
static __always_inline bool is_told(struct task_state *t, __u64 cookie, __u64 site_sp)
{
	if (!(cookie & (COOKIE_OWN | COOKIE_LATE)))
		return false;
	if (t->hit_sp == site_sp && t->hit_cookie == (cookie ^ (COOKIE_OWN | COOKIE_LATE))) {
		t->hit_cookie = 0;
		return true;
	}
	t->hit_cookie = cookie;
	t->hit_sp = site_sp;
	return false;
}

/* REC_F_* of the call whose entry_sp() is @sp. */
static __always_inline __u16 call_flags(struct task_struct *task, struct pt_regs *ctx, __u64 sp, __u64 cookie,
					bool returns)
{
	return !returns || cookie & COOKIE_NO_EXIT ? REC_F_NO_EXIT : entry_flags(task, ctx, sp);
}

/* Returns 1 when there was no room. */
static __always_inline int entry_record(struct task_state *t, struct task_struct *task, __u16 flags, __u64 sp,
					__u64 cookie)
{
	if (t->flags & TASK_HAS_LOST)
		report_lost(t);
	if (call_record(task, REC_FUNC_ENTRY, flags, cookie & COOKIE_FUNC, sp))
		return 0;
	count_lost(t, CLASS_FUNCTION);
	return 1;
}

/* The entry was lost, and its session leaves the return unprobed: that is lost with it, where there would be one. */
static __always_inline void return_lost(struct task_state *t, __u16 flags)
{
	if (!(flags & REC_F_NO_EXIT))
		count_lost(t, CLASS_FUNCTION);
}

/* What is probed at its return was recorded at its entry: nobody need be asked again. */
static __always_inline int exit_record(struct pt_regs *ctx, __u64 cookie)
{
	if (recording && !call_record(bpf_get_current_task_btf(), REC_FUNC_EXIT, 0, cookie & COOKIE_FUNC,
				      user_sp(ctx) - RETURN_POPS))
		function_lost();
	return 0;
}

#endif
