/*
 * cuda.h - calls of the CUDA driver API: which are recorded, what they mean, and what they did.
 *
 * libcuda.so.1 is the one place that all of them pass, whatever run time made
 * them. A call is two records (record.h): its words at entry, its result at
 * return. src/cuda/table.c has a row per function, src/cuda/decode.c reads the
 * words, src/cuda/process.c remembers what a process has been told: which
 * kernel a handle is; beside it src/cuda/capture.c knows which streams are
 * capturing, and src/cuda/graph.c what a graph holds.
 *
 * The first part is shared with BPF.
 */
#ifndef CUDA_H
#define CUDA_H

#include "record.h"

#define CUDA_FUNCTIONS_MAX	512	/* rows, twins counted */

/* What a call's pointer leads to, taken along at entry. */
enum cuda_take {
	CUDA_TAKE_NONE,
	CUDA_TAKE_STRING,	/* a string that ends with a NUL */
	CUDA_TAKE_BYTES,	/* cuda_plan.take_bytes of them */
	CUDA_TAKE_IMAGE,	/* the head of a code image, and of what a wrapper leads to */
	CUDA_TAKE_CONFIG,	/* a CUlaunchConfig, then its attributes */
};

#define CUDA_LIST_MAX	32u	/* members of a list that are looked at */
#define CUDA_TAKE_MAX	4096u	/* bytes of what is taken along with one call */
#define CUDA_IMAGE_HEAD	64u	/* of a code image: an ELF header, or a fatbin's */
#define CUDA_ATTRIBUTES	8u	/* of a launch that are looked at, 72 bytes each */

/* What BPF does at a function, by the probe's cookie. */
struct cuda_plan {
	__u8	words;		/* arguments */
	__u8	take;		/* enum cuda_take */
	__u8	take_arg;	/* which argument points there, from 0 on */
	__u8	out;		/* 1 + the argument that points to what the call gives; 0: none; CUDA_OUT_RESULT */
	__u16	take_bytes;	/* CUDA_TAKE_BYTES: how many; of a list, of one of its members */
	__u8	take_count;	/* 1 + the argument that says how many members there are; 0: one */
	__u8	out_count;	/* 1 + the argument that points to how many handles lie at out, at return; 0: not an array */
};

#define CUDA_OUT_RESULT	0xffu	/* cuda_plan.out: it gives nothing, but its result counts as much as what others give */

#ifndef __bpf__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "task.h"

/* --cuda=GROUP,... */
#define CUDA_LAUNCHES	1u	/* kernels, graphs, stream capture, host functions */
#define CUDA_MEMORY	2u	/* allocations, copies, sets */
#define CUDA_SYNC	4u	/* waits, events, streams */
#define CUDA_MODULES	8u	/* code images, and the handles of what is in them */
#define CUDA_GROUPS	4
#define CUDA_ALL	15u

