/*
 * gate.bpf.c - tasks that wait until user space has done something for them; return probes made to live with unwinders.
 *
 * A return probe replaces a return address on the stack by the address of the
 * kernel's trampoline. Who walks the stack then meets an address that no table
 * knows: a C++ exception ends in std::terminate(). So before an unwinder looks
 * (unwind_begin), the true addresses are written back, and when a handler has
 * been found, or the walk was only a look (unwind_end), the trampoline is put
 * back into the frames that are left. Where it is not put back nothing is lost
 * but the sight of that return: the kernel drops what it had noted down for a
 * frame as soon as it sees the stack pointer above it.
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
#include "recorder.bpf.h"
#include "gate.h"
#include "heirs.bpf.h"
#include "kernelcall.bpf.h"
#include "number.bpf.h"
#include "path.bpf.h"
#include "point.bpf.h"
#include "returns.bpf.h"

#define WAIT_TURNS	(1u << 23)	/* BPF_MAX_LOOPS; a turn takes 0.3 us or more */
#define WAIT_ROUNDS	8
#define LOOKS		64	/* at the slot's state, a turn */
#define FIRST_WAY_NS	2000	/* of waiting before the task gives way for the first time: who serves it may be on another CPU */
#define GIVE_WAY_NS	50000	/* between one giving way and the next */
#define GIVE_WAY_RARELY_NS 1000000	/* while probes are being set */


/* For the summary and the tests. */
volatile __u64 unwind_restored, unwind_replaced, unwind_failed;	/* walks served; words put back; not served in time */
volatile __u64 gate_execs, gate_exec_timeouts;
volatile __u64 gate_hijacked;		/* what hijacked_tasks counts */
volatile __u64 gate_misread;		/* mappings of files with breakpoints, to be read, that were not mended in time */

/* Cleared by user space: then no exec waits any more, nor goes on waiting. */
volatile bool gate_exec_open = true;

/* Set by user space while it sets probes. */
volatile bool gate_attaching;

/* Set by user space while it does what some task waits for, where that may be to probe whole libraries. */
volatile bool gate_serving;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, GATE_SLOTS);
	__type(key, __u32);
	__type(value, struct gate_slot);
} gate_slots SEC(".maps");

/* __u32, to the agent: a slot to serve; GATE_SLOTS: look at those who wait for GATE_EXEC. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} gate_requests SEC(".maps");

/* struct gate_notice, to the control thread. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} gate_notices SEC(".maps");

/* Files whose execution need not wait: probed already, or not to be probed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 64 * 1024);
	__type(key, struct gate_file);
	__type(value, __u32);
} gate_files SEC(".maps");

/* Files that have breakpoints, by inode number alone: user space looks closer. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16 * 1024);
	__type(key, __u64);
	__type(value, __u32);
} gate_planted SEC(".maps");

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

	bpf_loop(c.count * 4096, try_slot, &c, 0);
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

/* Is nobody there any more that would serve the slot? */
static __always_inline bool is_deserted(const struct gate_slot *s)
{
	return s->kind == GATE_EXEC && !(recording && gate_exec_open);
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
	for (int i = 0; i < WAIT_ROUNDS && bpf_loop(WAIT_TURNS, wait_turn, &s, 0) == WAIT_TURNS; i++)
		;
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
const volatile bool gate_can_write SEC(".rodata.later");

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
	struct uprobe_task *utask = task->utask;
	struct xol_area *area;

	if (!utask)
		return 0;
	area = task->mm->uprobes_state.xol_area;
	if (!area)
		return 0;
	*trampoline = area->vaddr;
	return (__u64)utask->return_instances;
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

/* An unwinder is about to look at the stack: give it the truth. */
UPROBE_SLEEPABLE(unwind_begin, ctx)
{
	__u32 at = begin_walk(user_sp(ctx));
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);

	if (!s)
		return 0;
	bpf_loop(GATE_FRAMES, note_truth, &s, 0);
	return end_walk(at, &unwind_restored);
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

/* The file the current task runs. */
static __always_inline void my_file(struct gate_file *f)
{
	struct inode *inode = bpf_get_current_task_btf()->mm->exe_file->f_inode;

	f->ino = inode->i_ino;
	f->dev = inode->i_sb->s_dev;
	f->gen = inode->i_generation;
	f->size = inode->i_size;
	f->ctime = INODE_CTIME(LOADED, inode);
}

static __noinline bool is_known_file(void)
{
	struct gate_file f;

	my_file(&f);
	return bpf_map_lookup_elem(&gate_files, &f) != NULL;
}

/*
 * Tell the control thread of the task at the slot, and wait: GATE_DONE is its yes, GATE_FAILED its no, GATE_FREE
 * or GATE_GIVEN_UP that there was none, GATE_HELD that it comes before the task runs on, GATE_LEFT that the task does not.
 * The notice is made in the ring itself.
 */
static __noinline __u32 ask_control(__u32 at, __u32 what)
{
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);
	struct gate_notice *n;
	__u32 answer;

	if (!s)
		return GATE_FREE;
	n = s->pid ? bpf_ringbuf_reserve(&gate_notices, sizeof(*n), 0) : NULL;
	if (!n) {
		gate_move(s, GATE_TAKEN, GATE_FREE);
		return GATE_FREE;
	}
	n->slot = at;
	n->ticket = s->ticket;
	n->pid = s->pid;
	n->tid = s->tid;
	n->what = what;
	n->root_pid = bpf_get_current_pid_tgid() >> 32;
	n->mapped = what == GATE_MAPPED ? returns_mapped() : 0;
	n->pad = 0;
	my_file(&n->file);
	gate_move(s, GATE_TAKEN, GATE_WAITING);
	bpf_ringbuf_submit(n, BPF_RB_FORCE_WAKEUP);
	answer = gate_wait(s, GATE_EXEC_NS);
	if (answer == GATE_FREE)
		gate_exec_open = false;	/* who serves is held up: until he is back nobody else waits for him */
	return answer;
}

