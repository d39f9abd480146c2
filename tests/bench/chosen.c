/*
 * chosen.c - calls five levels deep that do some work each, and a few that take longer than 5 ms: what filters choose from.
 *
 * At its end it says the CPU time that it took, in seconds.
 */
#include <stdio.h>
#include <time.h>

#define REQUESTS	20000
#define SLOW		4		/* of them */
#define KINDS		100

#define LONE	__attribute__((noipa))

static volatile unsigned work;

/* About a microsecond. */
static void spin(void)
{
	for (int i = 0; i < 1500; i++)
		work += i;
}

LONE void store(unsigned n) { spin(); work += n; }
LONE void check(unsigned n) { spin(); store(n); work++; }
LONE void parse(unsigned n) { spin(); check(n); work++; }

LONE void serve(unsigned kind, unsigned n)
{
	struct timespec wait = { 0, 6000000 };

	spin();
	if (n % (REQUESTS / SLOW) == 1)
		nanosleep(&wait, NULL);
	parse(kind);
	work++;
}

int main(void)
{
	struct timespec t;

	for (unsigned n = 0; n < REQUESTS; n++)
		serve(n % KINDS, n);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	printf("%.6f\n", t.tv_sec + t.tv_nsec / 1e9);
	return 0;
}