/* What a function does, and so how its words are read: src/cuda/decode.c. */
enum cuda_does {
	CUDA_DOES_OTHER,
	CUDA_DOES_LAUNCH,		/* function, grid, block, shared bytes, stream, ... in words of their own */
	CUDA_DOES_LAUNCH_EX,		/* they are in a CUlaunchConfig */
	CUDA_DOES_LAUNCH_MULTI,		/* a list of CUDA_LAUNCH_PARAMS */
	CUDA_DOES_LAUNCH_GRID,		/* the legacy ones: block and shared bytes were set before */
	CUDA_DOES_SET_BLOCK, CUDA_DOES_SET_SHARED,	/* that, cuFuncSetBlockShape() and cuFuncSetSharedSize() */
	CUDA_DOES_HOST_FUNCTION,
	CUDA_DOES_GRAPH_LAUNCH,
	CUDA_DOES_BEGIN_CAPTURE, CUDA_DOES_BEGIN_CAPTURE_TO, CUDA_DOES_END_CAPTURE,
	CUDA_DOES_GRAPH_ADD_KERNEL, CUDA_DOES_GRAPH_ADD_NODE, CUDA_DOES_GRAPH_ADD_CHILD, CUDA_DOES_GRAPH_CLONE,
	CUDA_DOES_INSTANTIATE, CUDA_DOES_EXEC_UPDATE, CUDA_DOES_EXEC_SET_KERNEL, CUDA_DOES_NODE_SET_KERNEL,
	CUDA_DOES_EXEC_DESTROY, CUDA_DOES_GRAPH_CREATE, CUDA_DOES_GRAPH_DESTROY,
	CUDA_DOES_GET_NODES, CUDA_DOES_NODE_TYPE, CUDA_DOES_FIND_IN_CLONE,	/* what handles of nodes stand for */
	CUDA_DOES_EXEC_SET_NODE, CUDA_DOES_NODE_SET_NODE,	/* to what is in CUgraphNodeParams */
	CUDA_DOES_EXEC_SET_CHILD, CUDA_DOES_ENABLE_NODE, CUDA_DOES_REMOVE_NODE,
	CUDA_DOES_LOAD, CUDA_DOES_LOAD_FILE, CUDA_DOES_UNLOAD,
	CUDA_DOES_GET_FUNCTION,		/* by name: of a module, or of a library */
	CUDA_DOES_KERNEL_FUNCTION,	/* a CUfunction of a CUkernel */
	CUDA_DOES_LIBRARY_MODULE,
	CUDA_DOES_RESOLVE,		/* cuGetProcAddress() */
	CUDA_DOES_MEMORY,		/* enum cuda_memory tells what */
	CUDA_DOES_WAIT_CONTEXT, CUDA_DOES_WAIT_STREAM, CUDA_DOES_WAIT_EVENT,
	CUDA_DOES_QUERY_STREAM, CUDA_DOES_QUERY_EVENT,	/* result 0: it has completed */
	CUDA_DOES_RECORD_EVENT, CUDA_DOES_STREAM_WAIT,
	CUDA_DOES_NEW_STREAM, CUDA_DOES_END_STREAM,
	CUDA_DOES_NEW_EVENT,
	CUDA_DOES_KINDS
};

/* The numbers stand in files: kinds are added at the end only, before those of rows. */
enum cuda_memory {
	CUDA_MEM_NONE,
	CUDA_MEM_HTOD, CUDA_MEM_DTOH, CUDA_MEM_DTOD, CUDA_MEM_UNIFIED, CUDA_MEM_SET,
	CUDA_MEM_ALLOC, CUDA_MEM_FREE, CUDA_MEM_ALLOC_ASYNC, CUDA_MEM_FREE_ASYNC,
	CUDA_MEM_HOST_ALLOC, CUDA_MEM_HOST_FREE, CUDA_MEM_MANAGED,
	CUDA_MEM_WAIT_CONTEXT, CUDA_MEM_WAIT_STREAM, CUDA_MEM_WAIT_EVENT,
	CUDA_MEM_PEER,
	CUDA_MEM_2D, CUDA_MEM_3D, CUDA_MEM_BATCH,	/* of rows only: which of the kinds above, what was taken along tells */
	CUDA_MEM_KINDS
};

struct cuda_function {
	const char	*name;		/* the exported symbol, without the suffix of a twin */
	uint8_t		 group;		/* CUDA_* */
	uint8_t		 does;		/* enum cuda_does */
	uint8_t		 memory;	/* enum cuda_memory, with CUDA_DOES_MEMORY */
	char		 twin;		/* it has one for per-thread default streams: 'z' NAME_ptsz, 's' NAME_ptds; 0: none */
	struct cuda_plan plan;
	uint8_t		 dst, src, bytes, stream, event, handle;	/* 1 + the argument that is it; 0: none */
	uint8_t		 times;		/* 1 + the argument that cuda_call.bytes is multiplied by; 0: none */
	uint8_t		 unit;		/* bytes of what is counted; 0: 1 */
};

