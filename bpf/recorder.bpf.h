/*
 * recorder.bpf.h - what every BPF program needs: who is recorded, a place in
 * the CPU's ring, and the counts of what found none.
 *
 * The path of a record: my_task() asks whether the task is recorded at all,
 * rec_begin() reserves the space and fills the header, the program fills the
 * rest, rec_end() submits it without waking anybody. A reserve that fails is
 * counted in rec_begin() and nowhere else.
 */
#ifndef RECORDER_BPF_H
#define RECORDER_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "compat.bpf.h"
#include "taskstate.h"

#define PF_EXITING	0x4
#define STRAYS_MAX	1024
#define CPUS_MAX	1024	/* rings[] and lost[] are cut to the machine's CPUs before the load */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks __weak SEC(".maps");

/*
 * By the task's address: those that were given no storage when they were made. Kernels before 7 give nobody any on a
 * CPU where a task is preempted that is just looking for its own, as functions' programs may be; before 6.2 nobody finds
 * his own there either, also while a sleepable program waits for memory. There all are here: STORAGE_HIDDEN.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STRAYS_MAX);	/* or STRAYS_ALL_MAX */
	__type(key, __u64);
	__type(value, struct task_state);
} strays __weak SEC(".maps");

/* One ring per CPU; the inner maps are made and put in by user space, their size is an option. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, CPUS_MAX);
	__type(key, __u32);
	__array(values, struct ring);
} rings __weak SEC(".maps");

/*
 * One for each CPU. User space reads them in the memory they lie in: while it calls bpf(2) to look something up the kernel
 * skips what tracepoints run on that CPU, which from 7.0 on may be for long, if it is preempted just then.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CPUS_MAX);
	__type(key, __u32);
	__type(value, struct tally);
} tallies __weak SEC(".maps");

/* Set once, before the load. */
extern const volatile bool follow;		/* record the children of recorded tasks too */
extern const volatile __u32 lose_one_in;	/* drop one record in so many, counted; 0: none */
extern const volatile __u32 string_max;		/* bytes of a syscall's string to take */

extern const volatile bool signals_pause;	/* signals to recorder may pause what is recorded */

/* By a signal, enum switched_all: system calls and USDT probes. Functions have their own, which triggers overrule. */
extern volatile __u32 events_switched;

/* Cleared when recording stops: from then on nothing is produced. */
extern volatile bool recording;

extern const volatile __u32 storage_at_forks;	/* enum storage_at_forks */
extern volatile bool has_strays;		/* there have been some */

static __always_inline struct task_state *stray(struct task_struct *task)
{
	__u64 key = (__u64)task;
	struct task_state *t = bpf_map_lookup_elem(&strays, &key);

	return t && t->tgid == task->tgid ? t : NULL;		/* else one that has gone, which nobody has told of */
}

/* What is known of @task, also when recording has stopped. */
static __always_inline struct task_state *known_task(struct task_struct *task)
{
	struct task_state *t = storage_at_forks == STORAGE_HIDDEN ? stray(task) : NULL;

	if (!t)
		t = bpf_task_storage_get(&tasks, task, NULL, 0);
	if (t || storage_at_forks == STORAGE_GIVEN || storage_at_forks == STORAGE_HIDDEN || !has_strays)
		return t;
	return stray(task);
}

static __always_inline bool make_stray(struct task_struct *task, const struct task_state *as)
{
	__u64 key = (__u64)task;

	if (bpf_map_update_elem(&strays, &key, as, BPF_ANY))
		return false;
	has_strays = true;
	return true;
}

