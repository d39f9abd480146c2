/*
 * cuda.c - calls of the CUDA driver as events of the system "cuda".
 *
 * A call is told when it returns: only then its result and how long it took are known. It is one event, but a graph's
 * launch is one for itself and one for each kernel it has.
 */
#include "base.h"
#include "cuda.h"
#include "event.h"
#include "sink/tracedat/tracedat.h"

#define NOT_PROBED	3u	/* after enum ending: the call's return is not, so it is told at its entry */

static const uint16_t event_of_memory[CUDA_MEM_KINDS] = {
	[CUDA_MEM_HTOD] = TD_CUDA_MEMCPY, [CUDA_MEM_DTOH] = TD_CUDA_MEMCPY, [CUDA_MEM_DTOD] = TD_CUDA_MEMCPY,
	[CUDA_MEM_UNIFIED] = TD_CUDA_MEMCPY, [CUDA_MEM_PEER] = TD_CUDA_MEMCPY,
	[CUDA_MEM_SET] = TD_CUDA_MEMSET,
	[CUDA_MEM_ALLOC] = TD_CUDA_ALLOC, [CUDA_MEM_ALLOC_ASYNC] = TD_CUDA_ALLOC,
	[CUDA_MEM_HOST_ALLOC] = TD_CUDA_ALLOC, [CUDA_MEM_MANAGED] = TD_CUDA_ALLOC,
	[CUDA_MEM_FREE] = TD_CUDA_FREE, [CUDA_MEM_FREE_ASYNC] = TD_CUDA_FREE, [CUDA_MEM_HOST_FREE] = TD_CUDA_FREE,
	[CUDA_MEM_WAIT_CONTEXT] = TD_CUDA_SYNC, [CUDA_MEM_WAIT_STREAM] = TD_CUDA_SYNC,
	[CUDA_MEM_WAIT_EVENT] = TD_CUDA_SYNC,
};

/* The event of the call itself; of a launch, one without a kernel. */
static uint16_t event_of(const struct cuda_call *c)
{
	if (c->fn->does == CUDA_DOES_GRAPH_LAUNCH)
		return TD_CUDA_GRAPH_LAUNCH;
	if (c->fn->group == CUDA_MODULES)
		return TD_CUDA_MODULE;
	return event_of_memory[c->memory] ?: TD_CUDA_CALL;
}

static uint32_t flags_of(const struct cuda_call *c)
{
	return (c->func % 2 ? CUDA_LAUNCH_PER_THREAD : 0) | (c->is_captured ? CUDA_LAUNCH_CAPTURED : 0) |
	       (c->is_partial ? CUDA_COPY_PARTIAL : 0);
}

static void add_text(struct td_payload *p, uint32_t at, const char *text)
{
	td_text(p, at, *text ? text : NULL, strlen(text), TD_ALL);
}

/* What every event has. */
static void begin(struct td_payload *p, uint16_t id, uint32_t fixed, const struct event *ev)
{
	const struct cuda_call *c = ev->call->cuda;
	bool is_told_early = ev->kind == REC_CUDA_ENTRY;
	uint64_t end = c->ret ?: ev->time;
	char api[CUDA_SYMBOL_MAX];

	td_begin(p, id, ev->task->tid, fixed);
	td_u64(p, 8, is_told_early ? 0 : end - MIN(c->entry, end));
	td_u32(p, 16, c->result);
	td_u32(p, 20, is_told_early ? NOT_PROBED : ev->ending);
	td_u32(p, 24, ev->task->pid);
	add_text(p, 28, cuda_symbol(c->func, api));
}

static void add_kernel(struct td_payload *p, const struct event *ev, const struct cuda_launch *l)
{
	char cluster[64] = "";

	begin(p, TD_CUDA_LAUNCH, 96, ev);
	td_u64(p, 32, l->func);
	td_u64(p, 40, l->stream);
	td_u64(p, 48, l->seq);
	td_bytes(p, 56, l->grid, sizeof(l->grid));
	td_bytes(p, 68, l->block, sizeof(l->block));
	td_u32(p, 80, l->shared);
	td_u32(p, 84, l->flags);
	if (l->flags & CUDA_LAUNCH_CLUSTER)
		snprintf(cluster, sizeof(cluster), "(%u,%u,%u)", l->cluster[0], l->cluster[1], l->cluster[2]);
	add_text(p, 92, cluster);
	td_escaped(p, 88, l->kernel->name);
}

static void add_graph_launch(struct td_payload *p, const struct event *ev)
{
	const struct cuda_call *c = ev->call->cuda;

	begin(p, TD_CUDA_GRAPH_LAUNCH, 56, ev);
	td_u64(p, 32, c->handle);
	td_u64(p, 40, c->stream);
	td_u32(p, 48, c->launches);
	td_u32(p, 52, flags_of(c));
}

