/*
 * cupti.c - librecorder_cupti.so: loaded by the CUDA driver into the command (CUDA_INJECTION64_PATH), it has CUPTI time
 * kernels, copies and sets.
 *
 * What CUPTI tells is packed into batches of struct cuda_time, and each is handed to recorder_cupti_batch(), which does
 * nothing: a probe of recorder's is there and copies the batch. So nothing is written here, no file and no pipe, and
 * without recorder the library is idle. It is linked with no CUDA: CUPTI is the one that the program has loaded, or that
 * of a toolkit or a Python package.
 *
 * It must not be noticed: it prints nothing, takes no signal, does nothing in a child that is forked.
 */
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inject/cuptiapi.h"
#include "record.h"

#define BUFFER_BYTES	(1u << 20)
#define FLUSH_NS	100000000l
#define CALLS_MAX	4096u		/* numbers of the driver's functions that are asked for their names */
#define NO_NAME_MAX	64u		/* so many in a row without one are the end */
#define PATH_BYTES	4096u
#define VISIBLE		__attribute__((visibility("default")))

static struct {
	int (*subscribe)(void **ret, cupti_callback_fn *fn, void *ctx);
	int (*set_clock)(cupti_clock_fn *fn);
	int (*own_clock)(uint64_t *ns);
	int (*set_threads)(int type);
	int (*set_buffers)(cupti_request_fn *request, cupti_complete_fn *complete);
	int (*enable)(int kind);
	int (*enable_call)(uint32_t id, uint8_t on);
	int (*flush)(uint32_t how);
	int (*next)(uint8_t *buffer, size_t valid, void **ret);
	int (*dropped)(void *context, uint32_t stream, size_t *n);
	int (*name)(int domain, uint32_t id, const char **ret);
} cupti;

static const struct {
	const char *name;
	void	   *at;
	bool	    may_lack;
} functions[] = {
	{ "cuptiSubscribe", &cupti.subscribe, false },
	{ "cuptiActivityRegisterTimestampCallback", &cupti.set_clock, true },
	{ "cuptiGetTimestamp", &cupti.own_clock, false },
	{ "cuptiSetThreadIdType", &cupti.set_threads, true },
	{ "cuptiActivityRegisterCallbacks", &cupti.set_buffers, false },
	{ "cuptiActivityEnable", &cupti.enable, false },
	{ "cuptiActivityEnableDriverApi", &cupti.enable_call, true },
	{ "cuptiActivityFlushAll", &cupti.flush, false },
	{ "cuptiActivityGetNextRecord", &cupti.next, false },
	{ "cuptiActivityGetNumDroppedRecords", &cupti.dropped, false },
	{ "cuptiGetCallbackName", &cupti.name, false },
};

static bool is_on;
static bool is_wanted[CALLS_MAX];	/* calls that may put the device to work */
static bool has_our_clock;

/* The probe is here: on an instruction that the kernel need not step over. */
VISIBLE __attribute__((noinline)) void recorder_cupti_batch(const struct cuda_time *time, unsigned count)
{
	asm volatile("nop" : : "r"(time), "r"(count) : "memory");
}

static void tell_state(enum cuda_time_state what, uint32_t result, uint64_t count)
{
	struct cuda_time t = { .kind = CUDA_TIME_STATE, .what = what, .correlation = result, .bytes = count };

	recorder_cupti_batch(&t, 1);
}

/* ---- CUPTI's records ---- */

static uint64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* What CUPTI's own clock is behind ours: added to its times where it cannot be given ours. */
static uint64_t behind(void)
{
	uint64_t before, own = 0, after;

	if (has_our_clock)
		return 0;
	before = monotonic();
	cupti.own_clock(&own);
	after = monotonic();
	return before + (after - before) / 2 - own;
}

static bool pack(struct cuda_time *t, const void *record)
{
	const struct activity_call *call = record;
	const struct activity_kernel *k = record;
	const struct activity_copy *c = record;
	const struct activity_peer_copy *p = record;
	const struct activity_set *s = record;

	switch (*(const uint32_t *)record) {
	case ACTIVITY_DRIVER:
		*t = (struct cuda_time){ .kind = CUDA_TIME_CALL, .start = call->start, .end = call->end,
					 .correlation = call->correlation, .tid = call->thread };
		return call->cbid < CALLS_MAX && is_wanted[call->cbid];
	case ACTIVITY_CONCURRENT_KERNEL:
		*t = (struct cuda_time){ .kind = CUDA_TIME_KERNEL, .start = k->start, .end = k->end, .queued = k->queued,
					 .graph_node = k->graph_node, .correlation = k->correlation, .device = k->device,
					 .context = k->context, .stream = k->stream, .regs = k->regs };
		memcpy(t->grid, k->grid, sizeof(t->grid));
		memcpy(t->block, k->block, sizeof(t->block));
		return true;
	case ACTIVITY_MEMCPY:
		*t = (struct cuda_time){ .kind = CUDA_TIME_COPY, .what = c->how, .start = c->start, .end = c->end,
					 .graph_node = c->graph_node, .bytes = c->bytes, .correlation = c->correlation,
					 .device = c->device, .context = c->context, .stream = c->stream };
		return true;
	case ACTIVITY_MEMCPY2:
		*t = (struct cuda_time){ .kind = CUDA_TIME_COPY, .what = p->how, .start = p->start, .end = p->end,
					 .graph_node = p->graph_node, .bytes = p->bytes, .correlation = p->correlation,
					 .device = p->device, .context = p->context, .stream = p->stream };
		return true;
	case ACTIVITY_MEMSET:
		*t = (struct cuda_time){ .kind = CUDA_TIME_SET, .start = s->start, .end = s->end,
					 .graph_node = s->graph_node, .bytes = s->bytes, .correlation = s->correlation,
					 .device = s->device, .context = s->context, .stream = s->stream };
		return true;
	default:
		return false;
	}
}

