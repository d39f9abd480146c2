/*
 * vectoradd.cu - the least program of the runtime API: three copies, one kernel. "ok" when the sums are right.
 *
 * Before its first CUDA call it tells how much of its own image of device code is mapped into it.
 */
#include <cstdio>
#include <cstdlib>
#include "nvfatbin.h"

__global__ void vectorAdd(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
	int n = 50000, rounds = argc > 1 ? atoi(argv[1]) : 1, wrong = 0;
	float *h = (float *)malloc(3 * n * sizeof(float)), *d;

	tell_fatbin("at main");
	for (int i = 0; i < 2 * n; i++)
		h[i] = i % 1000;
	if (cudaMalloc(&d, 3 * n * sizeof(float)))
		return printf("no device: %s\n", cudaGetErrorString(cudaGetLastError())), 1;
	tell_fatbin("after cudaMalloc");
	cudaMemcpy(d, h, 2 * n * sizeof(float), cudaMemcpyHostToDevice);
	for (int r = 0; r < rounds; r++)
		vectorAdd<<<(n + 255) / 256, 256>>>(d, d + n, d + 2 * n, n);
	tell_fatbin("after the launch");
	cudaMemcpy(h + 2 * n, d + 2 * n, n * sizeof(float), cudaMemcpyDeviceToHost);
	for (int i = 0; i < n; i++)
		wrong += h[2 * n + i] != h[i] + h[n + i];
	printf("%s\n", wrong ? "wrong" : "ok");
	cudaFree(d);
	return wrong != 0;
}
