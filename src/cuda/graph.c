/*
 * graph.c - graphs: made by a capture or by hand, copied, made executable, changed.
 *
 * Only their kernels are kept, in the order in which they were added. What is made
 * executable is a copy, in which a node is named by the handle of its original.
 */
#include "base.h"
#include "cuda/graph.h"

struct node {
	uint64_t handle;		/* CUgraphNode; 0: made by capture, which does not tell */
	struct cuda_launch launch;	/* seq not set */
};

struct graph {
	struct node *node;
	size_t	     count, room;
};

struct graph *graph_new(void)
{
	return calloc(1, sizeof(struct graph));
}

void graph_free(void *g)
{
	if (g)
		free(((struct graph *)g)->node);
	free(g);
}

void graphs_clear(struct graphs *all)
{
	handles_clear(&all->graph, graph_free);
	handles_clear(&all->exec, graph_free);
}

int graph_add(struct graph *g, uint64_t handle, const struct cuda_launch *l)
{
	int err = grow(&g->node, &g->room, g->count, sizeof(*g->node));

	if (!err)
		g->node[g->count++] = (struct node){ handle, *l };
	return err;
}

size_t graph_launches(const struct graph *g, struct cuda_launch *to)
{
	for (size_t i = 0; to && g && i < g->count; i++)
		to[i] = g->node[i].launch;
	return g ? g->count : 0;
}

static int graph_add_all(struct graph *g, const struct graph *from)
{
	int err = 0;

	for (size_t i = 0; from && i < from->count && !err; i++)
		err = graph_add(g, 0, &from->node[i].launch);
	return err;
}

/* ---- by their handles ---- */

static int put(struct handles *h, uint64_t number, struct graph *g)
{
	struct graph *old = handles_get(h, number);
	int err;

	if (!number || old == g)
		return 0;
	err = handles_put(h, number, g);
	if (!err)
		graph_free(old);
	return err;
}

int graphs_put(struct graphs *all, uint64_t handle, struct graph *g)
{
	return put(&all->graph, handle, g);
}

struct graph *graphs_graph(struct graphs *all, uint64_t handle)
{
	struct graph *g = handles_get(&all->graph, handle);

	if (g || !handle)
		return g;
	g = graph_new();
	if (g && handles_put(&all->graph, handle, g))
		graph_free(TAKE(g));
	return g;
}

struct graph *graphs_exec(const struct graphs *all, uint64_t handle)
{
	return handles_get(&all->exec, handle);
}

/* ---- what calls do to them ---- */

static int add_copy(struct handles *to, uint64_t number, const struct graph *from)
{
	struct graph *g = number ? graph_new() : NULL;
	int err;

	if (!number)
		return 0;
	err = g ? graph_add_all(g, from) : -ENOMEM;
	/* Nodes keep their handles: in the executable graph they are named by those of the graph it was made from. */
	for (size_t i = 0; !err && from && i < from->count; i++)
		g->node[i].handle = from->node[i].handle;
	err = err ?: put(to, number, g);
	if (err)
		graph_free(g);
	return err;
}

static int add_node(struct graphs *all, struct cuda_call *c)
{
	struct graph *g = c->node ? graphs_graph(all, c->handle) : NULL;

	return g ? graph_add(g, c->out, c->node) : 0;
}

static int add_child(struct graphs *all, struct cuda_call *c)
{
	struct graph *g = graphs_graph(all, c->handle);

	return g ? graph_add_all(g, handles_get(&all->graph, c->arg[4])) : 0;
}

static void set_node(struct graph *g, uint64_t handle, const struct cuda_launch *l)
{
	for (size_t i = 0; g && i < g->count; i++)
		if (g->node[i].handle == handle)
			g->node[i].launch = *l;
}

static void set_node_everywhere(struct graphs *all, uint64_t handle, const struct cuda_launch *l)
{
	for (size_t i = 0; i < all->graph.room; i++)
		set_node(all->graph.place[i].is, handle, l);
}

int graphs_change(struct graphs *all, struct cuda_call *c)
{
	switch (c->fn->does) {
	case CUDA_DOES_GRAPH_ADD_KERNEL:
	case CUDA_DOES_GRAPH_ADD_NODE:
		return add_node(all, c);
	case CUDA_DOES_GRAPH_ADD_CHILD:
		return add_child(all, c);
	case CUDA_DOES_GRAPH_CLONE:
		return add_copy(&all->graph, c->out, handles_get(&all->graph, c->handle));
	case CUDA_DOES_INSTANTIATE:
		return add_copy(&all->exec, c->out, handles_get(&all->graph, c->handle));
	case CUDA_DOES_EXEC_UPDATE:
		return add_copy(&all->exec, c->handle, handles_get(&all->graph, c->arg[1]));
	case CUDA_DOES_EXEC_SET_KERNEL:
		if (c->node)
			set_node(handles_get(&all->exec, c->handle), c->arg[1], c->node);
		return 0;
	case CUDA_DOES_NODE_SET_KERNEL:
		if (c->node)
			set_node_everywhere(all, c->handle, c->node);
		return 0;
	case CUDA_DOES_GRAPH_CREATE:
		return add_copy(&all->graph, c->out, NULL);
	case CUDA_DOES_GRAPH_DESTROY:
		graph_free(handles_take(&all->graph, c->handle));
		return 0;
	case CUDA_DOES_EXEC_DESTROY:
		graph_free(handles_take(&all->exec, c->handle));
		return 0;
	default:
		return 0;
	}
}
