/*
 * sched.bpf.c - the scheduler's events of recorded tasks: which task a CPU runs, who is woken, who is moved.
 */
#include "event.bpf.h"

#define TASK_REPORT	0x7fu		/* as the next, of <linux/sched.h> */
#define TASK_IDLE_BITS	0x402u
#define UNINTERRUPTIBLE	2
#define REPORT_IDLE	0x80
#define REPORT_PREEMPTED 0x100

/* As __trace_sched_switch_state() of <trace/events/sched.h> has it, with __task_state_index() of <linux/sched.h>. */
static __always_inline __s64 shown_state(bool is_preempted, __u32 state, __u32 exit_state)
{
	__u32 shown = (state | exit_state) & TASK_REPORT;

	if (is_preempted)
		return REPORT_PREEMPTED;
	if ((state & TASK_IDLE_BITS) == TASK_IDLE_BITS)
		return REPORT_IDLE;
	for (int i = 6; i >= 0; i--)
		if (shown & 1u << i)
			return 1 << i;
	return state ? UNINTERRUPTIBLE : 0;	/* frozen, or waiting for a lock of a real-time kernel */
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switched, bool is_preempted, struct task_struct *prev, struct task_struct *next, unsigned int state)
{
	struct event_sched_switch *e;

	if (!concerns(prev, next))
		return 0;
	e = event_begin(EVENT_SCHED_SWITCH, sizeof(*e));
	if (!e)
		return 0;
	__builtin_memcpy(e->prev_comm, prev->comm, sizeof(e->prev_comm));
	e->prev_pid = prev->pid;
	e->prev_prio = prev->prio;
	e->prev_state = shown_state(is_preempted, state, prev->exit_state);
	__builtin_memcpy(e->next_comm, next->comm, sizeof(e->next_comm));
	e->next_pid = next->pid;
	e->next_prio = next->prio;
	event_end(ctx, e);
	return 0;
}

static __always_inline int woken(void *ctx, struct task_struct *task, __u32 event)
{
	struct event_sched_wakeup *e;

	if (!concerns(bpf_get_current_task_btf(), task))
		return 0;
	e = event_begin(event, sizeof(*e));
	if (!e)
		return 0;
	__builtin_memcpy(e->comm, task->comm, sizeof(e->comm));
	e->pid = task->pid;
	e->prio = task->prio;
	e->target_cpu = task->thread_info.cpu;
	e->pad = 0;
	event_end(ctx, e);
	return 0;
}

SEC("?tp_btf/sched_wakeup")
int BPF_PROG(sched_woken, struct task_struct *task)
{
	return woken(ctx, task, EVENT_SCHED_WAKEUP);
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(sched_woken_new, struct task_struct *task)
{
	return woken(ctx, task, EVENT_SCHED_WAKEUP_NEW);
}

SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(sched_migrated, struct task_struct *task, int to)
{
	struct event_sched_migrate *e;

	if (!concerns(bpf_get_current_task_btf(), task))
		return 0;
	e = event_begin(EVENT_SCHED_MIGRATE, sizeof(*e));
	if (!e)
		return 0;
	__builtin_memcpy(e->comm, task->comm, sizeof(e->comm));
	e->pid = task->pid;
	e->prio = task->prio;
	e->orig_cpu = task->thread_info.cpu;
	e->dest_cpu = to;
	event_end(ctx, e);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
