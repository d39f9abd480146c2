/* cuptioffsets.c - are the places in src/inject/cuptiapi.h those of the toolkit's header? Compiled where that is there. */
#include <cupti.h>

#include "../../src/inject/cuptiapi.h"

#define SAME(ours, field, theirs, name)										\
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, name) &&				\
		       sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->name), #theirs "." #name)

SAME(activity_call, cbid, CUpti_ActivityAPI, cbid);
SAME(activity_call, start, CUpti_ActivityAPI, start);
SAME(activity_call, end, CUpti_ActivityAPI, end);
SAME(activity_call, thread, CUpti_ActivityAPI, threadId);
SAME(activity_call, correlation, CUpti_ActivityAPI, correlationId);

#define SAME_KERNEL(theirs)										\
	SAME(activity_kernel, regs, theirs, registersPerThread);					\
	SAME(activity_kernel, start, theirs, start);							\
	SAME(activity_kernel, end, theirs, end);							\
	SAME(activity_kernel, device, theirs, deviceId);						\
	SAME(activity_kernel, context, theirs, contextId);						\
	SAME(activity_kernel, stream, theirs, streamId);						\
	SAME(activity_kernel, grid[0], theirs, gridX);							\
	SAME(activity_kernel, block[0], theirs, blockX);						\
	SAME(activity_kernel, correlation, theirs, correlationId);					\
	SAME(activity_kernel, queued, theirs, queued);							\
	SAME(activity_kernel, graph_node, theirs, graphNodeId)

SAME_KERNEL(CUpti_ActivityKernel6);
SAME_KERNEL(CUpti_ActivityKernel7);
SAME_KERNEL(CUpti_ActivityKernel8);
SAME_KERNEL(CUpti_ActivityKernel9);
SAME_KERNEL(CUpti_ActivityKernel10);

#define SAME_COPY(ours, theirs)										\
	SAME(ours, bytes, theirs, bytes);								\
	SAME(ours, start, theirs, start);								\
	SAME(ours, end, theirs, end);									\
	SAME(ours, device, theirs, deviceId);								\
	SAME(ours, context, theirs, contextId);								\
	SAME(ours, stream, theirs, streamId);								\
	SAME(ours, correlation, theirs, correlationId);							\
	SAME(ours, graph_node, theirs, graphNodeId)

SAME_COPY(activity_copy, CUpti_ActivityMemcpy4);
SAME_COPY(activity_copy, CUpti_ActivityMemcpy6);
SAME(activity_copy, how, CUpti_ActivityMemcpy6, copyKind);
SAME_COPY(activity_peer_copy, CUpti_ActivityMemcpyPtoP3);
SAME_COPY(activity_peer_copy, CUpti_ActivityMemcpyPtoP4);
SAME_COPY(activity_set, CUpti_ActivityMemset3);
SAME_COPY(activity_set, CUpti_ActivityMemset4);

_Static_assert(ACTIVITY_MEMCPY == CUPTI_ACTIVITY_KIND_MEMCPY && ACTIVITY_MEMSET == CUPTI_ACTIVITY_KIND_MEMSET &&
	       ACTIVITY_DRIVER == CUPTI_ACTIVITY_KIND_DRIVER && ACTIVITY_MEMCPY2 == CUPTI_ACTIVITY_KIND_MEMCPY2 &&
	       ACTIVITY_CONCURRENT_KERNEL == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kinds");
_Static_assert(CUPTI_DRIVER_DOMAIN == CUPTI_CB_DOMAIN_DRIVER_API && CUPTI_FLUSH_FORCED == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED &&
	       CUPTI_ONE_SUBSCRIBER == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
	       CUPTI_SYSTEM_THREADS == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM, "numbers");