/* From now on @task is recorded. False: there is no memory. */
static __always_inline bool begin_state(struct task_struct *task)
{
	const struct task_state begun = { .tgid = task->tgid };

	if (storage_at_forks < STORAGE_REFUSED && bpf_task_storage_get(&tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		return true;
	return storage_at_forks != STORAGE_GIVEN && make_stray(task, &begun);
}

/* The state @t of a task that was marked from user space, where it will be found. */
static __always_inline struct task_state *settle_state(struct task_struct *task, struct task_state *t)
{
	if (storage_at_forks != STORAGE_HIDDEN || stray(task))
		return t;
	t->tgid = task->tgid;
	return make_stray(task, t) ? stray(task) ?: t : t;
}

/* The state of @task, or NULL when it is not recorded. */
static __always_inline struct task_state *state_of(struct task_struct *task)
{
	struct task_state *t = known_task(task);

	if (!t || !recording)
		return NULL;
	return t;
}

static __always_inline struct task_state *my_task(void)
{
	return state_of(bpf_get_current_task_btf());
}

/* The address @p as a number, as a global function takes it. */
static __always_inline __u64 kernel_address(const void *p)
{
	__u64 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), &p);
	return n;
}

int count_lost(struct task_state *t, __u32 class);
int count_lost_many(struct task_state *t, __u32 class, __u32 n);
int report_lost(struct task_state *t);

static __always_inline void *ring_of_this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&rings, &cpu);
}

/* As bpf_get_current_pid_tgid() has the current one's. */
static __always_inline __u64 id_of(struct task_struct *task)
{
	return (__u64)task->tgid << 32 | (__u32)task->pid;
}

/* @id: of the task the record is of. */
static __always_inline void rec_fill_of(__u64 id, struct rec_hdr *h, __u16 kind, __u16 size)
{
	h->time = bpf_ktime_get_ns();
	h->pid = id >> 32;
	h->tid = id;
	h->kind = kind;
	h->size = size;
	h->cpu = bpf_get_smp_processor_id();
	h->flags = 0;
}

static __always_inline void rec_fill(struct rec_hdr *h, __u16 kind, __u16 size)
{
	rec_fill_of(bpf_get_current_pid_tgid(), h, kind, size);
}

/*
 * Space for a record of @size bytes of the task @id, its header filled in; NULL when there is none, which has then been
 * counted. @size must be a constant. @t NULL: loss is counted, but not the task's.
 */
static __always_inline void *rec_begin_of(__u64 id, struct task_state *t, __u32 class, __u16 kind, __u16 size)
{
	struct rec_hdr *h = NULL;
	void *ring = ring_of_this_cpu();

	if (ring && !(lose_one_in && bpf_get_prandom_u32() % lose_one_in == 0))
		h = bpf_ringbuf_reserve(ring, size, 0);
	if (!h) {
		count_lost(t, class);
		return NULL;
	}
	rec_fill_of(id, h, kind, size);
	return h;
}

/* Of the current task. */
static __always_inline void *rec_begin(struct task_state *t, __u32 class, __u16 kind, __u16 size)
{
	if (t->flags & TASK_HAS_LOST)
		report_lost(t);
	return rec_begin_of(bpf_get_current_pid_tgid(), t, class, kind, size);
}

static __always_inline void rec_end(void *rec)
{
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
}

/*
 * A record put together elsewhere, of varying size, of any task; its header is filled
 * here. @max is a constant that is never passed, for the verifier: checked on the
 * very register that the helper gets. @t NULL: loss is counted, but not the task's.
 * False: it was lost, which has been counted.
 */
static __always_inline bool rec_send_of(__u64 id, struct task_state *t, __u32 class, __u16 kind, __u16 flags,
					struct rec_hdr *h, __u32 size, const __u32 max)
{
	void *ring = ring_of_this_cpu();

	size = (size + 7) & ~7u;
	rec_fill_of(id, h, kind, size);
	h->flags = flags;
	asm volatile("" : "+r"(size));
	if (size > max)
		return false;
	asm volatile("" : "+r"(size));
	if (!ring || (lose_one_in && bpf_get_prandom_u32() % lose_one_in == 0) ||
	    bpf_ringbuf_output(ring, h, size, BPF_RB_NO_WAKEUP)) {
		count_lost(t, class);
		return false;
	}
	return true;
}

static __always_inline bool rec_send(struct task_state *t, __u32 class, __u16 kind, __u16 flags, struct rec_hdr *h,
				     __u32 size, const __u32 max)
{
	if (t->flags & TASK_HAS_LOST)
		report_lost(t);
	return rec_send_of(bpf_get_current_pid_tgid(), t, class, kind, flags, h, size, max);
}

#endif
