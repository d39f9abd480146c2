/* launches.cu - the other ways to launch: cooperative, with a cluster, by cudaLaunchKernelExC, on the per-thread stream. */
#include <cooperative_groups.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void together(int *p)
{
	cg::this_grid().sync();
	atomicAdd(p, 1);
}

__global__ void clustered(int *p)
{
	cg::this_cluster().sync();
	atomicAdd(p, 1);
}

__global__ void plain(int *p) { atomicAdd(p, 1); }

#define OK(call) do { cudaError_t e_ = (call); if (e_) { printf("%s: %s\n", #call, cudaGetErrorString(e_)); return 1; } } while (0)

int main(void)
{
	int *p, v = 0;
	void *args[] = { &p };
	cudaLaunchConfig_t cfg = {};
	cudaLaunchAttribute attr[1] = {};

	OK(cudaMalloc(&p, 4));
	OK(cudaMemset(p, 0, 4));
	OK(cudaLaunchCooperativeKernel((void *)together, dim3(8), dim3(32), args, 0, 0));
	cfg.gridDim = dim3(8);
	cfg.blockDim = dim3(32);
	cfg.attrs = attr;
	OK(cudaLaunchKernelExC(&cfg, (void *)plain, args));
	attr[0].id = cudaLaunchAttributeClusterDimension;
	attr[0].val.clusterDim.x = 4;
	attr[0].val.clusterDim.y = attr[0].val.clusterDim.z = 1;
	cfg.numAttrs = 1;
	OK(cudaLaunchKernelExC(&cfg, (void *)clustered, args));
	OK(cudaLaunchKernel((void *)plain, dim3(8), dim3(32), args, 0, cudaStreamPerThread));
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost));
	printf("expected kernels: 4\n%s\n", v == 4 * 8 * 32 ? "ok" : "wrong");
	return 0;
}
