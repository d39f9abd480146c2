/*
 * trigger.bpf.h - what calls of some functions set off: -T.
 */
#ifndef TRIGGER_BPF_H
#define TRIGGER_BPF_H

#include "recorder.bpf.h"
#include "function.h"
#include "trigger.h"

extern const volatile bool has_triggers;
extern const volatile bool has_switches;	/* trace_on, trace_off, or recording begins switched off */

/* What the arguments of a call came in. */
struct call_args {
	__u64	reg[COND_ARGS];
};

/* The cookie of a call with these arguments: what is said of the function, where its conditions hold. */
__u64 trigger_settle(__u64 cookie, const struct call_args *args);

static __always_inline __u64 settled_cookie(struct pt_regs *ctx, __u64 cookie)
{
	struct call_args args = {};

	if (!has_triggers || !(cookie & COOKIE_TRIGGER))
		return cookie;
	function_args(ctx, args.reg);
	return trigger_settle(cookie, &args);
}

/* TRIGGER_* of a call whose cookie was settled. */
static __always_inline __u32 trigger_actions(__u64 cookie)
{
	return has_triggers && cookie & COOKIE_TRIGGER ? cookie >> COOKIE_ACTIONS_SHIFT & 0xff : 0;
}

/* What of @depth is left, itself included, in such a call. */
static __always_inline __u32 trigger_depth(__u64 cookie, __u32 depth)
{
	return trigger_actions(cookie) & TRIGGER_DEPTH ? cookie >> COOKIE_DEPTH_SHIFT & 0xff : depth;
}

/* The current task makes such a call, where no filter takes it out: switch its process on or off. */
int trigger_switch(__u64 cookie);

/* Its process is switched off. */
int trigger_is_off(void);

/* The call was recorded: does the recording end with it? */
int trigger_finish(__u64 cookie);

#endif
