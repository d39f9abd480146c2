/*
 * memory.c - the stand-in driver: memory, copies, sets. Device memory is host memory, a "device pointer" its address.
 *
 * Every copy is a box, of one row and one layer where it has fewer dimensions. Those that wait for their end wait for
 * the default stream first; those that do not are done at once, or become nodes of a graph.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake.h"

static CUresult alloc(enum bytes kind, void *ret, size_t n)
{
	void *p = n ? aligned_alloc(256, (n + 255) & ~(size_t)255) : NULL;

	if (!n)
		return CUDA_ERROR_INVALID_VALUE;
	if (!p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*(void **)ret = p;
	count_bytes(kind, n);
	return CUDA_SUCCESS;
}

static CUresult alloc_pitch(CUdeviceptr *ret, size_t *pitch, size_t width, size_t height)
{
	*pitch = (width + 511) & ~(size_t)511;
	return alloc(BYTES_ALLOC, ret, *pitch * height);
}

static CUresult alloc_async(int per_thread, CUdeviceptr *ret, size_t n, CUstream s)
{
	(void)stream_of(per_thread, s);
	return alloc(BYTES_ALLOC, ret, n);
}

static CUresult release(CUdeviceptr p)
{
	free((void *)p);
	return CUDA_SUCCESS;
}

/* What was asked of the stream is done by now, but for its kernels, which touch nothing. */
static CUresult release_async(int per_thread, CUdeviceptr p, CUstream s)
{
	(void)stream_of(per_thread, s);
	return release(p);
}

static CUresult give(void *ret, uint64_t value)
{
	*(uint64_t *)ret = value;
	return CUDA_SUCCESS;
}

static CUresult mem_create(CUmemGenericAllocationHandle *ret, size_t size)
{
	static uint64_t handles;

	count_bytes(BYTES_ALLOC, size);
	return give(ret, __atomic_add_fetch(&handles, 1, __ATOMIC_RELAXED));
}

static CUresult reserve(CUdeviceptr *ret, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : give(ret, (uintptr_t)p);
}

static CUresult unreserve(CUdeviceptr p, size_t size)
{
	return munmap((void *)p, size) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* Pools are not told apart: a handle is all there is of one. */
static CUresult pool(CUmemoryPool *ret)
{
	static char one;

	*ret = (CUmemoryPool)&one;
	return CUDA_SUCCESS;
}

void copy_run(const CUDA_MEMCPY3D *c)
{
	const char *src = c->srcMemoryType == CU_MEMORYTYPE_HOST ? c->srcHost : (const char *)c->srcDevice;
	char *dst = c->dstMemoryType == CU_MEMORYTYPE_HOST ? c->dstHost : (char *)c->dstDevice;

	for (size_t z = 0; z < c->Depth; z++)
		for (size_t y = 0; y < c->Height; y++)
			memmove(dst + c->dstXInBytes + (c->dstY + y + (c->dstZ + z) * c->dstHeight) * c->dstPitch,
				src + c->srcXInBytes + (c->srcY + y + (c->srcZ + z) * c->srcHeight) * c->srcPitch,
				c->WidthInBytes);
}

void set_run(const CUDA_MEMSET_NODE_PARAMS *s)
{
	for (size_t y = 0; y < s->height; y++)
		for (size_t x = 0; x < s->width; x++)
			memcpy((char *)s->dst + y * s->pitch + x * s->elementSize, &s->value, s->elementSize);
}

CUresult copy_kind(enum bytes *kind, const CUDA_MEMCPY3D *c)
{
	static const enum bytes of[2][2] = { { BYTES_HTOH, BYTES_HTOD }, { BYTES_DTOH, BYTES_DTOD } };
	unsigned from = c->srcMemoryType, to = c->dstMemoryType;

	if (from == CU_MEMORYTYPE_ARRAY || to == CU_MEMORYTYPE_ARRAY)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!from || !to || from > CU_MEMORYTYPE_UNIFIED || to > CU_MEMORYTYPE_UNIFIED)
		return CUDA_ERROR_INVALID_VALUE;
	if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
		*kind = BYTES_COPY;
	else
		*kind = of[from == CU_MEMORYTYPE_DEVICE][to == CU_MEMORYTYPE_DEVICE];
	return CUDA_SUCCESS;
}

