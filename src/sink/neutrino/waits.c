/*
 * waits.c - which launches are known to be complete, and by which call.
 *
 * A launch that has returned is in its stream. What is claimed is only what the
 * driver's documentation promises: that a wait for a stream, a context or an event, a
 * query that says so, or a copy that blocks, begun after the launch returned, ends after
 * the kernel has. Launches that return while a wait is on are not its.
 *
 * Calls do not tell their context. Where a process has several, those that mean the
 * current one prove nothing here: a stream by its handle, and an event, still do.
 */
#include "base.h"
#include "sink/neutrino/neutrino.h"

#define STREAMS_MAX	1024u
#define EVENTS		4096u		/* a power of two */
#define EVENT_TRIES	8u
#define RANGES_MAX	(256u << 10)	/* 16 bytes each */
#define SMALL_COPY	(64u << 10)

/* Launches in a row of one stream: consecutive in the table, and in the order of return. */
struct range {
	uint32_t row, count;
	uint64_t order;		/* of the first */
};

struct nt_stream {
	uint64_t handle;	/* 1: the legacy default stream; 2: a thread's own */
	uint32_t tid;		/* with 2 */
	bool	 is_blocking;	/* waits for the legacy default stream, and is waited for by it */
	bool	 is_gone;	/* destroyed: its launches may still run */
	struct range *range;	/* oldest first */
	size_t	 ranges, room;
};

/* A mark in a stream. */
struct nt_event {
	uint64_t handle, stream;
	uint32_t tid;
	uint64_t before;
};

/* 1, 2 and a thread for the streams without a handle of their own. */
static void name_stream(const struct cuda_call *call, uint64_t stream, uint64_t *handle, uint32_t *tid)
{
	bool own = stream == 2 || (!stream && call->func & 1);

	*handle = own ? 2 : stream ?: 1;
	*tid = own ? call->tid : 0;
}

static struct nt_stream *find_stream(const struct nt_waits *w, uint64_t handle, uint32_t tid)
{
	for (size_t i = 0; i < w->streams; i++)
		if (w->stream[i].handle == handle && w->stream[i].tid == tid && !w->stream[i].is_gone)
			return &w->stream[i];
	return NULL;
}

static void drop_stream(struct nt_waits *w, struct nt_stream *s)
{
	w->ranges -= s->ranges;
	free(s->range);
	*s = w->stream[--w->streams];
}

/* A place for a stream: one that has nothing left goes when there are many. NULL: too many, or no memory. */
static struct nt_stream *add_stream(struct nt_waits *w, uint64_t handle, uint32_t tid)
{
	for (size_t i = w->streams; w->streams >= STREAMS_MAX && i-- > 0; )
		if (!w->stream[i].ranges)
			drop_stream(w, &w->stream[i]);
	if (w->streams >= STREAMS_MAX || grow(&w->stream, &w->stream_room, w->streams, sizeof(*w->stream)))
		return NULL;
	w->stream[w->streams] = (struct nt_stream){ .handle = handle, .tid = tid, .is_blocking = handle == 2 };
	return &w->stream[w->streams++];
}

void nt_waits_release(struct nt_waits *w)
{
	while (w->streams)
		drop_stream(w, &w->stream[w->streams - 1]);
	free(w->stream);
	free(w->event);
	*w = (struct nt_waits){};
}

/* ---- launches ---- */

/* Of each stream the older half is given up: when those end is not known. */
static void forget_half(struct nt_waits *w)
{
	for (size_t i = 0; i < w->streams; i++) {
		struct nt_stream *s = &w->stream[i];
		size_t half = (s->ranges + 1) / 2;

		memmove(s->range, s->range + half, (s->ranges - half) * sizeof(*s->range));
		s->ranges -= half;
		w->ranges -= half;
	}
	w->was_cut = true;
}

int nt_waits_launched(struct nt_waits *w, const struct cuda_launch *l, uint32_t tid, uint32_t row)
{
	bool own = l->stream == 2 || (!l->stream && l->flags & CUDA_LAUNCH_PER_THREAD);
	uint64_t handle = own ? 2 : l->stream ?: 1, order = w->order++;
	struct nt_stream *s = find_stream(w, handle, own ? tid : 0) ?: add_stream(w, handle, own ? tid : 0);
	struct range *last;

	if (!s) {
		w->was_cut = true;
		return 0;
	}
	last = s->ranges ? &s->range[s->ranges - 1] : NULL;
	if (last && last->row + last->count == row && last->order + last->count == order) {
		last->count++;
		return 0;
	}
	if (w->ranges >= RANGES_MAX)
		forget_half(w);
	if (grow(&s->range, &s->room, s->ranges, sizeof(*s->range)))
		return -ENOMEM;
	s->range[s->ranges++] = (struct range){ .row = row, .count = 1, .order = order };
	w->ranges++;
	return 0;
}

/* ---- what a call claims ---- */

/* The whole of one, as far as is known. */
static bool has_one_context(const struct nt_waits *w)
{
	return !w->context[1];
}

/* The place of an event: its own, else a free one, else that of the one longest ago. A forgotten one proves nothing. */
static struct nt_event *place_of_event(const struct nt_waits *w, uint64_t handle)
{
	size_t at = handle * 0x9e3779b97f4a7c15ull >> 40;
	struct nt_event *best = NULL;

	for (size_t i = 0; i < EVENT_TRIES; i++) {
		struct nt_event *e = &w->event[(at + i) & (EVENTS - 1)];

		if (e->handle == handle)
			return e;
		if (!best || (best->handle && (!e->handle || e->before < best->before)))
			best = e;
	}
	return best;
}

static const struct nt_event *find_event(const struct nt_waits *w, uint64_t handle)
{
	const struct nt_event *e = w->event && handle ? place_of_event(w, handle) : NULL;

	return e && e->handle == handle ? e : NULL;
}

