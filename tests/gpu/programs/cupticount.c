/*
 * cupticount.c - what CUPTI says was run: loaded by CUDA_INJECTION64_PATH, it writes one line for each kernel, copy and memset
 * to $CUPTICOUNT.PID, in the order their records came. With CUPTICOUNT_DRIVER=1 it also counts calls of the driver API by name.
 *
 * Times are CLOCK_MONOTONIC: CUPTI is given that clock. With CUPTICOUNT_CLOCK=own they are CUPTI's own.
 * The library is opened by name: LD_LIBRARY_PATH, or $CUPTI_LIBRARY.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BUFFER		(4u << 20)
#define NAMES		2048

static struct {
	CUptiResult (*enable)(CUpti_ActivityKind), (*flush)(uint32_t), (*next)(uint8_t *, size_t, CUpti_Activity **);
	CUptiResult (*callbacks)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
	CUptiResult (*clock)(CUpti_TimestampCallbackFunc), (*stamp)(uint64_t *);
	CUptiResult (*name)(CUpti_CallbackDomain, uint32_t, const char **);
	CUptiResult (*dropped)(CUcontext, uint32_t, size_t *);
} cupti;

static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long calls[NAMES], kernels, dropped;

static uint64_t clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static uint64_t monotonic(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void request(uint8_t **buf, size_t *size, size_t *max)
{
	*buf = aligned_alloc(8, BUFFER);
	*size = *buf ? BUFFER : 0;
	*max = 0;
}

static void tell(const CUpti_Activity *a)
{
	const CUpti_ActivityKernel10 *k = (const void *)a;
	const CUpti_ActivityMemcpy6 *c = (const void *)a;
	const CUpti_ActivityMemset4 *s = (const void *)a;
	const CUpti_ActivityAPI *api = (const void *)a;

	switch (a->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_KERNEL:
		kernels++;
		fprintf(out, "kernel %lu %lu corr=%u stream=%u graph=%u grid=%d,%d,%d block=%d,%d,%d %s\n", k->start, k->end,
			k->correlationId, k->streamId, k->graphId, k->gridX, k->gridY, k->gridZ, k->blockX, k->blockY, k->blockZ,
			k->name ? k->name : "?");
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		fprintf(out, "memcpy %lu %lu corr=%u stream=%u graph=%u kind=%u bytes=%lu\n", c->start, c->end, c->correlationId,
			c->streamId, c->graphId, c->copyKind, c->bytes);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		fprintf(out, "memset %lu %lu corr=%u stream=%u graph=%u bytes=%lu\n", s->start, s->end, s->correlationId,
			s->streamId, s->graphId, s->bytes);
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
		if (api->cbid < NAMES)
			calls[api->cbid]++;
		break;
	default:
		break;
	}
}

static void complete(CUcontext ctx, uint32_t stream, uint8_t *buf, size_t size, size_t valid)
{
	CUpti_Activity *a = NULL;
	size_t n = 0;

	pthread_mutex_lock(&lock);
	while (out && valid && !cupti.next(buf, valid, &a))
		tell(a);
	if (!cupti.dropped(ctx, stream, &n))
		dropped += n;
	pthread_mutex_unlock(&lock);
	free(buf);
	(void)size;
}

/* CUPTI's own clock beside the host's: where it lies between two readings of each. */
static void tell_clocks(const char *when)
{
	uint64_t m1 = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME), raw = clock_ns(CLOCK_MONOTONIC_RAW), own = 0;
	CUptiResult r = cupti.stamp(&own);
	uint64_t m2 = clock_ns(CLOCK_MONOTONIC);

	if (out)
		fprintf(out, "clocks %s monotonic=%lu..%lu realtime=%lu raw=%lu cupti=%lu result=%d\n", when, m1, m2, real, raw, own, r);
}

static void finish(void)
{
	const char *name;

	if (cupti.flush)
		cupti.flush(1);
	tell_clocks("end");
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < NAMES; i++)
		if (calls[i] && !cupti.name(CUPTI_CB_DOMAIN_DRIVER_API, i, &name))
			fprintf(out, "driver %lu %s\n", calls[i], name);
	fprintf(out, "end kernels=%lu dropped=%lu\n", kernels, dropped);
	fclose(out);
	out = NULL;
	pthread_mutex_unlock(&lock);
}

static int load(void)
{
	const char *path = getenv("CUPTI_LIBRARY");
	void *lib = dlopen(path && *path ? path : "libcupti.so.13", RTLD_NOW);

	if (!lib) {
		fprintf(out, "error no CUPTI: %s\n", dlerror());
		return 0;
	}
	cupti.enable = dlsym(lib, "cuptiActivityEnable");
	cupti.flush = dlsym(lib, "cuptiActivityFlushAll");
	cupti.next = dlsym(lib, "cuptiActivityGetNextRecord");
	cupti.callbacks = dlsym(lib, "cuptiActivityRegisterCallbacks");
	cupti.clock = dlsym(lib, "cuptiActivityRegisterTimestampCallback");
	cupti.stamp = dlsym(lib, "cuptiGetTimestamp");
	cupti.name = dlsym(lib, "cuptiGetCallbackName");
	cupti.dropped = dlsym(lib, "cuptiActivityGetNumDroppedRecords");
	return cupti.enable && cupti.flush && cupti.next && cupti.callbacks && cupti.stamp && cupti.name && cupti.dropped;
}

int InitializeInjection(void)
{
	const char *path = getenv("CUPTICOUNT"), *own = getenv("CUPTICOUNT_CLOCK");
	char file[4096];
	int clock = 0, kernel, copy, set, driver = 0;

	snprintf(file, sizeof(file), "%s.%d", path ? path : "/tmp/cupticount", getpid());
	out = fopen(file, "w");
	if (!out)
		return 1;
	if (!load())
		return fclose(out), out = NULL, 1;
	tell_clocks("begin");
	if (cupti.clock && !(own && !strcmp(own, "own")))
		clock = cupti.clock(monotonic);
	cupti.callbacks(request, complete);
	kernel = cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	copy = cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY);
	set = cupti.enable(CUPTI_ACTIVITY_KIND_MEMSET);
	if (getenv("CUPTICOUNT_DRIVER"))
		driver = cupti.enable(CUPTI_ACTIVITY_KIND_DRIVER);
	fprintf(out, "enabled kernel=%d memcpy=%d memset=%d driver=%d clock=%d\n", kernel, copy, set, driver, clock);
	fflush(out);
	atexit(finish);
	return 1;
}
