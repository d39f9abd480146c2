/*
 * watch.h - between the stand-in driver and the stand-in for CUPTI: what the first tells the second.
 *
 * NVIDIA's two have ways of their own for this, which nobody else may use; these are ours.
 */
#ifndef FAKECUDA_WATCH_H
#define FAKECUDA_WATCH_H

#include <stdint.h>

/* A kernel, copy or set that ran. Times are ns of CLOCK_MONOTONIC. */
struct watched {
	enum { WATCHED_KERNEL, WATCHED_COPY, WATCHED_SET } kind;
	uint64_t start, end, bytes, graph_node;
	uint32_t stream;
	unsigned grid[3], block[3];
};

struct watch {
	void (*called)(const char *function);		/* by this thread, just now */
	void (*ran)(const struct watched *w);		/* in the call that this thread is in */
};

/* Exported by libcuda.so.1; NULL: nobody watches. */
extern const struct watch *fakecuda_watch;

#endif
