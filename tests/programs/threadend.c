/* threadend.c - threads that end by pthread_exit and by pthread_cancel, in the depth, with cleanup handlers. */
#include <pthread.h>
#include <unistd.h>

#include "truth.h"

static pthread_barrier_t ready;
static int cleaned;

static void clean(void *arg)
{
	ENTER();
	__atomic_add_fetch(&cleaned, 1, __ATOMIC_RELAXED);
	(void)arg;
}

static void leave_from(int n)
{
	ENTER();
	pthread_cleanup_push(clean, NULL);
	if (n == 0)
		pthread_exit((void *)42);
	leave_from(n - 1);
	pthread_cleanup_pop(0);
}

static void wait_from(int n)
{
	ENTER();
	pthread_cleanup_push(clean, NULL);
	if (n == 0) {
		pthread_barrier_wait(&ready);
		for (;;)
			pause();
	}
	wait_from(n - 1);
	pthread_cleanup_pop(0);
}

static void *leaver(void *arg) { ENTER(); leave_from((long)arg); return NULL; }
static void *waiter(void *arg) { ENTER(); wait_from((long)arg); return NULL; }

static void *end_of(void *(*fn)(void *), long depth, int cancel)
{
	pthread_t t;
	void *r;

	ENTER();
	pthread_create(&t, NULL, fn, (void *)depth);
	if (cancel) {
		pthread_barrier_wait(&ready);
		pthread_cancel(t);
	}
	pthread_join(t, &r);
	return r;
}

int main(void)
{
	ENTER();
	pthread_barrier_init(&ready, NULL, 2);
	printf("exit from 5: %ld\n", (long)end_of(leaver, 5, 0));
	printf("exit from 30: %ld\n", (long)end_of(leaver, 30, 0));
	printf("exit from 100: %ld\n", (long)end_of(leaver, 100, 0));
	printf("cancelled in 5: %d\n", end_of(waiter, 5, 1) == PTHREAD_CANCELED);
	printf("cancelled in 30: %d\n", end_of(waiter, 30, 1) == PTHREAD_CANCELED);
	printf("cleaned %d\n", cleaned);
	truth_print();
	return 0;
}
