/*
 * base.h - cleanup and ownership, the few helpers every file may use.
 */
#ifndef BASE_H
#define BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define __cleanup(fn)	__attribute__((cleanup(fn)))
#define TAKE(p)		({ __typeof__(p) taken_ = (p); (p) = NULL; taken_; })
#define TAKE_FD(fd)	({ int taken_ = (fd); (fd) = -1; taken_; })
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ROUND_UP(n, to)	(((n) + (to) - 1) / (to) * (to))
#define MIN(a, b)	({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define MAX(a, b)	({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define NSEC_PER_SEC	1000000000ull
#define NSEC_PER_MSEC	1000000ull

/* DEFINE_CLEANUP(merge_destroy, struct merge *) makes merge_destroyp() for __cleanup(). */
#define DEFINE_CLEANUP(fn, type)	static inline void fn##p(type *p) { if (*p) fn(*p); }

/* Numbers at any address, in the machine's byte order. */
static inline uint16_t get_u16(const void *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline uint32_t get_u32(const void *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline uint64_t get_u64(const void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}

static inline void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

/*
 * Room for one more element in a growing array. @array is a pointer to the
 * array's pointer, @room its capacity in elements. Returns 0 or -ENOMEM.
 */
static inline int grow(void *array, size_t *room, size_t count, size_t size)
{
	void **p = array, *q;
	size_t n = *room ? *room * 2 : 16;

	if (count < *room)
		return 0;
	q = realloc(*p, n * size);
	if (!q)
		return -ENOMEM;
	*p = q;
	*room = n;
	return 0;
}

#endif
