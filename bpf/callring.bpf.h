/*
 * callring.bpf.h - the ring of function records: one per CPU, of slots all of one size.
 *
 * Functions make most of all records, so theirs is the cheapest ring there can
 * be: one atomic add takes a slot, the slot is filled, and its last word says
 * that it is whole. (A BPF ring buffer takes a lock for each record.) User space
 * has the rings in its memory and reads them where they lie.
 *
 * A program may be preempted at any point and another run on the same CPU, so
 * taking a slot must be atomic. That there is room is checked before; half as many
 * programs as CALLS_SPARE would have to be preempted between the check and the
 * taking to write over what was not read yet. (A launch takes two slots.)
 */
#ifndef CALLRING_BPF_H
#define CALLRING_BPF_H

#include "recorder.bpf.h"
#include "callring.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CPUS_MAX);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 4096);		/* calls_bytes() of the slots; set before the load, as calls_mask is */
} call_rings __weak SEC(".maps");

extern const volatile __u32 calls_mask;		/* slots of a ring, less one */

/* The slot is whole: everything in it is seen before this word is. */
static __always_inline void calls_commit(__u32 *commit, __u32 word)
{
#if defined(__TARGET_ARCH_x86)
	asm volatile("" ::: "memory");		/* stores are seen in their order */
	*(volatile __u32 *)commit = word;
#else
	__sync_lock_test_and_set(commit, word);
#endif
}

/* The ring of @cpu; NULL: no room. */
static __always_inline struct calls_head *calls_with_room(__u32 cpu)
{
	struct calls_head *ring = bpf_map_lookup_elem(&call_rings, &cpu);

	if (!ring || ring->head - *(volatile __u64 *)&ring->tail > calls_mask - CALLS_SPARE)
		return NULL;
	return lose_one_in && bpf_get_prandom_u32() % lose_one_in == 0 ? NULL : ring;
}

static __always_inline void *calls_slot(struct calls_head *ring, __u64 at)
{
	return (void *)(ring + 1) + (at & calls_mask) * sizeof(struct rec_func);
}

static __always_inline void calls_fill(struct rec_func *r, struct task_struct *task, __u16 kind, __u16 size, __u32 cpu,
				       __u16 flags, __u32 func, __u64 sp)
{
	r->hdr.time = bpf_ktime_get_ns();
	r->hdr.pid = task->tgid;
	r->hdr.tid = task->pid;
	r->hdr.kind = kind;
	r->hdr.size = size;
	r->hdr.cpu = cpu;
	r->hdr.flags = flags;
	r->func = func;
	r->sp = sp;
}

/* Record a function's entry or exit. False: no room; it is for the caller to count that. */
static __always_inline bool call_record(struct task_struct *task, __u16 kind, __u16 flags, __u32 func, __u64 sp)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct calls_head *ring = calls_with_room(cpu);
	struct rec_func *r;
	__u64 at;

	if (!ring)
		return false;
	at = __sync_fetch_and_add(&ring->head, 1);
	r = calls_slot(ring, at);
	calls_fill(r, task, kind, sizeof(*r), cpu, flags, func, sp);
	calls_commit(&r->commit, CALLS_WHOLE(at));
	return true;
}

/* Record a launch whose words are @w: two slots, the first committed last. False: no room; to be counted as above. */
static __always_inline bool launch_record(struct task_struct *task, __u16 flags, __u32 func, __u64 sp,
					  const __u64 w[CUDA_LAUNCH_WORDS])
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct calls_head *ring = calls_with_room(cpu);
	struct launch_words *l;
	struct rec_func *r;
	__u64 at;

	if (!ring)
		return false;
	at = __sync_fetch_and_add(&ring->head, 2);
	r = calls_slot(ring, at);
	l = calls_slot(ring, at + 1);
	calls_fill(r, task, REC_CUDA_LAUNCH, sizeof(struct rec_cuda_launch), cpu, flags, func, sp);
	l->kernel = w[0];
	l->grid_x = w[1];
	l->grid_y = w[2];
	l->grid_z = w[3];
	l->block[0] = w[4];
	l->block[1] = w[5];
	l->block[2] = w[6];
	l->pad = 0;
	l->shared = w[7];
	l->stream = w[8];
	calls_commit(&l->commit, CALLS_SECOND(at + 1));
	calls_commit(&r->commit, CALLS_WHOLE(at));
	return true;
}

#endif
