/*
 * tracker.h - records in, events out: which task, session and call depth each belongs to.
 *
 * The only part that knows tasks. Runs in the writer thread.
 */
#ifndef TRACKER_H
#define TRACKER_H

#include <stdint.h>

#include "flow/costly.h"
#include "gputime.h"
#include "record.h"

struct image;
struct rec_hdr;
struct segment;
struct symbols;
struct tracker;

struct tracker_counts {
	uint64_t events;	/* handed to the sinks */
	uint64_t tasks;
	uint64_t functions, syscalls;	/* entries */
	uint64_t probes;	/* hits of USDT probes */
	uint64_t files;		/* what system calls did to files */
	uint64_t cuda;		/* calls of the CUDA driver */
	uint64_t cuda_unseen;	/* functions that it gave by cuGetProcAddress() and that are not probed */
	uint64_t cuda_nodes;	/* calls that changed a node of a graph which is not known */
	uint64_t cuda_graphs;	/* launches of graphs that are not known whole */
	uint64_t cuda_captures;	/* captures whose end was not seen */
	struct gputime_counts gpu;
	uint64_t inferred;	/* calls whose end was not seen but shown by a later record */
	uint64_t unmatched;	/* ends of calls that were not open */
	uint64_t kernel_events;		/* of the kernel's own tracepoints */
	uint64_t marks;
	uint64_t lost[REC_CLASSES];	/* over all CPUs */
	struct costly costly;	/* the functions whose probes cost most; known when all is over */
	uint64_t late;		/* records older than one before them: passed on with its time */
};

/* @segment is lent. @exe, lent: what the first task is about to exec; NULL: not known. */
int  tracker_create(struct tracker **ret, struct segment *segment, const char *exe);
void tracker_destroy(struct tracker *t);

/* Lent: the names of files that are not probed, for stacks. */
void tracker_use_symbols(struct tracker *t, struct symbols *symbols);

/* A merge_fn. */
int  tracker_record(void *tracker, const struct rec_hdr *rec);

/* Takes @img. From now on records may name its functions. */
int  tracker_image(struct tracker *t, struct image *img);

/* The recording is over: tell the sinks of the end of every task that is left. */
int  tracker_finish(struct tracker *t);

const struct tracker_counts *tracker_counts(const struct tracker *t);

#endif
