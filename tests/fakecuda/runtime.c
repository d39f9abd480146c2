/*
 * runtime.c - a stand-in for the CUDA runtime: what the host code that nvcc makes calls, over the published driver API.
 *
 * As the real one does, it opens libcuda.so.1 at the first call that needs the driver and asks cuGetProcAddress for
 * everything, a second time for those whose default stream is the thread's own (nvcc --default-stream per-thread).
 * It is built as libcudart.so.13 and as an archive for programs that are linked with it "statically".
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"

#define EXPORT __attribute__((visibility("default"), noinline, noclone))

typedef int cudaError;
enum { cudaErrorInsufficientDriver = 35, cudaErrorInvalidDeviceFunction = 98 };

struct dim3 {
	unsigned x, y, z;
};

/* The driver: the name asked for, the version, the function it must be. */
#define DRIVER_FUNCTIONS(X)											\
	X(cuInit, 2000, cuInit) X(cuDeviceGet, 2000, cuDeviceGet)						\
	X(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain)						\
	X(cuCtxSetCurrent, 4000, cuCtxSetCurrent) X(cuCtxSynchronize, 2000, cuCtxSynchronize)			\
	X(cuLibraryLoadData, 12000, cuLibraryLoadData) X(cuLibraryGetKernel, 12000, cuLibraryGetKernel)		\
	X(cuKernelGetFunction, 12000, cuKernelGetFunction)							\
	X(cuLaunchKernel, 4000, cuLaunchKernel) X(cuLaunchKernelEx, 11060, cuLaunchKernelEx)			\
	X(cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel)						\
	X(cuMemAlloc, 3020, cuMemAlloc_v2) X(cuMemFree, 3020, cuMemFree_v2)					\
	X(cuMemAllocAsync, 11020, cuMemAllocAsync) X(cuMemFreeAsync, 11020, cuMemFreeAsync)			\
	X(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2) X(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2)				\
	X(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2) X(cuMemcpy, 4000, cuMemcpy)					\
	X(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2) X(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2)	\
	X(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2) X(cuMemcpyAsync, 4000, cuMemcpyAsync)			\
	X(cuMemsetD8, 3020, cuMemsetD8_v2)									\
	X(cuStreamCreate, 2000, cuStreamCreate) X(cuStreamDestroy, 4000, cuStreamDestroy_v2)			\
	X(cuStreamSynchronize, 2000, cuStreamSynchronize) X(cuStreamWaitEvent, 3020, cuStreamWaitEvent)		\
	X(cuEventCreate, 2000, cuEventCreate) X(cuEventRecord, 2000, cuEventRecord)				\
	X(cuEventSynchronize, 2000, cuEventSynchronize) X(cuEventDestroy, 4000, cuEventDestroy_v2)		\
	X(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2) X(cuStreamEndCapture, 10000, cuStreamEndCapture) \
	X(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags)					\
	X(cuGraphLaunch, 10000, cuGraphLaunch) X(cuGraphExecDestroy, 10000, cuGraphExecDestroy)			\
	X(cuGraphDestroy, 10000, cuGraphDestroy)

#define FIELD(base, version, function) __typeof__(&function) base;
static struct driver {
	DRIVER_FUNCTIONS(FIELD)
} driver[2];			/* [1]: stream 0 is the thread's own */

struct fatbin {
	const void *wrapper;
	CUlibrary   library;
};

/* What __cudaRegisterFunction() was told. Its address is the handle that __cudaGetKernel() gives. */
struct kernel {
	struct kernel *next;
	struct fatbin *fatbin;
	const void    *host;
	const char    *name;
	CUfunction     function;
};

static struct kernel *kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static cudaError open_error;
static __thread cudaError last;
static __thread struct {
	struct dim3 grid, block;
	size_t	    shared;
	CUstream    stream;
} pushed;

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	__typeof__(&cuGetProcAddress_v2) get = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;

	open_error = get ? 0 : cudaErrorInsufficientDriver;
	for (int own = 0; own < 2 && !open_error; own++) {
		uint64_t flags = own ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;

#define LOOK_UP(base, version, function)									\
		if (get(#base, (void **)&driver[own].base, version, flags, NULL))				\
			open_error = cudaErrorInsufficientDriver;
		DRIVER_FUNCTIONS(LOOK_UP)
	}
	if (!open_error)
		open_error = driver->cuInit(0);
}

/* The driver is there, and this thread uses the device's primary context. */
static cudaError ready(void)
{
	static __thread int done;
	CUcontext ctx;
	CUdevice device;
	cudaError err;

	pthread_once(&opened, open_driver);
	if (open_error || done)
		return open_error;
	err = driver->cuDeviceGet(&device, 0);
	err = err ?: (cudaError)driver->cuDevicePrimaryCtxRetain(&ctx, device);
	err = err ?: (cudaError)driver->cuCtxSetCurrent(ctx);
	done = !err;
	return err;
}

static cudaError load(struct kernel *k)
{
	CUkernel handle;
	cudaError err = 0;

	if (!k->fatbin->library)
		err = driver->cuLibraryLoadData(&k->fatbin->library, k->fatbin->wrapper, NULL, NULL, 0, NULL, NULL, 0);
	err = err ?: (cudaError)driver->cuLibraryGetKernel(&handle, k->fatbin->library, k->name);
	return err ?: (cudaError)driver->cuKernelGetFunction(&k->function, handle);
}

/* By a kernel's handle or its host function: what the driver takes. Its image is loaded when it is first used. */
static cudaError function_of(const void *handle, CUfunction *ret)
{
	struct kernel *k;
	cudaError err = cudaErrorInvalidDeviceFunction;

	pthread_mutex_lock(&lock);
	for (k = kernels; k && k != handle && k->host != handle; k = k->next)
		;
	if (k)
		err = k->function ? 0 : load(k);
	if (!err)
		*ret = k->function;
	pthread_mutex_unlock(&lock);
	return err;
}

static cudaError launch(int own, const void *handle, struct dim3 g, struct dim3 b, void **args, size_t shared,
			CUstream s)
{
	CUfunction f;

	return function_of(handle, &f) ?:
	       (cudaError)driver[own].cuLaunchKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, shared, s, args, NULL);
}

