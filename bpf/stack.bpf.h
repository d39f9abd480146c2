/*
 * stack.bpf.h - is the current task on its home stack, the one stack whose returns may be probed?
 *
 * The kernel keeps the open return probes of a task in one list and takes all of
 * them to be on one stack, growing down: a probe or a return at a higher address
 * drops every one below it as left. A handler on an alternate stack, or a
 * coroutine, would make it drop frames that are still to return, and the task
 * would be killed (SIGILL) when they do. So returns are probed on one stack of a
 * task only, the first that a probed function runs on.
 */
#ifndef STACK_BPF_H
#define STACK_BPF_H

#include "recorder.bpf.h"

/* Under the main stack so much is kept free of other mappings: MIN_GAP of arch/x86/mm/mmap.c, arm64 in mm/util.c. */
#define MAIN_STACK_BYTES	(128ull << 20)

#define FIRST_BYTES	4096	/* so near the task's first call it is the same stack, while more is not known of that */

struct stack {
	__u64	start, bytes;
};

static long note_stack(struct task_struct *task, struct vm_area_struct *vma, struct stack *s)
{
	s->start = vma->vm_start;
	s->bytes = vma->vm_end - vma->vm_start;
	return 0;
}

/*
 * The stack of the task's first call, at @sp if this is it, becomes its home. Where that cannot be told now, the next call
 * may try again: what a thread has mapped is not told while another one maps something.
 */
static __noinline int find_home(struct task_state *t, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 top = BPF_CORE_READ(task, mm, start_stack);
	struct stack s = {};

	if (!t)
		return 0;
	if (t->home)
		sp = t->home;
	else
		t->home = sp;
	if (sp <= top && top - sp < MAIN_STACK_BYTES)
		s = (struct stack){ top - MAIN_STACK_BYTES, MAIN_STACK_BYTES + 1 };
	else
		bpf_find_vma(task, sp, note_stack, &s, 0);
	if (s.bytes)
		t->home = s.start;
	t->home_bytes = s.bytes;
	return 0;
}

/* On the stack that sigaltstack(2) set: it may lie inside a mapping that is home. */
static __always_inline bool is_on_signal_stack(struct task_struct *task, __u64 sp)
{
	return sp - task->sas_ss_sp < task->sas_ss_size;
}

static __always_inline bool is_home(struct task_state *t, struct task_struct *task, __u64 sp)
{
	if (is_on_signal_stack(task, sp))
		return false;
	if (!t->home_bytes)
		find_home(t, sp);
	if (!t->home_bytes)
		return sp - t->home + FIRST_BYTES < 2 * FIRST_BYTES;
	return sp - t->home < t->home_bytes;
}

#define RETURNS_MAX	64	/* return probes the kernel keeps open for a task: MAX_URETPROBE_DEPTH */

/* Set before the load: a program cannot choose which returns are probed, but it may write user memory. */
extern const volatile bool spare_other_stacks;

struct dropping {
	struct return_instance *ri;
	__u64	sp, trampoline;
};

static long give_truth(__u32 i, struct dropping *d)
{
	struct return_instance *ri = d->ri;
	__u64 stack, truth, word = 0;

	if (!ri)
		return 1;
	stack = BPF_CORE_READ(ri, stack);
	truth = BPF_CORE_READ(ri, orig_ret_vaddr);
	d->ri = BPF_CORE_READ(ri, next);
	if (stack < d->sp && !bpf_probe_read_user(&word, sizeof(word), (void *)stack) && word == d->trampoline)
		bpf_probe_write_user((void *)stack, &truth, sizeof(truth));
	return 0;
}

/*
 * The kernel is about to drop the return probes below @sp. Frames that have been
 * left do not care; those of another stack get their true return addresses back.
 */
static __noinline int spare_frames(struct return_instance *newest, __u64 sp, __u64 trampoline)
{
	struct dropping d = { newest, sp, trampoline };

	bpf_loop(RETURNS_MAX, give_truth, &d, 0);
	return 0;
}

/*
 * REC_F_* of a call whose return address lies at @sp, as the kernel's list of the
 * task's open return probes tells them. Not above the newest of those, it may be
 * a tail call of that function, which then finds the trampoline as its return
 * address; else what was open there has been left unseen, by an exception or
 * longjmp(). Beyond what the list can hold the return is not probed.
 */
static __always_inline __u16 entry_flags(struct task_struct *task, struct pt_regs *ctx, __u64 sp)
{
	struct uprobe_task *utask = task->utask;
	struct return_instance *ri;
	struct xol_area *area;
	__u16 flags;

	if (!utask)
		return 0;
	flags = utask->depth >= RETURNS_MAX ? REC_F_NO_EXIT : 0;
	ri = utask->return_instances;
	area = task->mm->uprobes_state.xol_area;
	if (!ri || ri->stack > sp || !area)
		return flags;
	if (spare_other_stacks)
		spare_frames(ri, sp, area->vaddr);
	return return_address(ctx, sp) != area->vaddr ? flags | REC_F_CALLED : flags;
}

#endif
