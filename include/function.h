/*
 * function.h - the cookie a function probe carries. Shared with BPF.
 */
#ifndef FUNCTION_H
#define FUNCTION_H

#define COOKIE_FUNC	0xffffffffull	/* rec_func.func */
#define COOKIE_SP_SHIFT	32		/* bytes between the stack pointer at the site and at the function's start */
#define COOKIE_SP	0x3fffffull
#define COOKIE_OWN	(1ull << 54)	/* of a link that one process alone meets; entries only */
#define COOKIE_LATE	(1ull << 55)	/* of one for all others, made when some had such: those meet both */
#define COOKIE_IN	(1ull << 56)	/* filters: it and what it calls are recorded */
#define COOKIE_OUT	(1ull << 57)	/* neither it nor what it calls is */
#define COOKIE_HIDE	(1ull << 58)	/* it is not, which says nothing of what it calls; with COOKIE_IN */
#define COOKIE_ONLY	(1ull << 59)	/* outside those with COOKIE_IN nothing is recorded: its file has some */
#define COOKIE_CALLER	(1ull << 60)	/* --caller-filter means it: it is recorded, and who called it */
#define COOKIE_CALLERS_ONLY (1ull << 61)	/* no others are: its file has some */
#define COOKIE_TRIGGER	(1ull << 62)	/* trigger.h has what is said of it: each call has its own COOKIE_IN and its like */
#define COOKIE_NO_EXIT	(1ull << 63)	/* the return is not probed */

/* Of a call of one with COOKIE_TRIGGER, once that is settled, in place of COOKIE_SP. */
#define COOKIE_ACTIONS_SHIFT	32	/* TRIGGER_* */
#define COOKIE_DEPTH_SHIFT	40	/* of TRIGGER_DEPTH: up to FILTER_DEPTH_MAX */
#define COOKIE_SAYS		(COOKIE_IN | COOKIE_OUT | COOKIE_HIDE | COOKIE_CALLER)

/* rec_func.func of an exit that was not seen: whatever was called at its sp has been left. */
#define NO_FUNC		0xfffffffeu

/* What a filter keeps of a task: at most so many frames. */
#define FILTER_FRAMES		1024	/* a power of two */
#define FILTER_DEPTH_MAX	250	/* -D at most */
#define FILTER_STACK_MAX	1000	/* --max-stack at most: each level takes a frame */

#define HELD_MAX		1024	/* open calls of a task that can be held back; a power of two */

/* What is counted, per CPU, of calls that are not recorded. */
enum filtered {
	FILTERED_CALLS,
	FILTERED_SYSCALLS,
	FILTERED_DEEP,			/* functions beyond --max-stack */
	HELD_TOO_DEEP,			/* functions that found no place to be held back */
	HELD_WITHOUT_VALUES,		/* functions told without their arguments, for which there was no room */
	FILTERED_COUNTS
};

#endif
