/*
 * round.c - rounds, their memory, and the queue between the threads.
 *
 * Chunks grow by doubling and die with their round. The queue is a list under
 * one lock, bounded in bytes; at most a few hundred rounds a second pass it.
 */
#include <pthread.h>
#include <time.h>

#include "base.h"
#include "flow/round.h"
#include "image.h"

#define CHUNK_START	(64u << 10)
#define POOL_BYTES	(64u << 20)	/* of rounds kept to be used again */

/*
 * Rounds that were written are used again: their chunks have grown to what a round
 * needs, and their memory is at hand. The drain takes from here what the writer puts.
 */
static struct {
	pthread_mutex_t lock;
	struct round   *first;
	size_t		bytes;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct round *take_used(unsigned chunks)
{
	struct round *r;

	pthread_mutex_lock(&pool.lock);
	r = pool.first;
	if (r && r->chunk_count == chunks) {
		pool.first = r->next;
		pool.bytes -= round_bytes(r);
	} else {
		r = NULL;
	}
	pthread_mutex_unlock(&pool.lock);
	return r;
}

static void clear(struct round *r)
{
	r->instant = 0;
	r->last = false;
	r->next = NULL;
	for (unsigned i = 0; i < r->chunk_count; i++)
		r->chunk[i] = (struct chunk){ .data = r->chunk[i].data, .room = r->chunk[i].room };
}

struct round *round_create(unsigned chunks)
{
	struct round *r = chunks ? take_used(chunks) : NULL;

	if (r) {
		clear(r);
		return r;
	}
	r = calloc(1, sizeof(*r) + chunks * sizeof(r->chunk[0]));
	if (r)
		r->chunk_count = chunks;
	return r;
}

/* False: it is not one to keep. */
static bool keep(struct round *r)
{
	bool has_room;

	if (!r->chunk_count || r->image)
		return false;
	pthread_mutex_lock(&pool.lock);
	has_room = pool.bytes + round_bytes(r) <= POOL_BYTES &&
		   (!pool.first || pool.first->chunk_count == r->chunk_count);
	if (has_room) {
		r->next = pool.first;
		pool.first = r;
		pool.bytes += round_bytes(r);
	}
	pthread_mutex_unlock(&pool.lock);
	return has_room;
}

static void round_free(struct round *r)
{
	for (unsigned i = 0; i < r->chunk_count; i++)
		free(r->chunk[i].data);
	image_destroy(r->image);
	free(r);
}

void round_destroy(struct round *r)
{
	if (r && !keep(r))
		round_free(r);
}

void rounds_release(void)
{
	while (pool.first) {
		struct round *r = pool.first;

		pool.first = r->next;
		round_free(r);
	}
	pool.bytes = 0;
}

size_t round_bytes(const struct round *r)
{
	size_t n = sizeof(*r);

	for (unsigned i = 0; i < r->chunk_count; i++)
		n += r->chunk[i].room;
	return n;
}

void *chunk_add_many(struct chunk *c, size_t len, uint32_t count)
{
	void *at;

	if (c->len + len > c->room) {
		size_t room = MAX(c->room * 2, (size_t)CHUNK_START);
		uint8_t *p;

		while (room < c->len + len)
			room *= 2;
		p = realloc(c->data, room);
		if (!p)
			return NULL;
		c->data = p;
		c->room = room;
	}
	at = c->data + c->len;
	c->len += len;
	c->count += count;
	return at;
}

void *chunk_add(struct chunk *c, size_t len)
{
	return chunk_add_many(c, len, 1);
}

void chunk_cut(struct chunk *c, size_t len, uint32_t count)
{
	c->len -= len;
	c->count -= count;
}

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t	came;
	struct round   *first, **end;
	size_t		bytes, limit;
};

int queue_create(struct queue **ret, size_t limit_bytes)
{
	struct queue *q = calloc(1, sizeof(*q));
	pthread_condattr_t attr;

	if (!q)
		return -ENOMEM;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->came, &attr);
	pthread_condattr_destroy(&attr);
	q->end = &q->first;
	q->limit = limit_bytes;
	*ret = q;
	return 0;
}

void queue_destroy(struct queue *q)
{
	if (!q)
		return;
	while (q->first) {
		struct round *r = q->first;

		q->first = r->next;
		round_destroy(r);
	}
	pthread_cond_destroy(&q->came);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

bool queue_is_full(struct queue *q)
{
	bool is_full;

	pthread_mutex_lock(&q->lock);
	is_full = q->bytes >= q->limit;
	pthread_mutex_unlock(&q->lock);
	return is_full;
}

void queue_push(struct queue *q, struct round *r)
{
	pthread_mutex_lock(&q->lock);
	r->next = NULL;
	*q->end = r;
	q->end = &r->next;
	q->bytes += round_bytes(r);
	pthread_cond_signal(&q->came);
	pthread_mutex_unlock(&q->lock);
}

static struct timespec in_ms(unsigned ms)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += (ms % 1000) * 1000000l;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000l;
	t.tv_nsec %= 1000000000l;
	return t;
}

struct round *queue_pop(struct queue *q, unsigned timeout_ms)
{
	struct timespec until = in_ms(timeout_ms);
	struct round *r;

	pthread_mutex_lock(&q->lock);
	while (!q->first)
		if (pthread_cond_timedwait(&q->came, &q->lock, &until) == ETIMEDOUT)
			break;
	r = q->first;
	if (r) {
		q->first = r->next;
		if (!q->first)
			q->end = &q->first;
		q->bytes -= round_bytes(r);
	}
	pthread_mutex_unlock(&q->lock);
	return r;
}
