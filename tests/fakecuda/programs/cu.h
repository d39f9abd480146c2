/*
 * cu.h - what the programs share: a device made ready, PTX with some kernels, and calls that say what they did.
 *
 * A program says each thing it does on a line of its own, with the driver's result last but for the function's name:
 * that is the truth a recording of it is held against.
 */
#ifndef FAKECUDA_CU_H
#define FAKECUDA_CU_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cuda_api.h"

#define CU_PTX	"//\n.version 8.0\n.target sm_90\n.address_size 64\n\n"						\
		".visible .entry vadd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n{\n\tret;\n}\n"	\
		".visible .entry _Z4axpyfPfi(.param .f32 a, .param .u64 x, .param .u32 n)\n{\n\tret;\n}\n"		\
		".visible .entry reduce(.param .u64 x)\n{\n\tret;\n}\n"

/* Ends the program when the driver refuses what it must not refuse. */
#define MUST(call)											\
	do {												\
		CUresult err_ = (call);									\
		if (err_) {										\
			fprintf(stderr, "%s: %d\n", #call, err_);					\
			exit(90);									\
		}											\
	} while (0)

__attribute__((unused)) static CUmodule cu_begin(void)
{
	CUcontext ctx;
	CUmodule module;
	CUdevice device;

	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&ctx, device));
	MUST(cuCtxSetCurrent(ctx));
	MUST(cuModuleLoadData(&module, CU_PTX));
	return module;
}

__attribute__((unused)) static CUfunction cu_function(CUmodule module, const char *name)
{
	CUfunction f;

	MUST(cuModuleGetFunction(&f, module, name));
	return f;
}

__attribute__((unused)) static void nap(unsigned ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

#endif
