/*
 * gate.bpf.h - how a task waits in a slot until user space has done something for it, and the walk of its return probes.
 *
 * Nothing is noted at function entries for this: the kernel's own list,
 * current->utask->return_instances, newest first, holds for each probed frame
 * where its return address lies and what it was. The truth of a tail call,
 * whose frame shares a place with its caller's, is in the list as well.
 *
 * The words are written by bpf_probe_write_user() where the kernel lets us.
 * Under lockdown it does not, and the task waits at a gate for the agent.
 *
 * While a task waits here, another may enter the same program on the same CPU. With
 * a stack of the CPU's they would write over each other's variables, pointers among
 * them, and the kernel would oops: UPROBE_SLEEPABLE() keeps the task's own stack, and
 * frames are under the 64 bytes that another is given for, so that it takes two
 * mistakes. What lasts is kept in the slot.
 */
#ifndef GATE_BPF_H
#define GATE_BPF_H

#include "recorder.bpf.h"
#include "gate.h"
#include "number.bpf.h"

#define WAIT_TURNS	(1u << 23)	/* BPF_MAX_LOOPS; a turn takes 0.3 us or more */
#define WAIT_ROUNDS	8
#define TAKE_TRIES	(1u << 20)	/* of slots, some 20 ns each */
#define LOOKS		64	/* at the slot's state, a turn */
#define FIRST_WAY_NS	2000	/* of waiting before the task gives way for the first time: who serves it may be on another CPU */
#define GIVE_WAY_NS	50000	/* between one giving way and the next */
#define GIVE_WAY_RARELY_NS 1000000	/* while probes are being set */

/* For the summary and the tests. */
extern volatile __u64 unwind_restored, unwind_replaced, unwind_failed;	/* walks served; words put back; not served in time */

/* Cleared by user space: then no exec waits any more, nor goes on waiting. */
extern volatile bool gate_exec_open;

/* Set by user space while it sets probes. */
extern volatile bool gate_attaching;

/* Set by user space while it does what some task waits for, where that may be to probe whole libraries. */
extern volatile bool gate_serving;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, GATE_SLOTS);
	__type(key, __u32);
	__type(value, struct gate_slot);
} gate_slots __weak SEC(".maps");

/* __u32, to the agent: a slot to serve; GATE_SLOTS: look at those who wait for GATE_EXEC. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} gate_requests __weak SEC(".maps");

/* struct gate_notice, to the control thread. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 128 * 1024);
} gate_notices __weak SEC(".maps");

/* 32 bits compared and swapped, on any of our -mcpu levels. */
static __always_inline bool gate_move(struct gate_slot *s, __u32 from, __u32 to)
{
	return __sync_val_compare_and_swap(&s->state, from, to) == from;
}

/*
 * Give way to whoever waits for this CPU. Reading one's own memory as if it
 * were another task's goes through get_user_pages(), which offers to
 * reschedule: without that a kernel that does not preempt itself would never
 * let the agent run. Fails when the task is about to be killed.
 */
static __always_inline long give_way(__u64 sp)
{
	__u64 word;

	return bpf_copy_from_user_task(&word, sizeof(word), (void *)sp, bpf_get_current_task_btf(), 0);
}

struct claim {
	__u64	sp;
	__u32	first, count;	/* the slots to choose from */
	__u32	start;
	__u32	slot;		/* GATE_SLOTS: none yet */
};

static long try_slot(__u32 i, struct claim *c)
{
	__u32 at = c->first + (c->start + i) % c->count;
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);

	if (!s)
		return 1;
	if (gate_move(s, GATE_FREE, GATE_TAKEN)) {
		c->slot = at;
		return 1;
	}
	return i % c->count == c->count - 1 && give_way(c->sp);
}

/* A slot of the current task's own, its header filled in; its index, or GATE_SLOTS when all stay taken. */
static __noinline __u32 gate_take(__u32 kind, __u64 sp)
{
	struct claim c = {
		.sp	= sp,
		.first	= kind == GATE_EXEC ? 0 : GATE_EXEC_SLOTS,
		.count	= kind == GATE_EXEC ? GATE_EXEC_SLOTS : GATE_SLOTS - GATE_EXEC_SLOTS,
		.start	= bpf_get_current_pid_tgid() & 0xffff,
		.slot	= GATE_SLOTS,
	};
	struct gate_slot *s;

	bpf_loop(TAKE_TRIES, try_slot, &c, 0);
	s = bpf_map_lookup_elem(&gate_slots, &c.slot);
	if (!s)
		return GATE_SLOTS;
	s->kind = kind;
	s->pid = process_number();
	s->tid = thread_number();
	s->sp = sp;
	s->count = 0;
	s->ticket++;
	return c.slot;
}

