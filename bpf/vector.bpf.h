/*
 * vector.bpf.h - the vector and x87 registers of the current task, as they are in user space.
 *
 * A probe does not bring them: they are still in the CPU, where a BPF program cannot look. But
 * once the task has been off its CPU the kernel has saved them, and it does not load them again
 * before the task goes back to user space. So the task gives way once: to a thread of
 * ours that waits on this CPU for just that (src/source/vector.c), which is woken through the
 * CPU's ring and has nothing else to do. That the task was off its CPU is told by the kernel's own
 * counts, so what is read is never the state of an earlier time.
 */
#ifndef VECTOR_BPF_H
#define VECTOR_BPF_H

#include "user.bpf.h"

#define VECTOR_REGISTERS	8	/* that arguments come in */

struct vectors {
	__u64	xmm[VECTOR_REGISTERS][2];
	__u64	st[2];			/* the top of the x87 stack */
	__u64	have;			/* which are right: VECTORS_* */
};

#define VECTORS_X87	1u		/* as the kernel numbers them in xstate_header.xfeatures */
#define VECTORS_SSE	2u

/* Somebody waits to be woken: set when the threads are there. */
volatile bool vectors_served;

/* Values that could not be read: the task did not come off its CPU. */
volatile __u64 vectors_missed;

#if defined(__TARGET_ARCH_x86)

#define WAKES	4
#define LOOKS	16	/* each offers to reschedule */

static __always_inline __u64 times_off(struct task_struct *task)
{
	return *(volatile unsigned long *)&task->nvcsw + *(volatile unsigned long *)&task->nivcsw;
}

/* As gate.bpf.c does it: get_user_pages() of the task's own memory offers to reschedule. */
static __always_inline void offer_cpu(struct task_struct *task, struct vectors *v, __u64 sp)
{
	bpf_copy_from_user_task(v->st, sizeof(__u64), (void *)sp, task, 0);
}

static __always_inline bool wake_waiter(void)
{
	void *ring = ring_of_this_cpu(), *note = ring ? bpf_ringbuf_reserve(ring, sizeof(__u64), 0) : NULL;

	if (!note)
		return false;
	bpf_ringbuf_discard(note, BPF_RB_FORCE_WAKEUP);
	return true;
}

/* @sp: of memory that is there. False: the task has not been off its CPU, for all that was tried. */
static __noinline bool go_off(struct vectors *v, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 before = times_off(task);

	if (!v)
		return false;
	for (int i = 0; i < WAKES && wake_waiter(); i++)
		for (int k = 0; k < LOOKS; k++) {
			if (times_off(task) != before)
				return true;
			offer_cpu(task, v, sp);
		}
	return times_off(task) != before;
}

static __always_inline struct fpu *saved_state(struct task_struct *task)
{
	struct task_struct___fpu *old = (void *)task;

	if (bpf_core_field_exists(old->thread.fpu))
		return (void *)task + bpf_core_field_offset(old->thread.fpu);
	return (void *)task + bpf_core_type_size(struct task_struct);
}

/* A state that is not in what was saved is the initial one: all zero, the x87 stack empty. */
static __noinline int read_saved(struct vectors *v)
{
	struct fpstate *state = BPF_CORE_READ(saved_state(bpf_get_current_task_btf()), fpstate);
	__u64 has = BPF_CORE_READ(state, regs.xsave.header.xfeatures);

	if (!v || !state)
		return 0;
	__builtin_memset(v->xmm, 0, sizeof(v->xmm));
	if (!(has & VECTORS_SSE) ||
	    !bpf_core_read(v->xmm, sizeof(v->xmm), &state->regs.xsave.i387.xmm_space))
		v->have |= VECTORS_SSE;
	if (has & VECTORS_X87 && !bpf_core_read(v->st, sizeof(v->st), &state->regs.xsave.i387.st_space))
		v->have |= VECTORS_X87;
	return 0;
}

static __always_inline void read_vectors(struct vectors *v, __u64 sp)
{
	v->have = 0;
	if (args_may_fault && vectors_served && go_off(v, sp))
		read_saved(v);
}

#else

static __always_inline void read_vectors(struct vectors *v, __u64 sp)
{
	v->have = 0;
}

#endif

#endif
