/*
 * function.bpf.c - entry and return of user functions.
 *
 * The same two records whatever the kernel offers: one session program for
 * both ends, a pair of programs, or (entry only) the first of the pair. Which
 * function was hit comes as the probe's cookie.
 */
#include "recorder.bpf.h"
#include "function.h"
#include "stack.bpf.h"

extern bool bpf_session_is_return(void) __ksym __weak;

static __always_inline int function_record(struct task_state *t, struct pt_regs *ctx, __u64 cookie, __u16 kind)
{
	struct rec_func *r;

	r = rec_begin(t, CLASS_FUNCTION, kind, sizeof(*r));
	if (!r)
		return 1;
	r->func = cookie & COOKIE_FUNC;
	r->pad = 0;
	r->sp = user_sp(ctx);
	if (kind == REC_FUNC_EXIT) {
		r->sp -= RETURN_POPS;
	} else {
		r->sp += cookie >> COOKIE_SP_SHIFT & COOKIE_SP;
		r->hdr.flags = cookie & COOKIE_NO_EXIT ? REC_F_NO_EXIT : entry_flags(ctx, r->sp);
	}
	rec_end(r);
	return 0;
}

/* Returning 1 at entry leaves the return unprobed: so of a call that is not recorded neither end is paid for. */
SEC("?uprobe")
int function_session(struct pt_regs *ctx)
{
	struct task_state *t = my_task();
	__u64 cookie;

	if (!t)
		return 1;
	cookie = bpf_get_attach_cookie(ctx);
	if (bpf_session_is_return())
		return function_record(t, ctx, cookie, REC_FUNC_EXIT);
	if (is_home(t, user_sp(ctx)))
		return function_record(t, ctx, cookie, REC_FUNC_ENTRY);
	function_record(t, ctx, cookie | COOKIE_NO_EXIT, REC_FUNC_ENTRY);
	return 1;
}

SEC("?uprobe")
int function_entry(struct pt_regs *ctx)
{
	struct task_state *t = my_task();

	if (t)
		function_record(t, ctx, bpf_get_attach_cookie(ctx), REC_FUNC_ENTRY);
	return 0;
}

SEC("?uretprobe")
int function_exit(struct pt_regs *ctx)
{
	struct task_state *t = my_task();

	if (t)
		function_record(t, ctx, bpf_get_attach_cookie(ctx), REC_FUNC_EXIT);
	return 0;
}

/* The same without cookies, for many probes behind one event of tracefs: the address tells which. */
static __always_inline int function_record_at(struct pt_regs *ctx, __u16 kind, __u16 flags, __u64 ip, __u64 sp)
{
	struct task_state *t = my_task();
	struct rec_func_at *r;

	if (!t)
		return 0;
	r = rec_begin(t, CLASS_FUNCTION, kind, sizeof(*r));
	if (!r)
		return 0;
	r->f.hdr.flags = flags;
	r->f.func = 0;
	r->f.pad = 0;
	r->f.sp = sp;
	r->ip = ip;
	rec_end(r);
	return 0;
}

SEC("?uprobe")
int function_entry_at(struct pt_regs *ctx)
{
	return function_record_at(ctx, REC_FUNC_ENTRY, REC_F_BY_IP, user_ip(ctx), user_sp(ctx));
}

SEC("?uprobe")
int function_entry_only_at(struct pt_regs *ctx)
{
	return function_record_at(ctx, REC_FUNC_ENTRY, REC_F_BY_IP | REC_F_NO_EXIT, user_ip(ctx), user_sp(ctx));
}

SEC("?uretprobe")
int function_exit_at(struct pt_regs *ctx)
{
	return function_record_at(ctx, REC_FUNC_EXIT, REC_F_BY_IP, 0, user_sp(ctx) - RETURN_POPS);
}

char LICENSE[] SEC("license") = "GPL";
