/*
 * drain.h - the thread that copies rings into rounds.
 *
 * It sleeps between rounds, opens no file, and stops taking when the queue is
 * full: then the rings fill, and BPF counts what it cannot store.
 */
#ifndef DRAIN_H
#define DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drain;
struct queue;
struct tally;

struct drain_args {
	const int    *ring_fd;		/* one per CPU; NULL: none, in tests; lent */
	unsigned      ring_count;
	size_t	      ring_bytes;
	void	     *calls;		/* the rings of function records, one per CPU, mapped; NULL: none; lent */
	uint32_t      calls_slots;	/* of each */
	const struct tally *tallies;	/* one per CPU, mapped; NULL: none, in tests; lent */
	struct queue *queue;
	size_t	      hold_bytes;	/* of records, at most, that wait in the merge for what comes late */
	bool	      is_prompt;	/* a sink looks at what a record names, which may soon be gone */
};

int  drain_start(struct drain **ret, const struct drain_args *args);

/*
 * One last round, pushed with its last mark; then the thread ends. Frees @d. Returns how many records were garbled,
 * which were left out and are among those told of as lost.
 */
uint64_t drain_finish(struct drain *d);

#endif
