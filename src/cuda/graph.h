/*
 * graph.h - the graphs of a process, and what is executable of them: which kernels they launch.
 */
#ifndef CUDA_GRAPH_H
#define CUDA_GRAPH_H

#include "cuda.h"
#include "cuda/handles.h"

struct graph;

/* All zeroes: none. */
struct graphs {
	struct handles graph, exec;	/* struct graph, owned */
	struct handles node;		/* CUgraphNode of a kernel: the number of ours for it, as a pointer */
	uint64_t       numbers;		/* so far */
};

void graphs_clear(struct graphs *all);

struct graph *graph_new(void);		/* NULL: no memory */
void	      graph_free(void *graph);
/* @from_graph: a graph that is launched becomes one node, whose kernels are none of @g's own. */
int	      graph_add_captured(struct graphs *all, struct graph *g, const struct cuda_launch *l, bool from_graph);
/* What it launches, into @to where that is not NULL; returns how many. */
size_t	      graph_launches(const struct graph *g, struct cuda_launch *to);

bool	      graph_is_partly(const struct graph *g);	/* there is more in it than is known, or may be; NULL: it is */
void	      graph_made_unseen(struct graphs *all, uint64_t handle);
/* Made, as one that is partly known, if there is none; NULL: handle 0, no memory. */
struct graph *graphs_graph(struct graphs *all, uint64_t handle);
struct graph *graphs_exec(const struct graphs *all, uint64_t handle);	/* NULL: not known */
/* @g is owned from then on, unless @handle is 0 or it fails. */
int	      graphs_put(struct graphs *all, uint64_t handle, struct graph *g);

/* What @c has done to graphs; nothing, if it is no call of theirs. Sets is_node_unknown in it. */
int graphs_change(struct graphs *all, struct cuda_call *c);

#endif
