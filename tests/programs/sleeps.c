/*
 * sleeps.c - calls that take 100 ms, calls that take next to nothing, and both below one another.
 *
 *	sleeps			the calls that return
 *	sleeps thread		besides, some in a thread
 *	sleeps leave		besides, some that are left by longjmp()
 *	sleeps end		besides, exit() below a call that has slept, and below one that has not
 *	sleeps deep N		N calls below each other, the innermost sleeps
 *	sleeps stay		besides, a call that sleeps until it is killed
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "truth.h"

#define LONE	__attribute__((noipa))

static jmp_buf back;
static int zero;

LONE static void doze(void) { ENTER(); nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL); KEEP_FRAME(); }
LONE static int quick(int n) { ENTER(); n += getppid() > 0; KEEP_FRAME(); return n; }
LONE static int calls_quick(int n) { ENTER(); n = quick(n); KEEP_FRAME(); n += quick(n); KEEP_FRAME(); return n; }
LONE static int slow(int n) { ENTER(); n = quick(n); doze(); KEEP_FRAME(); return n + 1; }
LONE static int twice(int n) { ENTER(); n = quick(n); n += slow(n); n = calls_quick(n); n += slow(n); KEEP_FRAME(); return n; }
LONE static int around(int n) { ENTER(); n = calls_quick(n); n += twice(n); KEEP_FRAME(); return n; }

LONE static int many(int n)
{
	ENTER();
	for (int i = 0; i < 100; i++)
		n = quick(n);
	KEEP_FRAME();
	return n;
}

/* Left by longjmp(): one after sleeping, one at once. */
LONE static int jumps(int sleeps) { ENTER(); if (sleeps) doze(); longjmp(back, 1); return sleeps; }
LONE static int catches(volatile int sleeps)
{
	ENTER();
	if (!setjmp(back))
		sleeps = jumps(sleeps);
	KEEP_FRAME();
	sleeps = quick(sleeps);
	KEEP_FRAME();
	return sleeps;
}

LONE static int down(int n) { ENTER(); if (n > 1) n = down(n - 1); else doze(); KEEP_FRAME(); return n + zero; }

static void *in_thread(void *arg) { ENTER(); slow(1); quick(1); KEEP_FRAME(); return arg; }

LONE static void in_a_thread(void)
{
	pthread_t t;

	ENTER();
	if (!pthread_create(&t, NULL, in_thread, NULL))
		pthread_join(t, NULL);
	KEEP_FRAME();
}

LONE static void ends_at_once(void) { ENTER(); truth_print(); fflush(stdout); _exit(0); }
LONE static void ends(void) { ENTER(); doze(); ends_at_once(); }

LONE static void stays(void)
{
	ENTER();
	doze();
	truth_print();
	fflush(stdout);
	quick(1);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int n = 0;

	ENTER();
	if (!strcmp(what, "deep")) {
		n = down(argc > 2 ? atoi(argv[2]) : 100);
	} else {
		n = around(1);
		n += many(n);
		n += calls_quick(n);
	}
	if (!strcmp(what, "thread"))
		in_a_thread();
	if (!strcmp(what, "leave"))
		n += catches(1) + catches(0);
	KEEP_FRAME();
	if (!strcmp(what, "end"))
		ends();
	if (!strcmp(what, "stay"))
		stays();
	zero = n;
	truth_print();
	return 0;
}
