/*
 * rate.h - how often a function has been called of late: --rate-limit. Shared with BPF.
 */
#ifndef RATE_H
#define RATE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* One per function that is probed. */
struct func_rate {
	__u64	began;		/* ns, CLOCK_MONOTONIC: the second in which calls are counted */
	__u64	calls;		/* in it */
	__u64	shed;		/* in all: calls that were not recorded */
};

#endif
