/*
 * graph.c - graphs: made by a capture or by hand, copied, made executable, changed.
 *
 * Only their kernels are kept, in the order in which they were added. Each has a
 * number of ours, which grows in that order; a handle of the driver's leads to it. What
 * is made executable is a copy with the same numbers, since its nodes are named by
 * the handles of the graph that it was made from. A clone has numbers of its own.
 *
 * A capture tells no handles. cuGraphGetNodes() does, of nodes of all kinds: in the
 * order in which they were made, as far as is known of drivers. Where there are more of
 * them than kernels, cuGraphNodeGetType() has to tell first which ones are none.
 */
#include "base.h"
#include "cuda/graph.h"

struct node {
	uint64_t number;
	uint64_t origin;		/* of a clone's: the number of what it was copied from */
	uint64_t handle;		/* CUgraphNode in the graph itself; 0: not known; is_inner: of the child's node */
	bool	 is_inner;		/* a child graph's */
	bool	 is_off;		/* of what is executable: cuGraphNodeSetEnabled() */
	struct cuda_launch launch;	/* seq not set */
};

struct graph {
	struct node *node;		/* their numbers grow */
	size_t	     count, room;
	uint64_t    *given;		/* handles of nodes that are not known, kernels or not, in their order */
	size_t	     given_count;
	bool	     is_partly;		/* it, or what it was made of, was there before, or was made unseen */
};

struct graph *graph_new(void)
{
	return calloc(1, sizeof(struct graph));
}

void graph_free(void *graph)
{
	struct graph *g = graph;

	if (!g)
		return;
	free(g->node);
	free(g->given);
	free(g);
}

void graphs_clear(struct graphs *all)
{
	handles_clear(&all->graph, graph_free);
	handles_clear(&all->exec, graph_free);
	handles_clear(&all->node, NULL);
}

size_t graph_launches(const struct graph *g, struct cuda_launch *to)
{
	size_t n = 0;

	for (size_t i = 0; g && i < g->count; i++)
		if (!g->node[i].is_off) {
			if (to)
				to[n] = g->node[i].launch;
			n++;
		}
	return n;
}

/* ---- nodes ---- */

static int append(struct graph *g, const struct node *node)
{
	int err = grow(&g->node, &g->room, g->count, sizeof(*g->node));

	if (!err)
		g->node[g->count++] = *node;
	return err;
}

int graph_add_captured(struct graphs *all, struct graph *g, const struct cuda_launch *l, bool from_graph)
{
	return append(g, &(struct node){ .number = ++all->numbers, .is_inner = from_graph, .launch = *l });
}

/* @child: the handle of the node that all of them are in. */
static int add_all(struct graphs *all, struct graph *g, const struct graph *from, uint64_t child)
{
	size_t n = from ? from->count : 0;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = append(g, &(struct node){ .number = ++all->numbers, .handle = child, .is_inner = true,
						.launch = from->node[i].launch });
	return err;
}

static struct node *node_of(const struct graph *g, uint64_t number)
{
	size_t low = 0, high = g ? g->count : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->node[mid].number < number)
			low = mid + 1;
		else
			high = mid;
	}
	return g && number && low < g->count && g->node[low].number == number ? &g->node[low] : NULL;
}

static uint64_t number_of(const struct graphs *all, uint64_t handle)
{
	return (uintptr_t)handles_get(&all->node, handle);
}

/* In whichever graph it is; NULL: not known. */
static struct node *node_anywhere(const struct graphs *all, uint64_t handle)
{
	uint64_t number = number_of(all, handle);
	struct node *n = NULL;

	for (size_t i = 0; number && i < all->graph.room && !n; i++)
		n = node_of(all->graph.place[i].is, number);
	return n;
}

static int name_node(struct graphs *all, struct node *n, uint64_t handle)
{
	n->handle = handle;
	return handles_put(&all->node, handle, (void *)(uintptr_t)n->number);
}

/* ---- by their handles ---- */

static void forget_graph(struct graphs *all, struct graph *g)
{
	for (size_t i = 0; g && i < g->count; i++)
		if (!g->node[i].is_inner && number_of(all, g->node[i].handle) == g->node[i].number)
			handles_take(&all->node, g->node[i].handle);
	graph_free(g);
}

int graphs_put(struct graphs *all, uint64_t handle, struct graph *g)
{
	struct graph *old = handles_get(&all->graph, handle);
	int err;

	if (!handle || old == g)
		return 0;
	err = handles_put(&all->graph, handle, g);
	if (!err)
		forget_graph(all, old);
	return err;
}

