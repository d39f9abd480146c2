/*
 * trigger.h - what a call of a function sets off, and on which arguments that hangs: FUNC@ACTION,if:argN==V.
 * Shared with BPF.
 */
#ifndef TRIGGER_H
#define TRIGGER_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Bits of func_case.actions. */
#define TRIGGER_DEPTH	1u	/* depth=N */
#define TRIGGER_ON	2u	/* trace_on: functions of the process are recorded from here on */
#define TRIGGER_OFF	4u	/* trace_off: they are not */
#define TRIGGER_FINISH	8u	/* finish: the recording ends */
#define TRIGGER_MARK	16u	/* mark: so says the recording; of signals only */

/* How an argument compares to the value: bits of func_cond.holds. None: the condition never holds. */
#define COND_LESS	1u
#define COND_EQUAL	2u
#define COND_MORE	4u

#define COND_ARGS	8	/* N of argN is at most that, and what the machine passes in registers */

struct func_cond {
	__u64	value;
	__u8	arg;		/* N of argN; 0: nothing is asked, it holds */
	__u8	holds;		/* COND_* */
	__u8	bits;		/* of the argument: 8, 16, 32 or 64; 0: not told, 64, or 32 of a negative number */
	__u8	is_unsigned;
	__u32	pad;
};

struct func_case {
	struct func_cond cond;
	__u64	says;		/* COOKIE_IN and its like (function.h), if the condition holds */
	__u32	actions;	/* TRIGGER_*, too */
	__u32	depth;
};

/* By a signal to recorder. */
enum switched_all {
	SWITCHED_NOT,		/* none has come */
	SWITCHED_ON,
	SWITCHED_OFF,
};

/* What a signal does, as told by recorder: see struct rec_mark. */
struct signal_mark {
	__u32	mark, signal, number;
};

#define CASES_MAX	8	/* a power of two */

/* One per function with triggers or conditions: all that is said of it. */
struct func_trigger {
	__u32		 count;
	__u32		 pad;
	struct func_case of[CASES_MAX];	/* in the order given: the later counts */
};

#endif
