/* threads.c - eight threads that call, block and wake each other. */
#include <pthread.h>
#include <unistd.h>

#include "truth.h"

#define THREADS	8
#define ROUNDS	500

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
	for (int i = 0; i < ROUNDS; i++) {
		n = outer(n);
		if (i % 100 == 0)
			usleep(100);
	}
	__atomic_add_fetch(&sum, n, __ATOMIC_RELAXED);
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];

	ENTER();
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("sum %lx\n", sum);
	truth_print();
	return 0;
}
