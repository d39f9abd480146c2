/*
 * gate.bpf.c - who execs or maps a file waits until user space has looked at it.
 *
 * How a task waits: gate.bpf.h.
 */
#include "gate.bpf.h"
#include "kernelcall.bpf.h"
#include "path.bpf.h"
#include "point.bpf.h"
#include "returns.bpf.h"
#include "user.bpf.h"

volatile bool gate_exec_open = true, gate_attaching, gate_serving;

/* For the summary and the tests. */
volatile __u64 gate_execs, gate_exec_timeouts;
volatile __u64 gate_misread;		/* mappings of files with breakpoints, to be read, that were not mended in time */
volatile __u64 gate_unplanted;		/* ... that were mended, and made code afterwards */

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

/* Who has mapped such files to read them: from the first to the last. */
struct gate_reader {
	struct gate_read all;
	__u64 is_shown;			/* what the file has lies there now */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);			/* pid, as the initial PID namespace counts */
	__type(value, struct gate_reader);
} gate_readers SEC(".maps");

static __always_inline void tell_file(struct gate_file *f, const struct inode *inode)
{
	f->ino = BPF_CORE_READ(inode, i_ino);
	f->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	f->gen = BPF_CORE_READ(inode, i_generation);
	f->size = BPF_CORE_READ(inode, i_size);
	f->ctime = INODE_CTIME(inode);
}

/* What the current task runs. */
static __always_inline const struct inode *my_inode(void)
{
	return BPF_CORE_READ(bpf_get_current_task_btf(), mm, exe_file, f_inode);
}

static __noinline bool is_known_file(const struct inode *inode)
{
	struct gate_file f;

	tell_file(&f, inode);
	return bpf_map_lookup_elem(&gate_files, &f) != NULL;
}

/*
 * Tell the control thread of the task at the slot and of the file of @inode, and wait: GATE_DONE is its yes, GATE_FAILED
 * its no, GATE_FREE or GATE_GIVEN_UP that there was none, GATE_HELD that it comes before the task runs on, GATE_LEFT that
 * the task does not. The notice is made in the ring itself.
 */
static __noinline __u32 ask_control_of(__u32 at, __u32 what, const struct inode *inode)
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
	n->what = s->count = what;
	n->root_pid = bpf_get_current_pid_tgid() >> 32;
	n->mapped = what == GATE_MAPPED ? returns_mapped() : 0;
	n->pad = 0;
	tell_file(&n->file, inode);
	gate_move(s, GATE_TAKEN, GATE_WAITING);
	bpf_ringbuf_submit(n, BPF_RB_FORCE_WAKEUP);
	answer = gate_wait(s, GATE_EXEC_NS);
	if (answer == GATE_FREE)
		gate_exec_open = false;	/* who serves is held up: until he is back nobody else waits for him */
	return answer;
}

