/*
 * filter.bpf.h - is a call to be recorded, by --filter, --notrace and --depth?
 */
#ifndef FILTER_BPF_H
#define FILTER_BPF_H

#include "recorder.bpf.h"

enum filter_verdict {
	FILTER_SKIP,		/* not recorded, and its return is of no interest */
	FILTER_WATCH,		/* not recorded, but its return is to be told by filter_leave() */
	FILTER_SHOW,		/* recorded, its return too */
};

#define FILTER_HOME	0x10000u	/* beside REC_F_*: the call runs on the task's home stack: stack.bpf.h */

/*
 * The current task calls the function of @cookie (function.h), its return address at @sp. @flags: those
 * of its record, and FILTER_HOME. Returns enum filter_verdict.
 */
int filter_enter(__u64 sp, __u64 cookie, __u32 flags);

/*
 * It returns from there. Returns 1 when the call was recorded, as far as what is known of its callers
 * tells: that is for kernels where returns are probed whatever filter_enter() said.
 */
int filter_leave(__u64 sp, __u64 cookie, __u32 flags);

#endif