static __always_inline bool gate_is_open(void)
{
	return gate_exec_open && !agent_gone;
}

/* Is nobody there any more that would serve the slot? */
static __always_inline bool is_deserted(const struct gate_slot *s)
{
	return s->kind == GATE_EXEC && !(recording && gate_is_open());
}

/*
 * Give way only to who wants the lock of our memory map: one that is to set
 * probes in it, site by site. Nothing is mapped at this address, so we are not
 * rescheduled with the lock held; that would hold him up until we run again.
 */
static __always_inline void give_way_to_probes(void)
{
	__u64 word;

	bpf_copy_from_user_task(&word, sizeof(word), (void *)8, bpf_get_current_task_btf(), 0);
}

/* Who waits so long may be in the way of what it waits for: ask the agent to look at those who wait. */
static __always_inline void call_agent(struct gate_slot *s)
{
	__u32 none = GATE_SLOTS;

	s->cursor = 0;
	bpf_ringbuf_output(&gate_requests, &none, sizeof(none), BPF_RB_FORCE_WAKEUP);
}

/* A turn of waiting: look often, give way now and then. */
static long wait_turn(__u32 i, struct gate_slot **slot)
{
	struct gate_slot *s = *slot;
	__u64 now = bpf_ktime_get_ns();
	__u32 state = 0;

	if (now > s->next_way) {
		if (s->cursor && now > s->cursor)
			call_agent(s);
		if (give_way(s->sp))
			return 1;
		s->next_way = bpf_ktime_get_ns() + (gate_attaching ? GIVE_WAY_RARELY_NS : GIVE_WAY_NS);
	} else if (gate_attaching) {
		give_way_to_probes();
	}
	/* They take time, no more: the last one's answer counts, since the verifier would follow a branch for each. */
	for (int k = 0; k < LOOKS; k++)
		state = *(volatile __u32 *)&s->state;
	return state >= GATE_DONE || is_deserted(s) || now > s->until + (gate_serving ? GATE_SERVE_NS : 0);
}

/* As long as bpf_loop() goes, and again. */
static long wait_round(__u32 i, struct gate_slot **slot)
{
	return bpf_loop(WAIT_TURNS, wait_turn, slot, 0) < WAIT_TURNS;
}

/*
 * Wait until the slot is DONE or FAILED, then free it. FREE: it took too long; LEFT: the task is dying.
 * HELD: nothing of the task's own code runs before it was served, and the slot is the agent's.
 */
static __noinline __u32 gate_wait(struct gate_slot *s, __u64 timeout)
{
	__u32 state, gone;

	if (!s)
		return GATE_FREE;
	s->next_way = bpf_ktime_get_ns() + FIRST_WAY_NS;
	s->until = s->next_way + timeout;
	s->cursor = s->kind == GATE_EXEC ? s->next_way + GATE_CALL_NS : 0;
	bpf_loop(WAIT_ROUNDS, wait_round, &s, 0);
	gone = is_deserted(s) || bpf_ktime_get_ns() > s->until ? GATE_FREE : GATE_LEFT;
	if (gate_move(s, GATE_WAITING, GATE_FREE) || gate_move(s, GATE_SERVING, GATE_LEFT))
		return gone;
	state = *(volatile __u32 *)&s->state;
	if (state >= GATE_HELD)
		return GATE_HELD;
	gate_move(s, state, GATE_FREE);
	return state;
}

/*
 * Write them from here. It fails where the page is not the task's own yet, as a forked child's is not before it writes
 * there: nothing can be brought in meanwhile. What was written then stands as the agent finds it.
 */
static __always_inline bool write_here(struct gate_slot *s)
{
	for (__u32 i = 0; i < GATE_FRAMES && i < s->count; i++) {
		if (bpf_probe_write_user((void *)s->word[i].addr, &s->word[i].value, sizeof(__u64)))
			return false;
		s->word[i].have = s->word[i].value;
	}
	return true;
}

/*
 * bpf_probe_write_user() may be used. The kernel warns in its log of each load of a program that does, so this is set for
 * those alone that are loaded when there is an unwinder (source/later.h): a constant of that load's own.
 */
extern const volatile bool gate_can_write;

