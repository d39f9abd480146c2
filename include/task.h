/*
 * task.h - tasks, sessions, maps and open calls, as the tracker knows them.
 *
 * All of it belongs to the tracker and the writer thread; sinks are lent it.
 */
#ifndef TASK_H
#define TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

#define SINKS_MAX	8

struct cuda_call;
struct image;
struct func;

/* Where an image lies in a session's memory. */
struct map {
	uint64_t	    start, end;	/* of its lowest and highest mapped segment; end is exclusive */
	const char	   *path;	/* as the task sees it */
	const struct image *image;	/* NULL: not analysed (yet), so without functions */
	const struct image *names;	/* of stacks, where image is NULL; NULL: not asked for, or not to be had */
	bool		    was_named;	/* it was asked for */
	uint32_t	    dev, gen;
	uint64_t	    ino;
	uint64_t	    time;	/* when it was mapped */
	uint64_t	    addr, len, offset;	/* as the image record told: start follows from them and the image */
	uint16_t	    at;		/* enum image_at */
};

/*
 * A process image between two execs, as uftrace means it. A forked child shares its parent's until it execs, or one of the
 * two maps a file: then each has its own.
 */
struct session {
	uint64_t    id;		/* unique in a recording, counted from 1 */
	uint32_t    pid;	/* who exec'd it, or left that one's */
	uint64_t    time;
	uint64_t    stack;	/* top of the stack */
	const char *exe;	/* path of the main program; "" until its image record has come */
	struct map *map;	/* in the order they came; the main program first; what others were mapped over is gone */
	size_t	    map_count, map_room;
	size_t	    last_map;	/* index of the map last asked for by image */
	bool	    is_told;	/* the sinks know it */
	bool	    is_shared;	/* a process was forked in it; it may have left since */
	unsigned    holders;	/* tasks in it, and sinks that look at it later */
	struct session *next, **link;	/* all that somebody holds */
};

/* A session goes when its last task does. A sink that looks at it after the callback that it is lent for holds it. */
void session_hold(const struct session *s);
void session_release(const struct session *s);	/* NULL does nothing */

/* Both cannot be there at a time. For certain a file lies where its code was mapped, and as a whole once it is known. */
bool maps_collide(const struct map *a, const struct map *b);

/* An open function, syscall or call of the CUDA driver of a task. */
struct call {
	uint64_t	   sp;		/* functions: where the return address lies; syscalls: 0 */
	uint64_t	   addr;	/* functions: run-time address of the first instruction; 0: unknown */
	const struct func *func;	/* functions; NULL for a syscall or an unknown function */
	uint32_t	   id;		/* rec_func.func, the syscall's number, or rec_cuda_entry.func */
	struct cuda_call  *cuda;	/* REC_CUDA_ENTRY: what it does; owned; else NULL */
	uint16_t	   kind;	/* REC_FUNC_ENTRY, REC_SYS_ENTER or REC_CUDA_ENTRY */
	uint16_t	   flags;	/* of the entry record: REC_F_* */
	uint16_t	   stack;	/* which of the task's stacks: signal stacks and coroutines have their own */
};

struct task {
	uint32_t	tid, pid;
	uint32_t	parent_tid;	/* who made it; 0: unknown or not recorded */
	uint32_t	parent_pid;
	uint32_t	found_under;	/* of one that ran before the recording: its parent process, recorded or not; else 0 */
	char		comm[REC_COMM + 1];
	uint64_t	begin;		/* time of the first thing known of it */
	struct session *session;	/* never NULL once task_begin was called */
	struct call    *call;		/* open calls, outermost first */
	size_t		depth, call_room;
	struct cuda_call *gave;		/* it ended unseen, and what it gave comes with the task's next; owned; NULL: none */
	uint64_t	last;		/* time of its latest event */
	uint64_t	last_call;	/* event.began of its latest entry or exit */
	void	       *slot[SINKS_MAX];	/* one per sink: what it hangs on a task */
	struct task    *next;		/* in the tracker's table */
	uint16_t	stack;		/* the stack it is on */
	uint16_t	stack_count;
	bool		is_told;	/* the sinks know it */
	bool		is_gone;	/* its exit was seen */
};

#endif
