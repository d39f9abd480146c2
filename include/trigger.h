/*
 * trigger.h - what a call of a function sets off: -T FUNC@ACTION. Shared with BPF.
 */
#ifndef TRIGGER_H
#define TRIGGER_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Bits of func_trigger.actions. */
#define TRIGGER_DEPTH	1u	/* depth=N */
#define TRIGGER_ON	2u	/* trace_on: functions of the process are recorded from here on */
#define TRIGGER_OFF	4u	/* trace_off: they are not */
#define TRIGGER_FINISH	8u	/* finish: the recording ends */

/* One per function that -T names. */
struct func_trigger {
	__u32	actions;
	__u32	depth;
};

#endif
