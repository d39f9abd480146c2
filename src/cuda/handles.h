/*
 * handles.h - what a handle of the driver stands for: a number in the process, to a pointer of ours.
 */
#ifndef CUDA_HANDLES_H
#define CUDA_HANDLES_H

#include <stddef.h>
#include <stdint.h>

struct handle {
	uint64_t number;	/* 0: this place is free */
	void	*is;
};

/* All zeroes: empty. */
struct handles {
	struct handle *place;	/* room of them, a power of two */
	size_t	       room, count;
};

void *handles_get(const struct handles *h, uint64_t number);		/* NULL: none, or 0 */
int   handles_put(struct handles *h, uint64_t number, void *is);	/* in place of what it stood for; 0 is never kept */
void *handles_take(struct handles *h, uint64_t number);			/* and forgets it */
void  handles_clear(struct handles *h, void (*fn)(void *is));		/* @fn NULL: what it stood for is not ours to free */

#endif