static __always_inline bool is_answer(__u32 state)
{
	return state != GATE_FREE && state != GATE_GIVEN_UP;
}

/*
 * The path at @from, into the slot. False: it cannot be read. Every exec asks, also
 * of a path that was exec'd before: only a look at the file tells whether it is still
 * what it was.
 */
static __noinline bool asks_about(struct gate_slot *s, __u64 from)
{
	if (!s)
		return false;
	bpf_copy_from_user(&s->seen, 1, (void *)from);		/* has the page brought in */
	return bpf_probe_read_user_str(s->path, sizeof(s->path), (void *)from) > 0;
}

/*
 * execve() of a C library: wait here until the file it names is probed. That is
 * the best of moments, nobody has the file mapped yet: to set probes in the
 * memory of a task that waits takes its memory map's lock for each.
 */
UPROBE_SLEEPABLE(exec_call, ctx)
{
	struct task_state *t = my_task();
	struct gate_slot *s;
	__u32 at;

	if (!gate_exec_open || !t || t->flags & TASK_ARMED)
		return 0;
	at = gate_take(GATE_EXEC, user_sp(ctx));
	s = bpf_map_lookup_elem(&gate_slots, &at);
	if (!s)
		return 0;
	if (!asks_about(s, PT_REGS_PARM1(ctx))) {
		gate_move(s, GATE_TAKEN, GATE_FREE);
		return 0;
	}
	__sync_fetch_and_add(&gate_execs, 1);
	if (!is_answer(ask_control(at, GATE_EXEC_CALL)))
		__sync_fetch_and_add(&gate_exec_timeouts, 1);
	return 0;
}

/* Set by user space: some processes alone meet the probes. */
volatile bool gate_forks_wait;

/* Made past the C library, or not answered: what they call is missed. */
volatile __u64 gate_strays;

/* What makes a process, in a C library: wait until the probes are everybody's. */
UPROBE_SLEEPABLE(fork_call, ctx)
{
	__u32 at;

	if (!gate_forks_wait || !gate_exec_open || !my_task())
		return 0;
	at = gate_take(GATE_EXEC, user_sp(ctx));
	if (at < GATE_SLOTS)
		ask_control(at, GATE_FORK);
	return 0;
}

