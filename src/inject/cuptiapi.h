/*
 * cuptiapi.h - as much of CUPTI as librecorder_cupti.so asks of it, in our own words: so it is built without the toolkit.
 *
 * Names, numbers and places are those of the toolkit's cupti_activity.h, of all
 * versions from CUDA 11.1 to 13.0: a record's later forms only add behind it.
 * tests/fakecuda/cuptioffsets.c holds them against the real headers where they are.
 */
#ifndef CUPTIAPI_H
#define CUPTIAPI_H

#include <stddef.h>
#include <stdint.h>

#define CUPTI_OK		0
#define CUPTI_ONE_SUBSCRIBER	39	/* CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED */

/* CUpti_ActivityKind */
enum {
	ACTIVITY_MEMCPY = 1, ACTIVITY_MEMSET = 2, ACTIVITY_DRIVER = 4, ACTIVITY_CONCURRENT_KERNEL = 10, ACTIVITY_MEMCPY2 = 22,
};

#define CUPTI_DRIVER_DOMAIN	1	/* CUPTI_CB_DOMAIN_DRIVER_API */
#define CUPTI_FLUSH_FORCED	1	/* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */
#define CUPTI_SYSTEM_THREADS	1	/* CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM */

/* CUpti_ActivityAPI */
struct activity_call {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

/* CUpti_ActivityKernel6 and later */
struct activity_kernel {
	uint32_t kind;
	uint8_t	 cache[2];
	uint16_t regs;
	uint64_t partition;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t	 grid[3], block[3];
	int32_t	 static_shared, dynamic_shared;
	uint32_t local_thread, local_total;
	uint32_t correlation;
	int64_t	 grid_id;
	const char *name;
	void	*reserved;
	uint64_t queued, submitted;
	uint8_t	 launch[8];		/* type, shared memory's shape */
	uint64_t graph_node;
	uint32_t shared_executed, graph;
};

/* CUpti_ActivityMemcpy4 and later */
struct activity_copy {
	uint32_t kind;
	uint8_t	 how, from, to, flags;	/* how: CUpti_ActivityMemcpyKind */
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream, correlation;
	uint32_t runtime_correlation, pad;
	void	*reserved;
	uint64_t graph_node;
};

/* CUpti_ActivityMemcpyPtoP3 and later: from one device to another */
struct activity_peer_copy {
	uint32_t kind;
	uint8_t	 how, from, to, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t from_device, from_context, to_device, to_context, correlation;
	void	*reserved;
	uint64_t graph_node;
};

/* CUpti_ActivityMemset3 and later */
struct activity_set {
	uint32_t kind, value;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory;
	uint32_t pad;
	void	*reserved;
	uint64_t graph_node;
};

_Static_assert(sizeof(struct activity_call) == 40, "CUpti_ActivityAPI");
_Static_assert(offsetof(struct activity_kernel, correlation) == 92 && offsetof(struct activity_kernel, graph_node) == 144,
	       "CUpti_ActivityKernel6");
_Static_assert(offsetof(struct activity_copy, graph_node) == 64 && offsetof(struct activity_set, graph_node) == 64,
	       "CUpti_ActivityMemcpy4, CUpti_ActivityMemset3");

typedef void cupti_request_fn(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void cupti_complete_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
typedef void cupti_callback_fn(void *ctx, int domain, uint32_t id, const void *data);
typedef uint64_t cupti_clock_fn(void);

#endif
