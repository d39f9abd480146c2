/*
 * drain.c - every few milliseconds, all rings into one round.
 *
 * The clock is read before the rings are, and every record is stamped after
 * its space was reserved: so a record that a later round brings is not older
 * than this round's instant, but for the few that are put together before. The
 * merge allows them a whole round.
 *
 * A ring is taken up to the first record that is still being written. Its
 * program may have been preempted, and those behind it then come late by
 * milliseconds or more: so long the rounds' instant stays where it was. (One
 * that is preempted while it puts a record together elsewhere is late.)
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "base.h"
#include "callring.h"
#include "clock.h"
#include "flow/drain.h"
#include "flow/ringrest.h"
#include "flow/round.h"
#include "flow/taken.h"
#include "record.h"

#define SLEEP_MIN_MS	5
#define SLEEP_MAX_MS	20
#define HOLD_MAX_NS	(2 * NSEC_PER_SEC)	/* that the instant stays; then what comes late is late */
#define HOLD_PROMPT_NS	(50 * NSEC_PER_MSEC)
#define REST_TURNS	50	/* at the end, of a program that is held up in the midst of a record */

/* A ring, as the round before left it. Places in it count up for ever. */
struct progress {
	uint64_t begun;		/* how far records were begun */
	uint64_t safe;		/* no record that it still brings is older; UINT64_MAX: there is no such ring */
};

struct drain {
	pthread_t	    thread;
	atomic_bool	    stop;
	struct drain_args   args;
	struct ring_buffer **ring;
	struct ringrest	   *rest;		/* one per CPU, while there is a ring */
	struct tally	   *tally, *seen;	/* one per CPU: as just read, as last reported */
	struct progress	   *progress;		/* one per ring: two per CPU */
	uint64_t	    before, instant;	/* the clock, before the round before, and before this one */
	size_t		    waiting;		/* bytes taken while the instant has been further back than the round before */
	struct round	   *round;		/* being filled */
	struct tally	   *garbled;		/* one per CPU: records that came so, not reported yet */
	struct tally	   *unfinished;		/* one per CPU: at the end */
	uint64_t	    garbled_in_all;	/* reported */
	struct chunk	   *chunk;		/* being filled, by ... */
	unsigned	    cpu;
};

static int take_record(void *ctx, void *data, size_t len)
{
	struct drain *d = ctx;

	return taken_sample(d->chunk, data, len, &d->garbled[d->cpu]);
}

static int take_rest(void *ctx, const void *data, size_t len, bool is_whole)
{
	struct drain *d = ctx;

	if (is_whole)
		return taken_sample(d->chunk, data, len, &d->garbled[d->cpu]);
	taken_unfinished(data, len, &d->unfinished[d->cpu]);
	return 0;
}

static struct calls_head *calls_of(const struct drain *d, unsigned cpu)
{
	size_t bytes = sizeof(struct calls_head) + (size_t)d->args.calls_slots * sizeof(struct rec_func);

	return (void *)((char *)d->args.calls + cpu * bytes);
}

/* What @cpu has lost since that was last reported; false: nothing. */
static bool has_lost(const struct drain *d, unsigned cpu, uint64_t *count)
{
	bool any = false;

	for (int i = 0; i < REC_CLASSES; i++) {
		count[i] = d->tally[cpu].lost[i] - d->seen[cpu].lost[i] + d->garbled[cpu].lost[i] +
			   d->unfinished[cpu].lost[i];
		any |= count[i] != 0;
	}
	return any;
}

static void note_reported(struct drain *d, unsigned cpu)
{
	for (int i = 0; i < REC_CLASSES; i++)
		d->garbled_in_all += d->garbled[cpu].lost[i];
	d->garbled[cpu] = d->unfinished[cpu] = (struct tally){};
	d->seen[cpu] = d->tally[cpu];
}

static void read_tallies(struct drain *d)
{
	for (unsigned cpu = 0; d->args.tallies && cpu < d->args.ring_count; cpu++)
		for (int i = 0; i < REC_CLASSES; i++)
			d->tally[cpu].lost[i] = __atomic_load_n(&d->args.tallies[cpu].lost[i], __ATOMIC_RELAXED);
}

