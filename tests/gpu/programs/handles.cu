/* handles.cu - which handle of a kernel is which: of __cudaGetKernel, cudaGetKernel, cudaGetFuncBySymbol, and by name. */
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

extern "C" cudaError_t __cudaGetKernel(cudaKernel_t *, const void *);

__global__ void named(int *p) { *p = 1; }

template <typename F> static F *driver(const char *name)
{
	return (F *)dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
}

static const char *name_of(CUresult (*by)(const char **, void *), void *handle)
{
	const char *name = NULL;
	CUresult r = by ? by(&name, handle) : CUDA_ERROR_NOT_FOUND;
	static char buf[4][64];
	static int i;

	if (!r && name)
		return name;
	snprintf(buf[i = (i + 1) % 4], 64, "error %d", r);
	return buf[i];
}

int main(void)
{
	auto func_name = driver<CUresult(const char **, void *)>("cuFuncGetName");
	auto kernel_name = driver<CUresult(const char **, void *)>("cuKernelGetName");
	auto to_func = driver<CUresult(CUfunction *, CUkernel)>("cuKernelGetFunction");
	cudaKernel_t stub = NULL, kernel = NULL;
	cudaFunction_t func = NULL;
	CUfunction from = NULL;
	int *p, e1, e2, e3, e4;

	if (cudaMalloc(&p, 4))
		return printf("no device\n"), 1;
	e1 = __cudaGetKernel(&stub, (void *)named);
	e2 = cudaGetKernel(&kernel, (void *)named);
	e3 = cudaGetFuncBySymbol(&func, (void *)named);
	e4 = to_func ? to_func(&from, (CUkernel)kernel) : -1;
	printf("host stub            %p\n__cudaGetKernel      %p (error %d)\ncudaGetKernel        %p (error %d)\n", (void *)named,
	       (void *)stub, e1, (void *)kernel, e2);
	printf("cudaGetFuncBySymbol  %p (error %d)\ncuKernelGetFunction  %p (error %d)\n", (void *)func, e3, (void *)from, e4);
	printf("cuFuncGetName of the function %s, of the kernel %s\n", name_of(func_name, func), name_of(func_name, kernel));
	printf("cuKernelGetName of the kernel %s, of the function %s\n", name_of(kernel_name, kernel), name_of(kernel_name, func));
	named<<<1, 1>>>(p);
	printf("launch %d, wait %d\n", cudaGetLastError(), cudaDeviceSynchronize());
	return 0;
}
