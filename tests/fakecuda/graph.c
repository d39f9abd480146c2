/*
 * graph.c - the stand-in driver: graphs, made by hand or by a capture, instantiated, launched, changed.
 *
 * A graph is the list of its nodes; edges are taken and forgotten. What is instantiated is a copy, whose nodes know
 * which ones they were copied from, so that one of them can be changed by the handle of its original.
 */
#include <stdlib.h>
#include <string.h>

#include "fake.h"

CUgraph graph_new(void)
{
	CUgraph g = calloc(1, sizeof(*g));

	if (!g)
		abort();
	return g;
}

CUresult graph_append(CUgraph g, const struct op *op, CUgraphNode *ret)
{
	static uint64_t ids;
	CUgraphNode node = calloc(1, sizeof(*node));
	void *more = realloc(g->node, (g->count + 1) * sizeof(*g->node));

	if (more)
		g->node = more;
	if (!node || !more) {
		free(node);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	node->op = *op;
	node->id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
	if (op->type == CU_GRAPH_NODE_TYPE_GRAPH)
		node->op.child = graph_copy(op->child);
	g->node[g->count++] = node;
	if (ret)
		*ret = node;
	return CUDA_SUCCESS;
}

CUgraph graph_copy(const struct CUgraph_st *from)
{
	CUgraph g = graph_new();

	for (size_t i = 0; i < from->count; i++) {
		if (graph_append(g, &from->node[i]->op, NULL))
			abort();
		g->node[i]->origin = from->node[i];
	}
	return g;
}

static CUresult graph_free(CUgraph g)
{
	for (size_t i = 0; i < g->count; i++) {
		if (g->node[i]->op.type == CU_GRAPH_NODE_TYPE_GRAPH)
			graph_free(g->node[i]->op.child);
		free(g->node[i]);
	}
	free(g->node);
	free(g);
	return CUDA_SUCCESS;
}

static CUresult create(CUgraph *ret, CUgraph g)
{
	*ret = g;
	return CUDA_SUCCESS;
}

/* The old parameters are the new ones without what comes last. */
static CUDA_KERNEL_NODE_PARAMS_v2 from_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *v1)
{
	CUDA_KERNEL_NODE_PARAMS_v2 k = { 0 };

	memcpy(&k, v1, sizeof(*v1));
	return k;
}

static CUresult kernel_op(struct op *op, CUDA_KERNEL_NODE_PARAMS_v2 k)
{
	if (!k.func)
		k.func = (CUfunction)k.kern;
	*op = (struct op){ .type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = k };
	return kernel_check(&k);
}

static CUresult add(CUgraphNode *ret, CUgraph g, const struct op *op)
{
	return g ? graph_append(g, op, ret) : CUDA_ERROR_INVALID_VALUE;
}

static CUresult add_kernel(CUgraphNode *ret, CUgraph g, CUDA_KERNEL_NODE_PARAMS_v2 k)
{
	struct op op;

	return kernel_op(&op, k) ?: add(ret, g, &op);
}

static CUresult add_copy(CUgraphNode *ret, CUgraph g, const CUDA_MEMCPY3D *c)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = *c };

	return copy_kind(&op.kind, c) ?: add(ret, g, &op);
}

static CUresult add_node(CUgraphNode *ret, CUgraph g, const CUgraphNodeParams *p)
{
	struct op op = { .type = p->type, .kind = BYTES_SET };

	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return add_kernel(ret, g, p->kernel);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return add_copy(ret, g, &p->memcpy.copyParams);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		op.set = p->memset;
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		op.host = p->host;
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		op.child = p->graph;
		break;
	case CU_GRAPH_NODE_TYPE_EMPTY:
		break;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return add(ret, g, &op);
}

static CUresult set_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 k)
{
	struct op op;
	CUresult err = kernel_op(&op, k);

	if (!node || node->op.type != CU_GRAPH_NODE_TYPE_KERNEL)
		return CUDA_ERROR_INVALID_VALUE;
	if (!err)
		node->op = op;
	return err;
}

static CUgraphNode copy_of(CUgraph g, CUgraphNode origin)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->node[i]->origin == origin)
			return g->node[i];
	return NULL;
}

static CUresult find_copy(CUgraphNode *ret, CUgraphNode origin, CUgraph g)
{
	*ret = copy_of(g, origin);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult node_type(CUgraphNode node, CUgraphNodeType *type)
{
	*type = node->op.type;
	return CUDA_SUCCESS;
}

/* Room for more of them than there are is filled with NULL. */
static CUresult get_nodes(CUgraph g, CUgraphNode *nodes, size_t *n)
{
	for (size_t i = 0; nodes && i < *n; i++)
		nodes[i] = i < g->count ? g->node[i] : NULL;
	if (!nodes || *n > g->count)
		*n = g->count;
	return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *ret, CUgraph g)
{
	CUgraphExec e = g ? calloc(1, sizeof(*e)) : NULL;

	if (!e)
		return CUDA_ERROR_INVALID_VALUE;
	e->graph = graph_copy(g);
	*ret = e;
	return CUDA_SUCCESS;
}

static CUresult instantiate_params(int per_thread, CUgraphExec *ret, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p)
{
	(void)per_thread;
	p->result_out = 0;
	p->hErrNode_out = NULL;
	return instantiate(ret, g);
}

/* Takes over the other graph's nodes, when they are of the same kinds in the same order. */
static CUresult update(CUgraphExec e, CUgraph g, int *result)
{
	int same = e->graph->count == g->count;

	for (size_t i = 0; same && i < g->count; i++)
		same = e->graph->node[i]->op.type == g->node[i]->op.type;
	*result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	if (!same)
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	for (size_t i = 0; i < g->count; i++) {
		struct op *op = &e->graph->node[i]->op;

		if (op->type == CU_GRAPH_NODE_TYPE_GRAPH)
			graph_free(op->child);
		*op = g->node[i]->op;
		if (op->type == CU_GRAPH_NODE_TYPE_GRAPH)
			op->child = graph_copy(op->child);
	}
	return CUDA_SUCCESS;
}

static CUresult update_info(CUgraphExec e, CUgraph g, CUgraphExecUpdateResultInfo *info)
{
	*info = (CUgraphExecUpdateResultInfo){ 0 };
	return update(e, g, &info->result);
}

static CUresult graph_launch(int per_thread, CUgraphExec e, CUstream s)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_GRAPH };

	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	op.child = e->graph;
	return stream_op(stream_of(per_thread, s), &op);
}

