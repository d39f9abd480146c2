/*
 * callring.h - the ring of function records, as BPF and user space share it.
 */
#ifndef CALLRING_H
#define CALLRING_H

#include "record.h"

#define CALLS_SPARE	1024	/* slots kept free: bpf/callring.bpf.h says why */

/* Begins a ring; slots follow: struct rec_func each, a power of two of them. Slot n % slots holds the n-th record. */
struct calls_head {
	__u64	head;		/* records begun, ever: BPF */
	__u64	gap[7];		/* the two on cache lines of their own */
	__u64	tail;		/* records read, ever: user space */
	__u64	gap2[7];
};

_Static_assert(sizeof(struct calls_head) == 128, "no holes");

#endif
