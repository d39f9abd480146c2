/*
 * cupti.c - a stand-in for libcupti.so.13 over the stand-in driver: as much of its published API as asks what ran when.
 *
 * It speaks by the real records' layouts, src/inject/cuptiapi.h. Records are given out as the real ones are: in
 * buffers of the client's, a kernel's when it has ended, those of calls apart from those of the device and before or after
 * them. STUBCUPTI=busy: another has it. STUBCUPTI=late: calls come after what they caused. STUBCUPTI=lossy:
 * calls are forgotten, so nobody knows whose the kernels are. STUBCUPTI=all: single calls cannot be chosen.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../src/inject/cuptiapi.h"
#include "watch.h"

#define API		__attribute__((visibility("default"))) int
#define ERROR_PARAMETER	1	/* CUPTI_ERROR_INVALID_PARAMETER */
#define ERROR_LIMIT	12	/* CUPTI_ERROR_MAX_LIMIT_REACHED */

static const char *const names[] = {	/* in order of number, from 1 on; the numbers are not the real ones */
	"cuInit", "cuCtxSynchronize", "cuLaunchKernel", "cuLaunchKernel_ptsz", "cuLaunchKernelEx", "cuLaunchKernelEx_ptsz",
	"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz", "cuLaunchCooperativeKernelMultiDevice", "cuLaunch",
	"cuLaunchGrid", "cuLaunchGridAsync", "cuGraphLaunch", "cuGraphLaunch_ptsz", "cuLaunchHostFunc", "cuMemAlloc_v2",
	"cuMemcpy", "cuMemcpyAsync", "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2", "cuMemcpyDtoD_v2", "cuMemcpyHtoDAsync_v2",
	"cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2", "cuMemsetD8_v2", "cuMemsetD16_v2", "cuMemsetD32_v2", "cuMemsetD8Async",
	"cuMemsetD16Async", "cuMemsetD32Async", "cuMemcpyHtoD_v2_ptds", "cuMemcpyDtoH_v2_ptds", "cuMemcpy2D_v2", "cuMemcpy3D_v2",
	"cuMemcpy2DUnaligned_v2", "cuMemcpy2DAsync_v2", "cuMemcpy3DAsync_v2", "cuMemcpyPeer", "cuMemcpyPeerAsync", "cuMemcpy3DPeer",
	"cuMemcpy3DPeerAsync", "cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2", "cuMemcpy3DBatchAsync", "cuMemcpy3DBatchAsync_v2",
	"cuMemsetD2D8_v2", "cuMemsetD2D16_v2", "cuMemsetD2D32_v2", "cuMemsetD2D8Async", "cuMemsetD2D16Async", "cuMemsetD2D32Async",
	"cuMemcpyAsync_ptsz", "cuMemcpyHtoDAsync_v2_ptsz", "cuMemcpyDtoHAsync_v2_ptsz", "cuMemcpyDtoDAsync_v2_ptsz",
};
#define NAMES	(sizeof(names) / sizeof(*names))

struct record {
	union {
		uint32_t		kind;
		struct activity_call	call;
		struct activity_kernel	kernel;
		struct activity_copy	copy;
		struct activity_set	set;
	};
	struct record *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { struct record *first, **last; } calls = { .last = &calls.first }, ran = { .last = &ran.first };
static cupti_request_fn *request;
static cupti_complete_fn *complete;
static cupti_clock_fn *clock_of_client;
static int kinds[64], wanted[NAMES + 1];
static unsigned numbers;
static __thread unsigned number;	/* of the call that this thread is in */
static int is_subscribed;

static int mode(const char *name)
{
	const char *is = getenv("STUBCUPTI");

	return is && !strcmp(is, name);
}

/* CUPTI's own clock is another than the client's. */
static uint64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t time_of(uint64_t monotonic)
{
	static uint64_t ahead;

	if (!ahead)
		ahead = now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC);
	return clock_of_client ? monotonic : monotonic + ahead;
}

static struct record *add_call(void)
{
	struct record *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	*calls.last = r;
	calls.last = &r->next;
	return r;
}

static void called(const char *function)
{
	uint64_t t = now(CLOCK_MONOTONIC);
	unsigned id = 0;

	function += strncmp(function, "private_", 8) ? 0 : 8;
	pthread_mutex_lock(&lock);
	number = ++numbers;
	while (id < NAMES && strcmp(names[id], function))
		id++;
	if (id < NAMES && (kinds[ACTIVITY_DRIVER] || wanted[id + 1]) && !mode("lossy"))
		add_call()->call = (struct activity_call){
			.kind = ACTIVITY_DRIVER, .cbid = id + 1, .start = time_of(t), .end = time_of(t), .process = getpid(),
			.thread = syscall(SYS_gettid), .correlation = number,
		};
	pthread_mutex_unlock(&lock);
}

