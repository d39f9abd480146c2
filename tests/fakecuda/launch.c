/*
 * launch.c - the stand-in driver: kernel launches of every kind. A launch that fits the device's limits "runs": it is
 * counted and makes its stream busy.
 */
#include <string.h>

#include "fake.h"

#define KERNEL(f, gx, gy, gz, bx, by, bz, shared_bytes)								\
	((CUDA_KERNEL_NODE_PARAMS_v2){ .func = (f), .gridDimX = (gx), .gridDimY = (gy), .gridDimZ = (gz),	\
		.blockDimX = (bx), .blockDimY = (by), .blockDimZ = (bz), .sharedMemBytes = (shared_bytes) })

CUresult kernel_check(const CUDA_KERNEL_NODE_PARAMS_v2 *k)
{
	if (!k->func)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!k->gridDimX || !k->gridDimY || !k->gridDimZ || !k->blockDimX || !k->blockDimY || !k->blockDimZ)
		return CUDA_ERROR_INVALID_VALUE;
	if ((uint64_t)k->blockDimX * k->blockDimY * k->blockDimZ > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult launch(int per_thread, CUstream s, CUDA_KERNEL_NODE_PARAMS_v2 kernel)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = kernel };

	return kernel_check(&kernel) ?: stream_op(stream_of(per_thread, s), &op);
}

static CUresult launch_config(int per_thread, const CUlaunchConfig *c, CUfunction f)
{
	if (!c || (c->numAttrs && !c->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	return launch(per_thread, c->hStream,
		      KERNEL(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ,
			     c->sharedMemBytes));
}

static CUresult launch_list(CUDA_LAUNCH_PARAMS *list, unsigned n)
{
	CUresult err = list && n ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	for (unsigned i = 0; i < n && !err; i++)
		err = launch(0, list[i].hStream,
			     KERNEL(list[i].function, list[i].gridDimX, list[i].gridDimY, list[i].gridDimZ,
				    list[i].blockDimX, list[i].blockDimY, list[i].blockDimZ, list[i].sharedMemBytes));
	return err;
}

/* The oldest way: the block's shape and the parameters are set beforehand, the grid has two dimensions. */
static CUresult launch_shaped(CUfunction f, int width, int height, CUstream s)
{
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	return launch(0, s, KERNEL(f, width, height, 1, f->block[0], f->block[1], f->block[2], f->shared));
}

static CUresult set_shape(CUfunction f, int x, int y, int z)
{
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	memcpy(f->block, (unsigned[]){ x, y, z }, sizeof(f->block));
	return CUDA_SUCCESS;
}

static CUresult set_shared(CUfunction f, unsigned bytes)
{
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	f->shared = bytes;
	return CUDA_SUCCESS;
}

static CUresult host_function(int per_thread, CUstream s, CUhostFn fn, void *user)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_HOST, .host = { fn, user } };

	return fn ? stream_op(stream_of(per_thread, s), &op) : CUDA_ERROR_INVALID_VALUE;
}

PTSZ(cuLaunchKernel, (CUfunction f, KERNEL_SHAPE, CUstream s, void **params, void **extra), launch,
     (((void)params, (void)extra, s), KERNEL(f, gx, gy, gz, bx, by, bz, shared)))
/* No symbol leads to it: what a driver may hand out by cuGetProcAddress(), as this one does with STUBCUDA_PRIVATE. */
FUNCTION("hidden", private_cuLaunchKernel, (CUfunction f, KERNEL_SHAPE, CUstream s, void **params, void **extra),
	 ((void)params, (void)extra, need_context() ?: launch(0, s, KERNEL(f, gx, gy, gz, bx, by, bz, shared))))
PTSZ(cuLaunchCooperativeKernel, (CUfunction f, KERNEL_SHAPE, CUstream s, void **params), launch,
     (((void)params, s), KERNEL(f, gx, gy, gz, bx, by, bz, shared)))
PTSZ(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction f, void **params, void **extra), launch_config,
     (((void)params, (void)extra, config), f))
CALL(cuLaunchCooperativeKernelMultiDevice, (CUDA_LAUNCH_PARAMS *list, unsigned n, unsigned flags),
     ((void)flags, launch_list(list, n)))
PTSZ(cuLaunchHostFunc, (CUstream s, CUhostFn fn, void *user), host_function, (s, fn, user))

CALL(cuFuncSetBlockShape, (CUfunction f, int x, int y, int z), set_shape(f, x, y, z))
CALL(cuFuncSetSharedSize, (CUfunction f, unsigned bytes), set_shared(f, bytes))
CALL(cuParamSetSize, (CUfunction f, unsigned bytes), ((void)f, (void)bytes, CUDA_SUCCESS))
CALL(cuParamSeti, (CUfunction f, int offset, unsigned value), ((void)f, (void)offset, (void)value, CUDA_SUCCESS))
CALL(cuParamSetf, (CUfunction f, int offset, float value), ((void)f, (void)offset, (void)value, CUDA_SUCCESS))
CALL(cuParamSetv, (CUfunction f, int offset, void *p, unsigned n),
     ((void)f, (void)offset, (void)p, (void)n, CUDA_SUCCESS))
CALL(cuLaunch, (CUfunction f), launch_shaped(f, 1, 1, NULL))
CALL(cuLaunchGrid, (CUfunction f, int width, int height), launch_shaped(f, width, height, NULL))
CALL(cuLaunchGridAsync, (CUfunction f, int width, int height, CUstream s), launch_shaped(f, width, height, s))
