/*
 * cgroup.bpf.c - tasks that come into a cgroup that is recorded.
 *
 * One that execs there and is not recorded yet is from then on; no later than that, a
 * program that somebody puts there is seen from its start. All others, moved there or
 * forked by somebody who is not recorded, user space is told of, and makes them
 * targets (target.bpf.c). Only the fork, the move and the exec ask, so nobody else pays.
 */
#include "number.bpf.h"
#include "point.bpf.h"
#include "cgroup.h"

#define LEVELS_MAX	256

const volatile __u64 cgroup_ids[CGROUPS_MAX];
volatile __u64 cgroup_unnoticed;	/* notices that found no space */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} cgroup_notices SEC(".maps");

static __always_inline bool is_meant(__u64 id)
{
	for (int i = 0; i < CGROUPS_MAX && cgroup_ids[i]; i++)
		if (cgroup_ids[i] == id)
			return true;
	return false;
}

/* Is @task, only read by helpers, in one of them or below? Of cgroup v2: every task has one place there. */
static __noinline int is_in_cgroup(__u64 task)
{
	struct cgroup *c = BPF_CORE_READ((struct task_struct *)task, cgroups, dfl_cgrp);

	for (int level = 0; level < LEVELS_MAX && c; level++) {
		struct cgroup_subsys_state *up;

		if (is_meant(BPF_CORE_READ(c, kn, id)))
			return 1;
		up = BPF_CORE_READ(c, self.parent);
		if (!up)
			break;
		c = BPF_CORE_READ(up, cgroup);
	}
	return 0;
}

/* Its process has come. */
static __always_inline void notice(struct task_struct *task)
{
	__u32 *number = bpf_ringbuf_reserve(&cgroup_notices, sizeof(*number), 0);

	if (!number) {
		__sync_fetch_and_add(&cgroup_unnoticed, 1);
		return;
	}
	*number = number_of((__u64)BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
	bpf_ringbuf_submit(number, 0);
}

/* The current task has made @child, only read by helpers. */
__noinline int cgroup_forked(__u64 child)
{
	if (!recording || my_task() || !BPF_CORE_READ((struct task_struct *)child, mm) || !is_in_cgroup(child))
		return 0;
	if (process_number() != own_pid)	/* what recorder starts is not meant */
		notice((struct task_struct *)child);
	return 0;
}

SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(cgroup_move, struct cgroup *to, const char *path, struct task_struct *task)
{
	if (recording && task->mm && !known_task(task) && is_in_cgroup((__u64)task))
		notice(task);
	return 0;
}

/* Comes before task_exec(), which tells of it. */
AT_EXEC(cgroup_exec, task, old_tid, filename)
{
	if (recording && !my_task() && is_in_cgroup((__u64)task) && !begin_state(task))
		count_lost(NULL, CLASS_TASK);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