/* A LOST record for each CPU whose counts have grown. */
static void report_losses(struct drain *d)
{
	uint64_t count[REC_CLASSES];

	read_tallies(d);
	for (unsigned cpu = 0; cpu < d->args.ring_count; cpu++) {
		struct rec_lost *r;

		if (!has_lost(d, cpu, count))
			continue;
		r = chunk_add(&d->round->chunk[cpu], sizeof(*r));
		if (!r)
			return;			/* reported with the next round's */
		memset(r, 0, sizeof(*r));
		r->hdr = (struct rec_hdr){ .time = clock_now(), .kind = REC_LOST, .size = sizeof(*r), .cpu = cpu };
		chunk_note(&d->round->chunk[cpu], r->hdr.time);
		memcpy(r->count, count, sizeof(count));
		note_reported(d, cpu);
	}
}

/* The ring was taken up to @taken; when this round began, records had been begun up to @begun. */
static void note_progress(struct drain *d, struct progress *p, uint64_t taken, uint64_t begun)
{
	if (taken >= begun)
		p->safe = d->instant;
	else if (taken >= p->begun)		/* the one that it stopped at was begun since the round before */
		p->safe = d->before;
	p->begun = begun;
}

/* Up to when nothing that was recorded is missing in what was taken. */
static uint64_t instant_of_round(struct drain *d)
{
	uint64_t safe = d->instant;

	for (unsigned i = 0; i < 2 * d->args.ring_count; i++)
		safe = MIN(safe, d->progress[i].safe);
	for (unsigned i = 0; i < d->round->chunk_count; i++)
		d->waiting += d->round->chunk[i].room;
	if (d->instant - safe > (d->args.is_prompt ? HOLD_PROMPT_NS : HOLD_MAX_NS) || d->waiting > d->args.hold_bytes) {
		for (unsigned i = 0; i < 2 * d->args.ring_count; i++)
			d->progress[i].safe = MAX(d->progress[i].safe, d->instant);
		safe = d->instant;
	}
	if (safe >= d->before)
		d->waiting = 0;
	return safe;
}

static void take_samples(struct drain *d, unsigned cpu, bool is_last)
{
	uint64_t begun = __atomic_load_n(d->rest[cpu].begun, __ATOMIC_ACQUIRE);

	(void)ring_buffer__consume(d->ring[cpu]);
	note_progress(d, &d->progress[cpu], *d->rest[cpu].taken, begun);
	if (is_last)
		(void)ringrest_each(&d->rest[cpu], take_rest, d);
}

static void take_calls(struct drain *d, unsigned cpu, bool is_last)
{
	struct calls_head *calls = calls_of(d, cpu);
	uint64_t begun = __atomic_load_n(&calls->head, __ATOMIC_ACQUIRE);

	taken_calls(d->chunk, calls, d->args.calls_slots, &d->garbled[cpu], is_last ? &d->unfinished[cpu] : NULL);
	note_progress(d, &d->progress[d->args.ring_count + cpu], calls->tail, begun);
}

/* Returns the bytes taken from the fullest ring. */
static size_t drain_once(struct drain *d, bool is_last)
{
	unsigned cpus = d->args.ring_count;
	size_t most = 0;

	d->round = round_create(2 * cpus);
	if (!d->round)
		return 0;
	d->before = d->instant;
	d->instant = clock_now();
	d->round->last = is_last;
	for (d->cpu = 0; d->cpu < cpus; d->cpu++) {
		d->chunk = &d->round->chunk[d->cpu];
		if (d->ring[d->cpu])
			take_samples(d, d->cpu, is_last);
		most = MAX(most, d->chunk->len);
		d->chunk = &d->round->chunk[cpus + d->cpu];
		if (d->args.calls)
			take_calls(d, d->cpu, is_last);
		most = MAX(most, d->chunk->len);
	}
	d->round->instant = instant_of_round(d);
	report_losses(d);
	queue_push(d->args.queue, TAKE(d->round));
	return most;
}

