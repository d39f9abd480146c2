/*
 * stream.c - the stand-in driver: streams, events, time, and stream capture.
 *
 * A stream is busy until some moment. A kernel makes that STUBCUDA_KERNEL_NS later, a wait sleeps until it, a query
 * says 600 until it. Copies and sets take no time. Streams do not wait for each other unless an event says so: the
 * default stream has no order with the others here.
 *
 * While a stream captures, what is asked of it becomes nodes of a graph and does not happen.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

uint64_t kernel_ns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct CUstream_st own;		/* the default stream of this thread */

__attribute__((constructor)) static void stream_begin(void)
{
	const char *ns = getenv("STUBCUDA_KERNEL_NS");

	kernel_ns = ns ? strtoull(ns, NULL, 10) : 0;
}

void driver_lock(void)
{
	pthread_mutex_lock(&lock);
}

void driver_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void lock_forked(void)
{
	pthread_mutex_init(&lock, NULL);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void wait_until(uint64_t ns)
{
	struct timespec t = { ns / 1000000000, ns % 1000000000 };

	if (ns)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
}

CUstream stream_of(int per_thread, CUstream stream)
{
	CUcontext ctx = context();

	if (stream == CU_STREAM_LEGACY || (!stream && !per_thread))
		return &ctx->legacy;
	if (stream && stream != CU_STREAM_PER_THREAD)
		return stream;
	if (own.ctx != ctx)
		own = (struct CUstream_st){ .ctx = ctx };
	return &own;
}

static struct capture *capturing(CUstream s)
{
	struct capture *c = __atomic_load_n(&s->capture, __ATOMIC_ACQUIRE);

	return c && __atomic_load_n(&c->graph, __ATOMIC_ACQUIRE) ? c : NULL;
}

/* With the lock held. */
static void busy_until(CUstream s, uint64_t ns)
{
	if (s->busy < ns)
		s->busy = ns;
	if (s->ctx->busy < s->busy)
		s->ctx->busy = s->busy;
}

uint64_t stream_busy(CUstream s, uint64_t ns)
{
	uint64_t t, until;

	if (!ns && !fakecuda_watch)
		return 0;
	t = now();
	driver_lock();
	until = (s->busy > t ? s->busy : t) + ns;
	busy_until(s, until);
	driver_unlock();
	return until;
}

/* What runs is told to who watches. */
static void watch_op(CUstream s, const struct op *op, int kind, uint64_t start, uint64_t end, uint64_t bytes)
{
	const struct watch *watch = __atomic_load_n(&fakecuda_watch, __ATOMIC_ACQUIRE);
	const CUDA_KERNEL_NODE_PARAMS_v2 *k = &op->kernel;
	struct watched w = { .kind = kind, .start = start, .end = end, .bytes = bytes, .graph_node = op->node, .stream = s->id };

	if (!watch)
		return;
	if (kind == WATCHED_KERNEL) {
		memcpy(w.grid, (unsigned[]){ k->gridDimX, k->gridDimY, k->gridDimZ }, sizeof(w.grid));
		memcpy(w.block, (unsigned[]){ k->blockDimX, k->blockDimY, k->blockDimZ }, sizeof(w.block));
	}
	watch->ran(&w);
}

static uint64_t stream_done(CUstream s)
{
	uint64_t done;

	driver_lock();
	done = s->busy;
	driver_unlock();
	return done;
}

/* What is captured has not run, so nobody can wait for it: whoever does spoils the capture. */
static CUresult not_capturing(CUstream s)
{
	struct capture *c = capturing(s);

	if (c)
		__atomic_store_n(&c->is_invalid, 1, __ATOMIC_RELEASE);
	return c ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

CUresult stream_wait(CUstream s)
{
	CUresult err = not_capturing(s);

	if (err)
		return err;
	wait_until(stream_done(s));
	return CUDA_SUCCESS;
}

static void op_run(CUstream s, const struct op *op)
{
	uint64_t bytes, t;

	switch (op->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		__atomic_add_fetch(&op->kernel.func->tally->ran, 1, __ATOMIC_RELAXED);
		t = stream_busy(s, kernel_ns);
		watch_op(s, op, WATCHED_KERNEL, t - kernel_ns, t, 0);
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		bytes = op->copy.WidthInBytes * op->copy.Height * op->copy.Depth;
		t = now();
		copy_run(&op->copy);
		count_bytes(op->kind, bytes);
		watch_op(s, op, WATCHED_COPY, t, now(), bytes);
		break;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		bytes = op->set.width * op->set.height * op->set.elementSize;
		t = now();
		set_run(&op->set);
		count_bytes(op->kind, bytes);
		watch_op(s, op, WATCHED_SET, t, now(), bytes);
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		op->host.fn(op->host.userData);
		break;
	case CU_GRAPH_NODE_TYPE_GRAPH:
		graph_run(op->child, s);
		break;
	case CU_GRAPH_NODE_TYPE_EMPTY:
		break;
	}
}

/* One after the other, in the order in which the nodes were made: what edges say is not looked at. */
void graph_run(CUgraph g, CUstream s)
{
	for (size_t i = 0; i < g->count; i++) {
		struct op op = g->node[i]->op;

		op.kind = BYTES_GRAPH;
		op.node = g->node[i]->id;
		op_run(s, &op);
	}
}

CUresult stream_op(CUstream s, const struct op *op)
{
	struct capture *c = capturing(s);
	CUresult err;

	if (!c) {
		op_run(s, op);
		return CUDA_SUCCESS;
	}
	if (__atomic_load_n(&c->is_invalid, __ATOMIC_ACQUIRE))
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (op->type == CU_GRAPH_NODE_TYPE_KERNEL)
		__atomic_add_fetch(&op->kernel.func->tally->captured, 1, __ATOMIC_RELAXED);
	driver_lock();
	err = graph_append(c->graph, op, NULL);
	driver_unlock();
	return err;
}

static CUresult stream_create(CUstream *ret)
{
	static uint32_t ids;
	CUstream s = calloc(1, sizeof(*s));

	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->ctx = context();
	s->id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
	*ret = s;
	return CUDA_SUCCESS;
}

static CUresult stream_destroy(CUstream s)
{
	if ((uintptr_t)s <= (uintptr_t)CU_STREAM_PER_THREAD)
		return CUDA_ERROR_INVALID_HANDLE;
	free(s);
	return CUDA_SUCCESS;
}

static CUresult synchronize(int per_thread, CUstream s)
{
	return stream_wait(stream_of(per_thread, s));
}

static CUresult query(int per_thread, CUstream s)
{
	CUresult err;

	s = stream_of(per_thread, s);
	err = not_capturing(s);
	if (err)
		return err;
	return stream_done(s) > now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult stream_context(int per_thread, CUstream s, CUcontext *ret)
{
	*ret = stream_of(per_thread, s)->ctx;
	return CUDA_SUCCESS;
}

static CUresult event_create(CUevent *ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult event_record(int per_thread, CUevent e, CUstream s)
{
	uint64_t t = now();

	s = stream_of(per_thread, s);
	driver_lock();
	e->capture = capturing(s);
	if (!e->capture)
		e->done = s->busy > t ? s->busy : t;
	driver_unlock();
	return CUDA_SUCCESS;
}

/* A stream that waits for something captured takes part in the capture. */
static CUresult wait_event(int per_thread, CUstream s, CUevent e)
{
	struct capture *own_capture;
	CUresult err = CUDA_SUCCESS;

	s = stream_of(per_thread, s);
	driver_lock();
	own_capture = capturing(s);
	if (!e->capture)
		busy_until(s, e->done);
	else if (own_capture && own_capture != e->capture)
		err = CUDA_ERROR_STREAM_CAPTURE_MERGE;
	else if (e->capture->graph)
		__atomic_store_n(&s->capture, e->capture, __ATOMIC_RELEASE);
	else
		err = CUDA_ERROR_CAPTURED_EVENT;
	driver_unlock();
	return err;
}

static CUresult event_done(CUevent e, uint64_t *done)
{
	CUresult err;

	driver_lock();
	err = e->capture ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
	*done = e->done;
	driver_unlock();
	return err;
}

static CUresult event_wait(CUevent e)
{
	uint64_t done;
	CUresult err = event_done(e, &done);

	if (!err)
		wait_until(done);
	return err;
}

static CUresult event_query(CUevent e)
{
	uint64_t done;

	return event_done(e, &done) ?: done > now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult event_destroy(CUevent e)
{
	free(e);
	return CUDA_SUCCESS;
}

static CUresult elapsed(float *ms, CUevent start, CUevent end)
{
	if (start->capture || end->capture || !start->done || !end->done)
		return CUDA_ERROR_INVALID_HANDLE;
	*ms = ((double)end->done - (double)start->done) / 1e6;
	return CUDA_SUCCESS;
}

static CUresult begin_capture(int per_thread, CUstream s, CUgraph into)
{
	struct capture *c;

	s = stream_of(per_thread, s);
	if (s == &s->ctx->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (capturing(s))
		return CUDA_ERROR_ILLEGAL_STATE;
	c = calloc(1, sizeof(*c));
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	c->graph = into ?: graph_new();
	c->origin = s;
	__atomic_store_n(&s->capture, c, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

static CUresult end_capture(int per_thread, CUstream s, CUgraph *ret)
{
	struct capture *c;

	s = stream_of(per_thread, s);
	c = capturing(s);
	if (!c)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (c->origin != s)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	driver_lock();
	*ret = c->is_invalid ? NULL : c->graph;
	__atomic_store_n(&c->graph, NULL, __ATOMIC_RELEASE);
	s->capture = NULL;
	driver_unlock();
	return c->is_invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

static CUresult is_capturing(int per_thread, CUstream s, int *status)
{
	*status = capturing(stream_of(per_thread, s)) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	return CUDA_SUCCESS;
}

CALL(cuStreamCreate, (CUstream *ret, unsigned flags), ((void)flags, stream_create(ret)))
CALL(cuStreamCreateWithPriority, (CUstream *ret, unsigned flags, int priority),
     ((void)flags, (void)priority, stream_create(ret)))
CALL(cuStreamDestroy_v2, (CUstream s), stream_destroy(s))
PTSZ(cuStreamSynchronize, (CUstream s), synchronize, (s))
PTSZ(cuStreamQuery, (CUstream s), query, (s))
PTSZ(cuStreamGetCtx, (CUstream s, CUcontext *ret), stream_context, (s, ret))
PTSZ(cuStreamWaitEvent, (CUstream s, CUevent e, unsigned flags), wait_event, (((void)flags, s), e))

CALL(cuEventCreate, (CUevent *ret, unsigned flags), ((void)flags, event_create(ret)))
CALL(cuEventDestroy_v2, (CUevent e), event_destroy(e))
PTSZ(cuEventRecord, (CUevent e, CUstream s), event_record, (e, s))
PTSZ(cuEventRecordWithFlags, (CUevent e, CUstream s, unsigned flags), event_record, (e, ((void)flags, s)))
CALL(cuEventSynchronize, (CUevent e), event_wait(e))
CALL(cuEventQuery, (CUevent e), event_query(e))
CALL(cuEventElapsedTime, (float *ms, CUevent start, CUevent end), elapsed(ms, start, end))
CALL(cuEventElapsedTime_v2, (float *ms, CUevent start, CUevent end), elapsed(ms, start, end))

PTSZ(cuStreamBeginCapture, (CUstream s), begin_capture, (s, NULL))
PTSZ(cuStreamBeginCapture_v2, (CUstream s, int mode), begin_capture, (((void)mode, s), NULL))
PTSZ(cuStreamBeginCaptureToGraph,
     (CUstream s, CUgraph graph, const CUgraphNode *after, const void *edges, size_t n, int mode), begin_capture,
     (((void)after, (void)edges, (void)n, (void)mode, s), graph))
PTSZ(cuStreamEndCapture, (CUstream s, CUgraph *ret), end_capture, (s, ret))
PTSZ(cuStreamIsCapturing, (CUstream s, int *status), is_capturing, (s, status))
