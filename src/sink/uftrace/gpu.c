/*
 * gpu.c - what ran on a device: each of its streams is a track, a task that no kernel knows.
 *
 * A task's records have to be in order of time, and what CUPTI tells comes late and not quite in order: it waits here until
 * nothing older is to be expected. What overlaps (branches of a graph) goes to several tracks of the stream.
 * A track has one call all along, whose name says what it is.
 */
#include "base.h"
#include "cuda.h"
#include "sink/uftrace/calls.h"

#define FIRST_TID	4194305u	/* above PID_MAX_LIMIT, include/linux/threads.h */
#define TRACKS_MAX	4096u
#define WAITS_MAX	(256u << 10)

/* The place and what follows the entry's record. */
static void describe(struct uf_calls *c, struct uf_span *s, const struct cuda_device_time *d)
{
	static const char *const copies[] = { "memcpy", "memcpy HtoD", "memcpy DtoH" };	/* CUpti_ActivityMemcpyKind */
	const struct cuda_time *t = d->time;
	const char *name = d->kernel ? d->kernel->name : "kernel";

	if (t->kind == CUDA_TIME_COPY)
		name = copies[t->what < ARRAY_SIZE(copies) ? t->what : 0];
	else if (t->kind == CUDA_TIME_SET)
		name = "memset";
	if (t->kind == CUDA_TIME_KERNEL) {
		s->addr = uf_cuda_kernel(c, name, t->grid, t->block, s->payload, &s->len);
		return;
	}
	s->addr = slot_of_function(c, name, "arg1/u64", NULL);
	s->len = s->addr ? sizeof(uint64_t) : 0;
	memcpy(s->payload, &t->bytes, s->len);
	s->addr = s->addr ?: uf_calls_named(c, name);
}

int uf_tracks_add(struct uf_tracks *tr, struct uf_calls *c, const struct cuda_device_time *d)
{
	const struct cuda_time *t = d->time;
	struct uf_span *s;

	if (!t->start || t->end < t->start)
		return 0;
	if (grow(&tr->span, &tr->span_room, tr->spans, sizeof(*tr->span)))
		return -ENOMEM;
	s = &tr->span[tr->spans++];
	*s = (struct uf_span){ .start = t->start, .end = t->end, .pid = d->process->pid, .process = d->process->id,
			       .device = t->device, .stream = t->stream };
	describe(c, s, d);
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct uf_span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* A track of its stream that is free by then, else a new one; NULL: there are too many. */
static struct uf_track *track_of(struct uf_tracks *tr, const struct uf_span *s)
{
	for (size_t i = 0; i < tr->tracks; i++) {
		struct uf_track *t = &tr->track[i];

		if (t->process == s->process && t->device == s->device && t->stream == s->stream && t->end <= s->start)
			return t;
	}
	if (tr->tracks >= TRACKS_MAX || grow(&tr->track, &tr->track_room, tr->tracks, sizeof(*tr->track)))
		return NULL;
	tr->track[tr->tracks] = (struct uf_track){
		.process = s->process, .pid = s->pid, .device = s->device, .stream = s->stream, .tid = FIRST_TID + tr->made++,
	};
	return &tr->track[tr->tracks++];
}

int uf_tracks_write(struct uf_tracks *tr, uint64_t until, uf_span_fn fn, void *ctx)
{
	size_t done = 0;
	int err = 0;

	if (!tr->spans)
		return 0;
	qsort(tr->span, tr->spans, sizeof(*tr->span), by_start);
	if (until && tr->spans > WAITS_MAX)
		until = MAX(until, tr->span[tr->spans / 2].start);
	for (; done < tr->spans && tr->span[done].start <= until && !err; done++) {
		struct uf_track *t = track_of(tr, &tr->span[done]);

		if (!t) {
			tr->left_out++;
			continue;
		}
		err = fn(ctx, t, &tr->span[done]);
		t->end = tr->span[done].end;
	}
	tr->spans -= done;
	memmove(tr->span, tr->span + done, tr->spans * sizeof(*tr->span));
	return err;
}

void uf_tracks_release(struct uf_tracks *tr)
{
	free(tr->span);
	free(tr->track);
}