static int put_exec(struct graphs *all, uint64_t handle, struct graph *g)
{
	struct graph *old = handles_get(&all->exec, handle);
	int err = handles_put(&all->exec, handle, g);

	if (!err)
		graph_free(old);
	return err;
}

struct graph *graphs_graph(struct graphs *all, uint64_t handle)
{
	struct graph *g = handles_get(&all->graph, handle);

	if (g || !handle)
		return g;
	g = graph_new();
	if (g && handles_put(&all->graph, handle, g))
		graph_free(TAKE(g));
	if (g)
		g->is_partly = true;
	return g;
}

bool graph_is_partly(const struct graph *g)
{
	return !g || g->is_partly;
}

void graph_made_unseen(struct graphs *all, uint64_t handle)
{
	struct graph *g = graphs_graph(all, handle);

	if (g)
		g->is_partly = true;
}

struct graph *graphs_exec(const struct graphs *all, uint64_t handle)
{
	return handles_get(&all->exec, handle);
}

/* ---- a graph is made of another ---- */

static int create(struct graphs *all, uint64_t handle)
{
	struct graph *g = handle ? graph_new() : NULL;
	int err = !handle || g ? graphs_put(all, handle, g) : -ENOMEM;

	if (err)
		graph_free(g);
	return err;
}

static int clone(struct graphs *all, struct cuda_call *c)
{
	const struct graph *from = handles_get(&all->graph, c->handle);
	struct graph *g = c->out ? graph_new() : NULL;
	int err = g ? 0 : -ENOMEM;

	if (!c->out)
		return 0;
	for (size_t i = 0; from && i < from->count && !err; i++) {
		struct node n = from->node[i];

		n.origin = n.number;
		n.number = ++all->numbers;
		n.handle = 0;
		err = append(g, &n);
	}
	if (g)
		g->is_partly = graph_is_partly(from);
	err = err ?: graphs_put(all, c->out, g);
	if (err)
		graph_free(g);
	return err;
}

static int make_exec(struct graphs *all, uint64_t handle, const struct graph *from)
{
	struct graph *g = handle ? graph_new() : NULL;
	int err = g ? 0 : -ENOMEM;

	if (!handle)
		return 0;
	for (size_t i = 0; from && i < from->count && !err; i++)
		err = append(g, &from->node[i]);
	if (g)
		g->is_partly = graph_is_partly(from);
	err = err ?: put_exec(all, handle, g);
	if (err)
		graph_free(g);
	return err;
}

/*
 * Its nodes go on being named by the handles of the graph that it was made from. Where the result is not seen, it was
 * refused if the number of kernels differs: a guess, since that is one of many reasons to.
 */
static int update_exec(struct graphs *all, struct cuda_call *c)
{
	const struct graph *from = handles_get(&all->graph, c->arg[1]);
	struct graph *exec = graphs_exec(all, c->handle);

	if (exec && from && exec->count != from->count && c->result == CUDA_NO_RESULT)
		return 0;
	if (!exec || !from || exec->count != from->count)
		return make_exec(all, c->handle, from);
	for (size_t i = 0; i < exec->count; i++)
		exec->node[i].launch = from->node[i].launch;
	exec->is_partly = from->is_partly;
	return 0;
}

/* ---- its nodes are added, and named ---- */

static int add_node(struct graphs *all, struct cuda_call *c)
{
	struct graph *g = c->node || c->child ? graphs_graph(all, c->handle) : NULL;
	int err;

	if (!g)
		return 0;
	if (c->child) {
		const struct graph *child = handles_get(&all->graph, c->child);

		g->is_partly |= graph_is_partly(child);
		return add_all(all, g, child, c->out);
	}
	err = append(g, &(struct node){ .number = ++all->numbers, .launch = *c->node });
	return err ?: name_node(all, &g->node[g->count - 1], c->out);
}

static bool is_unnamed(const struct node *n)
{
	return !n->handle && !n->is_inner;
}

/* As many handles as kernels without one: those are theirs. */
static int name_given(struct graphs *all, struct graph *g)
{
	size_t unnamed = 0, next = 0;
	int err = 0;

	for (size_t i = 0; i < g->count; i++)
		unnamed += is_unnamed(&g->node[i]);
	if (!unnamed || unnamed != g->given_count)
		return 0;
	for (size_t i = 0; i < g->count && !err; i++)
		if (is_unnamed(&g->node[i]))
			err = name_node(all, &g->node[i], g->given[next++]);
	g->given_count = 0;
	return err;
}

