/*
 * threadexec.c - a thread that is not the leader execs: true, from within outer(), after a while in spins().
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static long ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void spins(void)
{
	for (long begun = ms(); ms() < begun + 60; )
		;
	execlp("true", "true", NULL);
}

void outer(void) { spins(); }

static void *run(void *arg)
{
	outer();
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run, NULL);
	for (;;)
		pause();
}