static __always_inline __u32 ask_control(__u32 at, __u32 what)
{
	return ask_control_of(at, what, my_inode());
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

/* Set by user space: some processes alone meet the probes. */
volatile bool gate_forks_wait;

/*
 * Any exec, whatever made it and wherever, once for a script and once for its interpreter. Nothing has been given up yet,
 * nobody has the file mapped. Its process cannot be traced meanwhile, so it is never held.
 */
SEC("?lsm.s/bprm_check_security")
int BPF_PROG(exec_hook, struct linux_binprm *bprm)
{
	const struct inode *inode = BPF_CORE_READ(bprm, file, f_inode);
	struct task_state *t = my_task();
	struct gate_slot *s;
	__u32 at;

	keep_own_stack();
	if (!gate_is_open() || !t || t->flags & TASK_UNSTARTED || (is_known_file(inode) && !gate_forks_wait))
		return 0;
	at = gate_take(GATE_EXEC, PT_REGS_SP_CORE(own_regs()));
	s = bpf_map_lookup_elem(&gate_slots, &at);
	if (!s)
		return 0;
	if (bpf_d_path((struct path *)&bprm->file->f_path, s->path, sizeof(s->path)) < 0) {
		gate_move(s, GATE_TAKEN, GATE_FREE);
		return 0;
	}
	__sync_fetch_and_add(&gate_execs, 1);
	if (!is_answer(ask_control_of(at, GATE_EXEC_HOOK, inode)))
		__sync_fetch_and_add(&gate_exec_timeouts, 1);
	return 0;
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

	if (!gate_is_open() || !t || t->flags & TASK_ARMED)
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

/* Made past the C library, or not answered: what they call is missed. */
volatile __u64 gate_strays;

/* What makes a process, in a C library: wait until the probes are everybody's. */
UPROBE_SLEEPABLE(fork_call, ctx)
{
	__u32 at;

	if (!gate_forks_wait || !gate_is_open() || !my_task())
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

	if (!my_task() || (is_known_file(my_inode()) && !gate_forks_wait))	/* else its probes may name who is not there any more */
		return 0;
	at = gate_is_open() ? gate_take(GATE_EXEC, sp) : GATE_SLOTS;
	s = bpf_map_lookup_elem(&gate_slots, &at);
	__sync_fetch_and_add(&gate_execs, 1);
	if (!s || !is_answer(ask_control(at, GATE_EXECED)))
		__sync_fetch_and_add(&gate_exec_timeouts, 1);
	return 0;
}

const volatile bool execs_wait_before;	/* set before the load: nobody waits on his way back from an exec */

/*
 * A program was begun that has no dynamic linker, at which it could wait yet: was its file looked at? Some file systems tell
 * user space of another device or generation than the inode has, so here a file is known without both, too.
 */
__noinline int gate_begun(void)
{
	struct gate_file f;

	if (!execs_wait_before)
		return 0;
	tell_file(&f, my_inode());
	f.dev = f.gen = 0;
	if (!bpf_map_lookup_elem(&gate_files, &f))
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

/* Set before the load: by maps_work(), not by the programs at system calls. */
const volatile bool maps_are_told_here;

/* Set before the load: files are looked at for their functions too, wherever returns are not asked for. */
const volatile bool libraries_wanted;

/* Wait for the answer whether the process's returns may be probed. */
static __noinline bool ask_for_returns(__u64 sp)
{
	__u32 mapped = returns_mapped(), at = gate_is_open() ? gate_take(GATE_EXEC, sp) : GATE_SLOTS;
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
	bool wanted;
	__u32 known;

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
	return returns_when == RETURNS_AUTO ? restore_truth(sp) : 0;
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
#define WORK_ROOMS	4096
#define WORK_TRIES	16

enum work_state {
	WORK_NONE,
	WORK_GIVEN,
	WORK_RUNS,
};

struct gate_work {
	struct bpf_task_work work;
	__u64	ip;			/* where the task goes on */
	__u64	begin, end;		/* what is to be looked at for breakpoints, once that is known */
	__u32	state;			/* enum work_state */
	__u32	tid;			/* as the initial PID namespace counts */
	__u32	is_planted, pad;	/* what is mapped has breakpoints */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WORK_ROOMS);
	__type(key, __u32);
	__type(value, struct gate_work);
} gate_works SEC(".maps");

/* A room that was nobody's; WORK_ROOMS: there is none. Told by its number, so that the verifier looks at the search once. */
__noinline __u32 gate_room(void)
{
	__u32 tid = bpf_get_current_pid_tgid();

	for (__u32 i = 0; i < WORK_TRIES; i++) {
		__u32 at = (tid + i) % WORK_ROOMS;
		struct gate_work *w = bpf_map_lookup_elem(&gate_works, &at);

		if (w && !__sync_val_compare_and_swap(&w->state, WORK_NONE, WORK_GIVEN)) {
			w->tid = tid;
			return at;
		}
	}
	return WORK_ROOMS;
}

/* Does the task do such work? To give way it takes the lock of its memory map, too. */
__noinline int gate_works_now(void)
{
	__u32 tid = bpf_get_current_pid_tgid();

	for (__u32 i = 0; i < WORK_TRIES; i++) {
		__u32 at = (tid + i) % WORK_ROOMS;
		struct gate_work *w = bpf_map_lookup_elem(&gate_works, &at);

		if (w && w->state == WORK_RUNS && w->tid == tid)
			return true;
	}
	return false;
}

static __always_inline bool defer(task_work_fn fn, bool is_planted)
{
	__u32 at = gate_room();
	struct gate_work *w = bpf_map_lookup_elem(&gate_works, &at);

	if (!w)
		return false;
	w->ip = PT_REGS_IP_CORE(own_regs());
	w->is_planted = is_planted;
	if (!task_work_add(bpf_get_current_task_btf(), &w->work, &gate_works, fn))
		return true;
	w->state = WORK_NONE;
	return false;
}

/* Killed meanwhile, it does not go on. */
static __always_inline bool is_ending(void)
{
	return bpf_get_current_task_btf()->flags & PF_EXITING;
}

/* Else the task has run on since. */
static __always_inline bool is_in_time(const struct gate_work *w, struct pt_regs *regs)
{
	return PT_REGS_IP_CORE(regs) == w->ip;
}

static int exec_met(void *map, __u32 *key, void *value)
{
	struct pt_regs *regs = own_regs();
	struct gate_work *w = value;

	w->state = WORK_RUNS;
	if (!is_in_time(w, regs)) {
		__sync_fetch_and_add(&gate_exec_timeouts, 1);
	} else if (!is_ending()) {
		meet_program(PT_REGS_SP_CORE(regs));
		meet_maps(PT_REGS_SP_CORE(regs));
	}
	w->state = WORK_NONE;
	return 0;
}

/* @regs: of an mmap() that has succeeded. */
static __noinline int tell_code(struct pt_regs *regs)
{
	__u64 arg[6];

	if (!regs)
		return 0;
	syscall_args(regs, arg);
	return send_image_at(PT_REGS_RC_CORE(regs), IMAGE_MAPPED, arg[1], arg[5], arg[4]);
}

/* What was mapped too long ago to wait for it, or found no room, stays unknown, and counts as that: returns_unseen. */
static __always_inline void leave_code(void)
{
	if (maps_are_told_here)
		returns_map_unseen();
}

static int code_met(void *map, __u32 *key, void *value)
{
	struct pt_regs *regs = own_regs();
	struct gate_work *w = value;

	w->state = WORK_RUNS;
	if (!is_in_time(w, regs)) {
		leave_code();
	} else if (!is_ending() && !is_error(PT_REGS_RC_CORE(regs))) {
		if (maps_are_told_here)
			tell_code(regs);
		meet_maps(PT_REGS_SP_CORE(regs));
	}
	w->state = WORK_NONE;
	return 0;
}

static __always_inline __u64 inode_at_fd(__s32 fd)
{
	struct file *file = (struct file *)file_at_fd(fd);

	return file ? BPF_CORE_READ(file, f_inode, i_ino) : 0;
}

static __always_inline __u32 my_pid(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

static __always_inline struct gate_reader *my_readings(void)
{
	__u32 pid = my_pid();

	return bpf_map_lookup_elem(&gate_readers, &pid);
}

/* Whoever it is, recorded or not: what it reads, and may write elsewhere, is to be what the file has. */
static __noinline int meet_reader(const struct gate_work *w, struct pt_regs *regs)
{
	__u32 at = gate_is_open() && regs ? gate_take(GATE_EXEC, PT_REGS_SP_CORE(regs)) : GATE_SLOTS, answer = GATE_FREE;
	struct gate_slot *s = bpf_map_lookup_elem(&gate_slots, &at);
	struct gate_reader *r = my_readings();

	if (s && r && w) {
		s->read.begin = w->begin;
		s->read.end = w->end;
		s->read.count = r->all.count;
		answer = ask_control(at, GATE_READ);
	} else if (s) {
		gate_move(s, GATE_TAKEN, GATE_FREE);	/* another thread has unmapped it */
		return 0;
	}
	if (answer != GATE_DONE && answer != GATE_HELD)
		__sync_fetch_and_add(&gate_misread, 1);
	return 0;
}

GIVES_WORK_AT_EXEC(exec_work)
{
	if (my_task() && !defer(exec_met, false))
		__sync_fetch_and_add(&gate_exec_timeouts, 1);
	return 0;
}

#define OWN_DEPTH	3	/* recorder, a process that reads files for it, and one that this has read some of them */

/* Recorder, or a process of its own: it would wait for itself. */
static __noinline bool is_recorder(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (known_task(task))
		return false;
	for (int i = 0; i < OWN_DEPTH; i++) {
		if (number_of((__u64)BPF_CORE_READ(task, signal, pids[PIDTYPE_TGID])) == own_pid)
			return true;
		task = BPF_CORE_READ(task, real_parent);
	}
	return false;
}

static __always_inline bool is_planted(__s32 fd)
{
	__u64 ino = inode_at_fd(fd);

	return ino && bpf_map_lookup_elem(&gate_planted, &ino) && !is_recorder();
}

/* Where tasks can be given no work nobody can wait: it is counted. */
AT_SYS_EXIT(maps_misread, regs, ret)
{
	__u64 arg[6];

	if (map_call(regs, syscall_nr(regs), arg) == MAP_CALL_MAP && !is_error(ret) && maps_text(arg) && arg[2] && is_planted(arg[4]))
		__sync_fetch_and_add(&gate_misread, 1);
	return 0;
}

static __always_inline bool lies_in(const struct gate_read *in, __u64 begin, __u64 end)
{
	return begin < in->end && end > in->begin;
}

static __always_inline bool covers(__u64 begin, __u64 end, const struct gate_read *read)
{
	return begin <= read->begin && end >= read->end;
}

static __always_inline void widen(struct gate_read *read, __u64 begin, __u64 end)
{
	if (begin < read->begin)
		read->begin = begin;
	if (end > read->end)
		read->end = end;
	__sync_fetch_and_add(&read->count, 1);
}

static __noinline int note_reading(__u64 begin, __u64 end, bool is_shown)
{
	struct gate_reader fresh = { { begin, end, 1, 0 }, is_shown }, *r = my_readings();
	__u32 pid = my_pid();

	if (!r)
		return bpf_map_update_elem(&gate_readers, &pid, &fresh, BPF_ANY);
	widen(&r->all, begin, end);
	r->is_shown |= is_shown;
	return 0;
}

/* By a program, as above. */
SEC("?syscall")
int gate_forget(struct gate_unread *u)
{
	__u32 pid = u->pid;
	struct gate_reader *r = bpf_map_lookup_elem(&gate_readers, &pid);

	return r && r->all.count == u->count ? bpf_map_delete_elem(&gate_readers, &pid) : 0;
}

/*
 * Where a mapping is cut in two, or becomes one with its neighbour, the kernel plants all breakpoints anew: look again. What was
 * mapped and not to be read at first may be now. Not where one that was mended is made code as a whole: there are none then.
 */
static __always_inline bool changes_reading(struct gate_work *w, __u32 call, const __u64 arg[6], __u64 ret)
{
	struct gate_reader *r = my_readings();
	__u32 pid = my_pid();
	__u64 begin, end;

	if (!r)
		return false;
	begin = call == MAP_CALL_MAP ? ret : arg[0];
	end = begin + ((arg[1] + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1ull));
	if (!lies_in(&r->all, begin, end))
		return false;
	if (call <= MAP_CALL_UNMAP && covers(begin, end, &r->all)) {
		bpf_map_delete_elem(&gate_readers, &pid);
		return false;
	}
	if (call == MAP_CALL_PROTECT && arg[2] & PROT_EXEC && r->is_shown && covers(begin, end, &r->all) && my_task())
		__sync_fetch_and_add(&gate_unplanted, 1);
	__sync_fetch_and_add(&r->all.count, 1);
	if (call == MAP_CALL_MOVE) {
		widen(&r->all, ret, ret + arg[2]);
		begin = r->all.begin;
		end = r->all.end;
	}
	w->begin = begin - PAGE_BYTES;
	w->end = end + PAGE_BYTES;
	return true;
}

/* Nothing waits where nothing may be read yet: changes_reading() sees when it may. */
static __always_inline bool begins_reading(struct gate_work *w, const __u64 arg[6], __u64 ret)
{
	note_reading(ret, ret + arg[1], arg[2]);
	w->begin = ret;
	w->end = ret + arg[1];
	return arg[2];
}

/* The system call is done: is there anything to be looked at for breakpoints? */
static __noinline bool is_to_be_read(struct gate_work *w, struct pt_regs *regs)
{
	__u64 arg[6], ret;
	__u32 call;

	if (!w || !regs)
		return false;
	ret = PT_REGS_RC_CORE(regs);
	call = map_call(regs, syscall_nr(regs), arg);
	if (call == MAP_CALL_NONE || is_error(ret))
		return false;
	return w->is_planted ? begins_reading(w, arg, ret) : changes_reading(w, call, arg, ret);
}

static int reading_met(void *map, __u32 *key, void *value)
{
	struct pt_regs *regs = own_regs();
	struct gate_work *w = value;

	w->state = WORK_RUNS;
	if (!is_in_time(w, regs))
		__sync_fetch_and_add(&gate_misread, 1);
	else if (!is_ending() && is_to_be_read(w, regs))
		meet_reader(w, regs);
	w->state = WORK_NONE;
	return 0;
}

static __always_inline bool is_followed(const struct task_state *t)
{
	return t && !(t->flags & TASK_ARMED);
}

/* What comes of the call is known when it is done. */
GIVES_WORK_AT_MAP_CALL(maps_work, regs, nr)
{
	__u64 arg[6];
	__u32 call = map_call(regs, nr, arg);
	bool planted;

	if (call == MAP_CALL_NONE)
		return 0;
	if (call == MAP_CALL_MAP && maps_code(arg) && !in_compat_syscall() && is_followed(my_task()) && !gate_works_now() &&
	    !defer(code_met, false))
		leave_code();
	planted = call == MAP_CALL_MAP && maps_text(arg) && is_planted(arg[4]);
	if ((planted || my_readings()) && !gate_works_now() && !defer(reading_met, planted))
		__sync_fetch_and_add(&gate_misread, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
