/*
 * vectoradd.cu - vectoradd [N]: what nvcc makes of a kernel and its launch: N launches, and N / 2 replays of a graph.
 *
 * What the kernel computes is not looked at: without a GPU nothing computes it.
 */
#include <cstdio>
#include <cstdlib>

#define MUST(call)										\
	do {											\
		cudaError_t err_ = (call);							\
		if (err_ != cudaSuccess) {							\
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(err_));		\
			exit(90);								\
		}										\
	} while (0)

__global__ void vectorAdd(const float *a, const float *b, float *c, int n)
{
	int i = blockDim.x * blockIdx.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

template <typename T> __global__ void scale(T *a, T by)
{
	a[threadIdx.x] *= by;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	size_t size = 1000 * sizeof(float);
	float *host = (float *)calloc(1000, sizeof(float)), *a, *b, *c;
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	MUST(cudaMalloc(&a, size));
	MUST(cudaMalloc(&b, size));
	MUST(cudaMalloc(&c, size));
	MUST(cudaMemcpy(a, host, size, cudaMemcpyHostToDevice));
	MUST(cudaMemset(b, 0, size));
	MUST(cudaStreamCreate(&stream));
	for (int i = 0; i < n; i++)
		vectorAdd<<<dim3(4, i + 1, 2), dim3(32, 4, 2), 128, stream>>>(a, b, c, 1000);
	scale<double><<<1, 64>>>((double *)c, 2.0);
	MUST(cudaGetLastError());
	MUST(cudaStreamSynchronize(stream));

	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	vectorAdd<<<3, 256, 0, stream>>>(a, b, c, 1000);
	scale<double><<<2, 64, 0, stream>>>((double *)c, 2.0);
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < n / 2; i++)
		MUST(cudaGraphLaunch(exec, stream));
	MUST(cudaDeviceSynchronize());
	MUST(cudaMemcpy(host, c, size, cudaMemcpyDeviceToHost));
	MUST(cudaGraphExecDestroy(exec));
	MUST(cudaGraphDestroy(graph));
	MUST(cudaStreamDestroy(stream));
	MUST(cudaFree(a));
	MUST(cudaFree(b));
	MUST(cudaFree(c));
	free(host);
	printf("captured _Z9vectorAddPKfS0_Pfi 1\ncaptured _Z5scaleIdEvPT_S0_ 1\n");
	printf("launch _Z9vectorAddPKfS0_Pfi %d\nlaunch _Z5scaleIdEvPT_S0_ %d\n", n + n / 2, 1 + n / 2);
	return argc > 2 ? atoi(argv[2]) : 0;
}
