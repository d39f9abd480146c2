/*
 * cudriver.c - one of each kind of call of the driver API, each said on a line of its own:
 *
 *	launch NAME gx gy gz bx by bz shared STREAM result FUNCTION [cooperative] [cluster x y z]
 *	module FUNCTION BYTES result		kernel NAME HANDLE FUNCTION		stream NUMBER HANDLE
 *	alloc|free FUNCTION BYTES result	copy|set FUNCTION KIND BYTES STREAM result
 *	wait FUNCTION STREAM result
 *
 * STREAM is a number: 0 the default stream, 1 and 2 those made here, 8 CU_STREAM_LEGACY, 9 CU_STREAM_PER_THREAD.
 * Arguments: the status to end with, and a folder for a module file.
 */
#include <string.h>

#include "cu.h"

#define SIZE	4096

static CUmodule module;
static CUfunction vadd, axpy, reduce;
static CUstream stream[10] = { [8] = CU_STREAM_LEGACY, [9] = CU_STREAM_PER_THREAD };
static CUdeviceptr a, b;
static char *host;

/* The smallest that are what they are taken for: a GPU's ELF file, a fat binary, and the wrapper nvcc makes of one. */
static const struct elf {
	unsigned char  ident[16];
	unsigned short type, machine;
	unsigned       version;
	uint64_t       entry, phoff, shoff;
	unsigned       flags;
	unsigned short ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
	char	       section[64];
} elf = { { 0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33 }, 2, 190, 130, 0, 0, 64, 0, 64, 56, 0, 64, 1, 0, { 0 } };

static const struct fatbin {
	unsigned       magic;
	unsigned short version, header;
	uint64_t       size;
	char	       data[48];
} fatbin = { 0xba55ed50, 1, 16, 48, "the images of a fat binary" };

static const struct wrapper {
	unsigned    magic, version;
	const void *data, *file;
} wrapper = { 0x466243b1, 1, &fatbin, NULL };

static void say_launch(const char *name, const unsigned d[7], int s, CUresult err, const char *function)
{
	printf("launch %s %u %u %u %u %u %u %u %d %d %s\n", name, d[0], d[1], d[2], d[3], d[4], d[5], d[6], s, err,
	       function);
}

