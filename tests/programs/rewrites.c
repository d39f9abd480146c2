/*
 * rewrites.c - calls whose string argument is overwritten while they are open.
 *
 *	rewrites N	N calls below each other, each with a string of its own; the innermost sleeps for 100 ms
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LONE	__attribute__((noipa))
#define KEEP()	asm volatile("" ::: "memory")

LONE static int quick(const char *text) { KEEP(); return strlen(text); }

LONE static int down(int n, char *text)
{
	char own[32];
	int len;

	len = quick(text);
	memset(text, '*', len);
	if (n == 1) {
		nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	} else {
		snprintf(own, sizeof(own), "level %d", n - 1);
		len = down(n - 1, own);
	}
	KEEP();
	return n + 1000;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3;
	char own[32];

	snprintf(own, sizeof(own), "level %d", n);
	down(n, own);
	return 0;
}