static bool has_rest(const struct drain *d)
{
	for (unsigned i = 0; i < d->args.ring_count; i++) {
		const struct calls_head *calls = d->args.calls ? calls_of(d, i) : NULL;

		if (calls && calls->tail != __atomic_load_n(&calls->head, __ATOMIC_ACQUIRE))
			return true;
		if (d->ring[i] && !ringrest_is_empty(&d->rest[i]))
			return true;
	}
	return false;
}

/*
 * Nothing new is begun, but by who had asked before whether recording goes on. What a program that is held up has begun is
 * waited for, shortly, as is all behind it.
 */
static void drain_rest(struct drain *d)
{
	const struct timespec t = { .tv_nsec = 1000000 };

	for (int i = 0; i < REST_TURNS && has_rest(d); i++) {
		drain_once(d, false);
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	}
	drain_once(d, true);
}

static void *drain_loop(void *ctx)
{
	struct drain *d = ctx;
	unsigned ms = SLEEP_MIN_MS;

	pthread_setname_np(pthread_self(), "drain");
	(void)setpriority(PRIO_PROCESS, 0, -20);	/* it runs shortly, and what it does not take in time is lost */
	while (!d->stop) {
		struct timespec t = { .tv_nsec = ms * 1000000l };
		size_t most;

		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
		if (queue_is_full(d->args.queue))
			continue;
		most = drain_once(d, false);
		/* A ring an eighth full in one sleep: come back at once. Nearly nothing: sleep longer. */
		if (most > d->args.ring_bytes / 8)
			ms = 1;
		else if (most > d->args.ring_bytes / 64)
			ms = SLEEP_MIN_MS;
		else
			ms = MIN(ms * 2, d->args.is_prompt ? (unsigned)SLEEP_MIN_MS : SLEEP_MAX_MS);
	}
	drain_rest(d);
	return NULL;
}

static void drain_free(struct drain *d)
{
	for (unsigned i = 0; d->ring && i < d->args.ring_count; i++)
		ring_buffer__free(d->ring[i]);
	for (unsigned i = 0; d->rest && i < d->args.ring_count; i++)
		ringrest_close(&d->rest[i]);
	free(d->ring);
	free(d->rest);
	free(d->tally);
	free(d->seen);
	free(d->garbled);
	free(d->unfinished);
	free(d->progress);
	free(d);
}

int drain_start(struct drain **ret, const struct drain_args *args)
{
	struct drain *d = calloc(1, sizeof(*d));
	int err = -ENOMEM;

	if (!d)
		return -ENOMEM;
	d->args = *args;
	d->instant = clock_now();
	d->ring = calloc(args->ring_count, sizeof(*d->ring));
	d->tally = calloc(args->ring_count, sizeof(*d->tally));
	d->seen = calloc(args->ring_count, sizeof(*d->seen));
	d->garbled = calloc(args->ring_count, sizeof(*d->garbled));
	d->unfinished = calloc(args->ring_count, sizeof(*d->unfinished));
	d->rest = calloc(args->ring_count, sizeof(*d->rest));
	d->progress = calloc(2 * args->ring_count, sizeof(*d->progress));
	if (!d->ring || !d->tally || !d->seen || !d->garbled || !d->unfinished || !d->rest || !d->progress)
		goto out;
	for (unsigned i = 0; i < 2 * args->ring_count; i++)
		d->progress[i].safe = UINT64_MAX;
	for (unsigned i = 0; args->ring_fd && i < args->ring_count; i++) {
		d->ring[i] = ring_buffer__new(args->ring_fd[i], take_record, d, NULL);
		err = d->ring[i] ? ringrest_open(&d->rest[i], args->ring_fd[i], args->ring_bytes) : -errno;
		if (err)
			goto out;
	}
	err = -pthread_create(&d->thread, NULL, drain_loop, d);
out:
	if (err)
		drain_free(d);
	else
		*ret = d;
	return err;
}

uint64_t drain_finish(struct drain *d)
{
	uint64_t garbled;

	if (!d)
		return 0;
	d->stop = true;
	pthread_join(d->thread, NULL);
	garbled = d->garbled_in_all;
	drain_free(d);
	return garbled;
}
