/*
 * cuchecks.c - what the stand-in driver must answer: "ok NAME" and "not_ok NAME: REASON", as the live tests have them.
 *
 * Run with STUBCUDA_KERNEL_NS=2000000, long enough for a query to come before the end of ten kernels.
 */
#include <dlfcn.h>
#include <string.h>

#include "cu.h"

#define KERNELS	10

static uint64_t kernel_ns;
static CUmodule module;
static CUfunction vadd;

static void equal(const char *name, long long got, long long want)
{
	if (got == want)
		printf("ok stand-in: %s\n", name);
	else
		printf("not_ok stand-in: %s: is %lld, want %lld\n", name, got, want);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static CUresult launch(unsigned grid, unsigned block, CUstream s)
{
	return cuLaunchKernel(vadd, grid, 1, 1, block, 1, 1, 0, s, NULL, NULL);
}

static void launches(CUstream s)
{
	for (int i = 0; i < KERNELS; i++)
		MUST(launch(1, 32, s));
}

static void before_init(void)
{
	CUdevice device;

	equal("3 before cuInit", cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
	equal("3 before cuInit, of a launch", launch(1, 1, NULL), CUDA_ERROR_NOT_INITIALIZED);
	equal("cuInit wants no flags", cuInit(1), CUDA_ERROR_INVALID_VALUE);
}

static void before_context(void)
{
	CUstream s;
	CUdeviceptr p;

	MUST(cuInit(0));
	equal("201 without a context", cuMemAlloc_v2(&p, 1), CUDA_ERROR_INVALID_CONTEXT);
	equal("201 without a context, of a stream", cuStreamCreate(&s, 0), CUDA_ERROR_INVALID_CONTEXT);
	equal("201 without a context, of a wait", cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
}

static void refusals(void)
{
	const void *table = &table;
	CUuuid id = { { 0x6b } };
	CUfunction f;
	CUmodule m;

	equal("a private table is refused", cuGetExportTable(&table, &id), CUDA_ERROR_INVALID_VALUE);
	equal("and is not there", table == NULL, 1);
	equal("a block of 1024", launch(1, 1024, NULL), 0);
	equal("a block of 1025", launch(1, 1025, NULL), CUDA_ERROR_INVALID_VALUE);
	equal("a grid of nothing", launch(0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
	equal("a block of nothing", launch(1, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	equal("no function", cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	equal("a kernel that PTX has not", cuModuleGetFunction(&f, module, "nobody"), CUDA_ERROR_NOT_FOUND);
	equal("an image of no kind", cuModuleLoadData(&m, "what is this"), CUDA_ERROR_INVALID_IMAGE);
	equal("a file that is not there", cuModuleLoad(&m, "/nonexistent"), CUDA_ERROR_FILE_NOT_FOUND);
	MUST(cuModuleGetFunction(&f, module, "vadd"));
	equal("a name has one handle", f == vadd, 1);
}

/* What cuGetProcAddress_v2() gives is what dlsym() gives for @want; NULL: nothing, and the status is @why. */
static void proc(const char *name, int version, uint64_t flags, const char *want, int why)
{
	void *p = &p;
	int status = -1;
	CUresult err = cuGetProcAddress_v2(name, &p, version, flags, &status);
	char text[128];

	snprintf(text, sizeof(text), "'%s' of %d is %s", name, version, want ?: "nothing");
	equal(text, p == (want ? dlsym(RTLD_DEFAULT, want) : NULL), 1);
	equal(text, status, why);
	equal(text, err, why == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS);
}

static void procs(void)
{
	__typeof__(&cuGetProcAddress) old;
	void *p = NULL;

	proc("cuGetProcAddress", 11030, 0, "cuGetProcAddress", 0);
	proc("cuGetProcAddress", 11080, 0, "cuGetProcAddress", 0);
	proc("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2", 0);
	proc("cuMemcpyBatchAsync", 12080, 0, "cuMemcpyBatchAsync", 0);
	proc("cuMemcpyBatchAsync", 13000, 0, "cuMemcpyBatchAsync_v2", 0);
	proc("cuMemcpyBatchAsync", 13000, 2, "cuMemcpyBatchAsync_v2_ptsz", 0);
	proc("cuGraphInstantiate", 10000, 0, "cuGraphInstantiate", 0);
	proc("cuGraphInstantiate", 12000, 0, "cuGraphInstantiate_v2", 0);
	proc("cuCtxSynchronize", 12090, 0, "cuCtxSynchronize", 0);
	proc("cuCtxSynchronize", 13000, 0, "cuCtxSynchronize_v2", 0);
	proc("cuMemAlloc", 13000, 2, "cuMemAlloc_v2", 0);
	proc("cuMemcpyHtoD", 13000, 2, "cuMemcpyHtoD_v2_ptds", 0);
	proc("cuLaunchKernel", 13000, 0, "cuLaunchKernel", 0);
	proc("cuLaunchKernel", 13000, 2, "cuLaunchKernel_ptsz", 0);
	proc("cuLaunchKernelEx", 11050, 0, NULL, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	proc("cuNothing", 13000, 0, NULL, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	proc("", 13000, 0, NULL, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	MUST(cuGetProcAddress("cuGetProcAddress", (void **)&old, 11030, 0));
	equal("the old form takes four arguments", old("cuInit", &p, 2000, 0), 0);
	equal("and finds what the new one finds", p == dlsym(RTLD_DEFAULT, "cuInit"), 1);
}

static void waits_for(const char *name, uint64_t begin, CUresult err)
{
	uint64_t took = now() - begin;
	char text[128];

	snprintf(text, sizeof(text), "%s takes as long as the kernels", name);
	equal(text, !err && took >= KERNELS * kernel_ns, 1);
}

static void times(CUstream s, CUstream other)
{
	CUevent e;
	uint64_t begin = now();

	MUST(cuEventCreate(&e, 0));
	launches(s);
	MUST(cuEventRecord(e, s));
	equal("600 while a stream is busy", cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	equal("600 while an event is to come", cuEventQuery(e), CUDA_ERROR_NOT_READY);
	equal("another stream is not busy", cuStreamQuery(other), 0);
	MUST(cuStreamWaitEvent(other, e, 0));
	equal("but when it waits for the event", cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	waits_for("cuStreamSynchronize", begin, cuStreamSynchronize(s));
	equal("0 when a stream is done", cuStreamQuery(s), 0);
	begin = now();
	launches(s);
	MUST(cuEventRecord(e, s));
	waits_for("cuEventSynchronize", begin, cuEventSynchronize(e));
	begin = now();
	launches(other);
	waits_for("cuCtxSynchronize", begin, cuCtxSynchronize());
	MUST(cuEventDestroy_v2(e));
}

static void default_streams(void)
{
	char host[8] = "";
	CUdeviceptr p;
	uint64_t begin = now();

	MUST(cuMemAlloc_v2(&p, sizeof(host)));
	launches(NULL);
	waits_for("a blocking copy", begin, cuMemcpyHtoD_v2(p, host, sizeof(host)));
	MUST(cuLaunchKernel_ptsz(vadd, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	equal("the twin's stream 0 is the thread's own", cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
	equal("and not the one of all", cuStreamQuery(CU_STREAM_LEGACY), 0);
	MUST(cuStreamSynchronize_ptsz(NULL));
	MUST(cuMemFree_v2(p));
}

static void captures(CUstream s, CUstream other)
{
	CUgraphExec exec;
	CUgraph g;
	CUevent e;
	uint64_t begin;

	MUST(cuEventCreate(&e, 0));
	equal("the default stream cannot capture", cuStreamBeginCapture_v2(NULL, 0),
	      CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	MUST(cuStreamBeginCapture_v2(s, 0));
	MUST(cuEventRecord(e, s));
	MUST(cuStreamWaitEvent(other, e, 0));
	for (int i = 0; i < KERNELS / 2; i++) {
		MUST(launch(1, 32, s));
		MUST(launch(1, 32, other));
	}
	equal("nor is a captured event", cuEventSynchronize(e), CUDA_ERROR_CAPTURED_EVENT);
	equal("a stream that joined does not end it", cuStreamEndCapture(other, &g),
	      CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
	MUST(cuStreamEndCapture(s, &g));
	equal("what was captured did not run", cuStreamQuery(s), 0);
	equal("nor what was on the stream that joined", cuStreamQuery(other), 0);
	MUST(cuGraphInstantiateWithFlags(&exec, g, 0));
	begin = now();
	MUST(cuGraphLaunch(exec, other));
	equal("600 while a graph runs", cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	waits_for("a graph", begin, cuStreamSynchronize(other));
	MUST(cuGraphExecDestroy(exec));
	MUST(cuGraphDestroy(g));
}

static void spoiled_capture(CUstream s)
{
	CUgraph g = (CUgraph)s;

	MUST(cuStreamBeginCapture_v2(s, 0));
	MUST(launch(1, 32, s));
	equal("a stream that captures is not waited for", cuStreamSynchronize(s),
	      CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	equal("and takes nothing any more", launch(1, 32, s), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	equal("its capture fails", cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	equal("and makes no graph", g != NULL, 0);
	equal("then it runs again", launch(1, 32, s) ?: cuStreamSynchronize(s), 0);
}

static void nodes_of_graphs(void)
{
	CUgraphNode node, given[3] = { 0 };
	CUDA_KERNEL_NODE_PARAMS_v2 k = { .func = vadd, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
					 .blockDimY = 1, .blockDimZ = 1 };
	size_t n = 0;
	CUgraph g;

	MUST(cuGraphCreate(&g, 0));
	MUST(cuGraphAddKernelNode_v2(&node, g, NULL, 0, &k));
	given[1] = node;
	MUST(cuGraphGetNodes(g, NULL, &n));
	equal("how many nodes there are", n, 1);
	n = 3;
	MUST(cuGraphGetNodes(g, given, &n));
	equal("they are given", given[0] == node && !given[1] && n == 1, 1);
	MUST(cuGraphDestroy(g));
}

int main(void)
{
	CUstream s, other;

	kernel_ns = strtoull(getenv("STUBCUDA_KERNEL_NS") ?: "0", NULL, 10);
	before_init();
	before_context();
	module = cu_begin();
	vadd = cu_function(module, "vadd");
	refusals();
	procs();
	MUST(cuStreamCreate(&s, 0));
	MUST(cuStreamCreate(&other, 0));
	MUST(cuCtxSynchronize());
	times(s, other);
	default_streams();
	captures(s, other);
	spoiled_capture(s);
	nodes_of_graphs();
	return 0;
}
