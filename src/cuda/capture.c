/*
 * capture.c - streams that capture.
 *
 * What is launched on one goes into a graph and does not run. A stream that waits for
 * an event that was recorded on such a one captures, too.
 */
#include "base.h"
#include "cuda/capture.h"

/* A capture goes on until the stream it began on ends it, or is destroyed. */
struct capture {
	uint64_t	origin;	/* that stream */
	uint64_t	into;	/* the graph it adds to, by its handle; 0: what it makes has none yet */
	struct graph   *graph;	/* owned: that; NULL: into, or given away */
	struct capture *next;
};

void captures_clear(struct captures *all)
{
	handles_clear(&all->stream, NULL);
	handles_clear(&all->event, NULL);
	while (all->all) {
		struct capture *cap = all->all;

		all->all = cap->next;
		graph_free(cap->graph);
		free(cap);
	}
}

#define PER_THREAD	(1ull << 63)	/* | tid: no handle has this bit set */

/* The default stream of a thread is another in each. */
static uint64_t stream_of(const struct cuda_call *c)
{
	bool is_thread_s = c->stream == 2 || (!c->stream && c->func % 2);

	return is_thread_s ? PER_THREAD | c->tid : c->stream ?: 1;
}

struct capture *capture_on(const struct captures *all, const struct cuda_call *c)
{
	return handles_get(&all->stream, stream_of(c));
}

struct graph *capture_graph(const struct captures *all, struct graphs *graphs, const struct cuda_call *c)
{
	struct capture *cap = capture_on(all, c);

	if (!cap)
		return NULL;
	return cap->into ? graphs_graph(graphs, cap->into) : cap->graph;
}

static void leave_all(struct handles *h, const struct capture *cap)
{
	bool again = true;

	while (again) {
		again = false;
		for (size_t i = 0; i < h->room && !again; i++)
			if (h->place[i].number && h->place[i].is == cap) {
				handles_take(h, h->place[i].number);
				again = true;
			}
	}
}

/* It is over, and all that took part in it is free. What it has made is gone, unless it was given away. */
static void capture_drop(struct captures *all, struct capture *cap)
{
	struct capture **at = &all->all;

	leave_all(&all->stream, cap);
	leave_all(&all->event, cap);
	while (*at && *at != cap)
		at = &(*at)->next;
	if (*at)
		*at = cap->next;
	graph_free(cap->graph);
	free(cap);
}

/* A stream that captures cannot begin to: where the result is not seen, it was refused. */
int capture_begin(struct captures *all, const struct cuda_call *c)
{
	struct capture *cap = capture_on(all, c);

	if (cap && c->result == CUDA_NO_RESULT)
		return 0;
	if (cap && cap->origin == stream_of(c))
		capture_drop(all, cap);
	cap = calloc(1, sizeof(*cap));
	if (!cap)
		return -ENOMEM;
	cap->origin = stream_of(c);
	cap->into = c->fn->does == CUDA_DOES_BEGIN_CAPTURE_TO ? c->handle : 0;
	cap->graph = cap->into ? NULL : graph_new();
	cap->next = all->all;
	all->all = cap;
	return cap->into || cap->graph ? handles_put(&all->stream, stream_of(c), cap) : -ENOMEM;
}

int capture_end(struct captures *all, struct graphs *graphs, const struct cuda_call *c)
{
	struct capture *cap = capture_on(all, c);
	int err = 0;

	if (!cap && !c->result)
		graph_made_unseen(graphs, c->out);
	if (!cap || (c->result == CUDA_NO_RESULT && cap->origin != stream_of(c)))
		return 0;
	if (cap->graph && c->out)
		err = graphs_put(graphs, c->out, cap->graph);
	if (cap->graph && c->out && !err)
		cap->graph = NULL;
	capture_drop(all, cap);
	return err;
}

/* CUresult: those with which cuStreamEndCapture() has done nothing. */
enum { NOT_CAPTURING = 401, NOT_BEGUN_HERE = 903, WRONG_THREAD = 908 };

void capture_end_failed(struct captures *all, const struct cuda_call *c)
{
	struct capture *cap = capture_on(all, c);

	if (cap && c->result != NOT_CAPTURING && c->result != NOT_BEGUN_HERE && c->result != WRONG_THREAD)
		capture_drop(all, cap);
}

bool capture_is_over(struct captures *all, const struct cuda_call *c)
{
	struct capture *cap = capture_on(all, c);

	if (cap)
		capture_drop(all, cap);
	return cap;
}

void capture_forget_stream(struct captures *all, uint64_t stream)
{
	struct capture *cap = handles_take(&all->stream, stream);

	if (cap && cap->origin == stream)
		capture_drop(all, cap);
}

void capture_forget_event(struct captures *all, uint64_t event)
{
	handles_take(&all->event, event);
}

int capture_event(struct captures *all, const struct cuda_call *c)
{
	struct capture *cap = capture_on(all, c);

	if (cap)
		return handles_put(&all->event, c->event, cap);
	handles_take(&all->event, c->event);
	return 0;
}

int capture_joins(struct captures *all, const struct cuda_call *c)
{
	struct capture *cap = handles_get(&all->event, c->event);

	return cap ? handles_put(&all->stream, stream_of(c), cap) : 0;
}