static cudaError launch_cooperative(int own, const void *handle, struct dim3 g, struct dim3 b, void **args, size_t shared,
				    CUstream s)
{
	CUfunction f;

	return function_of(handle, &f) ?:
	       (cudaError)driver[own].cuLaunchCooperativeKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, shared, s, args);
}

/* The runtime's cudaLaunchConfig_t: as the driver's, but that the bytes of shared memory are a size_t. */
struct config {
	struct dim3	   grid, block;
	size_t		   shared;
	CUstream	   stream;
	CUlaunchAttribute *attrs;
	unsigned	   nattrs;
};

static cudaError launch_config(int own, const struct config *c, const void *handle, void **args)
{
	CUlaunchConfig config = { c->grid.x, c->grid.y, c->grid.z, c->block.x, c->block.y, c->block.z, c->shared,
				  c->stream, c->attrs, c->nattrs };
	CUfunction f;

	return function_of(handle, &f) ?: (cudaError)driver[own].cuLaunchKernelEx(&config, f, args, NULL);
}

enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE };

static cudaError copy(int own, void *dst, const void *src, size_t n, int kind)
{
	CUdeviceptr to = (uintptr_t)dst, from = (uintptr_t)src;

	switch (kind) {
	case HOST_TO_HOST:	memcpy(dst, src, n); return 0;
	case HOST_TO_DEVICE:	return driver[own].cuMemcpyHtoD(to, src, n);
	case DEVICE_TO_HOST:	return driver[own].cuMemcpyDtoH(dst, from, n);
	case DEVICE_TO_DEVICE:	return driver[own].cuMemcpyDtoD(to, from, n);
	default:		return driver[own].cuMemcpy(to, from, n);
	}
}

static cudaError copy_async(int own, void *dst, const void *src, size_t n, int kind, CUstream s)
{
	CUdeviceptr to = (uintptr_t)dst, from = (uintptr_t)src;

	switch (kind) {
	case HOST_TO_HOST:	memcpy(dst, src, n); return 0;
	case HOST_TO_DEVICE:	return driver[own].cuMemcpyHtoDAsync(to, src, n, s);
	case DEVICE_TO_HOST:	return driver[own].cuMemcpyDtoHAsync(dst, from, n, s);
	case DEVICE_TO_DEVICE:	return driver[own].cuMemcpyDtoDAsync(to, from, n, s);
	default:		return driver[own].cuMemcpyAsync(to, from, n, s);
	}
}

static cudaError set(int own, void *p, int v, size_t n)
{
	return driver[own].cuMemsetD8((uintptr_t)p, v, n);
}

/* What the host code of a program is registered by, before main(). */

EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
	struct fatbin *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->wrapper = wrapper;
	return (void **)f;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **fatbin)
{
	(void)fatbin;
}

EXPORT void __cudaUnregisterFatBinary(void **fatbin)
{
	(void)fatbin;
}

EXPORT char __cudaInitModule(void **fatbin)
{
	(void)fatbin;
	return 1;
}

EXPORT void __cudaRegisterFunction(void **fatbin, const char *host, char *device, const char *name, int threads,
				   void *tid, void *bid, void *block, void *grid, int *warp)
{
	struct kernel *k = calloc(1, sizeof(*k));

	(void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	if (!k)
		abort();
	*k = (struct kernel){ kernels, (struct fatbin *)fatbin, host, name, NULL };
	kernels = k;
}

EXPORT void __cudaRegisterVar(void **fatbin, char *host, char *device, const char *name, int ext, size_t size,
			      int constant, int global)
{
	(void)fatbin, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}

/* What stands between <<< and >>>, on its way to the stub of the kernel. */

EXPORT unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared, CUstream stream)
{
	pushed.grid = grid;
	pushed.block = block;
	pushed.shared = shared;
	pushed.stream = stream;
	return 0;
}