static int nodes_given(struct graphs *all, struct cuda_call *c)
{
	struct graph *g = handles_get(&all->graph, c->handle);

	if (!g || !c->given_count || c->given_count != c->given_total)
		return 0;
	free(g->given);
	g->given = TAKE(c->given);
	g->given_count = 0;
	for (size_t i = 0; i < c->given_count; i++)
		if (g->given[i] && !node_of(g, number_of(all, g->given[i])))
			g->given[g->given_count++] = g->given[i];
	return name_given(all, g);
}

#define NODE_IS_KERNEL	0	/* CUgraphNodeType */

static int type_told(struct graphs *all, struct cuda_call *c)
{
	int err = 0;

	if ((uint32_t)c->out == NODE_IS_KERNEL)
		return 0;
	for (size_t i = 0; i < all->graph.room && !err; i++) {
		struct graph *g = all->graph.place[i].is;
		size_t kept = 0;

		for (size_t k = 0; g && k < g->given_count; k++)
			if (g->given[k] != c->handle)
				g->given[kept++] = g->given[k];
		if (g && kept != g->given_count) {
			g->given_count = kept;
			err = name_given(all, g);
		}
	}
	return err;
}

static int found_in_clone(struct graphs *all, struct cuda_call *c)
{
	struct graph *g = handles_get(&all->graph, c->handle);
	uint64_t origin = number_of(all, c->arg[1]);

	for (size_t i = 0; g && origin && i < g->count; i++)
		if (g->node[i].origin == origin)
			return name_node(all, &g->node[i], c->out);
	return 0;
}

/* ---- they are changed ---- */

static void set_node(struct cuda_call *c, struct node *n)
{
	if (c->node && n)
		n->launch = *c->node;
	c->is_node_unknown = c->child || (c->node && !n);	/* of a child graph it is all its nodes, which is not followed */
}

static void enable_node(struct graphs *all, struct cuda_call *c)
{
	struct node *n = node_of(graphs_exec(all, c->handle), number_of(all, c->arg[1]));

	if (n)
		n->is_off = !(uint32_t)c->arg[2];
	c->is_node_unknown = !n;
}

/* A kernel, or a child with all of its own. Another kind cannot be told from a kernel that is not known. */
static void remove_node(struct graphs *all, struct cuda_call *c)
{
	bool any = false;

	for (size_t i = 0; c->handle && i < all->graph.room; i++) {
		struct graph *g = all->graph.place[i].is;
		size_t kept = 0;

		for (size_t k = 0; g && k < g->count; k++)
			if (g->node[k].handle != c->handle)
				g->node[kept++] = g->node[k];
		any |= g && kept != g->count;
		if (g)
			g->count = kept;
	}
	handles_take(&all->node, c->handle);
	c->is_node_unknown = !any;
}

int graphs_change(struct graphs *all, struct cuda_call *c)
{
	switch (c->fn->does) {
	case CUDA_DOES_GRAPH_ADD_KERNEL:
	case CUDA_DOES_GRAPH_ADD_NODE:
	case CUDA_DOES_GRAPH_ADD_CHILD:
		return add_node(all, c);
	case CUDA_DOES_GRAPH_CLONE:
		return clone(all, c);
	case CUDA_DOES_INSTANTIATE:
		return make_exec(all, c->out, handles_get(&all->graph, c->handle));
	case CUDA_DOES_EXEC_UPDATE:
		return update_exec(all, c);
	case CUDA_DOES_EXEC_SET_KERNEL:
	case CUDA_DOES_EXEC_SET_NODE:
	case CUDA_DOES_EXEC_SET_CHILD:
		set_node(c, node_of(graphs_exec(all, c->handle), number_of(all, c->arg[1])));
		return 0;
	case CUDA_DOES_NODE_SET_KERNEL:
	case CUDA_DOES_NODE_SET_NODE:
		set_node(c, node_anywhere(all, c->handle));
		return 0;
	case CUDA_DOES_ENABLE_NODE:
		enable_node(all, c);
		return 0;
	case CUDA_DOES_GET_NODES:
		return nodes_given(all, c);
	case CUDA_DOES_NODE_TYPE:
		return type_told(all, c);
	case CUDA_DOES_FIND_IN_CLONE:
		return found_in_clone(all, c);
	case CUDA_DOES_REMOVE_NODE:
		remove_node(all, c);
		return 0;
	case CUDA_DOES_GRAPH_CREATE:
		return create(all, c->out);
	case CUDA_DOES_GRAPH_DESTROY:
		forget_graph(all, handles_take(&all->graph, c->handle));
		return 0;
	case CUDA_DOES_EXEC_DESTROY:
		graph_free(handles_take(&all->exec, c->handle));
		return 0;
	default:
		return 0;
	}
}
