/* gemm.cu - products by cuBLAS: float, half, and a batch; how many kernels that is, only cuBLAS knows. */
#include <cstdio>
#include <cublas_v2.h>
#include <cuda_fp16.h>

int main(void)
{
	int n = 512, bad = 0;
	float *d, one = 1, zero = 0;
	__half *h, h1 = __float2half(1), h0 = __float2half(0);
	cublasHandle_t b;

	if (cudaMalloc(&d, 3 * n * n * sizeof(float)) || cudaMalloc(&h, 3 * n * n * sizeof(__half)))
		return printf("no device\n"), 1;
	cudaMemset(d, 0, 3 * n * n * sizeof(float));
	cudaMemset(h, 0, 3 * n * n * sizeof(__half));
	bad += cublasCreate(&b) != 0;
	for (int i = 0; i < 10; i++)
		bad += cublasSgemm(b, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, d, n, d + n * n, n, &zero, d + 2 * n * n, n) != 0;
	for (int i = 0; i < 10; i++)
		bad += cublasHgemm(b, CUBLAS_OP_T, CUBLAS_OP_N, n, n, n, &h1, h, n, h + n * n, n, &h0, h + 2 * n * n, n) != 0;
	bad += cublasSgemmStridedBatched(b, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &one, d, 64, 4096, d + n * n, 64, 4096, &zero,
					 d + 2 * n * n, 64, 4096, 16) != 0;
	bad += cublasSgemv(b, CUBLAS_OP_N, n, n, &one, d, n, d + n * n, 1, &zero, d + 2 * n * n, 1) != 0;
	bad += cudaDeviceSynchronize() != 0;
	cublasDestroy(b);
	printf("%s\n", bad ? "wrong" : "ok");
	return bad != 0;
}
