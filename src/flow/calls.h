/*
 * calls.h - the open calls of a task, kept right by stack pointers.
 *
 * Part of the tracker. Stacks grow down: a frame below the stack pointer at
 * hand has been left, whether by a return we saw, one that was lost, longjmp()
 * or an exception. So every record first closes what it shows to be gone, and
 * the depth never drifts.
 *
 * A task may have more than one stack: a signal's, a coroutine's, a
 * goroutine's. They are told apart by distance. Going over to another closes
 * nothing; coming back closes what was opened elsewhere in between, since the
 * viewers know one stack per task.
 *
 * A forked child begins with no open call: it returns through frames whose calls
 * were its parent's, and are counted there.
 */
#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>

#include "event.h"

struct rec_hdr;
struct segment;
struct tracker_counts;

/* What calls need of the tracker. */
struct calls {
	struct segment	      *segment;
	struct tracker_counts *counts;
	uint64_t	       time;	/* of the event at hand: never decreases */
};

/* @call: kind, id, sp, addr, func, flags and cuda filled in; takes its cuda, error or not. */
int calls_enter(struct calls *c, struct task *t, const struct rec_hdr *rec, const struct call *call);

#define CALL_ANY	UINT32_MAX	/* the exit does not say whose it is: the stack pointer does */

/* @kind: of the entry, REC_FUNC_ENTRY or REC_CUDA_ENTRY. */
int calls_exit_function(struct calls *c, struct task *t, const struct rec_hdr *rec, uint16_t kind, uint32_t id,
			uint64_t sp);
int calls_exit_syscall(struct calls *c, struct task *t, const struct rec_hdr *rec, uint32_t nr);

/* The calls whose return address was at @sp, and all in them, have been left: not seen, but known. */
int calls_leave(struct calls *c, struct task *t, const struct rec_hdr *rec, uint64_t sp);

/* The task is at @sp, in the function whose call is the innermost that is not left: a probe of the program's own was hit. */
int calls_pass(struct calls *c, struct task *t, const struct rec_hdr *rec, uint64_t sp);

/* Every open call ends now, innermost first. */
int calls_close_all(struct calls *c, struct task *t, const struct rec_hdr *rec);

#endif
