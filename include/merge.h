/*
 * merge.h - the records of many CPUs, put into one order of time.
 *
 * A round holds a chunk per ring. Chunks are almost in order as they come;
 * merge_add() puts each in order, merge_release() takes the oldest head of all
 * chunks first. Rounds are freed when their last record has been handed out.
 */
#ifndef MERGE_H
#define MERGE_H

#include <stddef.h>
#include <stdint.h>

struct merge;
struct rec_hdr;
struct round;

/* @rec is lent until the call returns; Return 0 to go on, else an errno that ends the release. */
typedef int (*merge_fn)(void *ctx, const struct rec_hdr *rec);

int  merge_create(struct merge **ret);
void merge_destroy(struct merge *m);

int  merge_add(struct merge *m, struct round *r);	/* takes @r, error or not */

/* Hand out, oldest first, every record with a time before @until (ns). */
int  merge_release(struct merge *m, uint64_t until, merge_fn fn, void *ctx);

size_t merge_pending(const struct merge *m);		/* records not yet handed out */

#endif
