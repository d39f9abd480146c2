/*
 * truth.h - a program that counts its own calls and says so at its end.
 *
 * ENTER() at the head of a function counts one call of it; truth_print() says
 * "calls NAME COUNT" for each. The counts lie in shared memory, so those of
 * forked children are in them too (an exec begins anew: its program prints its
 * own). Where a count is not exact by nature, "calls>= NAME COUNT".
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct truth {
	const char *name;
};

#ifdef __cplusplus
extern "C" {
#endif
extern struct truth __start_truth[], __stop_truth[];
#ifdef __cplusplus
}
#endif

static unsigned long *truth_count __attribute__((unused));

/* A marker is padded by no compiler to more than its own size, since the section holds nothing else. */
#define ENTER()										\
	do {										\
		static struct truth truth_ __attribute__((section("truth"), used)) = { __func__ };	\
		if (truth_count)							\
			__atomic_add_fetch(&truth_count[&truth_ - __start_truth], 1, __ATOMIC_RELAXED);	\
	} while (0)

__attribute__((constructor, unused)) static void truth_begin(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	truth_count = (unsigned long *)p;
}

__attribute__((unused)) static void truth_print(void)
{
	for (struct truth *t = __start_truth; t < __stop_truth; t++)
		printf("calls %s %lu\n", t->name, truth_count[t - __start_truth]);
	fflush(stdout);
}

/* Keeps a call from being the last thing a function does, so that it is no jump. */
#define KEEP_FRAME()	__asm__ volatile("" ::: "memory")

#endif
