/*
 * task.bpf.c - task life: exec, rename, exit (fork: fork.bpf.c); and the files with code that a process is made of.
 */
#include "number.bpf.h"
#include "path.bpf.h"
#include "point.bpf.h"
#include "returns.bpf.h"

int gate_begun(void);			/* gate.bpf.c */

#define SIGNAL_GROUP_EXIT 0x4

const volatile bool never;
const volatile bool follow = true;
const volatile __u32 storage_at_forks;
volatile bool has_strays;
const volatile __u32 lose_one_in;
const volatile __u32 string_max = 32;
const volatile __u32 own_pid_ns;
const volatile __u32 own_pid;
volatile __u32 agent_pid;
volatile bool agent_gone;
const volatile bool signals_pause;
const volatile bool callers_wanted;
volatile __u32 events_switched;
volatile bool recording = true;

__noinline int count_lost_many(struct task_state *t, __u32 class, __u32 n)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct tally *tally = bpf_map_lookup_elem(&tallies, &cpu);

	if (!tally || class >= REC_CLASSES)
		return 0;
	__sync_fetch_and_add(&tally->lost[class], n);
	if (!t)
		return 0;
	t->lost[class] += n;
	t->flags |= TASK_HAS_LOST;
	return 0;
}

__noinline int count_lost(struct task_state *t, __u32 class)
{
	return count_lost_many(t, class, 1);
}

/* Tell how much of the task was lost, ahead of its next record; try again at the one after when even that does not fit. */
__noinline int report_lost(struct task_state *t)
{
	void *ring = ring_of_this_cpu();
	struct rec_lost *r;

	if (!t || !ring)
		return 0;
	r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
	if (!r)
		return 0;
	rec_fill(&r->hdr, REC_TASK_LOST, sizeof(*r));
	for (int i = 0; i < REC_CLASSES; i++) {
		r->count[i] = t->lost[i];
		t->lost[i] = 0;
	}
	t->flags &= ~TASK_HAS_LOST;
	rec_end(r);
	return 0;
}

/* The record of an exec while it is put together. */
struct exec_scratch {
	struct rec_task_exec rec;
	char	filename[REC_EXEC_NAME + 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct exec_scratch);
} exec_scratches SEC(".maps");

static __always_inline void tell_exec(struct task_state *t, struct task_struct *task, pid_t old_tid, __u64 filename)
{
	__u32 zero = 0;
	struct exec_scratch *s = bpf_map_lookup_elem(&exec_scratches, &zero);
	long n;

	if (!s)
		return;
	s->rec.old_tid = old_tid;
	s->rec.pad = 0;
	s->rec.stack = BPF_CORE_READ(task, mm, start_stack);
	__builtin_memcpy(s->rec.comm, task->comm, sizeof(s->rec.comm));
	n = bpf_probe_read_kernel_str(s->filename, REC_EXEC_NAME, (void *)filename);
	if (n < 0 || n > REC_EXEC_NAME)
		n = 0;
	for (int i = 0; i < 8; i++)		/* the last word: no byte leaves that was not written */
		s->filename[n + i] = 0;
	rec_send(t, CLASS_TASK, REC_TASK_EXEC, 0, &s->rec.hdr, sizeof(s->rec) + n + 1, sizeof(*s));
}

AT_EXEC(task_exec, task, old_tid, filename)
{
	struct task_state *t = my_task();
	__u64 phdr = 0, base = 0;
	bool is_first;

	if (!t)
		return 0;
	t = settle_state(task, t);
	is_first = t->flags & TASK_UNSTARTED;
	t->flags &= ~(TASK_ARMED | TASK_UNSTARTED);
	t->home = t->home_bytes = 0;	/* a new stack */
	tell_exec(t, task, old_tid, filename);
	returns_exec();
	read_auxv(BPF_CORE_READ(task, mm), &phdr, &base);
	send_image((__u64)BPF_CORE_READ(task, mm, exe_file), IMAGE_PHDR, phdr, 0, 0);
	if (base) {
		send_image_at(base, IMAGE_BASE, 0, 0, NO_FD);
		return 0;
	}
	returns_known();		/* a static program maps nothing more */
	if (!is_first)
		gate_begun();
	return 0;
}

/*
 * Recorder ends, killed perhaps: then the kernel lets go of its links one after the other, and of the first not before
 * all frames whose returns are probed were left in peace for a while, which the probes of the others would not have.
 * Without the agent those who wait would keep the CPUs from whom they wait for.
 */
static __always_inline void stop_with_recorder(struct task_struct *task)
{
	__u32 pid;

	if (!(BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT))
		return;
	pid = number_of((__u64)BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID]));
	if (pid == own_pid)
		recording = false;
	else if (pid && pid == agent_pid)
		agent_gone = true;
}

/* In wait(2)'s encoding; a process ended as a whole keeps its status in the signal struct. */
static __always_inline void tell_exit(struct task_state *t, struct task_struct *task)
{
	struct signal_struct *sig = BPF_CORE_READ(task, signal);
	bool is_last = !BPF_CORE_READ(sig, live.counter);
	__u64 execs = (__u64)BPF_CORE_READ(sig, group_exec_task);
	struct rec_task_exit *r;

	if (is_last)
		returns_exit();
	r = rec_begin(t, CLASS_TASK, REC_TASK_EXIT, sizeof(*r));
	if (!r)
		return;
	if (task->pid == task->tgid && execs && execs != (__u64)task)
		r->hdr.flags = REC_F_REPLACED;
	r->status = task->exit_code;
	r->last = is_last;
	r->group_status = is_last ? (BPF_CORE_READ(sig, group_exit_code) ?: task->exit_code) : 0;
	r->prio = task->prio;
	rec_end(r);
}

AT_EXIT(task_exit, task)
{
	struct task_state *t = my_task();

	if (t && !(t->flags & TASK_ARMED))
		tell_exit(t, task);
	else
		stop_with_recorder(task);
	return 0;
}

/* Who has no storage; another task may be made at its address. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(task_free, struct task_struct *task)
{
	__u64 key = (__u64)task;

	if (has_strays)
		bpf_map_delete_elem(&strays, &key);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
