/*
 * merge.c - a heap of chunks; the oldest head goes first.
 *
 * A chunk is almost sorted as it arrives: only a program preempted between
 * reserving its space and reading the clock, or one that ran inside another,
 * puts a record slightly late. So a chunk in order, nearly all of them, is read
 * where it lies; one that is not gets an index, sorted by walking back from
 * the tail.
 */
#include "base.h"
#include "flow/round.h"
#include "merge.h"
#include "record.h"

/* The place in a chunk that is read next. */
struct cursor {
	uint64_t	       time;	/* of the head, kept here: the heap compares many times */
	const struct rec_hdr  *head;
	const struct rec_hdr **index;	/* owned; NULL: the chunk is in order as it lies */
	size_t		       at, count;
	struct source_round   *of;
};

/* A round until its last record has been handed out. */
struct source_round {
	struct round *round;
	unsigned      live;		/* cursors not at their end */
};

struct merge {
	struct cursor *heap;		/* oldest head first */
	size_t	       count, room;
	size_t	       pending;
};

int merge_create(struct merge **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void source_release(struct source_round *of)
{
	if (--of->live)
		return;
	round_destroy(of->round);
	free(of);
}

void merge_destroy(struct merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++) {
		free(m->heap[i].index);
		source_release(m->heap[i].of);
	}
	free(m->heap);
	free(m);
}

size_t merge_pending(const struct merge *m)
{
	return m->pending;
}

static const struct rec_hdr *following(const struct rec_hdr *r)
{
	return (const void *)((const char *)r + r->size);
}

/* The records of @c by time; of equal times the first stays first. */
static const struct rec_hdr **sorted(const struct chunk *c)
{
	const struct rec_hdr **index = calloc(c->count, sizeof(*index));
	const struct rec_hdr *r = (const void *)c->data;

	if (!index)
		return NULL;
	for (uint32_t i = 0; i < c->count; i++, r = following(r)) {
		uint32_t at = i;

		for (; at && index[at - 1]->time > r->time; at--)
			index[at] = index[at - 1];
		index[at] = r;
	}
	return index;
}

static bool is_older(const struct cursor *a, const struct cursor *b)
{
	return a->time < b->time;
}

static void swap(struct cursor *a, struct cursor *b)
{
	struct cursor t = *a;

	*a = *b;
	*b = t;
}

static void sift_up(struct merge *m, size_t i)
{
	for (; i && is_older(&m->heap[i], &m->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&m->heap[i], &m->heap[(i - 1) / 2]);
}

static void sift_down(struct merge *m)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < m->count) {
		if (child + 1 < m->count && is_older(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (!is_older(&m->heap[child], &m->heap[i]))
			return;
		swap(&m->heap[i], &m->heap[child]);
		i = child;
	}
}

static int add_chunk(struct merge *m, struct source_round *of, const struct chunk *c)
{
	struct cursor cur = { .count = c->count, .of = of, .head = (const void *)c->data };
	int err = grow(&m->heap, &m->room, m->count, sizeof(*m->heap));

	if (err)
		return err;
	if (c->is_unordered) {
		cur.index = sorted(c);
		if (!cur.index)
			return -ENOMEM;
		cur.head = cur.index[0];
	}
	cur.time = cur.head->time;
	of->live++;
	m->pending += c->count;
	m->heap[m->count++] = cur;
	sift_up(m, m->count - 1);
	return 0;
}

int merge_add(struct merge *m, struct round *r)
{
	struct source_round *of = calloc(1, sizeof(*of));
	int err = 0;

	if (!of) {
		round_destroy(r);
		return -ENOMEM;
	}
	of->round = r;
	of->live = 1;				/* ours, until every chunk is in */
	for (unsigned i = 0; i < r->chunk_count && !err; i++)
		if (r->chunk[i].count)
			err = add_chunk(m, of, &r->chunk[i]);
	source_release(of);
	return err;
}

/* Step the oldest cursor on; at its end it leaves the heap. */
static void advance(struct merge *m)
{
	struct cursor *c = &m->heap[0];

	m->pending--;
	if (++c->at < c->count) {
		c->head = c->index ? c->index[c->at] : following(c->head);
		c->time = c->head->time;
	} else {
		free(c->index);
		source_release(c->of);
		*c = m->heap[--m->count];
	}
	sift_down(m);
}

int merge_release(struct merge *m, uint64_t until, merge_fn fn, void *ctx)
{
	while (m->count && m->heap[0].time < until) {
		int err = fn(ctx, m->heap[0].head);

		if (err)
			return err;
		advance(m);
	}
	return 0;
}
