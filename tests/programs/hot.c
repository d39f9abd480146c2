/*
 * hot.c - functions that are called very often, and functions that are not, above and below each other.
 * With "two" in two threads, with "again" once more after a second.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "truth.h"

#define LONE	__attribute__((noipa))

LONE static int below(int n) { ENTER(); return n + 1; }

/* Every tenth call makes another. */
LONE static int hot(int n)
{
	ENTER();
	if (n % 10 == 0)
		n = below(n);
	KEEP_FRAME();
	return n + 1;
}

LONE static int slow(int n)
{
	ENTER();
	for (int i = 0; i < 1000; i++)
		n += hot(i) & 1;
	KEEP_FRAME();
	return n;
}

static void *runs(void *arg)
{
	int n = 0;

	for (int i = 0; i < 50; i++)
		n += slow(i);
	*(int *)arg += n;
	return NULL;
}

int main(int argc, char **argv)
{
	bool is_two = argc > 1 && !strcmp(argv[1], "two"), again = argc > 1 && !is_two;
	int sums[2] = { 0, 0 };
	pthread_t other;

	ENTER();
	if (is_two)
		pthread_create(&other, NULL, runs, &sums[0]);
	runs(&sums[1]);
	if (is_two)
		pthread_join(other, NULL);
	if (again) {
		usleep(1100000);
		runs(&sums[0]);
	}
	printf("sum %d\n", sums[0] + sums[1]);
	truth_print();
	return 0;
}
