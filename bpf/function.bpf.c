/*
 * function.bpf.c - entry and return of user functions.
 *
 * The same two records whatever the kernel offers: one session program for
 * both ends, a pair of programs, or (entry only) the first of the pair. Which
 * function was hit comes as the probe's cookie.
 */
#include "function.bpf.h"
#include "point.bpf.h"

const volatile bool spare_other_stacks;
const volatile __u32 calls_mask;

/* Returning 1 at entry leaves the return unprobed: so of a call that is not recorded neither end is paid for. */
UPROBE(function_session, ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = user_sp(ctx);
	struct task_struct *task;
	struct task_state *t;
	bool returns;
	__u16 flags;

	if (is_return(ctx))
		return exit_record(ctx, cookie);
	task = bpf_get_current_task_btf();
	t = state_of(task);
	if (!t)
		return 1;
	returns = returns_probed(t, task) && is_home(t, task, sp);
	sp = entry_sp(sp, cookie);
	flags = call_flags(task, ctx, sp, cookie, returns);
	if (!entry_record(t, task, flags, sp, cookie))
		return !returns;
	return_lost(t, flags);
	return 1;
}

UPROBE(function_entry, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = user_sp(ctx);
	struct task_state *t = state_of(task);

	if (!t || is_told(t, cookie, sp))
		return 0;
	sp = entry_sp(sp, cookie);
	entry_record(t, task, call_flags(task, ctx, sp, cookie, true), sp, cookie);
	return 0;
}

URETPROBE(function_exit, ctx)
{
	if (my_task())
		exit_record(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

/*
 * The same without cookies, for many probes behind one event of tracefs: the
 * address tells which. A register of ctx is read at one place only: two reads
 * may be compiled into one computed address, which the verifier refuses.
 */
static __always_inline int function_record_at(struct task_state *t, __u16 kind, __u16 flags, __u64 ip, __u64 sp)
{
	struct rec_func_at *r = rec_begin(t, CLASS_FUNCTION, kind, sizeof(*r));

	if (!r)
		return 0;
	r->f.hdr.flags = REC_F_BY_IP | flags;
	r->f.func = 0;
	r->f.commit = 0;
	r->f.sp = sp;
	r->ip = ip;
	rec_end(r);
	return 0;
}

UPROBE(function_entry_at, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 ip = user_ip(ctx), sp = user_sp(ctx);
	struct task_state *t = state_of(task);

	return t ? function_record_at(t, REC_FUNC_ENTRY, entry_flags(task, ctx, sp), ip, sp) : 0;
}

UPROBE(function_entry_only_at, ctx)
{
	struct task_state *t = my_task();

	return t ? function_record_at(t, REC_FUNC_ENTRY, REC_F_NO_EXIT, user_ip(ctx), user_sp(ctx)) : 0;
}

URETPROBE(function_exit_at, ctx)
{
	struct task_state *t = my_task();

	return t ? function_record_at(t, REC_FUNC_EXIT, 0, 0, user_sp(ctx) - RETURN_POPS) : 0;
}

char LICENSE[] SEC("license") = "GPL";