static CUresult copy_op(CUstream s, int waits, enum bytes kind, const CUDA_MEMCPY3D *c)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_MEMCPY, .kind = kind, .copy = *c };

	return (waits ? stream_wait(s) : CUDA_SUCCESS) ?: stream_op(s, &op);
}

/* One row. The pointers are taken as they are, of whatever memory. */
static CUresult copy_row(CUstream s, int waits, enum bytes kind, uint64_t dst, uint64_t src, size_t n)
{
	CUDA_MEMCPY3D c = { .srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = src,
			    .dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = dst,
			    .WidthInBytes = n, .Height = 1, .Depth = 1 };

	if (n && (!dst || !src))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_op(s, waits, kind, &c);
}

static CUresult copy(int per_thread, enum bytes kind, uint64_t dst, uint64_t src, size_t n)
{
	return copy_row(stream_of(per_thread, NULL), 1, kind, dst, src, n);
}

static CUresult copy_async(int per_thread, enum bytes kind, uint64_t dst, uint64_t src, size_t n, CUstream s)
{
	return copy_row(stream_of(per_thread, s), 0, kind, dst, src, n);
}

static CUresult copy_box(int per_thread, const CUDA_MEMCPY3D *c, int waits, CUstream s)
{
	enum bytes kind;

	return copy_kind(&kind, c) ?: copy_op(stream_of(per_thread, s), waits, kind, c);
}

static CUresult copy_box_peer(int per_thread, const CUDA_MEMCPY3D *c, int waits, CUstream s)
{
	enum bytes kind;

	return copy_kind(&kind, c) ?: copy_op(stream_of(per_thread, s), waits, BYTES_PEER, c);
}

static CUresult copy_plane(int per_thread, const CUDA_MEMCPY2D *c, int waits, CUstream s)
{
	CUDA_MEMCPY3D box = {
		.srcXInBytes = c->srcXInBytes, .srcY = c->srcY, .srcMemoryType = c->srcMemoryType,
		.srcHost = c->srcHost, .srcDevice = c->srcDevice, .srcPitch = c->srcPitch ?: c->WidthInBytes,
		.dstXInBytes = c->dstXInBytes, .dstY = c->dstY, .dstMemoryType = c->dstMemoryType,
		.dstHost = c->dstHost, .dstDevice = c->dstDevice, .dstPitch = c->dstPitch ?: c->WidthInBytes,
		.WidthInBytes = c->WidthInBytes, .Height = c->Height, .Depth = 1,
	};

	return copy_box(per_thread, &box, waits, s);
}

static CUresult copy_many(int per_thread, CUdeviceptr *dst, CUdeviceptr *src, size_t *size, size_t n, CUstream s)
{
	CUresult err = CUDA_SUCCESS;

	for (size_t i = 0; i < n && !err; i++)
		err = copy_async(per_thread, BYTES_COPY, dst[i], src[i], size[i], s);
	return err;
}

static CUresult copy_boxes(int per_thread, size_t n, const CUDA_MEMCPY3D_BATCH_OP *op, CUstream s)
{
	CUresult err = CUDA_SUCCESS;

	for (size_t i = 0; i < n && !err; i++) {
		CUDA_MEMCPY3D c = {
			.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = op[i].src.op.ptr.ptr,
			.srcPitch = op[i].src.op.ptr.rowLength ?: op[i].extent.width,
			.srcHeight = op[i].src.op.ptr.layerHeight ?: op[i].extent.height,
			.dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = op[i].dst.op.ptr.ptr,
			.dstPitch = op[i].dst.op.ptr.rowLength ?: op[i].extent.width,
			.dstHeight = op[i].dst.op.ptr.layerHeight ?: op[i].extent.height,
			.WidthInBytes = op[i].extent.width, .Height = op[i].extent.height, .Depth = op[i].extent.depth,
		};

		if (op[i].src.type != 1 || op[i].dst.type != 1)
			return CUDA_ERROR_NOT_SUPPORTED;
		err = copy_box(per_thread, &c, 0, s);
	}
	return err;
}

static CUresult set(int per_thread, CUstream s, unsigned size, CUdeviceptr dst, size_t pitch, unsigned value,
		    size_t width, size_t height)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_MEMSET, .kind = BYTES_SET,
			 .set = { dst, pitch, value, size, width, height } };

	return dst ? stream_op(stream_of(per_thread, s), &op) : CUDA_ERROR_INVALID_VALUE;
}

