/*
 * fake.h - inside the stand-in driver: its objects, and how a function is exported.
 *
 * The stand-in speaks the published driver API over host memory and does no work for kernels: see README.md. Every
 * exported function is one row, EXPORT(), CALL(), PTSZ() or PTDS(): a function of its own that counts its call and
 * asks a static function for the rest. None calls another exported one, which a probe would take for two calls.
 */
#ifndef FAKECUDA_FAKE_H
#define FAKECUDA_FAKE_H

#include "cuda_api.h"
#include "watch.h"

/* How often an exported function was entered. All of them lie in one section, for the truth at exit. */
struct counter {
	const char   *name;
	unsigned long count;
};

/* Not inlined: an exported function begins as the real ones do, with a push, not with an atomic add. */
void count_call(struct counter *c);

#define COUNT_CALL(function)											\
	do {													\
		static struct counter counter_ __attribute__((section("calls"), used, aligned(16))) = { #function, 0 };	\
		count_call(&counter_);										\
	} while (0)

/* One function of the driver. The attributes keep it whole: a probe sees every call with its arguments in place. */
#define FUNCTION(visible, function, params, result)								\
	CUresult function params;										\
	__attribute__((visibility(visible), noinline, noclone)) CUresult function params			\
	{													\
		COUNT_CALL(function);										\
		return result;											\
	}
#define EXPORT(function, params, result)	FUNCTION("default", function, params, result)
#define INITED(function, params, result)	EXPORT(function, params, need_init() ?: (result))
#define CALL(function, params, result)		EXPORT(function, params, need_context() ?: (result))

/* A function and its per-thread-default-stream twin: the same, but that stream 0 is the thread's own in the twin. */
#define BARE(...) __VA_ARGS__
#define TWINS(function, twin, params, does, args)								\
	CALL(function, params, does(0, BARE args))								\
	CALL(twin, params, does(1, BARE args))
#define PTSZ(function, params, does, args)	TWINS(function, function##_ptsz, params, does, args)
#define PTDS(function, params, does, args)	TWINS(function, function##_ptds, params, does, args)

/* What is counted of a kernel, under its name: however many handles it has. */
struct tally {
	struct tally *next;
	const char   *name;
	unsigned long ran, captured;
};

enum bytes { BYTES_ALLOC, BYTES_MANAGED, BYTES_HOST, BYTES_HTOD, BYTES_DTOH, BYTES_DTOD, BYTES_HTOH, BYTES_COPY,
	     BYTES_PEER, BYTES_SET, BYTES_GRAPH, BYTES_KINDS };

struct CUstream_st {
	CUcontext	ctx;
	uint64_t	busy;		/* until when, ns of CLOCK_MONOTONIC */
	struct capture *capture;	/* it records for this one, or for an ended one */
	uint32_t	id;		/* 0: a default stream */
};

struct CUctx_st {
	uint64_t	   busy;	/* the longest of its streams */
	struct CUstream_st legacy;	/* stream 0 and CU_STREAM_LEGACY */
};

/* A stream capture. Kept when it has ended: streams and events that took part find out by it. */
struct capture {
	CUgraph	 graph;			/* NULL: ended */
	CUstream origin;
	int	 is_invalid;		/* somebody waited for what it records */
};

struct CUevent_st {
	uint64_t	done;		/* when what was recorded is done */
	struct capture *capture;	/* recorded on a stream that captured */
};

/* A function of a module. A kernel of a library is one too: the driver takes either where a function is wanted. */
struct CUfunc_st {
	struct tally *tally;
	CUmodule      module;
	CUfunction    next;		/* of the same module, or library */
	CUfunction    function;		/* of a kernel: its function */
	unsigned      block[3], shared;	/* cuFuncSetBlockShape() and cuFuncSetSharedSize() */
};

struct CUmod_st {
	char	  *text;		/* our copy of PTX; NULL when it is an image of another kind */
	CUfunction functions;
};

/* Something a stream does, or a node of a graph. */
struct op {
	CUgraphNodeType type;
	enum bytes	kind;		/* of copies */
	uint64_t	node;		/* while it runs: of a graph's node its number */
	union {
		CUDA_KERNEL_NODE_PARAMS_v2 kernel;
		CUDA_MEMCPY3D		   copy;
		CUDA_MEMSET_NODE_PARAMS	   set;
		CUDA_HOST_NODE_PARAMS	   host;
		CUgraph			   child;
	};
};

struct CUgraphNode_st {
	struct op   op;
	CUgraphNode origin;		/* the node this is a copy of */
	uint64_t    id;			/* grows with each that is made */
};

struct CUgraph_st {
	CUgraphNode *node;
	size_t	     count;
};

struct CUgraphExec_st {
	CUgraph graph;			/* a copy of what was instantiated */
};

/* core.c */
CUresult need_init(void);		/* 3 before cuInit() */
CUresult need_context(void);		/* 3, or 201 when the thread has no current context */
CUcontext context(void);		/* the current one */

/* count.c */
struct tally *tally_of(const char *name);
void count_bytes(enum bytes kind, uint64_t n);
void count_forked(void);		/* a child counts from 0 */

/* stream.c */
extern uint64_t kernel_ns;		/* STUBCUDA_KERNEL_NS */
void driver_lock(void);
void driver_unlock(void);
void lock_forked(void);
CUstream stream_of(int per_thread, CUstream stream);
uint64_t stream_busy(CUstream stream, uint64_t ns);	/* it has @ns more to do; returns until when */
CUresult stream_wait(CUstream stream);			/* until it has done all */
CUresult stream_op(CUstream stream, const struct op *op);	/* does it, or records it when the stream captures */
void wait_until(uint64_t ns);

/* launch.c */
CUresult private_cuLaunchKernel(CUfunction f, KERNEL_SHAPE, CUstream s, void **params, void **extra);
CUresult kernel_check(const CUDA_KERNEL_NODE_PARAMS_v2 *kernel);

/* memory.c */
void copy_run(const CUDA_MEMCPY3D *copy);
void set_run(const CUDA_MEMSET_NODE_PARAMS *set);
CUresult copy_kind(enum bytes *kind, const CUDA_MEMCPY3D *copy);

/* graph.c */
CUgraph graph_new(void);
CUresult graph_append(CUgraph graph, const struct op *op, CUgraphNode *ret);
void graph_run(CUgraph graph, CUstream stream);
CUgraph graph_copy(const struct CUgraph_st *graph);

#endif
