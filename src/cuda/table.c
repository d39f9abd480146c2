/*
 * table.c - the functions of the CUDA driver that are recorded, one row each.
 *
 * Their parameters are those of NVIDIA's cuda.h; which symbol has which, its
 * cudaTypedefs.h says: NAME is of the first version, NAME_v2 of the next. What
 * points somewhere is taken along by BPF, as a row's plan tells.
 */
#include "base.h"
#include "cuda.h"

/* How a row is written: its symbol, its twin, what it does, how many words it has, then what its arguments are, from 1 on. */
#define LAUNCH(symbol, t, d, n, ...)	{ symbol, CUDA_LAUNCHES, CUDA_DOES_##d, .twin = t, .plan.words = n, ##__VA_ARGS__ }
#define MODULE(symbol, d, n, ...)	{ symbol, CUDA_MODULES, CUDA_DOES_##d, .plan.words = n, ##__VA_ARGS__ }
#define SYNC(symbol, t, d, n, ...)	{ symbol, CUDA_SYNC, CUDA_DOES_##d, .twin = t, .plan.words = n, ##__VA_ARGS__ }
#define MEMORY(symbol, t, m, n, ...)	\
	{ symbol, CUDA_MEMORY, CUDA_DOES_MEMORY, CUDA_MEM_##m, .twin = t, .plan.words = n, ##__VA_ARGS__ }

#define OUT(arg)		.plan.out = (arg)
#define RESULT			.plan.out = CUDA_OUT_RESULT
#define STRING(arg)		.plan.take = CUDA_TAKE_STRING, .plan.take_arg = (arg) - 1
#define IMAGE(arg)		.plan.take = CUDA_TAKE_IMAGE, .plan.take_arg = (arg) - 1
#define CONFIG(arg)		.plan.take = CUDA_TAKE_CONFIG, .plan.take_arg = (arg) - 1
#define BYTES(arg, n)		.plan.take = CUDA_TAKE_BYTES, .plan.take_arg = (arg) - 1, .plan.take_bytes = (n)
#define LIST(arg, n, count)	BYTES(arg, n), .plan.take_count = (count)

#define COPY(d, s, n)		.dst = (d), .src = (s), .bytes = (n)

const struct cuda_function cuda_functions[] = {
	LAUNCH("cuLaunchKernel", 'z', LAUNCH, 11, .stream = 9),
	LAUNCH("cuLaunchKernelEx", 'z', LAUNCH_EX, 4, CONFIG(1)),
	LAUNCH("cuLaunchCooperativeKernel", 'z', LAUNCH, 10, .stream = 9),
	LAUNCH("cuLaunchCooperativeKernelMultiDevice", 0, LAUNCH_MULTI, 3, LIST(1, 56, 2)),
	LAUNCH("cuGraphLaunch", 'z', GRAPH_LAUNCH, 2, .handle = 1, .stream = 2),
	LAUNCH("cuLaunch", 0, LAUNCH_GRID, 1),
	LAUNCH("cuLaunchGrid", 0, LAUNCH_GRID, 3),
	LAUNCH("cuLaunchGridAsync", 0, LAUNCH_GRID, 4, .stream = 4),
	LAUNCH("cuFuncSetBlockShape", 0, SET_BLOCK, 4, .handle = 1),
	LAUNCH("cuFuncSetSharedSize", 0, SET_SHARED, 2, .handle = 1),
	LAUNCH("cuLaunchHostFunc", 'z', HOST_FUNCTION, 3, .stream = 1),

	LAUNCH("cuStreamBeginCapture", 'z', BEGIN_CAPTURE, 1, .stream = 1, RESULT),
	LAUNCH("cuStreamBeginCapture_v2", 'z', BEGIN_CAPTURE, 2, .stream = 1, RESULT),
	LAUNCH("cuStreamBeginCaptureToGraph", 'z', BEGIN_CAPTURE_TO, 6, .stream = 1, .handle = 2, RESULT),
	LAUNCH("cuStreamEndCapture", 'z', END_CAPTURE, 2, .stream = 1, OUT(2)),
	LAUNCH("cuGraphAddKernelNode", 0, GRAPH_ADD_KERNEL, 5, .handle = 2, OUT(1), BYTES(5, 56)),
	LAUNCH("cuGraphAddKernelNode_v2", 0, GRAPH_ADD_KERNEL, 5, .handle = 2, OUT(1), BYTES(5, 72)),
	LAUNCH("cuGraphAddNode", 0, GRAPH_ADD_NODE, 5, .handle = 2, OUT(1), BYTES(5, 88)),
	LAUNCH("cuGraphAddNode_v2", 0, GRAPH_ADD_NODE, 6, .handle = 2, OUT(1), BYTES(6, 88)),
	LAUNCH("cuGraphAddChildGraphNode", 0, GRAPH_ADD_CHILD, 5, .handle = 2, OUT(1)),
	LAUNCH("cuGraphClone", 0, GRAPH_CLONE, 2, .handle = 2, OUT(1)),
	LAUNCH("cuGraphInstantiate", 0, INSTANTIATE, 5, .handle = 2, OUT(1)),
	LAUNCH("cuGraphInstantiate_v2", 0, INSTANTIATE, 5, .handle = 2, OUT(1)),
	LAUNCH("cuGraphInstantiateWithFlags", 0, INSTANTIATE, 3, .handle = 2, OUT(1)),
	LAUNCH("cuGraphInstantiateWithParams", 'z', INSTANTIATE, 3, .handle = 2, OUT(1)),
	LAUNCH("cuGraphExecUpdate", 0, EXEC_UPDATE, 4, .handle = 1, RESULT),
	LAUNCH("cuGraphExecUpdate_v2", 0, EXEC_UPDATE, 3, .handle = 1, RESULT),
	LAUNCH("cuGraphExecKernelNodeSetParams", 0, EXEC_SET_KERNEL, 3, .handle = 1, BYTES(3, 56)),
	LAUNCH("cuGraphExecKernelNodeSetParams_v2", 0, EXEC_SET_KERNEL, 3, .handle = 1, BYTES(3, 72)),
	LAUNCH("cuGraphKernelNodeSetParams", 0, NODE_SET_KERNEL, 2, .handle = 1, BYTES(2, 56)),
	LAUNCH("cuGraphKernelNodeSetParams_v2", 0, NODE_SET_KERNEL, 2, .handle = 1, BYTES(2, 72)),
	LAUNCH("cuGraphExecDestroy", 0, EXEC_DESTROY, 1, .handle = 1),

	MODULE("cuModuleLoad", LOAD_FILE, 2, OUT(1), STRING(2)),
	MODULE("cuModuleLoadData", LOAD, 2, OUT(1), IMAGE(2)),
	MODULE("cuModuleLoadDataEx", LOAD, 5, OUT(1), IMAGE(2)),
	MODULE("cuModuleLoadFatBinary", LOAD, 2, OUT(1), IMAGE(2)),
	MODULE("cuModuleUnload", UNLOAD, 1, .handle = 1),
	MODULE("cuModuleGetFunction", GET_FUNCTION, 3, OUT(1), .handle = 2, STRING(3)),
	MODULE("cuLibraryLoadData", LOAD, 8, OUT(1), IMAGE(2)),
	MODULE("cuLibraryLoadFromFile", LOAD_FILE, 8, OUT(1), STRING(2)),
	MODULE("cuLibraryUnload", UNLOAD, 1, .handle = 1),
	MODULE("cuLibraryGetKernel", GET_FUNCTION, 3, OUT(1), .handle = 2, STRING(3)),
	MODULE("cuLibraryGetModule", LIBRARY_MODULE, 2, OUT(1), .handle = 2),
	MODULE("cuKernelGetFunction", KERNEL_FUNCTION, 2, OUT(1), .handle = 2),
	MODULE("cuGetProcAddress", RESOLVE, 4, OUT(2), STRING(1)),
	MODULE("cuGetProcAddress_v2", RESOLVE, 5, OUT(2), STRING(1)),

	MEMORY("cuMemAlloc_v2", 0, ALLOC, 2, OUT(1), .bytes = 2),
	MEMORY("cuMemAllocPitch_v2", 0, ALLOC, 5, OUT(1), .bytes = 3, .times = 4),
	MEMORY("cuMemAllocManaged", 0, MANAGED, 3, OUT(1), .bytes = 2),
	MEMORY("cuMemAllocAsync", 'z', ALLOC_ASYNC, 3, OUT(1), .bytes = 2, .stream = 3),
	MEMORY("cuMemAllocFromPoolAsync", 'z', ALLOC_ASYNC, 4, OUT(1), .bytes = 2, .stream = 4),
	MEMORY("cuMemCreate", 0, ALLOC, 4, OUT(1), .bytes = 2),
	MEMORY("cuMemRelease", 0, FREE, 1, .dst = 1),
	MEMORY("cuMemHostAlloc", 0, HOST_ALLOC, 3, OUT(1), .bytes = 2),
	MEMORY("cuMemAllocHost_v2", 0, HOST_ALLOC, 2, OUT(1), .bytes = 2),
	MEMORY("cuMemFree_v2", 0, FREE, 1, .dst = 1),
	MEMORY("cuMemFreeAsync", 'z', FREE_ASYNC, 2, .dst = 1, .stream = 2),
	MEMORY("cuMemFreeHost", 0, HOST_FREE, 1, .dst = 1),
	{ "cuMemMap", CUDA_MEMORY, .plan.words = 5 },
	{ "cuMemUnmap", CUDA_MEMORY, .plan.words = 2 },

	MEMORY("cuMemcpy", 's', UNIFIED, 3, COPY(1, 2, 3)),
	MEMORY("cuMemcpyAsync", 'z', UNIFIED, 4, COPY(1, 2, 3), .stream = 4),
	MEMORY("cuMemcpyPeer", 's', PEER, 5, COPY(1, 3, 5)),
	MEMORY("cuMemcpyPeerAsync", 'z', PEER, 6, COPY(1, 3, 5), .stream = 6),
	MEMORY("cuMemcpyHtoD_v2", 's', HTOD, 3, COPY(1, 2, 3)),
	MEMORY("cuMemcpyDtoH_v2", 's', DTOH, 3, COPY(1, 2, 3)),
	MEMORY("cuMemcpyDtoD_v2", 's', DTOD, 3, COPY(1, 2, 3)),
	MEMORY("cuMemcpyHtoDAsync_v2", 'z', HTOD, 4, COPY(1, 2, 3), .stream = 4),
	MEMORY("cuMemcpyDtoHAsync_v2", 'z', DTOH, 4, COPY(1, 2, 3), .stream = 4),
	MEMORY("cuMemcpyDtoDAsync_v2", 'z', DTOD, 4, COPY(1, 2, 3), .stream = 4),
	MEMORY("cuMemcpyHtoA_v2", 's', HTOD, 4, COPY(1, 3, 4)),
	MEMORY("cuMemcpyAtoH_v2", 's', DTOH, 4, COPY(1, 2, 4)),
	MEMORY("cuMemcpyDtoA_v2", 's', DTOD, 4, COPY(1, 3, 4)),
	MEMORY("cuMemcpyAtoD_v2", 's', DTOD, 4, COPY(1, 2, 4)),
	MEMORY("cuMemcpyAtoA_v2", 's', DTOD, 5, COPY(1, 3, 5)),
	MEMORY("cuMemcpyHtoAAsync_v2", 'z', HTOD, 5, COPY(1, 3, 4), .stream = 5),
	MEMORY("cuMemcpyAtoHAsync_v2", 'z', DTOH, 5, COPY(1, 2, 4), .stream = 5),
	MEMORY("cuMemcpy2D_v2", 's', 2D, 1, BYTES(1, 128)),
	MEMORY("cuMemcpy2DUnaligned_v2", 's', 2D, 1, BYTES(1, 128)),
	MEMORY("cuMemcpy2DAsync_v2", 'z', 2D, 2, BYTES(1, 128), .stream = 2),
	MEMORY("cuMemcpy3D_v2", 's', 3D, 1, BYTES(1, 200)),
	MEMORY("cuMemcpy3DAsync_v2", 'z', 3D, 2, BYTES(1, 200), .stream = 2),
	MEMORY("cuMemcpy3DPeer", 's', 3D, 1, BYTES(1, 200)),
	MEMORY("cuMemcpy3DPeerAsync", 'z', 3D, 2, BYTES(1, 200), .stream = 2),
	MEMORY("cuMemcpyBatchAsync", 'z', BATCH, 9, LIST(3, 8, 4), .stream = 9),
	MEMORY("cuMemcpyBatchAsync_v2", 'z', BATCH, 8, LIST(3, 8, 4), .stream = 8),
	MEMORY("cuMemcpy3DBatchAsync", 'z', UNIFIED, 5, .stream = 5),
	MEMORY("cuMemcpy3DBatchAsync_v2", 'z', UNIFIED, 4, .stream = 4),
	MEMORY("cuMemsetD8_v2", 's', SET, 3, .dst = 1, .bytes = 3),
	MEMORY("cuMemsetD16_v2", 's', SET, 3, .dst = 1, .bytes = 3, .unit = 2),
	MEMORY("cuMemsetD32_v2", 's', SET, 3, .dst = 1, .bytes = 3, .unit = 4),
	MEMORY("cuMemsetD2D8_v2", 's', SET, 5, .dst = 1, .bytes = 4, .times = 5),
	MEMORY("cuMemsetD2D16_v2", 's', SET, 5, .dst = 1, .bytes = 4, .times = 5, .unit = 2),
	MEMORY("cuMemsetD2D32_v2", 's', SET, 5, .dst = 1, .bytes = 4, .times = 5, .unit = 4),
	MEMORY("cuMemsetD8Async", 'z', SET, 4, .dst = 1, .bytes = 3, .stream = 4),
	MEMORY("cuMemsetD16Async", 'z', SET, 4, .dst = 1, .bytes = 3, .unit = 2, .stream = 4),
	MEMORY("cuMemsetD32Async", 'z', SET, 4, .dst = 1, .bytes = 3, .unit = 4, .stream = 4),
	MEMORY("cuMemsetD2D8Async", 'z', SET, 6, .dst = 1, .bytes = 4, .times = 5, .stream = 6),
	MEMORY("cuMemsetD2D16Async", 'z', SET, 6, .dst = 1, .bytes = 4, .times = 5, .unit = 2, .stream = 6),
	MEMORY("cuMemsetD2D32Async", 'z', SET, 6, .dst = 1, .bytes = 4, .times = 5, .unit = 4, .stream = 6),

	SYNC("cuCtxSynchronize", 0, WAIT_CONTEXT, 0),
	SYNC("cuCtxSynchronize_v2", 0, WAIT_CONTEXT, 1),
	SYNC("cuStreamSynchronize", 'z', WAIT_STREAM, 1, .stream = 1),
	SYNC("cuEventSynchronize", 0, WAIT_EVENT, 1, .event = 1),
	SYNC("cuStreamQuery", 'z', QUERY_STREAM, 1, .stream = 1),
	SYNC("cuEventQuery", 0, QUERY_EVENT, 1, .event = 1),
	SYNC("cuStreamWaitEvent", 'z', STREAM_WAIT, 3, .stream = 1, .event = 2),
	SYNC("cuEventRecord", 'z', RECORD_EVENT, 2, .event = 1, .stream = 2),
	SYNC("cuEventRecordWithFlags", 'z', RECORD_EVENT, 3, .event = 1, .stream = 2),
	SYNC("cuStreamCreate", 0, NEW_STREAM, 2, OUT(1)),
	SYNC("cuStreamCreateWithPriority", 0, NEW_STREAM, 3, OUT(1)),
	SYNC("cuStreamDestroy_v2", 0, END_STREAM, 1, .stream = 1),
	SYNC("cuCtxCreate_v2", 0, OTHER, 3, OUT(1)),
	SYNC("cuCtxCreate_v3", 0, OTHER, 5, OUT(1)),
	SYNC("cuCtxCreate_v4", 0, OTHER, 4, OUT(1)),
	SYNC("cuDevicePrimaryCtxRetain", 0, OTHER, 2, OUT(1)),
	SYNC("cuCtxSetCurrent", 0, OTHER, 1, .handle = 1),
	SYNC("cuInit", 0, OTHER, 1),
	LAUNCH("cuGraphCreate", 0, GRAPH_CREATE, 2, OUT(1)),
	LAUNCH("cuGraphDestroy", 0, GRAPH_DESTROY, 1, .handle = 1),
	SYNC("cuEventDestroy", 0, OTHER, 1, .event = 1),
	SYNC("cuEventDestroy_v2", 0, OTHER, 1, .event = 1),
	LAUNCH("cuGraphGetNodes", 0, GET_NODES, 3, .handle = 1, OUT(2), .plan.out_count = 3),
	LAUNCH("cuGraphNodeGetType", 0, NODE_TYPE, 2, .handle = 1, OUT(2)),
	LAUNCH("cuGraphNodeFindInClone", 0, FIND_IN_CLONE, 3, .handle = 3, OUT(1)),
	LAUNCH("cuGraphNodeSetParams", 0, NODE_SET_NODE, 2, .handle = 1, BYTES(2, 88)),
	LAUNCH("cuGraphExecNodeSetParams", 0, EXEC_SET_NODE, 3, .handle = 1, BYTES(3, 88)),
	LAUNCH("cuGraphExecChildGraphNodeSetParams", 0, EXEC_SET_CHILD, 3, .handle = 1),
	LAUNCH("cuGraphNodeSetEnabled", 0, ENABLE_NODE, 3, .handle = 1),
	LAUNCH("cuGraphDestroyNode", 0, REMOVE_NODE, 1, .handle = 1),
	SYNC("cuStreamDestroy", 0, END_STREAM, 1, .stream = 1),
	SYNC("cuEventCreate", 0, NEW_EVENT, 2, OUT(1)),
};

const size_t cuda_function_count = ARRAY_SIZE(cuda_functions);

_Static_assert(2 * ARRAY_SIZE(cuda_functions) <= CUDA_FUNCTIONS_MAX, "every function has a number");

const struct cuda_function *cuda_function_of(uint32_t func)
{
	return func / 2 < ARRAY_SIZE(cuda_functions) ? &cuda_functions[func / 2] : NULL;
}

static const char *twin_suffix(const struct cuda_function *f)
{
	return f->twin == 's' ? "_ptds" : "_ptsz";
}

const char *cuda_symbol(uint32_t func, char to[CUDA_SYMBOL_MAX])
{
	const struct cuda_function *f = cuda_function_of(func);

	snprintf(to, CUDA_SYMBOL_MAX, "%s%s", f ? f->name : "", f && func % 2 ? twin_suffix(f) : "");
	return to;
}

bool cuda_is_driver(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strncmp(slash ? slash + 1 : path, "libcuda.so", 10);
}

static bool is_twin(const struct cuda_function *f, const char *name)
{
	size_t len = strlen(f->name);

	return f->twin && !strncmp(name, f->name, len) && !strcmp(name + len, twin_suffix(f));
}

int cuda_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(cuda_functions); i++) {
		if (!strcmp(name, cuda_functions[i].name))
			return 2 * i;
		if (is_twin(&cuda_functions[i], name))
			return 2 * i + 1;
	}
	return -1;
}
