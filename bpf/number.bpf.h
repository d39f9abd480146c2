/*
 * number.bpf.h - what a process or thread is called in recorder's own PID namespace.
 *
 * BPF's helpers tell the numbers of the initial namespace, where recorder may
 * not be. bpf_get_ns_current_pid_tgid() fails for a task in a namespace below
 * ours, so the kernel's table of numbers is read instead: one for each
 * namespace the task is seen in, outermost first.
 *
 * Here and wherever nothing is in a hurry, pointers in a task are read by helpers: since 6.4 the verifier looks through all
 * types of the kernel, some milliseconds, each time that it follows one that is loaded.
 */
#ifndef NUMBER_BPF_H
#define NUMBER_BPF_H

#include "recorder.bpf.h"

#define PID_LEVELS	33	/* MAX_PID_NS_LEVEL and the initial namespace */

/* Set before the load: inode number of recorder's PID namespace, and recorder's number in it. */
extern const volatile __u32 own_pid_ns;
extern const volatile __u32 own_pid;

/* The agent's number there, 0: none yet; and whether it has been killed. */
extern volatile __u32 agent_pid;
extern volatile bool agent_gone;

/* @pid: a struct pid, only read by helpers. 0: it has no number there. */
static __noinline __u32 number_of(__u64 pid)
{
	struct upid *number = (void *)(pid + bpf_core_field_offset(struct pid, numbers));
	__u32 level = BPF_CORE_READ((struct pid *)pid, level);

	for (__u32 i = 0; i < PID_LEVELS && i <= level; i++)
		if (BPF_CORE_READ(number + i, ns, ns.inum) == own_pid_ns)
			return BPF_CORE_READ(number + i, nr);
	return 0;
}

/* Of the current task. Not inlined: who calls them at a gate has little stack. */
static __noinline __u32 thread_number(void)
{
	return number_of((__u64)BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid));
}

static __noinline __u32 process_number(void)
{
	return number_of((__u64)BPF_CORE_READ(bpf_get_current_task_btf(), signal, pids[PIDTYPE_TGID]));
}

#endif
