/*
 * task.bpf.c - task life: fork, exec, rename, exit; and the files with code that a process is made of.
 *
 * Being recorded passes from parent to child here, by the child's own task
 * storage, before the child first runs.
 */
#include "number.bpf.h"
#include "path.bpf.h"
#include "returns.bpf.h"

#define PF_EXITING	0x4
#define SIGNAL_GROUP_EXIT 0x4

int gate_forked(void);		/* gate.bpf.c */

const volatile bool follow = true;
const volatile __u32 lose_one_in;
const volatile __u32 string_max = 32;
const volatile __u32 own_pid_ns;
const volatile __u32 own_pid;
const volatile bool signals_pause;
const volatile bool callers_wanted;
volatile __u32 events_switched;
volatile bool recording = true;

__noinline int count_lost_many(struct task_state *t, __u32 class, __u32 n)
{
	struct tally *tally;
	__u32 zero = 0;

	tally = bpf_map_lookup_elem(&tallies, &zero);
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

SEC("?tp_btf/sched_process_fork")
int BPF_PROG(task_new, struct task_struct *parent, struct task_struct *child)
{
	struct task_state *t = my_task();
	struct rec_task_new *r;

	if (!t || t->flags & TASK_ARMED)
		return 0;
	if (!follow && child->pid == child->tgid)
		return 0;			/* threads always, processes when asked */
	if (!bpf_task_storage_get(&tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE)) {
		count_lost(t, CLASS_TASK);
		return 0;
	}
	if (child->pid == child->tgid) {
		returns_fork(child->pid);
		gate_forked();
	}
	r = rec_begin(t, CLASS_TASK, REC_TASK_NEW, sizeof(*r));
	if (!r)
		return 0;
	r->new_pid = child->tgid;
	r->new_tid = child->pid;
	__builtin_memcpy(r->comm, child->comm, sizeof(r->comm));
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

static __always_inline void tell_exec(struct task_state *t, struct task_struct *task, pid_t old_tid, struct linux_binprm *bprm)
{
	__u32 zero = 0;
	struct exec_scratch *s = bpf_map_lookup_elem(&exec_scratches, &zero);
	long n;

	if (!s)
		return;
	s->rec.old_tid = old_tid;
	s->rec.pad = 0;
	s->rec.stack = task->mm->start_stack;
	__builtin_memcpy(s->rec.comm, task->comm, sizeof(s->rec.comm));
	n = bpf_probe_read_kernel_str(s->filename, REC_EXEC_NAME, bprm->filename);
	if (n < 0 || n > REC_EXEC_NAME)
		n = 0;
	for (int i = 0; i < 8; i++)		/* the last word: no byte leaves that was not written */
		s->filename[n + i] = 0;
	rec_send(t, CLASS_TASK, REC_TASK_EXEC, 0, &s->rec.hdr, sizeof(s->rec) + n + 1, sizeof(*s));
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(task_exec, struct task_struct *task, pid_t old_tid, struct linux_binprm *bprm)
{
	struct task_state *t = my_task();
	__u64 phdr = 0, base = 0;

	if (!t)
		return 0;
	t->flags &= ~TASK_ARMED;
	t->home = t->home_bytes = 0;	/* a new stack */
	tell_exec(t, task, old_tid, bprm);
	returns_exec();
	read_auxv(task->mm, &phdr, &base);
	send_image((__u64)BPF_CORE_READ(task, mm, exe_file), IMAGE_PHDR, phdr, 0, 0);
	if (base)
		send_image_at(base, IMAGE_BASE, 0, 0, NO_FD);
	else
		returns_known();		/* a static program maps nothing more */
	return 0;
}

/*
 * A record of @task, which another thread of its process names: it comes before that one's exit, since who is not
 * exiting yet, once the record has its time, exits later. NULL: no space, which has been counted, or it is exiting.
 */
static __always_inline struct rec_task_name *name_of_another(struct task_struct *task)
{
	struct rec_task_name *r = rec_begin_of(id_of(task), NULL, CLASS_TASK, REC_TASK_NAME, sizeof(*r));

	if (r && task->flags & PF_EXITING) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return NULL;
	}
	return r;
}

SEC("?tp_btf/task_rename")
int BPF_PROG(task_name, struct task_struct *task, const char *comm)
{
	struct task_state *t = state_of(task);
	struct rec_task_name *r;

	if (!t || t->flags & TASK_ARMED)
		return 0;
	r = task == bpf_get_current_task_btf() ? rec_begin(t, CLASS_TASK, REC_TASK_NAME, sizeof(*r)) :
						 name_of_another(task);
	if (!r)
		return 0;
	__builtin_memset(r->comm, 0, sizeof(r->comm));
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), comm);	/* cut as the kernel will */
	r->oom_score_adj = task->signal->oom_score_adj;
	r->by_tid = (__u32)bpf_get_current_pid_tgid();
	__builtin_memcpy(r->old, task->comm, sizeof(r->old));
	rec_end(r);
	return 0;
}

/*
 * Recorder ends, killed perhaps: then the kernel lets go of its links one after the other, and of the first not before
 * all frames whose returns are probed were left in peace for a while, which the probes of the others would not have.
 */
static __always_inline void stop_with_recorder(struct task_struct *task)
{
	if (task->signal->flags & SIGNAL_GROUP_EXIT && number_of((__u64)task->signal->pids[PIDTYPE_TGID]) == own_pid)
		recording = false;
}

/* In wait(2)'s encoding; a process ended as a whole keeps its status in the signal struct. */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *task)
{
	struct task_state *t = my_task();
	struct rec_task_exit *r;
	struct signal_struct *sig;

	if (!t || t->flags & TASK_ARMED) {
		stop_with_recorder(task);
		return 0;
	}
	sig = task->signal;
	if (sig->live.counter == 0)
		returns_exit();
	r = rec_begin(t, CLASS_TASK, REC_TASK_EXIT, sizeof(*r));
	if (!r)
		return 0;
	if (task->pid == task->tgid && sig->group_exec_task && sig->group_exec_task != task)
		r->hdr.flags = REC_F_REPLACED;
	r->status = task->exit_code;
	r->last = sig->live.counter == 0;
	r->group_status = r->last ? (sig->group_exit_code ?: task->exit_code) : 0;
	r->prio = task->prio;
	rec_end(r);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
