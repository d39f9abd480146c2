/*
 * driver.c - the driver API opened by dlopen, without a runtime: a module from PTX text, then what its argument says.
 *
 *	driver once		one launch, a copy each way; tells when main began and how long dlopen and cuInit took
 *	driver empty [N]	N (100000) launches of an empty kernel
 *	driver maps		one launch, then /proc/self/maps
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "timed.h"

static const char ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	".visible .entry driver_kernel()\n{\n\tret;\n}\n";

static void *lib;

static void *need(const char *name)
{
	void *p = dlsym(lib, name);

	if (!p) {
		printf("libcuda.so.1 has no %s\n", name);
		exit(1);
	}
	return p;
}

#define CALL(name, types, ...) do {						\
	int r_ = ((CUresult (*) types)need(#name))(__VA_ARGS__);		\
	if (r_) {								\
		printf(#name ": error %d\n", r_);				\
		exit(1);							\
	}									\
} while (0)

typedef CUresult launch_fn(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);

static void copies(void)
{
	CUdeviceptr d;
	char buf[4096] = { 1 };

	CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &d, sizeof(buf));
	CALL(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), d, buf, sizeof(buf));
	CALL(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t), buf, d, sizeof(buf));
}

static void maps(void)
{
	char line[1024];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f))
		fputs(line, stdout);
}

int main(int argc, char **argv)
{
	double began = now_ns(), opened, inited;
	CUdevice dev;
	CUcontext ctx;
	CUmodule mod;
	CUfunction f;
	launch_fn *launch;
	CUresult (*wait)(void);

	lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (!lib)
		return printf("no libcuda.so.1: %s\n", dlerror()), 1;
	opened = now_ns();
	CALL(cuInit, (unsigned), 0);
	inited = now_ns();
	CALL(cuDeviceGet, (CUdevice *, int), &dev, 0);
	CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &ctx, dev);
	CALL(cuCtxSetCurrent, (CUcontext), ctx);
	CALL(cuModuleLoadData, (CUmodule *, const void *), &mod, ptx);
	CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &f, mod, "driver_kernel");
	launch = need("cuLaunchKernel");
	wait = need("cuCtxSynchronize");
	launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	printf("function %p\n", (void *)f);
	if (argc > 1 && !strcmp(argv[1], "empty"))
		TIMED_LAUNCHES(argc > 2 ? atoi(argv[2]) : 100000, launch(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), wait());
	else
		copies();
	printf("wait %d\n", wait());
	printf("main at %.0f ns, dlopen %.1f ms, cuInit %.1f ms, all %.1f ms\n", began, (opened - began) / 1e6,
	       (inited - opened) / 1e6, (now_ns() - began) / 1e6);
	if (argc > 1 && !strcmp(argv[1], "maps"))
		maps();
	return 0;
}
