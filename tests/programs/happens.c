/*
 * happens.c - switches, signals and page faults, counted by the kernel's own accounts between two getrusage() calls.
 *
 * Prints "switches VOLUNTARY INVOLUNTARY", "signals N", "faults N", "tasks N".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIGNALS	40
#define PAGES	300
#define TURNS	60
#define THREADS	3

static void got(int sig)
{
	(void)sig;
}

static void *answer(void *ends)
{
	int *fd = ends;
	char c;

	while (read(fd[0], &c, 1) == 1)
		if (write(fd[1], &c, 1) != 1)
			break;
	return NULL;
}

static void *nothing(void *ctx)
{
	return ctx;
}

/* Each turn waits for the other thread. */
static void take_turns(void)
{
	int there[2], back[2], ends[2];
	pthread_t t;
	char c = 0;

	if (pipe(there) || pipe(back))
		return;
	ends[0] = there[0];
	ends[1] = back[1];
	pthread_create(&t, NULL, answer, ends);
	for (int i = 0; i < TURNS; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			return;
	close(there[1]);
	pthread_join(t, NULL);
}

int main(void)
{
	struct rusage a, b;
	long page = sysconf(_SC_PAGESIZE);
	volatile char *memory;
	pthread_t t;

	signal(SIGUSR1, got);
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE);
	getrusage(RUSAGE_THREAD, &a);
	for (int i = 0; i < PAGES; i++)
		memory[i * page] = 1;
	getrusage(RUSAGE_THREAD, &b);
	printf("faults %d\n", PAGES);
	getrusage(RUSAGE_THREAD, &a);
	take_turns();
	getrusage(RUSAGE_THREAD, &b);
	printf("switches %ld %ld\n", b.ru_nvcsw - a.ru_nvcsw, b.ru_nivcsw - a.ru_nivcsw);
	for (int i = 0; i < SIGNALS; i++)
		raise(SIGUSR1);
	printf("signals %d\n", SIGNALS);
	for (int i = 0; i < THREADS; i++) {
		pthread_create(&t, NULL, nothing, NULL);
		pthread_join(t, NULL);
	}
	if (!fork())
		_exit(0);
	wait(NULL);
	printf("tasks %d\n", 1 + THREADS + 1);
	return 0;
}
