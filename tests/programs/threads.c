/*
 * threads.c - threads that call, block and wake each other.   threads [THREADS [ROUNDS]]: 8, each 500 rounds of 5 calls.
 */
#include <pthread.h>
#include <unistd.h>

#include "truth.h"

#define MOST	64

static int threads = 8, rounds = 500;
static pthread_barrier_t barrier;
static unsigned long sum;

static unsigned long inner(unsigned long n) { ENTER(); return n * 3 + 1; }

static unsigned long outer(unsigned long n)
{
	ENTER();
	for (int i = 0; i < 4; i++)
		n = inner(n);
	return n;
}

static void *work(void *arg)
{
	unsigned long n = (unsigned long)arg;

	ENTER();
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < rounds; i++) {
		n = outer(n);
		if (i % 100 == 0)
			usleep(100);
	}
	__atomic_add_fetch(&sum, n, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[MOST];

	ENTER();
	if (argc > 1)
		threads = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (threads < 1 || threads > MOST)
		return 2;
	pthread_barrier_init(&barrier, NULL, threads);
	for (long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("sum %lx\n", sum);
	truth_print();
	return 0;
}