/* A recorded process made one: nobody asked, so tell of it. */
__noinline int gate_forked(void)
{
	struct gate_notice *n;

	if (!gate_forks_wait)
		return 0;
	__sync_fetch_and_add(&gate_strays, 1);
	n = bpf_ringbuf_reserve(&gate_notices, sizeof(*n), 0);
	if (!n)
		return 0;
	__builtin_memset(n, 0, sizeof(*n));
	n->slot = GATE_SLOTS;
	n->what = GATE_FORK;
	bpf_ringbuf_submit(n, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* Nothing of the program has run yet: wait until its file is probed. */
static __noinline int meet_program(__u64 sp)
{
	struct gate_slot *s;
	__u32 at;

	if (!my_task() || is_known_file())
		return 0;
	at = gate_exec_open ? gate_take(GATE_EXEC, sp) : GATE_SLOTS;
	s = bpf_map_lookup_elem(&gate_slots, &at);
	__sync_fetch_and_add(&gate_execs, 1);
	if (!s || !is_answer(ask_control(at, GATE_EXECED)))
		__sync_fetch_and_add(&gate_exec_timeouts, 1);
	return 0;
}

/*
 * The dynamic linker's first instruction, which is the first that a program
 * exec'd runs at all: the last place to wait, for what did not pass the other gate.
 */
UPROBE_SLEEPABLE(exec_gate, ctx)
{
	return meet_program(user_sp(ctx));
}

/* Set before the load: every file that is mapped is seen; else it must be asked for each time. */
const volatile bool maps_are_seen;

/* Set before the load: files are looked at for their functions too, wherever returns are not asked for. */
const volatile bool libraries_wanted;

/* Wait for the answer whether the process's returns may be probed. */
static __noinline bool ask_for_returns(__u64 sp)
{
	__u32 mapped = returns_mapped(), at = gate_exec_open ? gate_take(GATE_EXEC, sp) : GATE_SLOTS;
	__u32 answer = at < GATE_SLOTS ? ask_control(at, GATE_MAPPED) : GATE_FREE;

	if (answer != GATE_HELD)
		returns_answer(is_answer(answer), answer == GATE_DONE, mapped);
	return answer == GATE_DONE;
}

/* By a program, as below: bpf(2)'s own update would have the kernel skip what tracepoints run on that CPU meanwhile. */
SEC("?syscall")
int gate_know(struct gate_known *k)
{
	struct gate_file file = k->file;
	__u32 value = k->value;

	return bpf_map_update_elem(&gate_files, &file, &value, BPF_ANY);
}

SEC("?syscall")
int gate_plant(struct gate_known *k)
{
	__u64 ino = k->file.ino;
	__u32 value = 1;

	return bpf_map_update_elem(&gate_planted, &ino, &value, BPF_ANY);
}

/* What returns_answer() is told of a task that waits in here. */
SEC("?syscall")
int gate_settle(struct gate_answer *a)
{
	return returns_tell(a->pid, a->may, a->mapped);
}

/*
 * Files were mapped, and nothing of them has run yet: wait until they were looked at. What
 * has return probes open already and may have no more gets the truth back.
 */
static __noinline int meet_maps(__u64 sp)
{
	struct gate_slot *s;
	__u32 at, known;
	bool wanted;

	if ((returns_when != RETURNS_AUTO && !libraries_wanted && !cuda_wanted) || !my_task())
		return 0;
	wanted = (libraries_wanted && returns_unlooked()) || (cuda_wanted && returns_wanted());
	if (returns_when != RETURNS_AUTO && !wanted)
		return 0;
	known = returns_known();
	if (known == RETURNS_MAY && maps_are_seen)
		return 0;
	if ((known != RETURNS_MAY_NOT || wanted) && ask_for_returns(sp))
		return 0;
	if (returns_when != RETURNS_AUTO)
		return 0;
	at = begin_walk(sp);
	s = bpf_map_lookup_elem(&gate_slots, &at);
	if (!s)
		return 0;
	bpf_loop(GATE_FRAMES, note_truth, &s, 0);
	return end_walk(at, &unwind_restored);
}

/* The dynamic linker's _dl_debug_state(), which it calls for debuggers when it has mapped libraries. */
UPROBE_SLEEPABLE(maps_gate, ctx)
{
	return meet_maps(user_sp(ctx));
}

/*
 * Where the kernel runs something of ours in a task on its way back to its program, it waits there: no file has
 * a breakpoint for it, and every exec and every mapping comes by, whatever made it.
 */
#define WORK_TRIES	16

struct gate_work {
	struct bpf_task_work work;
	__u64	ip;			/* where the task goes on */
	__u32	is_taken, pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GATE_EXEC_SLOTS);
	__type(key, __u32);
	__type(value, struct gate_work);
} gate_works SEC(".maps");

static __always_inline bool defer(task_work_fn fn)
{
	struct task_struct *task = bpf_get_current_task_btf();

	for (__u32 i = 0; i < WORK_TRIES; i++) {
		__u32 at = (task->pid + i) % GATE_EXEC_SLOTS;
		struct gate_work *w = bpf_map_lookup_elem(&gate_works, &at);

		if (!w || __sync_val_compare_and_swap(&w->is_taken, 0, 1))
			continue;
		w->ip = PT_REGS_IP_CORE(own_regs());
		if (!task_work_add(task, &w->work, &gate_works, fn))
			return true;
		w->is_taken = 0;
	}
	return false;
}

/* False: the task has run on since, or is just ending. */
static __always_inline bool is_in_time(const struct gate_work *w, struct pt_regs *regs)
{
	return PT_REGS_IP_CORE(regs) == w->ip && !(bpf_get_current_task_btf()->flags & PF_EXITING);
}

static int exec_met(void *map, __u32 *key, void *value)
{
	struct pt_regs *regs = own_regs();
	struct gate_work *w = value;

	if (is_in_time(w, regs)) {
		meet_program(PT_REGS_SP_CORE(regs));
		meet_maps(PT_REGS_SP_CORE(regs));
	} else {
		__sync_fetch_and_add(&gate_exec_timeouts, 1);
	}
	w->is_taken = 0;
	return 0;
}

/* What was mapped too long ago to wait for it stays unknown, and counts as that: returns_unseen. */
static int maps_met(void *map, __u32 *key, void *value)
{
	struct pt_regs *regs = own_regs();
	struct gate_work *w = value;

	if (is_in_time(w, regs))
		meet_maps(PT_REGS_SP_CORE(regs));
	w->is_taken = 0;
	return 0;
}

static __always_inline __u64 inode_at_fd(__s32 fd)
{
	struct file *file = (struct file *)file_at_fd(fd);

	return file ? BPF_CORE_READ(file, f_inode, i_ino) : 0;
}

/* Whoever it is, recorded or not: what it reads, and may write elsewhere, is to be what the file has. */
static __noinline int meet_reader(struct pt_regs *regs)
{
	__u32 at = gate_exec_open && regs ? gate_take(GATE_EXEC, PT_REGS_SP_CORE(regs)) : GATE_SLOTS, answer = GATE_FREE;
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);
	__u64 arg[6];

	if (s && regs) {
		syscall_args(regs, arg);
		s->read.ino = inode_at_fd(arg[4]);
		s->read.addr = PT_REGS_RC_CORE(regs);
		s->read.len = arg[1];
		s->read.offset = arg[5];
		answer = ask_control(at, GATE_READ);
	}
	if (answer != GATE_DONE && answer != GATE_HELD)
		__sync_fetch_and_add(&gate_misread, 1);
	return 0;
}

