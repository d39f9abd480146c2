/*
 * cugraph.c - cugraph [N]: graphs by capture and by hand, replayed N times, changed, cloned; and what was captured.
 *
 * Says "captured NAME COUNT" for launches that were recorded and did not run, "launch NAME COUNT" for kernels that ran,
 * and "replay EXEC COUNT" for each executable graph.
 */
#include "cu.h"

static CUfunction vadd, axpy, reduce;
static CUstream first, second;
static int n = 10;

static CUDA_KERNEL_NODE_PARAMS_v2 shape(CUfunction f, unsigned grid)
{
	return (CUDA_KERNEL_NODE_PARAMS_v2){ .func = f, .gridDimX = grid, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64,
					     .blockDimY = 1, .blockDimZ = 1 };
}

static void launch(CUfunction f, CUstream s)
{
	MUST(cuLaunchKernel(f, 5, 3, 2, 16, 4, 2, 256, s, NULL, NULL));
}

static void replay(const char *name, CUgraphExec exec, CUstream s)
{
	for (int i = 0; i < n; i++)
		MUST(cuGraphLaunch(exec, s));
	MUST(cuStreamSynchronize(s));
	printf("replay %s %d\n", name, n);
}

/* Three launches, one of them on a second stream that joins by an event and is joined again. */
static CUgraph capture(void)
{
	CUevent fork, join;
	CUgraph g;
	int status;

	MUST(cuEventCreate(&fork, 0));
	MUST(cuEventCreate(&join, 0));
	MUST(cuStreamBeginCapture_v2(first, 0));
	launch(vadd, first);
	MUST(cuEventRecord(fork, first));
	MUST(cuStreamWaitEvent(second, fork, 0));
	launch(reduce, second);
	MUST(cuStreamIsCapturing(second, &status));
	printf("second stream captures: %d\n", status);
	MUST(cuEventRecord(join, second));
	MUST(cuStreamWaitEvent(first, join, 0));
	launch(vadd, first);
	MUST(cuStreamEndCapture(first, &g));
	printf("captured vadd 2\ncaptured reduce 1\n");
	launch(reduce, second);			/* runs: its capture has ended */
	MUST(cuEventDestroy_v2(fork));
	MUST(cuEventDestroy_v2(join));
	return g;
}

/* Two kernels, the second in the old form, and a child of what was captured. */
static CUgraph by_hand(CUgraph child, CUgraphNode node[3])
{
	CUDA_KERNEL_NODE_PARAMS_v2 k = shape(axpy, 7);
	CUDA_KERNEL_NODE_PARAMS_v1 v1 = { .func = reduce, .gridDimX = 9, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32,
					  .blockDimY = 1, .blockDimZ = 1 };
	CUgraph g;

	MUST(cuGraphCreate(&g, 0));
	MUST(cuGraphAddKernelNode_v2(&node[0], g, NULL, 0, &k));
	MUST(cuGraphAddKernelNode(&node[1], g, node, 1, &v1));
	MUST(cuGraphAddChildGraphNode(&node[2], g, &node[1], 1, child));
	return g;
}

/* One of its kernels becomes another, then all are those of a clone that has one more again. */
static void change(CUgraph g, CUgraphNode node, CUgraphExec exec)
{
	CUDA_KERNEL_NODE_PARAMS_v2 k = shape(vadd, 11);
	CUgraphNodeParams p = { .type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = shape(reduce, 13) };
	CUgraphExecUpdateResultInfo info;
	CUgraphNode added;
	CUgraphExec more;
	CUgraph clone;

	MUST(cuGraphExecKernelNodeSetParams_v2(exec, node, &k));
	replay("changed", exec, first);			/* vadd 3, reduce 2 */
	MUST(cuGraphExecUpdate_v2(exec, g, &info));
	replay("updated", exec, first);			/* axpy 1, vadd 2, reduce 2 */
	MUST(cuGraphClone(&clone, g));
	MUST(cuGraphAddNode_v2(&added, clone, NULL, NULL, 0, &p));
	printf("update of another shape: %d\n", cuGraphExecUpdate_v2(exec, clone, &info));
	MUST(cuGraphInstantiate_v2(&more, clone, NULL, NULL, 0));
	replay("clone", more, second);			/* axpy 1, vadd 2, reduce 3 */
	MUST(cuGraphExecDestroy(more));
	MUST(cuGraphDestroy(clone));
}

/* What a capture made is changed by the handles that the graph gives. */
static void change_captured(void)
{
	CUDA_KERNEL_NODE_PARAMS_v2 k = shape(axpy, 15);
	CUgraph g = capture();
	CUgraphExec exec;
	CUgraphNode node[4];
	size_t count = 4;

	MUST(cuGraphInstantiateWithFlags(&exec, g, 0));
	MUST(cuGraphGetNodes(g, node, &count));
	MUST(cuGraphExecKernelNodeSetParams_v2(exec, node[0], &k));
	replay("captured_changed", exec, first);	/* axpy 1, reduce 1, vadd 1 */
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(g));
}

