/*
 * target.bpf.c - tasks that run already become recorded: passes over all tasks of the system.
 *
 * User space says in two tables which processes and threads it means, by their
 * numbers in its own PID namespace; only here can their numbers in the initial one be
 * had, which records bear. A step of enum target_step is one pass.
 *
 * A task is told of before it is marked, and its first own record comes after that:
 * the space is reserved, with its time, then the task is marked, then the record is
 * submitted. A child that a marked task makes is marked by task_new; one that was
 * made meanwhile by a task not yet marked is found by the next pass.
 */
#include "number.bpf.h"
#include "path.bpf.h"
#include "returns.bpf.h"

#define VM_EXEC		4ul	/* include/linux/mm.h */
#define PAGE_SHIFT	12

volatile __u32 target_step;
/* Of the last pass: tasks told of or marked, those that found no space, processes whose returns are not settled. */
volatile __u64 target_done, target_failed, target_unsettled;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 64 * 1024);
	__type(key, __u32);			/* process number */
	__type(value, __u32);			/* TARGET_* */
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 64 * 1024);
	__type(key, __u32);			/* thread number */
	__type(value, __u32);
} target_threads SEC(".maps");

/* The record of @task, reserved; NULL: no space now. */
static __always_inline struct rec_task_found *found_begin(struct task_struct *task)
{
	void *ring = ring_of_this_cpu();
	struct rec_task_found *r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : NULL;

	if (!r) {
		target_failed++;
		return NULL;
	}
	rec_fill_of(id_of(task), &r->hdr, REC_TASK_FOUND, sizeof(*r));
	r->stack = task->mm ? task->mm->start_stack : 0;
	__builtin_memcpy(r->comm, task->comm, sizeof(r->comm));
	r->parent = BPF_CORE_READ(task, real_parent, tgid);
	r->pad = 0;
	return r;
}

static __always_inline void announce(struct task_struct *task, __u32 *flags)
{
	struct rec_task_found *r;

	if (known_task(task)) {
		*flags |= TARGET_KNOWN;
		return;
	}
	r = found_begin(task);
	if (!r)
		return;
	rec_end(r);
	target_done++;
}

static __always_inline void mark(struct task_struct *task)
{
	struct rec_task_found *r;

	if (known_task(task))
		return;
	r = found_begin(task);
	if (!r)
		return;
	if (!begin_state(task)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		target_failed++;
		return;
	}
	rec_end(r);
	target_done++;
}

static __always_inline bool is_thread_wanted(struct task_struct *task, __u32 flags)
{
	__u32 number;

	if (flags & TARGET_WHOLE)
		return true;
	number = number_of((__u64)task->thread_pid);
	return bpf_map_lookup_elem(&target_threads, &number) != NULL;
}

SEC("?iter/task")
int target_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u32 number, *flags;
	bool is_leader;

	if (!task)
		return 0;
	number = number_of((__u64)task->signal->pids[PIDTYPE_TGID]);
	flags = bpf_map_lookup_elem(&targets, &number);
	if (!number || !flags)
		return 0;
	is_leader = task->pid == task->tgid;
	switch (target_step) {
	case TARGET_ANNOUNCE:
		if (is_leader)
			announce(task, flags);
		break;
	case TARGET_MARK:
		if (task->mm && is_thread_wanted(task, *flags))
			mark(task);
		break;
	case TARGET_ASK:
		if (is_leader)
			returns_found(task->tgid);
		break;
	case TARGET_SETTLE:
		if (is_leader && !returns_settle(task->tgid, *flags & TARGET_RETURNS))
			target_unsettled++;
		break;
	}
	return 0;
}

/* A scratch of its own: a pass is preempted by the programs that use the one of path.bpf.c. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct image_scratch);
} target_scratch SEC(".maps");

/* The files with code of one process, the program itself by its program headers; records as if the leader had sent them. */
SEC("?iter/task_vma")
int target_files(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	__u64 phdr = 0, base = 0, file;
	struct image_scratch *s;
	__u32 zero = 0, size;

	if (!task || !vma || !(vma->vm_flags & VM_EXEC) || !vma->vm_file)
		return 0;
	s = bpf_map_lookup_elem(&target_scratch, &zero);
	if (!s)
		return 0;
	BPF_CORE_READ_INTO(&file, vma, vm_file);	/* read, not loaded: a number, as a global function takes it */
	walk_root(&s->walk, task);
	size = image_fill(s, file);
	s->rec.addr = vma->vm_start;
	s->rec.len = vma->vm_end - vma->vm_start;
	s->rec.offset = vma->vm_pgoff << PAGE_SHIFT;
	s->rec.at = IMAGE_MAPPED;
	if ((__u64)BPF_CORE_READ(task, mm, exe_file, f_inode) == s->inode) {
		read_auxv(task->mm, &phdr, &base);
		s->rec.addr = phdr;
		s->rec.len = s->rec.offset = 0;
		s->rec.at = IMAGE_PHDR;
	}
	rec_send_of((__u64)task->tgid << 32 | task->tgid, NULL, CLASS_TASK, REC_IMAGE, 0, &s->rec.hdr,
		    size, IMAGE_REC_MAX);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