/* Have the slot's words written into the current task; the slot is free afterwards. */
static __noinline bool write_words(__u32 at)
{
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);

	if (!s)
		return false;
	if (gate_can_write && write_here(s)) {
		gate_move(s, GATE_TAKEN, GATE_FREE);
		return true;
	}
	if (!s->tid) {			/* not of a recording of ours: those are all seen in our namespace */
		gate_move(s, GATE_TAKEN, GATE_FREE);
		return false;
	}
	gate_move(s, GATE_TAKEN, GATE_WAITING);
	bpf_ringbuf_output(&gate_requests, &at, sizeof(at), BPF_RB_FORCE_WAKEUP);
	return gate_wait(s, GATE_WRITE_NS) == GATE_DONE;
}

/* Make a note to put @want into the place of the return address at @stack, if @have lies there. */
static __always_inline void note_word(struct gate_slot *s, __u64 stack, __u64 have, __u64 want)
{
	__u32 n = s->count;

	if (n >= GATE_FRAMES || bpf_copy_from_user(&s->seen, sizeof(s->seen), (void *)stack) ||
	    s->seen != have)
		return;
	s->word[n].addr = stack;
	s->word[n].have = have;
	s->word[n].value = want;
	s->count = n + 1;
}

/*
 * One frame of the kernel's list: where the trampoline lies, the truth is wanted, or the
 * other way round. Anything else there is not ours: the frame has gone, its place serves another.
 *
 * The truth is written wherever the stack pointer is: a handler on a signal stack
 * may look at frames that lie below it. The trampoline goes only into frames above it,
 * which are still in use; those of another stack stay as they are.
 */
static long note_truth(__u32 i, struct gate_slot **slot)
{
	struct gate_slot *s = *slot;
	struct return_instance *ri = (void *)s->cursor;

	if (!ri)
		return 1;
	s->cursor = (__u64)BPF_CORE_READ(ri, next);
	note_word(s, BPF_CORE_READ(ri, stack), s->trampoline, BPF_CORE_READ(ri, orig_ret_vaddr));
	return 0;
}

static long note_trampoline(__u32 i, struct gate_slot **slot)
{
	struct gate_slot *s = *slot;
	struct return_instance *ri = (void *)s->cursor;

	if (!ri)
		return 1;
	s->cursor = (__u64)BPF_CORE_READ(ri, next);
	if (BPF_CORE_READ(ri, stack) >= s->sp)
		note_word(s, BPF_CORE_READ(ri, stack), BPF_CORE_READ(ri, orig_ret_vaddr), s->trampoline);
	return 0;
}

/* The newest of the current task's return probes, 0 when it has none open, and what they put in place of the truth. */
static __always_inline __u64 return_probes(__u64 *trampoline)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct xol_area *area = BPF_CORE_READ(task, mm, uprobes_state.xol_area);

	if (!area)
		return 0;
	*trampoline = BPF_CORE_READ(area, vaddr);
	return (__u64)BPF_CORE_READ(task, utask, return_instances);
}

/* A slot, set to walk the current task's list of return probes; GATE_SLOTS when there is nothing to walk. */
static __noinline __u32 begin_walk(__u64 sp)
{
	__u64 trampoline, newest = return_probes(&trampoline);
	struct gate_slot *s;
	__u32 at;

	if (!newest)
		return GATE_SLOTS;
	at = gate_take(GATE_WRITE, sp);
	s = bpf_map_lookup_elem(&gate_slots, &at);
	if (!s) {
		__sync_fetch_and_add(&unwind_failed, 1);
		return GATE_SLOTS;
	}
	s->cursor = newest;
	s->trampoline = trampoline;
	return at;
}

/* Write what was noted in the slot, if anything was. */
static __noinline int end_walk(__u32 at, volatile __u64 *served)
{
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);

	if (!s)
		return 0;
	if (!s->count)
		gate_move(s, GATE_TAKEN, GATE_FREE);
	else if (write_words(at))
		__sync_fetch_and_add(served, 1);
	else
		__sync_fetch_and_add(&unwind_failed, 1);
	return 0;
}

/* The truth into every frame of the current task's that has a return probe open. */
static __always_inline int restore_truth(__u64 sp)
{
	__u32 at = begin_walk(sp);
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);

	if (!s)
		return 0;
	bpf_loop(GATE_FRAMES, note_truth, &s, 0);
	return end_walk(at, &unwind_restored);
}

#endif
