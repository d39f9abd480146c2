/*
 * writer.h - the thread that merges, tracks and writes: all state about the recording lives in it.
 */
#ifndef WRITER_H
#define WRITER_H

#include <stdint.h>

#include "flow/tracker.h"

struct about;
struct queue;
struct raw;
struct segment;
struct symbols;
struct writer;

struct writer_args {
	struct queue   *queue;		/* lent, as all below */
	struct segment *segment;
	struct raw     *raw;		/* NULL: rounds are not kept */
	struct about   *about;		/* its losses are filled in before the sinks are closed */
	struct symbols *symbols;	/* NULL: stacks have only the names of files that are probed */
	const char     *exe;		/* what the first task is about to exec; NULL: not known */
};

/* What the status line shows; read from any thread. */
struct writer_progress {
	uint64_t events, tasks, lost;
};

int  writer_start(struct writer **ret, const struct writer_args *args);

/* Wait until the last round is written, tell the sinks of what is left open, end the thread. The first error. */
int  writer_finish(struct writer *w, struct tracker_counts *counts);

void writer_progress(const struct writer *w, struct writer_progress *ret);

#endif