static int read_met(void *map, __u32 *key, void *value)
{
	struct pt_regs *regs = own_regs();
	struct gate_work *w = value;

	if (is_in_time(w, regs))
		meet_reader(regs);
	else
		__sync_fetch_and_add(&gate_misread, 1);
	w->is_taken = 0;
	return 0;
}

SEC("?tracepoint/sched/sched_process_exec")
int exec_work(void *ctx)
{
	if (my_task() && !defer(exec_met))
		__sync_fetch_and_add(&gate_exec_timeouts, 1);
	return 1;
}

/* Recorder, or a process of its own: they look at files for it, which would wait for itself. */
static __always_inline bool is_recorder(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *parent = BPF_CORE_READ(task, real_parent, signal, pids[PIDTYPE_TGID]);

	return process_number() == own_pid || (!known_task(task) && number_of((__u64)parent) == own_pid);
}

static __always_inline bool is_planted(__s32 fd)
{
	__u64 ino = inode_at_fd(fd);

	return ino && bpf_map_lookup_elem(&gate_planted, &ino) && recording && !is_recorder();
}

SEC("?tracepoint/syscalls/sys_exit_mmap")
int maps_work(void *ctx)
{
	struct pt_regs *regs = own_regs();
	__u64 arg[6];

	syscall_args(regs, arg);
	if (maps_code(arg, PT_REGS_RC_CORE(regs))) {
		if (my_task())
			defer(maps_met);
	} else if (maps_text(arg, PT_REGS_RC_CORE(regs)) && is_planted(arg[4]) && !defer(read_met)) {
		__sync_fetch_and_add(&gate_misread, 1);
	}
	return 1;
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
