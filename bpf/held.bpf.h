/*
 * held.bpf.h - calls that are held back until it is known whether they are recorded: --time-filter, --caller-filter.
 */
#ifndef HELD_BPF_H
#define HELD_BPF_H

#include "recorder.bpf.h"
#include "function.h"
#include "room.bpf.h"

#define HELD_MEANT	0x20000u	/* in held.flags: it may be recorded for its own sake */
#define HELD_RESULT	0x20000u	/* to held_leave(): who asks sends the exit, with the result */

/* An open function. */
struct held {
	__u64	sp, began;
	__u32	func;
	__u32	flags;		/* REC_F_* of its entry, FILTER_HOME, HELD_MEANT */
};

/* The open system call: while it is open nothing else of its task can begin. */
struct held_syscall {
	__u64	began;		/* 0: none is */
	__u64	arg[6];
	__u32	nr;
	__u16	flags;		/* REC_F_* of its entry */
	bool	is_told;	/* it took long enough, its entry was sent: its exit is to be */
};

/* On the way back through the open calls, at an entry or a return. */
struct held_step {
	__u64	sp, count;
	__u32	flags;
	__u32	func;		/* of the return at hand; NO_FUNC: it is an entry */
	__u64	on_stack;	/* a call of this stack was found: those before it were opened elsewhere since */
};

struct held_calls {
	struct room	    room;
	__u64		    count;		/* open functions, outermost first */
	__u64		    told;		/* the outermost so many have been sent: who is sent has its callers sent */
	struct held_syscall syscall;
	struct held_step    step;
	struct held	    call[HELD_MAX];
};

ROOMS(held_calls, struct held_calls);

extern const volatile bool calls_are_held;	/* the option is given */
extern const volatile bool syscalls_are_held;

/*
 * The current task calls a function; it is held if @is_kept, else it shows only what was left. @flags as
 * filter_enter() has them. Returns 0 when its return is wanted.
 */
int held_enter(__u64 sp, __u64 cookie, __u32 flags, bool is_kept);

/* It returns from there. With HELD_RESULT in @flags: returns 1 when its exit is to be sent. */
int held_leave(__u64 sp, __u64 cookie, __u32 flags);

#endif
