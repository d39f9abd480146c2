/*
 * callers.bpf.h - who called: the kernel's and the program's functions on the stack at an event (-g).
 *
 * The kernel walks its own stack, and the program's by frame pointers.
 */
#ifndef CALLERS_BPF_H
#define CALLERS_BPF_H

#include "scratch.bpf.h"

#define CALLERS_SCRATCHES	4	/* a task, a soft interrupt, a hard one; and one that was preempted */

struct callers_scratch {
	struct scratch	   scratch;
	struct rec_callers rec;
	__u64		   ip[CALLERS_KERNEL_MAX + CALLERS_USER_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CALLERS_SCRATCHES);
	__type(key, __u32);
	__type(value, struct callers_scratch);
} callers_scratches __weak SEC(".maps");

extern const volatile bool callers_wanted;

/* Bytes of return addresses at @to, which has room for @max of them. */
static __always_inline __u64 walk_callers(void *ctx, void *to, const __u32 max, __u64 flags)
{
	long n = bpf_get_stack(ctx, to, max * sizeof(__u64), flags);

	return n < 0 ? 0 : n;
}

/* Behind the record that has just been sent. @t NULL: loss is counted, but not the task's. */
static __always_inline void send_callers(void *ctx, struct task_state *t, bool kernel, bool user)
{
	struct callers_scratch *s;
	__u64 k = 0, u = 0;

	if (!callers_wanted)
		return;
	s = scratch_claim(&callers_scratches, CALLERS_SCRATCHES);
	if (!s) {
		count_lost(t, CLASS_EVENT);
		return;
	}
	if (kernel)
		k = walk_callers(ctx, s->ip, CALLERS_KERNEL_MAX, 0);
	if (k > CALLERS_KERNEL_MAX * sizeof(__u64))
		k = 0;
	if (user)
		u = walk_callers(ctx, (void *)s->ip + k, CALLERS_USER_MAX, BPF_F_USER_STACK);
	s->rec.kernel = k / sizeof(__u64);
	s->rec.user = u / sizeof(__u64);
	rec_send_of(bpf_get_current_pid_tgid(), t, CLASS_EVENT, REC_CALLERS, 0, &s->rec.hdr, sizeof(s->rec) + k + u,
		    sizeof(s->rec) + sizeof(s->ip));
	scratch_leave(&s->scratch);
}

#endif
