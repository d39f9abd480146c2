/* storm.c - a storm of function calls, nothing else. storm [N [THREADS]] */
#include <pthread.h>

#include "truth.h"

static long calls;

static unsigned long spin(unsigned long n) { ENTER(); KEEP_FRAME(); return n ^ (n << 1); }

static void *storm(void *arg)
{
	unsigned long n = (unsigned long)arg;

	ENTER();
	for (long i = 0; i < calls; i++)
		n = spin(n + i);
	return (void *)n;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	unsigned long sum = 0;
	pthread_t t[64];

	ENTER();
	calls = argc > 1 ? atol(argv[1]) : 100000;
	for (long i = 0; i < threads && i < 64; i++)
		pthread_create(&t[i], NULL, storm, (void *)i);
	for (int i = 0; i < threads && i < 64; i++) {
		void *r;

		pthread_join(t[i], &r);
		sum += (unsigned long)r;
	}
	printf("sum %lx\n", sum);
	truth_print();
	return 0;
}
