/*
 * crowded.c - threads that call a function with floating-point numbers of their own, all at once.
 *
 * crowded THREADS CALLS: the sum of all results, which is twice that of all numbers.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 64

static int calls;

double twice(double x) { return 2 * x; }

static void *run(void *arg)
{
	long me = (long)arg;
	double *sum = malloc(sizeof(*sum));

	*sum = 0;
	for (int i = 0; i < calls; i++)
		*sum += twice(me + i * 64);
	return sum;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t thread[THREADS_MAX];
	double all = 0;

	calls = argc > 2 ? atoi(argv[2]) : 100;
	if (threads > THREADS_MAX)
		return 2;
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, (void *)i);
	for (int i = 0; i < threads; i++) {
		void *sum;

		pthread_join(thread[i], &sum);
		all += *(double *)sum;
	}
	printf("%.0f\n", all);
	return 0;
}
