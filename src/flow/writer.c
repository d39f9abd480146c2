/*
 * writer.c - queue -> merge -> tracker -> segment, one round at a time.
 *
 * When a round arrives, what is older than the instant of the round before it
 * is released: a program would have to be held up for a whole round to be
 * late.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "about.h"
#include "base.h"
#include "clock.h"
#include "flow/raw.h"
#include "flow/round.h"
#include "flow/segment.h"
#include "flow/writer.h"
#include "merge.h"

#define CHECKPOINT_NS	NSEC_PER_SEC
#define POP_MS		200

struct writer {
	pthread_t	   thread;
	struct writer_args args;
	struct merge	  *merge;
	struct tracker	  *tracker;
	uint64_t	   released;	/* instant of the round before */
	uint64_t	   checked;	/* when the last checkpoint was */
	int		   err;		/* the first */
	_Atomic uint64_t   events, tasks, lost;
};

static void note_progress(struct writer *w)
{
	const struct tracker_counts *c = tracker_counts(w->tracker);
	uint64_t lost = 0;

	for (int i = 0; i < REC_CLASSES; i++)
		lost += c->lost[i];
	w->events = c->events;
	w->tasks = c->tasks;
	w->lost = lost;
}

static int write_image(struct writer *w, struct round *r)
{
	int err = w->args.raw ? raw_image(w->args.raw, r->image) : 0;

	err = err ?: tracker_image(w->tracker, TAKE(r->image));
	round_destroy(r);
	return err;
}

static int write_round(struct writer *w, struct round *r)
{
	uint64_t until = r->last ? UINT64_MAX : w->released;
	int err = w->args.raw ? raw_round(w->args.raw, r) : 0;

	w->released = r->instant;
	err = merge_add(w->merge, r) ?: err;
	return err ?: merge_release(w->merge, until, tracker_record, w->tracker);
}

static int checkpoint(struct writer *w)
{
	uint64_t now = clock_now();

	if (now - w->checked < CHECKPOINT_NS)
		return 0;
	w->checked = now;
	return segment_checkpoint(w->args.segment);
}

static void *writer_loop(void *ctx)
{
	struct writer *w = ctx;
	bool is_last = false;

	pthread_setname_np(pthread_self(), "writer");
	w->checked = clock_now();
	while (!is_last) {
		struct round *r = queue_pop(w->args.queue, POP_MS);
		int err = 0;

		if (r) {
			is_last = r->last;
			err = r->image ? write_image(w, r) : write_round(w, r);
			note_progress(w);
		}
		err = err ?: checkpoint(w);
		if (err && !w->err)
			w->err = err;
	}
	if (!w->err)
		w->err = tracker_finish(w->tracker);
	return NULL;
}

static void writer_free(struct writer *w)
{
	merge_destroy(w->merge);
	tracker_destroy(w->tracker);
	free(w);
}

int writer_start(struct writer **ret, const struct writer_args *args)
{
	struct writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return -ENOMEM;
	w->args = *args;
	err = merge_create(&w->merge);
	err = err ?: tracker_create(&w->tracker, args->segment, args->exe);
	if (!err)
		tracker_use_symbols(w->tracker, args->symbols);
	err = err ?: -pthread_create(&w->thread, NULL, writer_loop, w);
	if (err)
		writer_free(w);
	else
		*ret = w;
	return err;
}

/*
 * The tracker's images and sessions are lent to the sinks until they are closed,
 * so the segment is closed before they go.
 */
int writer_finish(struct writer *w, struct tracker_counts *counts)
{
	int err;

	if (!w)
		return 0;
	pthread_join(w->thread, NULL);
	*counts = *tracker_counts(w->tracker);
	memcpy(w->args.about->lost, counts->lost, sizeof(counts->lost));
	err = segment_close(w->args.segment) ?: w->err;
	writer_free(w);
	return err;
}

void writer_progress(const struct writer *w, struct writer_progress *ret)
{
	ret->events = w->events;
	ret->tasks = w->tasks;
	ret->lost = w->lost;
}
