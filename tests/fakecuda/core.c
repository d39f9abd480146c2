/*
 * core.c - the stand-in driver: initialisation, the one device, contexts, errors.
 *
 * As the real driver, it cannot be used in a child that was forked after cuInit().
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

static int inited, forked;
static struct CUctx_st primary = { .legacy.ctx = &primary };
static __thread CUcontext current;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

static void in_child(void)
{
	forked |= inited;
	fakecuda_watch = NULL;
	inited = 0;
	pthread_mutex_init(&init_lock, NULL);
	lock_forked();
	count_forked();
}

__attribute__((constructor)) static void core_begin(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

CUresult need_init(void)
{
	return __atomic_load_n(&inited, __ATOMIC_ACQUIRE) ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult need_context(void)
{
	return need_init() ?: current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUcontext context(void)
{
	return current;
}

/* Tools have the driver load a library of theirs by this variable. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
	int (*begin)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (begin)
		begin();
	else if (path)
		fprintf(stderr, "fakecuda: cannot inject '%s': %s\n", path, dlerror());
}

static CUresult init(unsigned flags)
{
	int first;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&init_lock);
	first = !inited;
	__atomic_store_n(&inited, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&init_lock);
	if (first)
		inject();	/* it may call the driver */
	return CUDA_SUCCESS;
}

static CUresult answer(int *ret, int value)
{
	if (!ret)
		return CUDA_ERROR_INVALID_VALUE;
	*ret = value;
	return CUDA_SUCCESS;
}

static CUresult device_name(char *name, int len)
{
	snprintf(name, len, "Stand-in GPU");
	return CUDA_SUCCESS;
}

static CUresult device_uuid(CUuuid *uuid)
{
	memset(uuid, 0x5a, sizeof(*uuid));
	return CUDA_SUCCESS;
}

static CUresult sizes(size_t *a, size_t a_value, size_t *b, size_t b_value)
{
	*a = a_value;
	*b = b_value;
	return CUDA_SUCCESS;
}

static CUresult device_attribute(int *ret, int attribute)
{
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:		return answer(ret, 1024);
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:		return answer(ret, 64);
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:		return answer(ret, 0x7fffffff);
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:		return answer(ret, 65535);
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:	return answer(ret, 49152);
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:			return answer(ret, 32);
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:		return answer(ret, 132);
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:	return answer(ret, 9);
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
	case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:		return answer(ret, 1);
	default:						return answer(ret, 0);
	}
}

static CUresult context_new(CUcontext *ret, CUdevice device)
{
	CUcontext ctx;

	if (device)
		return CUDA_ERROR_INVALID_DEVICE;
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return CUDA_ERROR_OUT_OF_MEMORY;
	ctx->legacy.ctx = ctx;
	*ret = current = ctx;
	return CUDA_SUCCESS;
}

static CUresult context_give(CUcontext *ret, CUcontext ctx)
{
	*ret = ctx;
	return CUDA_SUCCESS;
}

static CUresult context_set(CUcontext ctx)
{
	current = ctx;
	return CUDA_SUCCESS;
}

/* What it holds stays: streams of it may be in other threads' hands. */
static CUresult context_end(CUcontext ctx)
{
	if (!ctx)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (current == ctx)
		current = NULL;
	return CUDA_SUCCESS;
}

static CUresult context_wait(CUcontext ctx)
{
	uint64_t until;

	ctx = ctx ?: current;
	driver_lock();
	until = ctx->busy;
	driver_unlock();
	wait_until(until);
	return CUDA_SUCCESS;
}

static CUresult error_text(CUresult error, const char **ret)
{
	static __thread char text[32];

	snprintf(text, sizeof(text), error ? "CUDA_ERROR_%d" : "CUDA_SUCCESS", error);
	*ret = text;
	return CUDA_SUCCESS;
}

/* Private tables are refused: this is not NVIDIA's driver and does not say that it is. */
static CUresult no_table(const void **ret)
{
	*ret = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

EXPORT(cuInit, (unsigned flags), init(flags))
EXPORT(cuDriverGetVersion, (int *version), answer(version, 13000))
EXPORT(cuGetErrorName, (CUresult error, const char **ret), error_text(error, ret))
EXPORT(cuGetErrorString, (CUresult error, const char **ret), error_text(error, ret))
EXPORT(cuGetExportTable, (const void **table, const CUuuid *id), ((void)id, no_table(table)))

INITED(cuDeviceGetCount, (int *count), answer(count, 1))
INITED(cuDeviceGet, (CUdevice *device, int ordinal), ordinal ? CUDA_ERROR_INVALID_DEVICE : answer(device, 0))
INITED(cuDeviceGetName, (char *name, int len, CUdevice device), ((void)device, device_name(name, len)))
INITED(cuDeviceGetUuid, (CUuuid *uuid, CUdevice device), ((void)device, device_uuid(uuid)))
INITED(cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device), ((void)device, device_uuid(uuid)))
INITED(cuDeviceTotalMem_v2, (size_t *size, CUdevice device),
       ((void)device, sizes(size, 16ull << 30, size, 16ull << 30)))
INITED(cuDeviceGetAttribute, (int *ret, int attribute, CUdevice device),
       ((void)device, device_attribute(ret, attribute)))
INITED(cuDevicePrimaryCtxRetain, (CUcontext *ret, CUdevice device),
       device ? CUDA_ERROR_INVALID_DEVICE : context_give(ret, &primary))
INITED(cuDevicePrimaryCtxRelease_v2, (CUdevice device), device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS)

INITED(cuCtxCreate_v2, (CUcontext *ret, unsigned flags, CUdevice device), ((void)flags, context_new(ret, device)))
INITED(cuCtxCreate_v3, (CUcontext *ret, void *affinity, int n, unsigned flags, CUdevice device),
       ((void)affinity, (void)n, (void)flags, context_new(ret, device)))
INITED(cuCtxCreate_v4, (CUcontext *ret, void *params, unsigned flags, CUdevice device),
       ((void)params, (void)flags, context_new(ret, device)))
INITED(cuCtxDestroy_v2, (CUcontext ctx), context_end(ctx))
INITED(cuCtxSetCurrent, (CUcontext ctx), context_set(ctx))
INITED(cuCtxGetCurrent, (CUcontext *ret), context_give(ret, current))
CALL(cuCtxGetDevice, (CUdevice *device), answer(device, 0))
CALL(cuCtxSynchronize, (void), context_wait(NULL))
INITED(cuCtxSynchronize_v2, (CUcontext ctx), ctx || current ? context_wait(ctx) : CUDA_ERROR_INVALID_CONTEXT)
CALL(cuMemGetInfo_v2, (size_t *left, size_t *total), sizes(left, 15ull << 30, total, 16ull << 30))