static void move(__u64 *time, uint64_t by)
{
	*time += *time ? by : 0;
}

static void tell_records(uint8_t *buffer, size_t valid)
{
	struct cuda_time batch[CUDA_TIMES_MAX];
	uint64_t by = behind();
	void *record = NULL;
	unsigned n = 0;

	while (!cupti.next(buffer, valid, &record)) {
		if (!pack(&batch[n], record))
			continue;
		move(&batch[n].start, by);
		move(&batch[n].end, by);
		move(&batch[n].queued, by);
		if (++n < CUDA_TIMES_MAX)
			continue;
		recorder_cupti_batch(batch, n);
		n = 0;
	}
	if (n)
		recorder_cupti_batch(batch, n);
}

static void give_buffer(uint8_t **buffer, size_t *size, size_t *most_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = *buffer ? BUFFER_BYTES : 0;
	*most_records = 0;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	size_t dropped = 0;

	(void)size;
	if (valid && __atomic_load_n(&is_on, __ATOMIC_ACQUIRE))
		tell_records(buffer, valid);
	if (!cupti.dropped(context, stream, &dropped) && dropped)
		tell_state(CUDA_TIMES_DROPPED, 0, dropped);
	free(buffer);
}

/* ---- the end, and what must not go on ---- */

/* CUPTI's own end comes next: nobody may be in it. */
static pthread_mutex_t flushing = PTHREAD_MUTEX_INITIALIZER;

static void flush(uint32_t how)
{
	pthread_mutex_lock(&flushing);
	if (__atomic_load_n(&is_on, __ATOMIC_ACQUIRE))
		cupti.flush(how);
	if (how)
		__atomic_store_n(&is_on, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&flushing);
}

static void finish(void)
{
	if (__atomic_load_n(&is_on, __ATOMIC_ACQUIRE))
		flush(CUPTI_FLUSH_FORCED);
}

/* CUDA cannot be used in a child, which may have the lock of a thread that it has not. */
static void forget(void)
{
	__atomic_store_n(&is_on, false, __ATOMIC_RELEASE);
}

/* A program that ends without exit() has told what was complete until then. CUPTI's own period is for full buffers only. */
static void *flush_now_and_then(void *unused)
{
	const struct timespec t = { .tv_nsec = FLUSH_NS };

	(void)unused;
	while (__atomic_load_n(&is_on, __ATOMIC_ACQUIRE)) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		flush(0);
	}
	return NULL;
}

static void start_thread(void)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&thread, &attr, flush_now_and_then, NULL))
		pthread_setname_np(thread, "recorder-gpu");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
}

/* ---- finding CUPTI ---- */

/* @path of a file that is mapped: CUPTI itself, or by it a Python package's place for libraries of NVIDIA's. */
static void *open_near(const char *path)
{
	static const char *const in_package[] = { "nvidia/cu13/lib/libcupti.so.13", "nvidia/cuda_cupti/lib/libcupti.so.*" };
	const char *site = strstr(path, "-packages/");
	char pattern[PATH_BYTES];
	void *library = NULL;

	if (strstr(path, "/libcupti.so"))
		return dlopen(path, RTLD_NOW);
	for (size_t i = 0; site && i < sizeof(in_package) / sizeof(*in_package) && !library; i++) {
		glob_t found = {};

		snprintf(pattern, sizeof(pattern), "%.*s%s", (int)(site + strlen("-packages/") - path), path, in_package[i]);
		if (!glob(pattern, 0, NULL, &found))
			library = dlopen(found.gl_pathv[0], RTLD_NOW);
		globfree(&found);
	}
	return library;
}