#define SAY(what, function, bytes, ...)	printf(#what " " #function " %zu %d\n", (size_t)(bytes), function(__VA_ARGS__))
#define COPY(function, kind, bytes, s, ...)									\
	printf("copy " #function " " #kind " %zu %d %d\n", (size_t)(bytes), s, function(__VA_ARGS__))
#define SET(function, bytes, s, ...)										\
	printf("set " #function " set %zu %d %d\n", (size_t)(bytes), s, function(__VA_ARGS__))
#define WAIT(function, s, ...)		printf("wait " #function " %d %d\n", s, function(__VA_ARGS__))

/* A launch with all its dimensions told apart. */
#define LAUNCH(function, f, s, gx, gy, gz, bx, by, bz, shared, ...)						\
	say_launch(#f, (unsigned[]){ gx, gy, gz, bx, by, bz, shared }, s,					\
		   function(f, gx, gy, gz, bx, by, bz, shared, stream[s], __VA_ARGS__), #function)

static void say_kernel(const char *name, const void *handle, const char *function)
{
	printf("kernel %s %p %s\n", name, handle, function);
}

static CUfunction get(const char *name)
{
	CUfunction f = cu_function(module, name);

	say_kernel(name, f, "cuModuleGetFunction");
	return f;
}

static const char *file_image(const char *folder)
{
	static char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/module.ptx", folder);
	f = fopen(path, "w");
	if (!f || fputs(CU_PTX, f) < 0 || fclose(f))
		exit(91);
	return path;
}

static void modules(const char *folder)
{
	CUfunction all[3];
	CUmodule m;

	SAY(module, cuModuleLoadData, strlen(CU_PTX), &module, CU_PTX);
	vadd = get("vadd");
	axpy = get("_Z4axpyfPfi");
	reduce = get("reduce");
	SAY(module, cuModuleLoadDataEx, sizeof(elf), &m, &elf, 0, NULL, NULL);
	say_kernel("ofelf", cu_function(m, "ofelf"), "cuModuleGetFunction");
	SAY(module, cuModuleUnload, 0, m);
	SAY(module, cuModuleLoadFatBinary, 16 + fatbin.size, &m, &fatbin);
	SAY(module, cuModuleLoad, strlen(CU_PTX), &m, file_image(folder));
	SAY(module, cuModuleEnumerateFunctions, 0, all, 3, m);
	SAY(module, cuModuleLoadData, 0, &m, "neither of them");
}

/* A kernel of a library, launched by its function and then by its own handle. */
static void libraries(void)
{
	CUfunction kernel;
	CUlibrary l;
	CUkernel k;

	SAY(module, cuLibraryLoadData, 16 + fatbin.size, &l, &wrapper, NULL, NULL, 0, NULL, NULL, 0);
	MUST(cuLibraryGetKernel(&k, l, "scale"));
	say_kernel("scale", k, "cuLibraryGetKernel");
	MUST(cuKernelGetFunction(&kernel, k));
	say_kernel("scale", kernel, "cuKernelGetFunction");
	say_launch("scale", (unsigned[]){ 2, 1, 1, 32, 1, 1, 0 }, 1,
		   cuLaunchKernel(kernel, 2, 1, 1, 32, 1, 1, 0, stream[1], NULL, NULL), "cuLaunchKernel");
	say_launch("scale", (unsigned[]){ 4, 1, 1, 32, 1, 1, 0 }, 1,
		   cuLaunchKernel((CUfunction)k, 4, 1, 1, 32, 1, 1, 0, stream[1], NULL, NULL), "cuLaunchKernel");
	SAY(module, cuLibraryUnload, 0, l);
}

static void launch_config(CUfunction f, const char *name, int s, CUlaunchAttribute *attr, const char *said)
{
	CUlaunchConfig c = { 6, 4, 2, 8, 4, 4, 512, stream[s], attr, 1 };

	printf("launch %s 6 4 2 8 4 4 512 %d %d cuLaunchKernelEx %s\n", name, s,
	       cuLaunchKernelEx(&c, f, NULL, NULL), said);
}

static void launches(void)
{
	CUlaunchAttribute cluster = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = { 2, 2, 1 } };
	CUlaunchAttribute cooperative = { .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1 };
	CUDA_LAUNCH_PARAMS list = { reduce, 10, 9, 8, 7, 6, 5, 64, stream[2], NULL };
	size_t size = 0;
	void *extra[] = { (void *)1, &size, (void *)2, &size, NULL };
	void *params[] = { &a, &b, &a, &size };

	LAUNCH(cuLaunchKernel, vadd, 0, 64, 1, 1, 256, 1, 1, 0, params, NULL);
	LAUNCH(cuLaunchKernel, vadd, 1, 7, 5, 3, 16, 8, 4, 1024, params, NULL);
	LAUNCH(cuLaunchKernel, reduce, 2, 2147483647, 65535, 65535, 1024, 1, 1, 49152, NULL, extra);
	LAUNCH(cuLaunchKernel, reduce, 8, 1, 2, 3, 4, 5, 6, 7, NULL, NULL);
	LAUNCH(cuLaunchKernel, reduce, 9, 3, 2, 1, 6, 5, 4, 8, NULL, NULL);
	LAUNCH(cuLaunchKernel_ptsz, vadd, 0, 11, 12, 13, 2, 3, 4, 16, params, NULL);
	LAUNCH(cuLaunchKernel, vadd, 1, 1, 1, 1, 1024, 2, 1, 0, params, NULL);
	LAUNCH(cuLaunchKernel, vadd, 1, 1, 0, 1, 32, 1, 1, 0, params, NULL);
	LAUNCH(cuLaunchCooperativeKernel, vadd, 2, 9, 8, 7, 6, 5, 4, 32, params);
	launch_config(axpy, "_Z4axpyfPfi", 1, &cluster, "cluster 2 2 1");
	launch_config(reduce, "reduce", 2, &cooperative, "cooperative");
	printf("launch reduce 10 9 8 7 6 5 64 2 %d cuLaunchCooperativeKernelMultiDevice\n",
	       cuLaunchCooperativeKernelMultiDevice(&list, 1, 0));
	MUST(cuFuncSetBlockShape(reduce, 12, 11, 2));
	MUST(cuFuncSetSharedSize(reduce, 96));
	printf("launch reduce 1 1 1 12 11 2 96 0 %d cuLaunch\n", cuLaunch(reduce));
	printf("launch reduce 20 21 1 12 11 2 96 0 %d cuLaunchGrid\n", cuLaunchGrid(reduce, 20, 21));
	printf("launch reduce 22 23 1 12 11 2 96 1 %d cuLaunchGridAsync\n", cuLaunchGridAsync(reduce, 22, 23, stream[1]));
}

static void memory(void)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr p;
	CUmemoryPool pool;
	size_t pitch;
	void *q;

	SAY(alloc, cuMemAlloc_v2, SIZE, &a, SIZE);
	SAY(alloc, cuMemAlloc_v2, 2 * SIZE, &b, 2 * SIZE);
	SAY(alloc, cuMemAlloc_v2, 0, &p, 0);
	SAY(alloc, cuMemHostAlloc, SIZE, (void **)&host, SIZE, 0);
	SAY(alloc, cuMemAllocPitch_v2, 512 * 10, &p, &pitch, 100, 10, 4);
	SAY(free, cuMemFree_v2, 0, p);
	SAY(alloc, cuMemAllocManaged, 300, &p, 300, 1);
	SAY(free, cuMemFree_v2, 0, p);
	SAY(alloc, cuMemAllocAsync, 400, &p, 400, stream[1]);
	SAY(free, cuMemFreeAsync, 0, p, stream[1]);
	MUST(cuDeviceGetDefaultMemPool(&pool, 0));
	SAY(alloc, cuMemAllocFromPoolAsync, 500, &p, 500, pool, stream[2]);
	SAY(free, cuMemFreeAsync, 0, p, stream[2]);
	SAY(alloc, cuMemAllocHost_v2, 600, &q, 600);
	SAY(free, cuMemFreeHost, 0, q);
	SAY(alloc, cuMemCreate, 65536, &handle, 65536, NULL, 0);
	SAY(free, cuMemRelease, 0, handle);
}

/* As many copies as are taken along, about, and more than that. */
static void long_batches(void)
{
	CUmemcpyAttributes attr = { .srcAccessOrder = 1 };
	CUdeviceptr to[1000], from[1000];
	size_t size[1000], first = 0;

	for (int i = 0; i < 1000; i++) {
		to[i] = a;
		from[i] = b;
		size[i] = 1;
	}
	COPY(cuMemcpyBatchAsync_v2, copy, 400, 1, to, from, size, 400, &attr, &first, 1, stream[1]);
	COPY(cuMemcpyBatchAsync_v2, copy, 1000, 1, to, from, size, 1000, &attr, &first, 1, stream[1]);
}

static void copies(void)
{
	CUDA_MEMCPY2D plane = { .srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = host, .srcPitch = 100, .dstPitch = 200,
				.dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = b, .WidthInBytes = 50, .Height = 4 };
	CUDA_MEMCPY3D box = { .srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = b, .srcPitch = 100, .srcHeight = 5,
			      .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = host, .dstPitch = 40, .dstHeight = 4,
			      .WidthInBytes = 30, .Height = 4, .Depth = 3 };
	CUdeviceptr to[] = { a, b }, from[] = { b, a };
	CUmemcpyAttributes attr = { .srcAccessOrder = 1 };
	size_t size[] = { 70, 80 }, first = 0, failed;

	COPY(cuMemcpyHtoD_v2, HtoD, 1001, 0, a, host, 1001);
	COPY(cuMemcpyHtoD_v2_ptds, HtoD, 1002, 0, a, host, 1002);
	COPY(cuMemcpyDtoH_v2, DtoH, 1003, 0, host, a, 1003);
	COPY(cuMemcpyDtoD_v2, DtoD, 1004, 0, b, a, 1004);
	COPY(cuMemcpy, copy, 1005, 0, b, a, 1005);
	COPY(cuMemcpyPeer, peer, 1006, 0, b, NULL, a, NULL, 1006);
	COPY(cuMemcpyHtoDAsync_v2, HtoD, 1007, 1, a, host, 1007, stream[1]);
	COPY(cuMemcpyDtoHAsync_v2, DtoH, 1008, 2, host, a, 1008, stream[2]);
	COPY(cuMemcpyDtoHAsync_v2_ptsz, DtoH, 1009, 0, host, a, 1009, NULL);
	COPY(cuMemcpyDtoDAsync_v2, DtoD, 1010, 1, b, a, 1010, stream[1]);
	COPY(cuMemcpyAsync, copy, 1011, 1, b, a, 1011, stream[1]);
	COPY(cuMemcpy2D_v2, HtoD, 200, 0, &plane);
	COPY(cuMemcpy2DAsync_v2, HtoD, 200, 2, &plane, stream[2]);
	COPY(cuMemcpy3D_v2, DtoH, 360, 0, &box);
	COPY(cuMemcpy3DAsync_v2, DtoH, 360, 1, &box, stream[1]);
	COPY(cuMemcpyBatchAsync, copy, 150, 1, to, from, size, 2, &attr, &first, 1, &failed, stream[1]);
	COPY(cuMemcpyBatchAsync_v2, copy, 150, 2, to, from, size, 2, &attr, &first, 1, stream[2]);
	long_batches();
	COPY(cuMemcpyHtoD_v2, HtoD, 77, 0, 0, host, 77);

	SET(cuMemsetD8_v2, 333, 0, a, 1, 333);
	SET(cuMemsetD16_v2, 2 * 333, 0, a, 2, 333);
	SET(cuMemsetD32_v2, 4 * 333, 0, a, 3, 333);
	SET(cuMemsetD32Async, 4 * 100, 1, a, 4, 100, stream[1]);
	SET(cuMemsetD2D8_v2, 30 * 4, 0, b, 64, 5, 30, 4);
	SET(cuMemsetD2D32Async, 4 * 10 * 3, 2, b, 64, 6, 10, 3, stream[2]);
}

static void called(void *user)
{
	*(int *)user += 1;
}

static void waits(void)
{
	CUevent event;
	int calls = 0;

	MUST(cuEventCreate(&event, 0));
	MUST(cuEventRecord(event, stream[1]));
	MUST(cuStreamWaitEvent(stream[2], event, 0));
	MUST(cuLaunchHostFunc(stream[1], called, &calls));
	WAIT(cuEventSynchronize, 1, event);
	WAIT(cuEventQuery, 1, event);
	WAIT(cuStreamSynchronize, 1, stream[1]);
	WAIT(cuStreamSynchronize, 2, stream[2]);
	WAIT(cuStreamSynchronize_ptsz, 0, NULL);
	WAIT(cuStreamSynchronize, 0, NULL);
	WAIT(cuStreamQuery, 1, stream[1]);
	WAIT(cuCtxSynchronize, -1);
	WAIT(cuCtxSynchronize_v2, -1, NULL);
	printf("host function called %d times\n", calls);
	MUST(cuEventDestroy_v2(event));
}

int main(int argc, char **argv)
{
	CUcontext ctx;
	CUdevice device;

	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuDevicePrimaryCtxRetain(&ctx, device));
	MUST(cuCtxSetCurrent(ctx));
	MUST(cuStreamCreate(&stream[1], 0));
	MUST(cuStreamCreateWithPriority(&stream[2], 1, -1));
	printf("stream 1 %p\nstream 2 %p\n", (void *)stream[1], (void *)stream[2]);

	modules(argc > 2 ? argv[2] : ".");
	libraries();
	memory();
	launches();
	copies();
	waits();

	SAY(free, cuMemFree_v2, 0, a);
	SAY(free, cuMemFree_v2, 0, b);
	SAY(free, cuMemFreeHost, 0, host);
	MUST(cuStreamDestroy_v2(stream[1]));
	MUST(cuStreamDestroy_v2(stream[2]));
	return argc > 1 ? atoi(argv[1]) : 0;
}