#define AT(p) ((uint64_t)(uintptr_t)(p))

CALL(cuMemAlloc_v2, (CUdeviceptr *ret, size_t n), alloc(BYTES_ALLOC, ret, n))
CALL(cuMemAllocPitch_v2, (CUdeviceptr *ret, size_t *pitch, size_t width, size_t height, unsigned element),
     ((void)element, alloc_pitch(ret, pitch, width, height)))
CALL(cuMemAllocManaged, (CUdeviceptr *ret, size_t n, unsigned flags), ((void)flags, alloc(BYTES_MANAGED, ret, n)))
PTSZ(cuMemAllocAsync, (CUdeviceptr *ret, size_t n, CUstream s), alloc_async, (ret, n, s))
PTSZ(cuMemAllocFromPoolAsync, (CUdeviceptr *ret, size_t n, CUmemoryPool from, CUstream s), alloc_async,
     (ret, n, ((void)from, s)))
CALL(cuMemHostAlloc, (void **ret, size_t n, unsigned flags), ((void)flags, alloc(BYTES_HOST, ret, n)))
CALL(cuMemAllocHost_v2, (void **ret, size_t n), alloc(BYTES_HOST, ret, n))
CALL(cuMemFree_v2, (CUdeviceptr p), release(p))
PTSZ(cuMemFreeAsync, (CUdeviceptr p, CUstream s), release_async, (p, s))
CALL(cuMemFreeHost, (void *p), release(AT(p)))

CALL(cuMemCreate, (CUmemGenericAllocationHandle *ret, size_t size, const void *prop, unsigned long long flags),
     ((void)prop, (void)flags, mem_create(ret, size)))
CALL(cuMemRelease, (CUmemGenericAllocationHandle h), h ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
CALL(cuMemAddressReserve, (CUdeviceptr *ret, size_t size, size_t align, CUdeviceptr at, unsigned long long flags),
     ((void)align, (void)at, (void)flags, reserve(ret, size)))
CALL(cuMemAddressFree, (CUdeviceptr p, size_t size), unreserve(p, size))
CALL(cuMemMap, (CUdeviceptr p, size_t size, size_t offset, CUmemGenericAllocationHandle h, unsigned long long flags),
     ((void)offset, (void)flags, p && size && h ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
CALL(cuMemUnmap, (CUdeviceptr p, size_t size), p && size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
CALL(cuMemSetAccess, (CUdeviceptr p, size_t size, const void *desc, size_t n),
     ((void)desc, (void)n, p && size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
INITED(cuMemPoolCreate, (CUmemoryPool *ret, const void *props), ((void)props, pool(ret)))
INITED(cuMemPoolDestroy, (CUmemoryPool p), p ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
INITED(cuDeviceGetDefaultMemPool, (CUmemoryPool *ret, CUdevice device), ((void)device, pool(ret)))

PTDS(cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t n), copy, (BYTES_COPY, dst, src, n))
PTDS(cuMemcpyHtoD_v2, (CUdeviceptr dst, const void *src, size_t n), copy, (BYTES_HTOD, dst, AT(src), n))
PTDS(cuMemcpyDtoH_v2, (void *dst, CUdeviceptr src, size_t n), copy, (BYTES_DTOH, AT(dst), src, n))
PTDS(cuMemcpyDtoD_v2, (CUdeviceptr dst, CUdeviceptr src, size_t n), copy, (BYTES_DTOD, dst, src, n))
PTDS(cuMemcpyPeer, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n), copy,
     (BYTES_PEER, ((void)to, dst), ((void)from, src), n))
PTSZ(cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s), copy_async, (BYTES_COPY, dst, src, n, s))
PTSZ(cuMemcpyHtoDAsync_v2, (CUdeviceptr dst, const void *src, size_t n, CUstream s), copy_async,
     (BYTES_HTOD, dst, AT(src), n, s))
PTSZ(cuMemcpyDtoHAsync_v2, (void *dst, CUdeviceptr src, size_t n, CUstream s), copy_async,
     (BYTES_DTOH, AT(dst), src, n, s))
PTSZ(cuMemcpyDtoDAsync_v2, (CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s), copy_async,
     (BYTES_DTOD, dst, src, n, s))
PTSZ(cuMemcpyPeerAsync, (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n, CUstream s),
     copy_async, (BYTES_PEER, ((void)to, dst), ((void)from, src), n, s))

PTDS(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *c), copy_plane, (c, 1, NULL))
PTDS(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *c), copy_plane, (c, 1, NULL))
PTSZ(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *c, CUstream s), copy_plane, (c, 0, s))
PTDS(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *c), copy_box, (c, 1, NULL))
PTSZ(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *c, CUstream s), copy_box, (c, 0, s))
PTDS(cuMemcpy3DPeer, (const CUDA_MEMCPY3D *c), copy_box_peer, (c, 1, NULL))
PTSZ(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D *c, CUstream s), copy_box_peer, (c, 0, s))
PTSZ(cuMemcpyBatchAsync, (CUdeviceptr *dst, CUdeviceptr *src, size_t *size, size_t n, CUmemcpyAttributes *attrs,
			  size_t *of, size_t nattrs, size_t *failed, CUstream s), copy_many,
     (dst, src, size, ((void)attrs, (void)of, (void)nattrs, (void)failed, n), s))