static void fill(struct record *r, const struct watched *w)
{
	uint64_t start = time_of(w->start), end = time_of(w->end);

	if (w->kind == WATCHED_KERNEL) {
		r->kernel = (struct activity_kernel){ .kind = ACTIVITY_CONCURRENT_KERNEL, .regs = 32, .start = start, .end = end,
			.stream = w->stream, .correlation = number, .name = "kernel", .graph_node = w->graph_node };
		memcpy(r->kernel.grid, w->grid, sizeof(w->grid));
		memcpy(r->kernel.block, w->block, sizeof(w->block));
	} else if (w->kind == WATCHED_COPY) {
		r->copy = (struct activity_copy){ .kind = ACTIVITY_MEMCPY, .how = 1, .bytes = w->bytes, .start = start, .end = end,
			.stream = w->stream, .correlation = number, .graph_node = w->graph_node };
	} else {
		r->set = (struct activity_set){ .kind = ACTIVITY_MEMSET, .bytes = w->bytes, .start = start, .end = end,
			.stream = w->stream, .correlation = number, .graph_node = w->graph_node };
	}
}

static void has_run(const struct watched *w)
{
	struct record *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	pthread_mutex_lock(&lock);
	fill(r, w);
	*ran.last = r;
	ran.last = &r->next;
	pthread_mutex_unlock(&lock);
}

static const struct watch watch = { called, has_run };

/* ---- out to the client ---- */

/* All that is in the list, or what has ended by @until, into buffers. */
static void deliver(struct record **at, struct record ***last, uint64_t until)
{
	uint8_t *buffer = NULL;
	size_t size = 0, most = 0, used = 0;
	struct record *r;

	while ((r = *at)) {
		if (r->kind != ACTIVITY_DRIVER && r->kernel.end > until) {
			at = &r->next;
			continue;
		}
		if (buffer && used + sizeof(*r) > size) {
			complete(NULL, 0, buffer, size, used);
			buffer = NULL;
		}
		if (!buffer) {
			used = 0;
			request(&buffer, &size, &most);
			if (!buffer)
				break;
		}
		memcpy(buffer + used, r, sizeof(*r));
		used += sizeof(*r);
		*at = r->next;
		free(r);
	}
	while (*at)
		at = &(*at)->next;
	*last = at;
	if (buffer)
		complete(NULL, 0, buffer, size, used);
}

API cuptiActivityFlushAll(uint32_t how)
{
	uint64_t until = how & CUPTI_FLUSH_FORCED ? UINT64_MAX : time_of(now(CLOCK_MONOTONIC));

	if (!complete)
		return ERROR_PARAMETER;
	pthread_mutex_lock(&lock);
	if (!mode("late"))
		deliver(&calls.first, &calls.last, until);
	deliver(&ran.first, &ran.last, until);
	if (mode("late"))
		deliver(&calls.first, &calls.last, until);
	pthread_mutex_unlock(&lock);
	return CUPTI_OK;
}

API cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + sizeof(struct record) : buffer;

	if (next + sizeof(struct record) > buffer + valid)
		return ERROR_LIMIT;
	*record = next;
	return CUPTI_OK;
}

API cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n)
{
	(void)context, (void)stream;
	*n = 0;
	return CUPTI_OK;
}

/* ---- what is asked for ---- */

API cuptiSubscribe(void **subscriber, cupti_callback_fn *fn, void *ctx)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	const struct watch **of_driver = driver ? dlsym(driver, "fakecuda_watch") : NULL;

	(void)fn, (void)ctx;
	if (is_subscribed++ || mode("busy") || !of_driver)
		return CUPTI_ONE_SUBSCRIBER;
	*of_driver = &watch;
	*subscriber = &is_subscribed;
	return CUPTI_OK;
}

API cuptiActivityRegisterTimestampCallback(cupti_clock_fn *fn)
{
	if (mode("clock"))
		return ERROR_PARAMETER;
	clock_of_client = fn;
	return CUPTI_OK;
}

API cuptiGetTimestamp(uint64_t *ns)
{
	*ns = time_of(now(CLOCK_MONOTONIC));
	return CUPTI_OK;
}

API cuptiSetThreadIdType(int type)
{
	return type == CUPTI_SYSTEM_THREADS ? CUPTI_OK : ERROR_PARAMETER;
}

API cuptiActivityRegisterCallbacks(cupti_request_fn *give, cupti_complete_fn *take)
{
	request = give;
	complete = take;
	return CUPTI_OK;
}

API cuptiActivityEnable(int kind)
{
	if (kind < 0 || kind >= 64)
		return ERROR_PARAMETER;
	kinds[kind] = 1;
	return CUPTI_OK;
}

API cuptiActivityEnableDriverApi(uint32_t id, uint8_t on)
{
	if (!id || id > NAMES || mode("all"))
		return ERROR_PARAMETER;
	wanted[id] = on;
	return CUPTI_OK;
}

API cuptiGetCallbackName(int domain, uint32_t id, const char **ret)
{
	if (domain != CUPTI_DRIVER_DOMAIN || !id || id > NAMES)
		return ERROR_PARAMETER;
	*ret = names[id - 1];
	return CUPTI_OK;
}
