/*
 * round.h - what one drain of all rings brought, and the queue that carries it to the writer.
 *
 * The queue is the only thing the drain, the control thread and the writer
 * share. It carries rounds and, between them, images: an image is pushed
 * before its probes are attached, so it arrives before any record that names
 * one of its functions.
 */
#ifndef ROUND_H
#define ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct image;

/* The records of one ring, one behind the other; a CPU may have several rings. */
struct chunk {
	uint8_t	*data;
	size_t	 len, room;
	uint32_t count;		/* records */
	bool	 is_unordered;	/* some record is older than one before it */
	uint64_t latest;	/* time of the latest record */
};

struct round {
	uint64_t      instant;		/* up to when no record is missing, but for a few, which the round after this one brings */
	struct image *image;		/* not a round at all but an image on its way to the writer; owned */
	struct round *next;
	unsigned      chunk_count;
	bool	      last;		/* nothing follows */
	struct chunk  chunk[];
};

struct round *round_create(unsigned chunks);	/* NULL: no memory */
void	      round_destroy(struct round *r);		/* kept for the next round_create(), within limits */
void	      rounds_release(void);			/* frees what is kept; when all threads have ended */
size_t	      round_bytes(const struct round *r);

/* Room for @len bytes at the end of @c, which hold @count records; NULL: no memory. */
void *chunk_add_many(struct chunk *c, size_t len, uint32_t count);
void *chunk_add(struct chunk *c, size_t len);				/* one record */
void  chunk_cut(struct chunk *c, size_t len, uint32_t count);		/* take back the last of what was added */

/* Who adds a record notes its time too: while the record is at hand, and not again in the merge. */
static inline void chunk_note(struct chunk *c, uint64_t time)
{
	c->is_unordered |= time < c->latest;
	c->latest = time;
}

struct queue;
int   queue_create(struct queue **ret, size_t limit_bytes);
void  queue_destroy(struct queue *q);
bool  queue_is_full(struct queue *q);
void  queue_push(struct queue *q, struct round *r);			/* takes @r; never waits */
struct round *queue_pop(struct queue *q, unsigned timeout_ms);		/* NULL: nothing came in that time */

#endif