PTSZ(cuMemcpyBatchAsync_v2, (CUdeviceptr *dst, CUdeviceptr *src, size_t *size, size_t n, CUmemcpyAttributes *attrs,
			     size_t *of, size_t nattrs, CUstream s), copy_many,
     (dst, src, size, ((void)attrs, (void)of, (void)nattrs, n), s))
PTSZ(cuMemcpy3DBatchAsync, (size_t n, CUDA_MEMCPY3D_BATCH_OP *op, size_t *failed, unsigned long long flags, CUstream s),
     copy_boxes, (n, op, ((void)failed, (void)flags, s)))
PTSZ(cuMemcpy3DBatchAsync_v2, (size_t n, CUDA_MEMCPY3D_BATCH_OP *op, unsigned long long flags, CUstream s), copy_boxes,
     (n, op, ((void)flags, s)))

PTDS(cuMemsetD8_v2, (CUdeviceptr dst, unsigned char v, size_t n), set, (NULL, 1, dst, 0, v, n, 1))
PTDS(cuMemsetD16_v2, (CUdeviceptr dst, unsigned short v, size_t n), set, (NULL, 2, dst, 0, v, n, 1))
PTDS(cuMemsetD32_v2, (CUdeviceptr dst, unsigned v, size_t n), set, (NULL, 4, dst, 0, v, n, 1))
PTDS(cuMemsetD2D8_v2, (CUdeviceptr dst, size_t pitch, unsigned char v, size_t w, size_t h), set,
     (NULL, 1, dst, pitch, v, w, h))
PTDS(cuMemsetD2D16_v2, (CUdeviceptr dst, size_t pitch, unsigned short v, size_t w, size_t h), set,
     (NULL, 2, dst, pitch, v, w, h))
PTDS(cuMemsetD2D32_v2, (CUdeviceptr dst, size_t pitch, unsigned v, size_t w, size_t h), set,
     (NULL, 4, dst, pitch, v, w, h))
PTSZ(cuMemsetD8Async, (CUdeviceptr dst, unsigned char v, size_t n, CUstream s), set, (s, 1, dst, 0, v, n, 1))
PTSZ(cuMemsetD16Async, (CUdeviceptr dst, unsigned short v, size_t n, CUstream s), set, (s, 2, dst, 0, v, n, 1))
PTSZ(cuMemsetD32Async, (CUdeviceptr dst, unsigned v, size_t n, CUstream s), set, (s, 4, dst, 0, v, n, 1))
PTSZ(cuMemsetD2D8Async, (CUdeviceptr dst, size_t pitch, unsigned char v, size_t w, size_t h, CUstream s), set,
     (s, 1, dst, pitch, v, w, h))
PTSZ(cuMemsetD2D16Async, (CUdeviceptr dst, size_t pitch, unsigned short v, size_t w, size_t h, CUstream s), set,
     (s, 2, dst, pitch, v, w, h))
PTSZ(cuMemsetD2D32Async, (CUdeviceptr dst, size_t pitch, unsigned v, size_t w, size_t h, CUstream s), set,
     (s, 4, dst, pitch, v, w, h))
