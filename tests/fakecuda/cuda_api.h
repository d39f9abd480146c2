/*
 * cuda_api.h - as much of the published CUDA driver API as the stand-in and its programs use, in our own words.
 *
 * Written so that nothing here needs a CUDA toolkit. Names, numbers and layouts are those of the toolkit's cuda.h;
 * the places that the recorder relies on are asserted below, and offsets.c holds them against the real header
 * where there is one.
 */
#ifndef FAKECUDA_CUDA_API_H
#define FAKECUDA_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
	CUDA_SUCCESS			= 0,
	CUDA_ERROR_INVALID_VALUE	= 1,
	CUDA_ERROR_OUT_OF_MEMORY	= 2,
	CUDA_ERROR_NOT_INITIALIZED	= 3,
	CUDA_ERROR_INVALID_DEVICE	= 101,
	CUDA_ERROR_INVALID_IMAGE	= 200,
	CUDA_ERROR_INVALID_CONTEXT	= 201,
	CUDA_ERROR_FILE_NOT_FOUND	= 301,
	CUDA_ERROR_INVALID_HANDLE	= 400,
	CUDA_ERROR_ILLEGAL_STATE	= 401,
	CUDA_ERROR_NOT_FOUND		= 500,
	CUDA_ERROR_NOT_READY		= 600,
	CUDA_ERROR_NOT_SUPPORTED	= 801,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
	CUDA_ERROR_STREAM_CAPTURE_MERGE	= 902,
	CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
	CUDA_ERROR_CAPTURED_EVENT	= 907,
	CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
} CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUlib_st *CUlibrary;
typedef struct CUfunc_st *CUfunction;
typedef struct CUkern_st *CUkernel;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct { char bytes[16]; } CUuuid;
typedef void (*CUhostFn)(void *user);

#define CU_STREAM_LEGACY	((CUstream)1)
#define CU_STREAM_PER_THREAD	((CUstream)2)

enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED };

enum {	/* CUdevice_attribute, those answered with something other than 0 */
	CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
	CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
	CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
	CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
	CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
	CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
};

enum { CU_GET_PROC_ADDRESS_SUCCESS, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT };
enum { CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2 };
enum { CU_STREAM_CAPTURE_STATUS_NONE, CU_STREAM_CAPTURE_STATUS_ACTIVE };
enum { CU_GRAPH_EXEC_UPDATE_SUCCESS, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2 };

typedef enum {
	CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMSET, CU_GRAPH_NODE_TYPE_HOST,
	CU_GRAPH_NODE_TYPE_GRAPH, CU_GRAPH_NODE_TYPE_EMPTY,
} CUgraphNodeType;

enum { CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4 };

typedef union {
	char	 pad[64];
	int	 cooperative;
	struct { unsigned x, y, z; } clusterDim;
} CUlaunchAttributeValue;

