/*
 * gate.h - a task waits in a BPF program until user space has done something for it.
 *
 * A task that comes to a gate takes a slot of a shared array, says in it what
 * it wants, has user space woken, and waits inside the (sleepable) BPF program,
 * giving way to whoever wants its CPU. Two kinds of wishes:
 *
 * GATE_WRITE	write these words into my memory. Served by the agent, a small
 *		process of its own that outlives recorder where it must: as long as
 *		a return probe's trampoline may lie on the stack of any task, a
 *		later throw has to be served, also after recorder was killed.
 * GATE_EXEC	I am to run a file, or have mapped one, that you do not know: look
 *		at it before I run on. Or one that has breakpoints, to read it. Served by the control thread: gate_fd(),
 *		gate_serve(). The agent may have the task sleep meanwhile: src/source/hold.h.
 *
 * The first part is shared with BPF.
 */
#ifndef GATE_H
#define GATE_H

#ifndef __bpf__
#include <linux/types.h>
#include <stdbool.h>
#endif

#define GATE_FRAMES	64	/* return probes the kernel keeps open for a task: MAX_URETPROBE_DEPTH */
#define GATE_EXEC_SLOTS	1024	/* the first slots are for GATE_EXEC, so that they never take those of GATE_WRITE */
#define GATE_SLOTS	1280

#define GATE_WRITE_NS	10000000000ull	/* the longest wait for each; nobody waits so long while somebody serves */
#define GATE_EXEC_NS	5000000000ull
#define GATE_SERVE_NS	25000000000ull	/* longer by this while one is served: a C library has thousands of functions */
#define GATE_CALL_NS	1000000ull	/* of a wait for GATE_EXEC before the agent is asked whether the task should rather sleep */

enum gate_kind {
	GATE_NONE,
	GATE_WRITE,
	GATE_EXEC,
};

/* Who moves it: B the BPF program, U user space. */
enum gate_state {
	GATE_FREE,		/* B -> TAKEN */
	GATE_TAKEN,		/* being filled in; B -> WAITING, or back to FREE */
	GATE_WAITING,		/* U -> SERVING; B -> FREE when it gives up */
	GATE_SERVING,		/* U -> DONE, FAILED, GIVEN_UP or HELD; B -> LEFT when it gives up */
	GATE_LEFT,		/* its task is gone, it may still be written to; U -> FREE */
	GATE_DONE,		/* B -> FREE */
	GATE_FAILED,		/* B -> FREE */
	GATE_GIVEN_UP,		/* GATE_EXEC: the agent has it go on unserved; B -> FREE */

	/* GATE_EXEC: the agent has the task stop as soon as it leaves the program, and run on when it was served. */
	GATE_HELD,		/* control thread -> LET_GO; agent -> FREE when it lets the task go unserved */
	GATE_LET_GO,		/* agent -> FREE */
};

struct gate_word {
	__u64	addr;		/* in the task */
	__u64	have;		/* what lies there now: else it is not written */
	__u64	value;
};

/* Where a process has mapped, to read it, a file with breakpoints: the kernel plants there as well. */
struct gate_read {
	__u64	begin, end;
	__u32	count;		/* of the process's changes */
	__u32	pad;
};

struct gate_slot {
	__u32		state;		/* enum gate_state */
	__u32		kind;		/* enum gate_kind */
	__u32		pid, tid;	/* in recorder's PID namespace; 0: not seen there, and then nobody is asked */
	__u32		ticket;		/* counts the tasks that used the slot */
	__u32		count;		/* GATE_WRITE: words; GATE_EXEC: enum gate_what */

	/* The BPF program's own: see keep of its stack there. */
	__u64		sp;		/* of the task at the gate */
	__u64		until;		/* ns, CLOCK_MONOTONIC: when it gives up */
	__u64		next_way;	/* when it gives way next */
	__u64		cursor;		/* GATE_WRITE: where it is in the kernel's list; GATE_EXEC: when it asks the agent, 0: it has */
	__u64		trampoline;
	__u64		seen;		/* a word of the task's memory */

	union {
		struct gate_word word[GATE_FRAMES];
		char		 path[16 * GATE_FRAMES];	/* of the file to be exec'd, as the task says or sees it */
		struct gate_read read;				/* GATE_READ */
	};
};

