/*
 * callring.h - the ring of function records, and of launches, as BPF and user space share it.
 */
#ifndef CALLRING_H
#define CALLRING_H

#include "record.h"

#define CALLS_SPARE	1024	/* slots kept free: bpf/callring.bpf.h says why */

/* What the slot @n has in its commit when it is written: a record's first, and its second. No other of 2^31 slots has it. */
#define CALLS_WHOLE(n)	(2 * (__u32)(n) + 1)
#define CALLS_SECOND(n)	(2 * (__u32)(n) + 2)

/*
 * Begins a ring; slots follow: struct rec_func each, a power of two of them, n in slot n % slots. A record has one, or,
 * as its hdr.size says, the next one too, where only its commit is in its usual place; both are begun at once.
 */
struct calls_head {
	__u64	head;		/* slots begun, ever: BPF */
	__u64	gap[7];		/* the two on cache lines of their own */
	__u64	tail;		/* slots read, ever: user space */
	__u64	gap2[7];
};

_Static_assert(sizeof(struct calls_head) == 128, "no holes");

#endif
