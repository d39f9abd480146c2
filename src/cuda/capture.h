/*
 * capture.h - the streams of a process that capture: what is asked of them goes into a graph and does not run.
 */
#ifndef CUDA_CAPTURE_H
#define CUDA_CAPTURE_H

#include "cuda.h"
#include "cuda/graph.h"
#include "cuda/handles.h"

struct capture;

/* All zeroes: none. */
struct captures {
	struct capture *all;
	struct handles	stream;		/* capturing: struct capture */
	struct handles	event;		/* recorded on such a one: struct capture */
};

void captures_clear(struct captures *all);

/* Of the stream of the call @c; NULL: it does not capture. */
struct capture *capture_on(const struct captures *all, const struct cuda_call *c);
/* The graph that it adds to; NULL: it does not capture, no memory. */
struct graph   *capture_graph(const struct captures *all, struct graphs *graphs, const struct cuda_call *c);

/* What the call @c has done. */
int capture_begin(struct captures *all, const struct cuda_call *c);
int capture_end(struct captures *all, struct graphs *graphs, const struct cuda_call *c);
/* It was called, and failed: most results mean that there is no capture any more. */
void capture_end_failed(struct captures *all, const struct cuda_call *c);
int capture_event(struct captures *all, const struct cuda_call *c);	/* it recorded one */
int capture_joins(struct captures *all, const struct cuda_call *c);	/* a stream waits for one */
/* It was waited for or queried, which the driver refuses while it captures. Returns whether it was taken to. */
bool capture_is_over(struct captures *all, const struct cuda_call *c);
/* It is destroyed, or the handle was given to a new one. */
void capture_forget_stream(struct captures *all, uint64_t stream);
void capture_forget_event(struct captures *all, uint64_t event);

#endif