typedef struct {
	int	 id;
	char	 pad[4];
	CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct {
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned numAttrs;
} CUlaunchConfig;

typedef struct {
	CUfunction func;
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	void   **kernelParams;
	void   **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct {
	CUfunction func;
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	void   **kernelParams;
	void   **extra;
	CUkernel kern;			/* used when func is NULL */
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;

typedef struct {
	CUfunction function;
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	CUstream hStream;
	void   **kernelParams;
} CUDA_LAUNCH_PARAMS;

typedef struct {
	size_t	    srcXInBytes, srcY;
	unsigned    srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	void	   *srcArray;
	size_t	    srcPitch;
	size_t	    dstXInBytes, dstY;
	unsigned    dstMemoryType;
	void	   *dstHost;
	CUdeviceptr dstDevice;
	void	   *dstArray;
	size_t	    dstPitch;
	size_t	    WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct {			/* the peer version has a context where the reserved pointers are */
	size_t	    srcXInBytes, srcY, srcZ, srcLOD;
	unsigned    srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	void	   *srcArray;
	void	   *reserved0;
	size_t	    srcPitch, srcHeight;
	size_t	    dstXInBytes, dstY, dstZ, dstLOD;
	unsigned    dstMemoryType;
	void	   *dstHost;
	CUdeviceptr dstDevice;
	void	   *dstArray;
	void	   *reserved1;
	size_t	    dstPitch, dstHeight;
	size_t	    WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

typedef struct { int type, id; } CUmemLocation;

typedef struct {
	int	    type;		/* 1: a pointer, 2: an array */
	union {
		struct {
			CUdeviceptr   ptr;
			size_t	      rowLength, layerHeight;
			CUmemLocation locHint;
		} ptr;
		struct {
			void  *array;
			size_t offset[3];
		} array;
	} op;
} CUmemcpy3DOperand;

typedef struct {
	CUmemcpy3DOperand src, dst;
	struct { size_t width, height, depth; } extent;
	int	    srcAccessOrder;
	unsigned    flags;
} CUDA_MEMCPY3D_BATCH_OP;

typedef struct {
	int	      srcAccessOrder;
	CUmemLocation srcLocHint, dstLocHint;
	unsigned      flags;
} CUmemcpyAttributes;

typedef struct {
	CUdeviceptr dst;
	size_t	    pitch;
	unsigned    value, elementSize;
	size_t	    width, height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct {
	CUhostFn fn;
	void	*userData;
} CUDA_HOST_NODE_PARAMS;

typedef struct {
	int	  flags, reserved;
	CUcontext copyCtx;
	CUDA_MEMCPY3D copyParams;
} CUDA_MEMCPY_NODE_PARAMS;

typedef struct {
	CUgraphNodeType type;
	int	  reserved0[3];
	union {
		long long		   reserved1[29];
		CUDA_KERNEL_NODE_PARAMS_v2 kernel;
		CUDA_MEMCPY_NODE_PARAMS	   memcpy;
		CUDA_MEMSET_NODE_PARAMS	   memset;
		CUDA_HOST_NODE_PARAMS	   host;
		CUgraph			   graph;
	};
	long long reserved2;
} CUgraphNodeParams;

typedef struct {
	uint64_t    flags;
	CUstream    hUploadStream;
	CUgraphNode hErrNode_out;
	int	    result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;

typedef struct {
	int	    result;
	CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;

#define CUDA_API_AT(type, field, at) _Static_assert(offsetof(type, field) == (at), #type "." #field)
#define CUDA_API_SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#include "offsets.h"

/* What the programs call; the names of the library, not those that cuda.h's macros turn into them. */
#define KERNEL_SHAPE	unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared

CUresult cuInit(unsigned flags);
CUresult cuGetProcAddress(const char *name, void **ret, int version, uint64_t flags);
CUresult cuGetProcAddress_v2(const char *name, void **ret, int version, uint64_t flags, int *status);
CUresult cuGetExportTable(const void **table, const CUuuid *id);
CUresult cuDeviceGet(CUdevice *ret, int ordinal);
CUresult cuDevicePrimaryCtxRetain(CUcontext *ret, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *ret, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext ctx);
CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuCtxSynchronize(void);
CUresult cuCtxSynchronize_v2(CUcontext ctx);

CUresult cuModuleLoad(CUmodule *ret, const char *path);
CUresult cuModuleLoadData(CUmodule *ret, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *ret, const void *image, unsigned n, int *options, void **values);
CUresult cuModuleLoadFatBinary(CUmodule *ret, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *ret, CUmodule module, const char *name);
CUresult cuModuleEnumerateFunctions(CUfunction *ret, unsigned n, CUmodule module);
CUresult cuLibraryLoadData(CUlibrary *ret, const void *image, int *jit, void **jit_values, unsigned jits, int *options,
			   void **values, unsigned n);
CUresult cuLibraryGetKernel(CUkernel *ret, CUlibrary library, const char *name);
CUresult cuLibraryGetModule(CUmodule *ret, CUlibrary library);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuKernelGetFunction(CUfunction *ret, CUkernel kernel);
CUresult cuKernelGetName(const char **ret, CUkernel kernel);
CUresult cuFuncGetName(const char **ret, CUfunction function);

CUresult cuLaunchKernel(CUfunction f, KERNEL_SHAPE, CUstream stream, void **params, void **extra);
CUresult cuLaunchKernel_ptsz(CUfunction f, KERNEL_SHAPE, CUstream stream, void **params, void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction f, void **params, void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction f, KERNEL_SHAPE, CUstream stream, void **params);
CUresult cuLaunchCooperativeKernel_ptsz(CUfunction f, KERNEL_SHAPE, CUstream stream, void **params);
CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *list, unsigned n, unsigned flags);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *user);
CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z);
CUresult cuFuncSetSharedSize(CUfunction f, unsigned bytes);
CUresult cuLaunch(CUfunction f);
CUresult cuLaunchGrid(CUfunction f, int width, int height);
CUresult cuLaunchGridAsync(CUfunction f, int width, int height, CUstream stream);

CUresult cuMemAlloc_v2(CUdeviceptr *ret, size_t n);
CUresult cuMemAllocPitch_v2(CUdeviceptr *ret, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemAllocManaged(CUdeviceptr *ret, size_t n, unsigned flags);
CUresult cuMemAllocAsync(CUdeviceptr *ret, size_t n, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ret, size_t n, CUmemoryPool pool, CUstream stream);
CUresult cuMemHostAlloc(void **ret, size_t n, unsigned flags);
CUresult cuMemAllocHost_v2(void **ret, size_t n);
CUresult cuMemCreate(CUmemGenericAllocationHandle *ret, size_t n, const void *prop, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemFree_v2(CUdeviceptr p);
CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream);
CUresult cuMemFreeHost(void *p);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *ret, CUdevice device);
CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t n);
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream stream);
CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n);
CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void *src, size_t n);
CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr dst, const void *src, size_t n);
CUresult cuMemcpyDtoH_v2(void *dst, CUdeviceptr src, size_t n);
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dst, const void *src, size_t n, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *dst, CUdeviceptr src, size_t n, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2_ptsz(void *dst, CUdeviceptr src, size_t n, CUstream stream);
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream stream);
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D *copy);
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream);
CUresult cuMemcpyBatchAsync(CUdeviceptr *dst, CUdeviceptr *src, size_t *size, size_t n, CUmemcpyAttributes *attrs,
			    size_t *of, size_t nattrs, size_t *failed, CUstream stream);
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dst, CUdeviceptr *src, size_t *size, size_t n, CUmemcpyAttributes *attrs,
			       size_t *of, size_t nattrs, CUstream stream);