/* Those to the host, and large ones to the device: CUDA's guide, "Asynchronous Concurrent Execution". */
static bool is_blocking_copy(const struct cuda_call *call)
{
	bool blocks = call->memory == CUDA_MEM_DTOH || (call->memory == CUDA_MEM_HTOD && call->bytes > SMALL_COPY);

	return blocks && call->fn->does == CUDA_DOES_MEMORY && !call->is_captured && !strstr(call->fn->name, "Async");
}

void nt_waits_claim(const struct nt_waits *w, const struct cuda_call *call, struct nt_claim *ret)
{
	bool waits = call->fn->does == CUDA_DOES_WAIT_STREAM || call->fn->does == CUDA_DOES_QUERY_STREAM;
	const struct nt_event *e = NULL;

	*ret = (struct nt_claim){ .before = w->order };
	name_stream(call, call->stream, &ret->stream, &ret->tid);
	if (call->fn->does == CUDA_DOES_WAIT_EVENT || call->fn->does == CUDA_DOES_QUERY_EVENT)
		e = find_event(w, call->event);
	if (e)
		*ret = (struct nt_claim){ NT_PROVES_STREAM, e->stream, e->tid, e->before };
	else if (call->fn->does == CUDA_DOES_WAIT_CONTEXT)
		ret->what = NT_PROVES_CONTEXT;
	else if (is_blocking_copy(call))
		ret->what = ret->stream == 1 ? NT_PROVES_DEFAULT : NT_PROVES_STREAM;
	else if (waits)
		ret->what = NT_PROVES_STREAM;
	if ((ret->what != NT_PROVES_STREAM || ret->stream <= 2) && !has_one_context(w))
		ret->what = NT_PROVES_NOTHING;		/* each context has such a stream of its own */
}

static bool covers(const struct nt_claim *c, const struct nt_stream *s)
{
	switch (c->what) {
	case NT_PROVES_CONTEXT:
		return true;
	case NT_PROVES_DEFAULT:
		return (s->handle == 1 || s->is_blocking) && !s->is_gone;
	case NT_PROVES_STREAM:
		return s->handle == c->stream && s->tid == c->tid && !s->is_gone;
	default:
		return false;
	}
}

/* The launches of @s before @before are complete. */
static int complete(struct nt_waits *w, struct nt_stream *s, uint64_t before, nt_complete_fn fn, void *ctx)
{
	size_t done = 0;
	int err = 0;

	while (done < s->ranges && !err && s->range[done].order < before) {
		struct range *r = &s->range[done];
		uint32_t n = MIN(before - r->order, (uint64_t)r->count);

		for (uint32_t i = 0; i < n && !err; i++)
			err = fn(ctx, r->row + i);
		*r = (struct range){ r->row + n, r->count - n, r->order + n };
		if (r->count)
			break;
		done++;
	}
	memmove(s->range, s->range + done, (s->ranges - done) * sizeof(*s->range));
	s->ranges -= done;
	w->ranges -= done;
	return err;
}

/* ---- streams, events, contexts ---- */

static int note_event(struct nt_waits *w, const struct cuda_call *call, const struct nt_claim *c)
{
	if (!w->event)
		w->event = calloc(EVENTS, sizeof(*w->event));
	if (!w->event)
		return -ENOMEM;
	*place_of_event(w, call->event) = (struct nt_event){ .handle = call->event, .stream = c->stream, .tid = c->tid, .before = c->before };
	return 0;
}

#define STREAM_NON_BLOCKING	1u	/* CU_STREAM_NON_BLOCKING */

static void note_stream(struct nt_waits *w, const struct cuda_call *call)
{
	struct nt_stream *s = call->out > 2 ? find_stream(w, call->out, 0) : NULL;

	if (s)
		s->is_gone = true;
	s = call->out > 2 ? add_stream(w, call->out, 0) : NULL;
	if (s)
		s->is_blocking = !(call->arg[1] & STREAM_NON_BLOCKING);
}

/* A run time may get its context by ways that are not seen, and only set it. */
static void note_context(struct nt_waits *w, const struct cuda_call *call)
{
	const char *name = call->fn->name;
	uint64_t context = 0;

	if (!strcmp(name, "cuCtxSetCurrent"))
		context = call->handle;
	else if (strstr(name, "CtxCreate") || strstr(name, "CtxRetain"))
		context = call->out;
	if (!context || context == w->context[0])
		return;
	w->context[w->context[0] != 0] = context;
}

/* A new event may have its handle, and one that was never recorded is complete. */
static void forget_event(struct nt_waits *w, uint64_t handle)
{
	if (find_event(w, handle))
		place_of_event(w, handle)->handle = 0;
}

int nt_waits_returned(struct nt_waits *w, const struct cuda_call *call, const struct nt_claim *claim,
		      nt_complete_fn fn, void *ctx)
{
	struct nt_stream *s;
	int err = 0;

	for (size_t i = 0; claim->what && i < w->streams && !err; i++)
		if (covers(claim, &w->stream[i]))
			err = complete(w, &w->stream[i], claim->before, fn, ctx);
	switch (call->fn->does) {
	case CUDA_DOES_RECORD_EVENT:
		return call->is_captured ? err : err ?: note_event(w, call, claim);
	case CUDA_DOES_NEW_STREAM:
		note_stream(w, call);
		break;
	case CUDA_DOES_END_STREAM:
		s = find_stream(w, call->stream ?: call->handle, 0);
		if (s)
			s->is_gone = true;
		break;
	case CUDA_DOES_OTHER:
		note_context(w, call);
		if (strstr(call->fn->name, "EventDestroy"))
			forget_event(w, call->event);
		break;
	}
	return err;
}
