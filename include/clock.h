/*
 * clock.h - the one place that reads and converts clocks. Times without a unit are ns of CLOCK_MONOTONIC.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static inline uint64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/* CLOCK_REALTIME minus CLOCK_MONOTONIC, ns. */
static inline int64_t clock_utc_offset(void)
{
	return clock_read(CLOCK_REALTIME) - clock_now();
}

#endif
