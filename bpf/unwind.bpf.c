/*
 * unwind.bpf.c - return probes made to live with unwinders.
 *
 * A return probe replaces a return address on the stack by the address of the
 * kernel's trampoline. Who walks the stack then meets an address that no table
 * knows: a C++ exception ends in std::terminate(). So before an unwinder looks
 * (unwind_begin), the true addresses are written back, and when a handler has
 * been found, or the walk was only a look (unwind_end), the trampoline is put
 * back into the frames that are left. Where it is not put back nothing is lost
 * but the sight of that return: the kernel drops what it had noted down for a
 * frame as soon as it sees the stack pointer above it.
 */
#include "gate.bpf.h"
#include "heirs.bpf.h"
#include "point.bpf.h"

volatile __u64 unwind_restored, unwind_replaced, unwind_failed;
volatile __u64 gate_hijacked;		/* what hijacked_tasks counts */

const volatile bool gate_can_write SEC(".rodata.later");

/* An unwinder is about to look at the stack: give it the truth. */
UPROBE_SLEEPABLE(unwind_begin, ctx)
{
	return restore_truth(user_sp(ctx));
}

/* It has found its handler, or was only looking: the frames that are left get their return probes again. */
UPROBE_SLEEPABLE(unwind_end, ctx)
{
	__u32 at = begin_walk(user_sp(ctx));
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);

	if (!s)
		return 0;
	bpf_loop(GATE_FRAMES, note_trampoline, &s, 0);
	return end_walk(at, &unwind_replaced);
}

/* How many tasks may still have a trampoline on their stack: while there are any, the agent stays. */
SEC("?iter/task")
int hijacked_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && has_return_probes(task) && is_ours(task))
		gate_hijacked++;
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