/* Rows are only ever added at the end: their numbers are in recordings. rec_cuda_entry.func is 2 * row, + 1 of the twin. */
extern const struct cuda_function cuda_functions[];
extern const size_t		  cuda_function_count;

/* The row of @func, as records have it; NULL: there is none. */
const struct cuda_function *cuda_function_of(uint32_t func);
/* Its symbol, with the twin's suffix, into @to; returns @to. */
#define CUDA_SYMBOL_MAX	64
const char *cuda_symbol(uint32_t func, char to[CUDA_SYMBOL_MAX]);
/* Is the file at @path a driver by its name? libcuda.so.1 leads to a file with the driver's version. */
bool cuda_is_driver(const char *path);
/* rec_cuda_entry.func of the exported symbol @name; -1: it is none of the table. */
int cuda_find(const char *name);

/* ---- what a call did, as sinks see it: event.call->cuda ---- */

/* What one call that loads code has loaded, or was to. Belongs to its process, as long as that lives. */
struct cuda_module {
	uint32_t index;		/* in the process, in order of the calls, from 0 on */
	void	*slot[SINKS_MAX];	/* as cuda_kernel.slot */
	struct cuda_module *next;	/* of the process: the one before it */
};

/* A kernel, or graph node, as the process knows it by a handle. Belongs to its process, as long as that lives. */
struct cuda_kernel {
	const char *name;	/* mangled; "func_" and the handle in hex when it was never told */
	uint64_t    handle;	/* CUfunction or CUkernel it was first launched by */
	uint32_t    index;	/* in the process, in order of first launch, from 0 on */
	bool	    is_named;	/* the name was told with the handle */
	bool	    is_guessed;	/* by a less certain way, its handle was not seen to be given */
	const struct cuda_module *module;	/* it is of; NULL: not known */
	void	   *slot[SINKS_MAX];	/* one per sink: what it hangs on a kernel; the sink's process_end frees it */
};

#define CUDA_LAUNCH_EX		(1u << 0)	/* the bits stand in files */
#define CUDA_LAUNCH_COOPERATIVE	(1u << 1)
#define CUDA_LAUNCH_PER_THREAD	(1u << 2)	/* by the twin: stream 0 is the thread's own */
#define CUDA_LAUNCH_CAPTURED	(1u << 3)	/* recorded into a graph: it did not run */
#define CUDA_LAUNCH_GRAPH	(1u << 4)	/* a node of a graph that is launched */
#define CUDA_LAUNCH_MULTI	(1u << 5)
#define CUDA_LAUNCH_LEGACY	(1u << 6)
#define CUDA_LAUNCH_GUESSED	(1u << 7)	/* the kernel's name is */
#define CUDA_LAUNCH_CLUSTER	(1u << 8)
#define CUDA_COPY_PARTIAL	(1u << 9)	/* of copies: bytes are not of all that the call copies, 0 or more of them */

/* One kernel that a call launches. */
struct cuda_launch {
	struct cuda_kernel *kernel;	/* lent, as long as the process lives */
	uint64_t func;			/* the handle given */
	uint64_t stream;		/* 0: default; 1: CU_STREAM_LEGACY; 2: CU_STREAM_PER_THREAD; else a handle */
	uint64_t seq;			/* number of the launch in the process, from 0 on, in order of entry */
	uint32_t grid[3], block[3];
	uint32_t cluster[3];		/* all 0: none */
	uint32_t shared;		/* dynamic shared memory, bytes */
	uint32_t flags;			/* CUDA_LAUNCH_* */
};

/* How a code image begins, told by its first bytes. */
enum cuda_image {
	CUDA_IMAGE_UNKNOWN, CUDA_IMAGE_ELF, CUDA_IMAGE_FATBIN, CUDA_IMAGE_WRAPPED, CUDA_IMAGE_PTX, CUDA_IMAGE_UNREAD,
};

/*
 * A call of the driver. Made at its entry, lent with each event of it: at entry all but what the return tells is
 * filled in. Launches are told at entry; so are handles, except those the call gives (out).
 */