EXPORT cudaError __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared, CUstream *stream)
{
	*grid = pushed.grid;
	*block = pushed.block;
	*shared = pushed.shared;
	*stream = pushed.stream;
	return 0;
}

EXPORT cudaError __cudaGetKernel(const void **ret, const void *host)
{
	struct kernel *k;

	for (k = kernels; k && k->host != host; k = k->next)
		;
	if (!k)
		return cudaErrorInvalidDeviceFunction;
	*ret = k;
	return 0;
}

EXPORT cudaError cudaGetLastError(void)
{
	cudaError err = last;

	last = 0;
	return err;
}

EXPORT cudaError cudaPeekAtLastError(void)
{
	return last;
}

EXPORT const char *cudaGetErrorString(cudaError err)
{
	static __thread char text[32];

	snprintf(text, sizeof(text), "error %d", err);
	return text;
}

#define CALL(function, params, result)								\
	EXPORT cudaError function params							\
	{											\
		cudaError err = ready() ?: (cudaError)(result);					\
												\
		if (err)									\
			last = err;								\
		return err;									\
	}
#define BARE(...) __VA_ARGS__
#define TWINS(function, twin, params, does, args)						\
	CALL(function, params, does(0, BARE args))						\
	CALL(twin, params, does(1, BARE args))
#define PTSZ(function, params, does, args)	TWINS(function, function##_ptsz, params, does, args)
#define PTDS(function, params, does, args)	TWINS(function, function##_ptds, params, does, args)
/* One that is only handed on. */
#define HAND(function, to, params, args)							\
	CALL(function, params, driver[0].to args)						\
	CALL(function##_ptsz, params, driver[1].to args)

#define LAUNCH	const void *k, struct dim3 grid, struct dim3 block, void **args, size_t shared, CUstream s

PTSZ(__cudaLaunchKernel, (LAUNCH), launch, (k, grid, block, args, shared, s))
PTSZ(cudaLaunchKernel, (LAUNCH), launch, (k, grid, block, args, shared, s))
PTSZ(cudaLaunchCooperativeKernel, (LAUNCH), launch_cooperative, (k, grid, block, args, shared, s))
PTSZ(cudaLaunchKernelExC, (const struct config *c, const void *k, void **args), launch_config, (c, k, args))

CALL(cudaMalloc, (void **ret, size_t n), driver->cuMemAlloc((CUdeviceptr *)ret, n))
CALL(cudaFree, (void *p), driver->cuMemFree((uintptr_t)p))
HAND(cudaMallocAsync, cuMemAllocAsync, (void **ret, size_t n, CUstream s), ((CUdeviceptr *)ret, n, s))
HAND(cudaFreeAsync, cuMemFreeAsync, (void *p, CUstream s), ((uintptr_t)p, s))
PTDS(cudaMemcpy, (void *dst, const void *src, size_t n, int kind), copy, (dst, src, n, kind))
PTSZ(cudaMemcpyAsync, (void *dst, const void *src, size_t n, int kind, CUstream s), copy_async, (dst, src, n, kind, s))
PTDS(cudaMemset, (void *p, int v, size_t n), set, (p, v, n))

CALL(cudaDeviceSynchronize, (void), driver->cuCtxSynchronize())
CALL(cudaStreamCreate, (CUstream *ret), driver->cuStreamCreate(ret, 0))
CALL(cudaStreamCreateWithFlags, (CUstream *ret, unsigned flags), driver->cuStreamCreate(ret, flags))
CALL(cudaStreamDestroy, (CUstream s), driver->cuStreamDestroy(s))
HAND(cudaStreamSynchronize, cuStreamSynchronize, (CUstream s), (s))
HAND(cudaStreamWaitEvent, cuStreamWaitEvent, (CUstream s, CUevent e, unsigned flags), (s, e, flags))
CALL(cudaEventCreate, (CUevent *ret), driver->cuEventCreate(ret, 0))
CALL(cudaEventDestroy, (CUevent e), driver->cuEventDestroy(e))
CALL(cudaEventSynchronize, (CUevent e), driver->cuEventSynchronize(e))
HAND(cudaEventRecord, cuEventRecord, (CUevent e, CUstream s), (e, s))

HAND(cudaStreamBeginCapture, cuStreamBeginCapture, (CUstream s, int mode), (s, mode))
HAND(cudaStreamEndCapture, cuStreamEndCapture, (CUstream s, CUgraph *ret), (s, ret))
CALL(cudaGraphInstantiate, (CUgraphExec *ret, CUgraph g, unsigned long long flags),
     driver->cuGraphInstantiateWithFlags(ret, g, flags))
HAND(cudaGraphLaunch, cuGraphLaunch, (CUgraphExec e, CUstream s), (e, s))
CALL(cudaGraphExecDestroy, (CUgraphExec e), driver->cuGraphExecDestroy(e))
CALL(cudaGraphDestroy, (CUgraph g), driver->cuGraphDestroy(g))
