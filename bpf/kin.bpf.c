/*
 * kin.bpf.c - what a task does to its kin: what passes to the one it makes, before that first runs; and the names of threads.
 *
 * All programs for which a perf event's shape has to find another task are here. At forks their order is that of the
 * sources (src/source/sources.c).
 */
#include "filter.bpf.h"
#include "heirs.bpf.h"
#include "kernelcall.bpf.h"
#include "path.bpf.h"
#include "point.bpf.h"
#include "returns.bpf.h"

#define PF_IO_WORKER	 0x10
#define NR_IO_URING_ENTER 426	/* on every architecture */

static const char ring_worker[] = "iou-";	/* how the names begin that they give themselves */
#define PROC_SUPER_MAGIC 0x9fa0

int cgroup_forked(__u64 child);		/* cgroup.bpf.c */
int file_cloned(bool is_process);	/* file.bpf.c */
int gate_forked(void);			/* gate.bpf.c */
int trigger_forked(__u32 new);		/* trigger.bpf.c */

/* As in point.bpf.h. */
#define AT_FORK(name, parent, child)									\
static __always_inline int name##_met(void *ctx, struct task_struct *parent, struct task_struct *child); \
SEC("?tp_btf/sched_process_fork")									\
int BPF_PROG(name, struct task_struct *parent, struct task_struct *child)				\
{													\
	return name##_met(ctx, parent, child);								\
}													\
SEC("?tracepoint/sched/sched_process_fork")								\
int name##_perf(struct trace_event_raw_sched_process_fork *ctx)						\
{													\
	struct task_struct *child = task_from_pid(ctx->child_pid);					\
													\
	if (!child)											\
		return 1;										\
	name##_met(ctx, bpf_get_current_task_btf(), child);						\
	task_release(child);									\
	return 1;											\
}													\
static __always_inline int name##_met(void *ctx, struct task_struct *parent, struct task_struct *child)

static __always_inline bool is_process(struct task_struct *task)
{
	return task->pid == task->tgid;
}

AT_FORK(cgroup_fork, parent, child)
{
	return cgroup_forked(kernel_address(child));
}

/* A new process goes on where its parent is; a thread begins with nothing. */
AT_FORK(filter_fork, parent, child)
{
	struct frames *f = room_of(&filter_frames, bpf_get_current_task_btf());

	if (f && is_process(child))
		room_copy(&filter_frames, f, child);
	return 0;
}

AT_FORK(trigger_fork, parent, child)
{
	return trigger_forked(child->tgid);
}

/* Comes before task_new(), which tells of the child. */
AT_FORK(file_clone, parent, child)
{
	return file_cloned(is_process(child));
}

/* Being recorded: by the child's own state. True: it has begun, whether or not there was space to tell of it. */
static __always_inline bool begin_child(struct task_struct *child)
{
	struct task_state *t = my_task();
	struct rec_task_new *r;

	if (!t || t->flags & TASK_ARMED)
		return false;
	if (!follow && is_process(child))
		return false;			/* threads always, processes when asked */
	if (known_task(child))
		return false;
	if (!begin_state(child)) {
		count_lost(t, CLASS_TASK);
		return false;
	}
	if (is_process(child)) {
		returns_fork(child->pid);
		gate_forked();
	}
	r = rec_begin(t, CLASS_TASK, REC_TASK_NEW, sizeof(*r));
	if (!r)
		return true;
	r->new_pid = child->tgid;
	r->new_tid = child->pid;
	__builtin_memcpy(r->comm, child->comm, sizeof(r->comm));
	rec_end(r);
	return true;
}

AT_FORK(task_new, parent, child)
{
	begin_child(child);
	return 0;
}

/* Those whom task_new() was not told of. */
volatile __u64 forks_seconded;

/*
 * Behind task_new() where that is a perf event's: nothing that a child does is recorded when its fork is missed, and what
 * one is skipped for, somebody's bpf(2) or a preempted program of the same kind, does not hold up the other.
 */
SEC("?tp_btf/sched_process_fork")
int BPF_PROG(task_new_second, struct task_struct *parent, struct task_struct *child)
{
	if (begin_child(child))
		__sync_fetch_and_add(&forks_seconded, 1);
	return 0;
}

/* The agent keeps this attached when recorder has gone, and with it what knows of forks. */
AT_FORK(gate_fork, parent, child)
{
	if (has_return_probes(parent) && is_ours(parent))
		bpf_task_storage_get(&gate_heirs, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	return 0;
}

/* ---- names ---- */

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

/* @comm: the address of the new one in the kernel. */
static __always_inline int tell_name(struct task_struct *task, __u64 comm)
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
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), (void *)comm);	/* cut as the kernel will */
	r->oom_score_adj = BPF_CORE_READ(task, signal, oom_score_adj);
	r->by_tid = (__u32)bpf_get_current_pid_tgid();
	__builtin_memcpy(r->old, task->comm, sizeof(r->old));
	rec_end(r);
	return 0;
}

SEC("?tp_btf/task_rename")
int BPF_PROG(task_name, struct task_struct *task, const char *comm)
{
	return tell_name(task, kernel_address(comm));
}

/* Whom a file of /proc/PID is about, by the number in the initial namespace; 0: it is none. */
static __always_inline __s32 subject_of(struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct proc_inode *proc = (void *)inode - bpf_core_field_offset(struct proc_inode, vfs_inode);
	struct upid *number;

	if (!file || BPF_CORE_READ(inode, i_sb, s_magic) != PROC_SUPER_MAGIC)
		return 0;
	number = (void *)BPF_CORE_READ(proc, pid) + bpf_core_field_offset(struct pid, numbers);
	return BPF_CORE_READ(number, nr);
}

/*
 * A ring of io_uring has written it, whose file is not to be seen: of a thread that may be recorded, where the process is.
 * What is left names threads of the kernel, which are not: workers of rings themselves, what mount(2) starts.
 */
static __always_inline void count_by_ring(struct task_struct *task, __u32 nr, __u64 comm)
{
	char now[sizeof(ring_worker)] = {};
	struct task_struct *leader = task->group_leader;

	if (nr != NR_IO_URING_ENTER && !(task->flags & PF_IO_WORKER))
		return;
	bpf_probe_read_kernel_str(now, sizeof(now), (void *)comm);
	if (!bpf_strncmp(now, sizeof(now) - 1, ring_worker) || !leader || !state_of(leader))
		return;
	count_lost(NULL, CLASS_TASK);
}

/* Since 6.16 (e0b2fdb352b7) the event does not tell whose name it is: that of who writes it into a file of /proc, or its own. */
SEC("?tracepoint/task/task_rename")
int task_name_perf(struct trace_event_raw_task_rename *ctx)
{
	__u64 comm = kernel_address(ctx) + bpf_core_field_offset(struct trace_event_raw_task_rename, newcomm), arg[6];
	struct task_struct *task = bpf_get_current_task_btf(), *other;
	struct pt_regs *regs = own_regs();
	bool compat = in_compat_syscall();
	__u32 nr = syscall_nr(regs);

	if (names_itself(nr, compat)) {
		tell_name(task, comm);
		return 1;
	}
	if (compat)
		compat_args(regs, arg);
	else
		syscall_args(regs, arg);
	other = task_from_pid(subject_of((struct file *)file_at_fd(arg[0])));
	if (!other) {
		count_by_ring(task, nr, comm);
		return 1;
	}
	if (other->tgid == task->tgid)
		tell_name(other, comm);
	task_release(other);
	return 1;
}

char LICENSE[] SEC("license") = "GPL";