/* A file that is mapped and open_near() makes something of, else "". Who asks the dynamic linker is taken for an unwinder. */
static void find_near(char best[PATH_BYTES])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_BYTES + 256], *path;
	bool is_cupti = false;

	*best = '\0';
	while (maps && !is_cupti && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		path = strchr(line, '/');
		is_cupti = path && strstr(path, "/libcupti.so");
		if (path && strlen(path) < PATH_BYTES && (is_cupti || (!*best && strstr(path, "-packages/"))))
			strcpy(best, path);
	}
	if (maps)
		fclose(maps);
}

/* That of the toolkit that one of its variables names, else of the usual ones, the newest first. */
static void *open_toolkits(void)
{
	static const char *const under[] = { "/extras/CUPTI/lib64/libcupti.so.1[0-9]", "/targets/*/lib/libcupti.so.1[0-9]",
					     "/lib64/libcupti.so.1[0-9]" };
	const char *root[] = { getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda", "/usr/local/cuda-1[0-9]*" };
	char pattern[PATH_BYTES];
	void *library = NULL;

	for (size_t i = 0; i < sizeof(root) / sizeof(*root) && !library; i++)
		for (size_t k = 0; root[i] && k < sizeof(under) / sizeof(*under) && !library; k++) {
			glob_t found = {};

			snprintf(pattern, sizeof(pattern), "%s%s", root[i], under[k]);
			if (!glob(pattern, 0, NULL, &found))
				for (size_t n = found.gl_pathc; n-- > 0 && !library; )
					library = dlopen(found.gl_pathv[n], RTLD_NOW);
			globfree(&found);
		}
	return library;
}

static void *open_cupti(void)
{
	static const char *const usual[] = { "libcupti.so.13", "libcupti.so.12", "libcupti.so" };
	char path[PATH_BYTES];
	void *library;

	find_near(path);
	library = *path ? open_near(path) : NULL;
	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual) && !library; i++)
		library = dlopen(usual[i], RTLD_NOW);
	return library ?: open_toolkits();
}

static bool load(void)
{
	void *library = open_cupti();

	for (size_t i = 0; library && i < sizeof(functions) / sizeof(*functions); i++) {
		void *fn = dlsym(library, functions[i].name);

		if (!fn && !functions[i].may_lack)
			return false;
		memcpy(functions[i].at, &fn, sizeof(fn));
	}
	return library;
}

/* ---- the beginning ---- */

static bool puts_to_work(const char *name)
{
	static const char *const begins[] = { "cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return strncmp(name, "cuLaunchHostFunc", strlen("cuLaunchHostFunc"));
	return false;
}

static int enable_calls(void)
{
	unsigned without_name = 0;
	bool one_by_one = cupti.enable_call;

	for (uint32_t id = 1; id < CALLS_MAX && without_name < NO_NAME_MAX; id++) {
		const char *name = NULL;

		if (cupti.name(CUPTI_DRIVER_DOMAIN, id, &name) || !name) {
			without_name++;
			continue;
		}
		without_name = 0;
		is_wanted[id] = puts_to_work(name);
		if (is_wanted[id] && one_by_one)
			one_by_one = !cupti.enable_call(id, 1);
	}
	return one_by_one ? CUPTI_OK : cupti.enable(ACTIVITY_DRIVER);
}

/* Nothing of the driver is asked to call this. */
static void ignore(void *ctx, int domain, uint32_t id, const void *data)
{
	(void)ctx, (void)domain, (void)id, (void)data;
}

/*
 * CUPTI serves one at a time: who subscribes has it. Were that not asked for, another who comes later would be
 * given our buffers.
 */
static int begin(void)
{
	static void *subscriber;
	int err;

	if (cupti.set_clock)
		has_our_clock = !cupti.set_clock(monotonic);
	err = cupti.subscribe(&subscriber, ignore, NULL);
	if (!err && cupti.set_threads)
		cupti.set_threads(CUPTI_SYSTEM_THREADS);
	err = err ?: cupti.set_buffers(give_buffer, take_buffer);
	err = err ?: enable_calls();
	err = err ?: cupti.enable(ACTIVITY_CONCURRENT_KERNEL);
	err = err ?: cupti.enable(ACTIVITY_MEMCPY);
	err = err ?: cupti.enable(ACTIVITY_MEMSET);
	if (!err)
		cupti.enable(ACTIVITY_MEMCPY2);
	return err;
}

/* The driver calls it in the first cuInit(). */
VISIBLE int InitializeInjection(void);
VISIBLE int InitializeInjection(void)
{
	int err;

	if (!load()) {
		tell_state(CUDA_TIMES_NO_CUPTI, 0, 0);
		return 1;
	}
	err = begin();
	if (err) {
		tell_state(err == CUPTI_ONE_SUBSCRIBER ? CUDA_TIMES_BUSY : CUDA_TIMES_FAILED, err, 0);
		return 1;
	}
	__atomic_store_n(&is_on, true, __ATOMIC_RELEASE);
	tell_state(CUDA_TIMES_READY, 0, 0);
	pthread_atfork(NULL, NULL, forget);
	atexit(finish);
	start_thread();
	return 1;
}