/* A file, as the table of files that need not wait is keyed. */
struct gate_file {
	__u64	ino;
	__u32	dev;		/* as rec_image.dev */
	__u32	gen;		/* as rec_image.gen */
	__u64	size;		/* bytes */
	__u64	ctime;		/* ns: with the size it tells a file that was rewritten in place */
};

/* Where a task waits, and for what. */
enum gate_what {
	GATE_EXEC_CALL,		/* it is about to exec what the slot's path names: probe that */
	GATE_EXEC_HOOK,		/* it is in the midst of that; until it goes on nobody can trace its process */
	GATE_EXECED,		/* it has exec'd @file: probe that */
	GATE_FORK,		/* it is about to make a process, and files are probed for some processes alone: probe them for all */
	GATE_MAPPED,		/* libraries were mapped, no code of theirs has run: may its returns be probed? */
	GATE_READ,		/* such a mapping is new, or has been changed, struct gate_read: show it what the file has */
};

/* What the control thread is told when a task waits at a gate. */
struct gate_notice {
	__u32		 slot, ticket;	/* GATE_SLOTS: nobody waits, a process has been made already */
	__u32		 pid, tid;	/* in recorder's PID namespace */
	__u32		 what;		/* enum gate_what */
	__u32		 root_pid;	/* in the initial PID namespace */
	__u32		 mapped, pad;	/* GATE_MAPPED: returns_mapped() */
	struct gate_file file;		/* /proc/PID/exe; GATE_EXEC_HOOK: what it is about to be */
};

_Static_assert(sizeof(struct gate_slot) == 72 + 24 * GATE_FRAMES, "no holes");
_Static_assert(sizeof(struct gate_notice) == 64, "no holes");

/* What is known of a file: a value for it in gate_files, or in returns_files. */
struct gate_known {
	struct gate_file file;
	__u32		 value, pad;
};

/* GATE_READ: there is no such mapping any more in @pid (gate_notice.root_pid), unless there have been changes since. */
struct gate_unread {
	__u32	pid, count;
};

/* GATE_MAPPED, and the task was held: the answer. */
struct gate_answer {
	__u32	pid;			/* gate_notice.root_pid */
	__u32	may, mapped;
};

#ifndef __bpf__

struct config;

/* Whoever waits, serves and holds moves a slot on by these alone. False: it is not in @from. */
static inline bool gate_move(struct gate_slot *s, __u32 from, __u32 to)
{
	return __atomic_compare_exchange_n(&s->state, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

static inline __u32 gate_state(const struct gate_slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_SEQ_CST);
}

/*
 * The control thread's side of GATE_EXEC. Where tasks wait is source_gate's: on their way back from the system
 * call, or in the exec and at probes in each dynamic linker that an image names.
 */

/* Readable when tasks wait; -1: there are no gates. */
int gate_fd(void);

/*
 * Call @fn for each task that waits, then let it run on, whatever @fn returns.
 * @path: what it is about to exec; NULL: n->what is another. Returns 0 or the first
 * error; @fn returns > 0 when there is no such file, or when the process's returns
 * may not be probed. @proc: the task's folder in /proc, lent; it was opened while
 * the task waited, so it is that task's.
 */
typedef int (*gate_fn)(void *ctx, const struct gate_notice *n, int proc, const char *path);
int gate_serve(gate_fn fn, void *ctx);

/* Does it tell of each file that a task maps? Before the load. */
bool gate_tells_maps(const struct config *cfg);

/* Nobody is to wait at an exec now, or may again; who waits goes on. */
void gate_open(bool is_open);

/* Nobody is to wait at an exec ever again. */
void gate_shut(void);

/* Probes are about to be set, or have been: meanwhile, who waits does not hold his memory map's lock off the CPU. */
void gate_attaching(bool begins);

/* Files are probed for some processes alone from now on, or no longer. Meanwhile these wait where they make others. */
void gate_at_forks(bool is_on);

/* Does the process of @proc (its folder in /proc) make others by a C library in which it would wait? */
bool gate_sees_forks(int proc);

/* A copy of this machine's library @path, open at @fd (lent): who waits in the original waits in it. */
void gate_at_library(int fd, const char *path);

#endif

#endif
