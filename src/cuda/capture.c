/*
 * capture.c - streams that capture.
 *
 * What is launched on one goes into a graph and does not run. A stream that waits for
 * an event that was recorded on such a one captures, too.
 */
#include "base.h"
#include "cuda/capture.h"

/* A capture goes on until the stream it began on ends it. */
struct capture {
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

int capture_begin(struct captures *all, const struct cuda_call *c)
{
	struct capture *cap = calloc(1, sizeof(*cap));

	if (!cap)
		return -ENOMEM;
	cap->into = c->fn->does == CUDA_DOES_BEGIN_CAPTURE_TO ? c->handle : 0;
	cap->graph = cap->into ? NULL : graph_new();
	cap->next = all->all;
	all->all = cap;
	return cap->into || cap->graph ? handles_put(&all->stream, stream_of(c), cap) : -ENOMEM;
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

int capture_end(struct captures *all, struct graphs *graphs, const struct cuda_call *c)
{
	struct capture *cap = capture_on(all, c);
	int err;

	if (!cap)
		return 0;
	leave_all(&all->stream, cap);
	leave_all(&all->event, cap);
	if (!cap->graph || !c->out)
		return 0;
	err = graphs_put(graphs, c->out, cap->graph);
	if (!err)
		cap->graph = NULL;
	return err;
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
