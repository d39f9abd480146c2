/*
 * callers.bpf.h - who called: the kernel's and the program's functions on the stack at an event (-g).
 *
 * The kernel walks its own stack, and the program's by frame pointers. What it finds is put together in memory of the
 * CPU's own, which an interrupt or, where programs are preempted, another task may ask for meanwhile: so there are
 * some, and each belongs to who has it until that has sent it.
 */
#ifndef CALLERS_BPF_H
#define CALLERS_BPF_H

#include "recorder.bpf.h"

#define CALLERS_SCRATCHES	4	/* a task, a soft interrupt, a hard one; and one that was preempted */

struct callers_scratch {
	__u64		   busy;
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

static __always_inline struct callers_scratch *callers_scratch(void)
{
	for (__u32 i = 0; i < CALLERS_SCRATCHES; i++) {
		__u32 key = i;
		struct callers_scratch *s = bpf_map_lookup_elem(&callers_scratches, &key);

		if (s && !__sync_lock_test_and_set(&s->busy, 1))
			return s;
	}
	return NULL;
}

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
	s = callers_scratch();
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
	__sync_lock_test_and_set(&s->busy, 0);
}

#endif