static void add_copy(struct td_payload *p, const struct event *ev)
{
	const struct cuda_call *c = ev->call->cuda;

	begin(p, TD_CUDA_MEMCPY, 72, ev);
	td_u64(p, 32, c->dst);
	td_u64(p, 40, c->src);
	td_u64(p, 48, c->bytes);
	td_u64(p, 56, c->stream);
	td_u32(p, 64, c->memory);
	td_u32(p, 68, flags_of(c));
}

/* Sets, allocations, frees: those have no bytes. */
static void add_memory(struct td_payload *p, const struct event *ev)
{
	const struct cuda_call *c = ev->call->cuda;

	begin(p, event_of(c), 64, ev);
	td_u64(p, 32, c->dst);
	td_u64(p, 40, c->bytes);
	td_u64(p, 48, c->stream);
	td_u32(p, 56, c->memory);
	td_u32(p, 60, flags_of(c));
}

static void add_wait(struct td_payload *p, const struct event *ev)
{
	const struct cuda_call *c = ev->call->cuda;

	begin(p, TD_CUDA_SYNC, 56, ev);
	td_u64(p, 32, c->stream);
	td_u64(p, 40, c->event);
	td_u32(p, 48, c->memory);
	td_u32(p, 52, flags_of(c));
}

static void describe_image(const struct cuda_call *c, char *to, size_t size)
{
	static const char *const name[] = {
		[CUDA_IMAGE_UNKNOWN] = "unknown", [CUDA_IMAGE_ELF] = "elf", [CUDA_IMAGE_FATBIN] = "fatbin",
		[CUDA_IMAGE_WRAPPED] = "wrapped fatbin", [CUDA_IMAGE_PTX] = "ptx", [CUDA_IMAGE_UNREAD] = "unread",
	};
	int n;

	if (c->fn->plan.take != CUDA_TAKE_IMAGE)
		return;
	n = snprintf(to, size, "%s at %#lx", name[c->image], c->image_addr);
	if (c->image_bytes)
		snprintf(to + n, size - n, ", %lu bytes", c->image_bytes);
}

static void add_module(struct td_payload *p, const struct event *ev)
{
	const struct cuda_call *c = ev->call->cuda;
	char image[96] = "";

	describe_image(c, image, sizeof(image));
	begin(p, TD_CUDA_MODULE, 56, ev);
	td_u64(p, 32, c->out);
	td_u64(p, 40, c->handle);
	add_text(p, 48, image);
	td_escaped(p, 52, c->name ?: "");
}

/* Those of its arguments that the function's row tells of. */
static void add_call(struct td_payload *p, const struct event *ev)
{
	const struct cuda_call *c = ev->call->cuda;
	const struct { bool has; const char *name; uint64_t value; } arg[] = {
		{ c->fn->handle, "handle", c->handle }, { c->fn->stream, "stream", c->stream },
		{ c->fn->event, "event", c->event }, { c->fn->plan.out && c->fn->plan.out != CUDA_OUT_RESULT, "out", c->out },
	};
	char args[160] = "";
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(arg); i++)
		if (arg[i].has)
			n += snprintf(args + n, sizeof(args) - n, "%s%s=0x%lx", n ? ", " : "", arg[i].name, arg[i].value);
	begin(p, TD_CUDA_CALL, 40, ev);
	add_text(p, 32, args);
	td_u32(p, 36, flags_of(c));
}

static void (*const add[])(struct td_payload *p, const struct event *ev) = {
	[TD_CUDA_GRAPH_LAUNCH - TD_CUDA] = add_graph_launch,
	[TD_CUDA_MEMCPY - TD_CUDA] = add_copy,
	[TD_CUDA_MEMSET - TD_CUDA] = add_memory,
	[TD_CUDA_ALLOC - TD_CUDA] = add_memory,
	[TD_CUDA_FREE - TD_CUDA] = add_memory,
	[TD_CUDA_SYNC - TD_CUDA] = add_wait,
	[TD_CUDA_MODULE - TD_CUDA] = add_module,
	[TD_CUDA_CALL - TD_CUDA] = add_call,
};

/* A launch whose kernels are not known is told as a call. */
static bool tells_itself(const struct cuda_call *c)
{
	return !c->launches || c->fn->does == CUDA_DOES_GRAPH_LAUNCH;
}

size_t td_cuda_events(const struct event *ev)
{
	const struct cuda_call *c = ev->call->cuda;
	bool is_due = ev->kind == (ev->call->flags & REC_F_NO_EXIT ? REC_CUDA_ENTRY : REC_CUDA_EXIT);

	return c && is_due ? tells_itself(c) + c->launches : 0;
}

uint16_t td_cuda(struct td_payload *p, const struct event *ev, size_t n)
{
	const struct cuda_call *c = ev->call->cuda;

	if (!n && tells_itself(c)) {
		add[event_of(c) - TD_CUDA](p, ev);
		return event_of(c);
	}
	add_kernel(p, ev, &c->launch[n - tells_itself(c)]);
	return TD_CUDA_LAUNCH;
}