struct cuda_call {
	const struct cuda_function *fn;
	uint32_t	     func;	/* as rec_cuda_entry.func */
	struct cuda_process *process;	/* lent */
	uint32_t	     tid;
	uint32_t	     result;	/* CUresult; CUDA_NO_RESULT: not seen (yet) */
	uint64_t	     entry, ret;	/* ns, CLOCK_MONOTONIC; ret 0: not seen (yet) */
	uint64_t	     out;	/* what the call gave by its out pointer; 0: nothing, or not seen (yet) */
	uint64_t	     arg[CUDA_WORDS];	/* as they were passed; of narrower ones the upper bits are junk */
	struct cuda_launch  *launch;	/* owned: 1 of a kernel's launch; a graph launch: its kernel nodes; else none */
	size_t		     launches;
	struct cuda_launch  *node;	/* owned: what a graph's node is to launch; NULL: the call sets none */
	uint64_t	     child;	/* a graph that is, or becomes, a node of another; 0: none */
	uint64_t	    *given;	/* owned: handles of the array it gave, from the first on; NULL: none */
	size_t		     given_count, given_total;	/* in given, and in the array */
	bool		     is_node_unknown;	/* at return: it changed a node of a graph, and nobody knows which */
	bool		     is_graph_partly;	/* it launches a graph that has more kernels than are known, or may have */
	bool		     is_capture_lost;	/* at return: it shows that a capture has ended whose end was not seen */
	bool		     is_captured;	/* not run, but recorded into a graph: of copies and sets too */
	/* CUDA_DOES_MEMORY and waits: */
	uint8_t		     memory;	/* enum cuda_memory, also for waits */
	bool		     is_partial;	/* not all its copies are in bytes */
	uint64_t	     dst, src, bytes;	/* allocations: dst is what was given, at return; frees: what was freed */
	uint64_t	     stream, event;	/* as far as the function has one */
	/* Modules: */
	uint64_t	     handle;	/* what it is asked of: module, library, kernel, graph, executable graph */
	const char	    *name;	/* what is asked for by name, or a file's path; owned; NULL: none, or unread */
	uint8_t		     image;	/* enum cuda_image */
	struct cuda_module  *module;	/* of a call that loads code; lent; else NULL */
	uint64_t	     image_addr, image_bytes;	/* in the process: where the image itself lies; 0 bytes: not told by its head */
};

/* A process that calls the driver. By pid: it goes on over an exec, with none of its handles. */
struct cuda_process {
	uint32_t pid;
	uint64_t id;			/* unique in a recording, from 1 on */
	uint64_t start;			/* ns, CLOCK_MONOTONIC: when the process was made; 0: before the recording was */
	uint64_t launches;		/* so far: cuda_launch.seq of the next */
	uint32_t kernels;		/* so far: cuda_kernel.index of the next */
	uint32_t modules;		/* so far: cuda_module.index of the next */
	uint32_t execs;			/* that it lived through */
	const char *cmdline;		/* the program's path; lent for the event */
	void	*slot[SINKS_MAX];	/* one per sink */
	struct cuda_memory_of *of;	/* what src/cuda/process.c remembers */
	struct cuda_device *device;	/* --gpu-times: what src/cuda/device.c does; NULL: CUPTI is not there */
};

#define CUDA_NO_SEQ	UINT64_MAX

/* What CUPTI says of one kernel, copy or set on the device, and what is known of its call: event.device. */
struct cuda_device_time {
	struct cuda_process	 *process;	/* lent, as all here */
	const struct cuda_time	 *time;		/* record.h; kind: CUDA_TIME_KERNEL, _COPY or _SET */
	const struct cuda_kernel *kernel;	/* NULL: not known */
	uint64_t		  seq;		/* cuda_launch.seq; CUDA_NO_SEQ: not known, or no kernel */
	uint64_t		  entry;	/* of the call, ns; 0: not known, nor are the next two */
	uint64_t		  stream;	/* the handle it was given */
	uint32_t		  tid;		/* who made it */
};

#endif

#endif