CUresult cuMemsetD8_v2(CUdeviceptr dst, unsigned char v, size_t n);
CUresult cuMemsetD16_v2(CUdeviceptr dst, unsigned short v, size_t n);
CUresult cuMemsetD32_v2(CUdeviceptr dst, unsigned v, size_t n);
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned v, size_t n, CUstream stream);
CUresult cuMemsetD2D8_v2(CUdeviceptr dst, size_t pitch, unsigned char v, size_t width, size_t height);
CUresult cuMemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned v, size_t width, size_t height, CUstream stream);

CUresult cuStreamCreate(CUstream *ret, unsigned flags);
CUresult cuStreamCreateWithPriority(CUstream *ret, unsigned flags, int priority);
CUresult cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamSynchronize_ptsz(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuEventCreate(CUevent *ret, unsigned flags);
CUresult cuEventDestroy_v2(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventQuery(CUevent event);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *after, const void *edges,
				     size_t n, int mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *ret);
CUresult cuStreamIsCapturing(CUstream stream, int *status);

CUresult cuGraphCreate(CUgraph *ret, unsigned flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphClone(CUgraph *ret, CUgraph graph);
CUresult cuGraphNodeFindInClone(CUgraphNode *ret, CUgraphNode origin, CUgraph clone);
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type);
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *kernel);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n);
CUresult cuGraphAddKernelNode(CUgraphNode *ret, CUgraph graph, const CUgraphNode *after, size_t n,
			      const CUDA_KERNEL_NODE_PARAMS_v1 *kernel);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *ret, CUgraph graph, const CUgraphNode *after, size_t n,
				 const CUDA_KERNEL_NODE_PARAMS_v2 *kernel);
CUresult cuGraphAddChildGraphNode(CUgraphNode *ret, CUgraph graph, const CUgraphNode *after, size_t n, CUgraph child);
CUresult cuGraphAddNode_v2(CUgraphNode *ret, CUgraph graph, const CUgraphNode *after, const void *edges, size_t n,
			   CUgraphNodeParams *params);
CUresult cuGraphInstantiate(CUgraphExec *ret, CUgraph graph, CUgraphNode *node, char *log, size_t n);
CUresult cuGraphInstantiate_v2(CUgraphExec *ret, CUgraph graph, CUgraphNode *node, char *log, size_t n);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *ret, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiateWithParams(CUgraphExec *ret, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *kernel);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuGraphExecDestroy(CUgraphExec exec);

/* Of the stand-in alone: tell the truth now, and count anew. For a program that is about to exec(). */
void fakecuda_tell(void) __attribute__((weak));

#endif
