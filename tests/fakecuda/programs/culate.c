/*
 * culate.c - culate [MILLISECONDS [N]]: opens the driver only after a while, by dlopen(), and launches N kernels by what
 * dlsym() and both forms of cuGetProcAddress give, as many by each.
 */
#include <dlfcn.h>

#include "cu.h"

typedef CUresult launch_fn(CUfunction f, KERNEL_SHAPE, CUstream stream, void **params, void **extra);

static void *library;

static void *symbol(const char *name)
{
	void *p = dlsym(library, name);

	if (!p) {
		fprintf(stderr, "%s\n", dlerror());
		exit(95);
	}
	return p;
}

#define DRIVER(function)	((__typeof__(&function))symbol(#function))

static CUfunction begin(void)
{
	CUcontext ctx;
	CUmodule module;
	CUfunction f;

	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(95);
	}
	MUST(DRIVER(cuInit)(0));
	MUST(DRIVER(cuDevicePrimaryCtxRetain)(&ctx, 0));
	MUST(DRIVER(cuCtxSetCurrent)(ctx));
	MUST(DRIVER(cuModuleLoadData)(&module, CU_PTX));
	MUST(DRIVER(cuModuleGetFunction)(&f, module, "vadd"));
	return f;
}

int main(int argc, char **argv)
{
	int ms = argc > 1 ? atoi(argv[1]) : 200, n = argc > 2 ? atoi(argv[2]) : 10;
	launch_fn *launch[3];
	CUfunction f;

	nap(ms);
	f = begin();
	launch[0] = DRIVER(cuLaunchKernel);
	MUST(DRIVER(cuGetProcAddress)("cuLaunchKernel", (void **)&launch[1], 11030, 0));
	MUST(DRIVER(cuGetProcAddress_v2)("cuLaunchKernel", (void **)&launch[2], 13000,
					 CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	for (int way = 0; way < 3; way++)
		for (int i = 0; i < n; i++)
			MUST(launch[way](f, i + 1, way + 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	MUST(DRIVER(cuCtxSynchronize)());
	printf("launch vadd %d\n", 3 * n);
	return argc > 3 ? atoi(argv[3]) : 0;
}
