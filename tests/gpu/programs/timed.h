/* timed.h - the clock of a loop of launches. */
#ifndef TIMED_H
#define TIMED_H

#include <time.h>

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/*
 * N launches in batches that the queue has room for; only the calls are timed, the waits between them are not. Prints
 * nanoseconds of a call, and with the waits.
 */
#define TIMED_LAUNCHES(n, launch, wait) do {						\
	double calls_ = 0, all_ = now_ns();						\
	for (int i_ = 0; i_ < (n); i_ += 250) {						\
		double t_ = now_ns();							\
		for (int j_ = 0; j_ < 250; j_++)					\
			launch;								\
		calls_ += now_ns() - t_;						\
		wait;									\
	}										\
	printf("ns per launch: %.1f, with waits %.1f\n", calls_ / (n), (now_ns() - all_) / (n));	\
} while (0)

#endif