/* Two clones, one changed, then the original; an executable is updated, then changed by a node of its first graph. */
static void change_clones(void)
{
	CUDA_KERNEL_NODE_PARAMS_v2 v = shape(vadd, 3), a = shape(axpy, 4), r = shape(reduce, 5);
	CUgraphNodeParams child = { .type = CU_GRAPH_NODE_TYPE_GRAPH };
	CUgraphExecUpdateResultInfo info;
	CUgraph g, clone, changed, twice;
	CUgraphNode node, of_clone;
	CUgraphExec exec[4];

	MUST(cuGraphCreate(&g, 0));
	MUST(cuGraphAddKernelNode_v2(&node, g, NULL, 0, &v));
	MUST(cuGraphClone(&clone, g));
	MUST(cuGraphClone(&changed, g));
	MUST(cuGraphNodeFindInClone(&of_clone, node, changed));
	MUST(cuGraphKernelNodeSetParams_v2(of_clone, &r));
	MUST(cuGraphInstantiateWithFlags(&exec[0], g, 0));
	MUST(cuGraphKernelNodeSetParams_v2(node, &a));
	MUST(cuGraphCreate(&twice, 0));
	child.graph = g;
	MUST(cuGraphAddNode_v2(&of_clone, twice, NULL, NULL, 0, &child));
	MUST(cuGraphAddNode_v2(&of_clone, twice, NULL, NULL, 0, &child));
	MUST(cuGraphInstantiateWithFlags(&exec[1], clone, 0));
	MUST(cuGraphInstantiateWithFlags(&exec[2], changed, 0));
	MUST(cuGraphInstantiateWithFlags(&exec[3], twice, 0));
	replay("clone_alone", exec[1], first);		/* vadd 1 */
	replay("clone_changed", exec[2], first);	/* reduce 1 */
	replay("child_twice", exec[3], first);	/* axpy 2 */
	MUST(cuGraphExecUpdate_v2(exec[0], changed, &info));
	replay("updated_by_clone", exec[0], first);	/* reduce 1 */
	MUST(cuGraphExecKernelNodeSetParams_v2(exec[0], node, &a));
	replay("updated_changed", exec[0], first);	/* axpy 1 */
	for (int i = 0; i < 4; i++)
		MUST(cuGraphExecDestroy(exec[i]));
}

/* Captures that come to nothing: one is waited for; the stream of one is destroyed, and perhaps made anew. */
static void fail_to_capture(void)
{
	CUstream stream[8];
	CUgraph g;

	MUST(cuStreamBeginCapture_v2(first, 0));
	launch(vadd, first);
	printf("wait %d\n", cuStreamSynchronize(first));
	printf("end %d\n", cuStreamEndCapture(first, &g));
	launch(reduce, first);
	MUST(cuStreamCreate(&stream[0], 1));
	MUST(cuStreamBeginCapture_v2(stream[0], 0));
	printf("begin again %d\n", cuStreamBeginCapture_v2(stream[0], 0));
	launch(vadd, stream[0]);
	MUST(cuStreamDestroy_v2(stream[0]));
	for (int i = 0; i < 8; i++) {
		MUST(cuStreamCreate(&stream[i], 1));
		launch(reduce, stream[i]);
	}
	printf("captured vadd 2\n");
}

int main(int argc, char **argv)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS params = { 0 };
	CUmodule m = cu_begin();
	CUgraphNode node[3];
	CUgraphExec captured, made;
	CUgraph g, h;

	n = argc > 1 ? atoi(argv[1]) : n;
	vadd = cu_function(m, "vadd");
	axpy = cu_function(m, "_Z4axpyfPfi");
	reduce = cu_function(m, "reduce");
	MUST(cuStreamCreate(&first, 1));
	MUST(cuStreamCreate(&second, 1));

	g = capture();
	MUST(cuGraphInstantiateWithFlags(&captured, g, 0));
	replay("captured", captured, first);		/* vadd 2, reduce 1 */
	h = by_hand(g, node);
	MUST(cuGraphInstantiateWithParams(&made, h, &params));
	MUST(cuGraphDestroy(g));
	replay("made", made, second);			/* axpy 1, reduce 2, vadd 2 */
	change(h, node[0], made);
	MUST(cuGraphExecDestroy(captured));
	MUST(cuGraphExecDestroy(made));
	MUST(cuGraphDestroy(h));
	change_captured();				/* and reduce 1 */
	change_clones();
	fail_to_capture();				/* reduce 9 */
	printf("launch vadd %d\nlaunch _Z4axpyfPfi %d\nlaunch reduce %d\n", 13 * n, 7 * n, 13 * n + 11);
	return argc > 2 ? atoi(argv[2]) : 0;
}