static CUresult exec_free(CUgraphExec e)
{
	graph_free(e->graph);
	free(e);
	return CUDA_SUCCESS;
}

#define ADDS	CUgraphNode *ret, CUgraph g, const CUgraphNode *after, size_t n
#define FORGET	(void)after, (void)n

INITED(cuGraphCreate, (CUgraph *ret, unsigned flags), ((void)flags, create(ret, graph_new())))
INITED(cuGraphDestroy, (CUgraph g), graph_free(g))
INITED(cuGraphClone, (CUgraph *ret, CUgraph g), create(ret, graph_copy(g)))
INITED(cuGraphNodeFindInClone, (CUgraphNode *ret, CUgraphNode origin, CUgraph g), find_copy(ret, origin, g))
INITED(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type), node_type(node, type))
INITED(cuGraphGetNodes, (CUgraph g, CUgraphNode *nodes, size_t *n), get_nodes(g, nodes, n))

CALL(cuGraphAddKernelNode, (ADDS, const CUDA_KERNEL_NODE_PARAMS_v1 *k), (FORGET, add_kernel(ret, g, from_v1(k))))
CALL(cuGraphAddKernelNode_v2, (ADDS, const CUDA_KERNEL_NODE_PARAMS_v2 *k), (FORGET, add_kernel(ret, g, *k)))
CALL(cuGraphAddMemcpyNode, (ADDS, const CUDA_MEMCPY3D *c, CUcontext ctx), (FORGET, (void)ctx, add_copy(ret, g, c)))
CALL(cuGraphAddMemsetNode, (ADDS, const CUDA_MEMSET_NODE_PARAMS *s, CUcontext ctx),
     (FORGET, (void)ctx, add(ret, g, &(struct op){ .type = CU_GRAPH_NODE_TYPE_MEMSET, .kind = BYTES_SET, .set = *s })))
CALL(cuGraphAddHostNode, (ADDS, const CUDA_HOST_NODE_PARAMS *h),
     (FORGET, add(ret, g, &(struct op){ .type = CU_GRAPH_NODE_TYPE_HOST, .host = *h })))
CALL(cuGraphAddChildGraphNode, (ADDS, CUgraph child),
     (FORGET, add(ret, g, &(struct op){ .type = CU_GRAPH_NODE_TYPE_GRAPH, .child = child })))
CALL(cuGraphAddEmptyNode, (ADDS), (FORGET, add(ret, g, &(struct op){ .type = CU_GRAPH_NODE_TYPE_EMPTY })))
CALL(cuGraphAddNode, (ADDS, CUgraphNodeParams *p), (FORGET, add_node(ret, g, p)))
CALL(cuGraphAddNode_v2,
     (CUgraphNode *ret, CUgraph g, const CUgraphNode *after, const void *edges, size_t n, CUgraphNodeParams *p),
     (FORGET, (void)edges, add_node(ret, g, p)))

CALL(cuGraphKernelNodeSetParams, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *k), set_kernel(node, from_v1(k)))
CALL(cuGraphKernelNodeSetParams_v2, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *k), set_kernel(node, *k))
CALL(cuGraphExecKernelNodeSetParams, (CUgraphExec e, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *k),
     set_kernel(copy_of(e->graph, node), from_v1(k)))
CALL(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec e, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *k),
     set_kernel(copy_of(e->graph, node), *k))

CALL(cuGraphInstantiate, (CUgraphExec *ret, CUgraph g, CUgraphNode *node, char *log, size_t n),
     ((void)node, (void)log, (void)n, instantiate(ret, g)))
CALL(cuGraphInstantiate_v2, (CUgraphExec *ret, CUgraph g, CUgraphNode *node, char *log, size_t n),
     ((void)node, (void)log, (void)n, instantiate(ret, g)))
CALL(cuGraphInstantiateWithFlags, (CUgraphExec *ret, CUgraph g, unsigned long long flags),
     ((void)flags, instantiate(ret, g)))
PTSZ(cuGraphInstantiateWithParams, (CUgraphExec *ret, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS *p), instantiate_params,
     (ret, g, p))
CALL(cuGraphExecUpdate, (CUgraphExec e, CUgraph g, CUgraphNode *node, int *result),
     (*node = NULL, update(e, g, result)))
CALL(cuGraphExecUpdate_v2, (CUgraphExec e, CUgraph g, CUgraphExecUpdateResultInfo *info), update_info(e, g, info))
PTSZ(cuGraphLaunch, (CUgraphExec e, CUstream s), graph_launch, (e, s))
CALL(cuGraphExecDestroy, (CUgraphExec e), exec_free(e))
