/*
 * graph.cu - three kernels and a memset captured into a graph, replayed REPLAYS times (10); and a graph built by hand of two kernels,
 * launched 5 times. Prints how many kernels that should be.
 */
#include <cstdio>
#include <cstdlib>

__global__ void first(int *p) { atomicAdd(p, 1); }
__global__ void second(int *p) { atomicAdd(p, 10); }
__global__ void third(int *p) { atomicAdd(p, 100); }

#define OK(call) do { cudaError_t e_ = (call); if (e_) { printf("%s: %s\n", #call, cudaGetErrorString(e_)); return 1; } } while (0)

static int by_hand(int *p, cudaStream_t s)
{
	cudaGraph_t g;
	cudaGraphExec_t exec;
	cudaGraphNode_t n1, n2;
	void *args[] = { &p };
	cudaKernelNodeParams k = {};

	k.func = (void *)first;
	k.gridDim = dim3(4);
	k.blockDim = dim3(32);
	k.kernelParams = args;
	OK(cudaGraphCreate(&g, 0));
	OK(cudaGraphAddKernelNode(&n1, g, NULL, 0, &k));
	k.func = (void *)second;
	OK(cudaGraphAddKernelNode(&n2, g, &n1, 1, &k));
	OK(cudaGraphInstantiate(&exec, g, 0));
	for (int i = 0; i < 5; i++)
		OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	return 0;
}

int main(int argc, char **argv)
{
	int replays = argc > 1 ? atoi(argv[1]) : 10, *p, v = 0;
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t exec;

	OK(cudaMalloc(&p, 4));
	OK(cudaMemset(p, 0, 4));
	OK(cudaStreamCreate(&s));
	first<<<1, 1, 0, s>>>(p);			/* one outside */
	OK(cudaStreamSynchronize(s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	OK(cudaMemsetAsync(p, 0, 4, s));
	first<<<1, 32, 0, s>>>(p);
	second<<<2, 32, 0, s>>>(p);
	third<<<3, 32, 0, s>>>(p);
	OK(cudaStreamEndCapture(s, &g));
	OK(cudaGraphInstantiate(&exec, g, 0));
	for (int i = 0; i < replays; i++)
		OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost));
	printf("expected kernels: %d\n%s\n", 1 + 3 * replays + 10, v == 32 + 2 * 320 + 96 * 100 ? "ok" : "wrong");
	return by_hand(p, s);
}
