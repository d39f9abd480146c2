/*
 * trigger.bpf.c - triggers of functions, and which processes are switched off by them.
 *
 * Switched off, no function's entry is recorded; what was open then still ends
 * where it returns. A new process is as its parent, after exec it begins anew.
 */
#include "trigger.bpf.h"

const volatile bool has_triggers;
const volatile bool has_switches;
const volatile bool starts_off;		/* --disable */

/* By rec_func.func; an entry is there before its probe is. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, __u32);
	__type(value, struct func_trigger);
} trigger_of_func SEC(".maps");

/* By process: is it off? Only those that a trigger has switched. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, __u32);
} switched SEC(".maps");

/* The function that ended the recording. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} trigger_finished SEC(".maps");

static __always_inline __u32 my_process(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

__noinline int trigger_switch(__u32 func)
{
	const struct func_trigger *g = bpf_map_lookup_elem(&trigger_of_func, &func);
	__u32 process = my_process(), off;

	if (!g || !(g->actions & (TRIGGER_ON | TRIGGER_OFF)))
		return 0;
	off = !(g->actions & TRIGGER_ON);
	bpf_map_update_elem(&switched, &process, &off, BPF_ANY);
	return 0;
}

__noinline int trigger_is_off(void)
{
	__u32 process = my_process(), *off = bpf_map_lookup_elem(&switched, &process);

	return off ? *off : starts_off;
}

__noinline __u32 trigger_depth(__u32 func, __u32 depth)
{
	const struct func_trigger *g = bpf_map_lookup_elem(&trigger_of_func, &func);

	return g && g->actions & TRIGGER_DEPTH ? g->depth : depth;
}

__noinline int trigger_finish(__u32 func)
{
	const struct func_trigger *g = bpf_map_lookup_elem(&trigger_of_func, &func);

	if (!g || !(g->actions & TRIGGER_FINISH) || !recording)
		return 0;
	recording = false;
	bpf_ringbuf_output(&trigger_finished, &func, sizeof(func), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* ---- task life ---- */

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(trigger_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 process = my_process(), new = child->tgid, *off = bpf_map_lookup_elem(&switched, &process);

	if (off && new != process)
		bpf_map_update_elem(&switched, &new, off, BPF_ANY);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(trigger_exec)
{
	__u32 process = my_process();

	bpf_map_delete_elem(&switched, &process);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(trigger_exit, struct task_struct *task)
{
	__u32 process = task->tgid;

	if (task->signal->live.counter == 0)
		bpf_map_delete_elem(&switched, &process);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
