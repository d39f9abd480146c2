/*
 * cuthreads.c - cuthreads [N [M]]: N threads that launch M kernels each, on streams of their own.
 *
 * Thread i launches grids of width i, waiting now and then. Odd ones launch vadd, even ones reduce.
 */
#include <pthread.h>

#include "cu.h"

static CUmodule module;
static CUcontext context;
static int launches = 1000;

static void *work(void *arg)
{
	int id = (intptr_t)arg;
	CUfunction f;
	CUstream s;

	MUST(cuCtxSetCurrent(context));
	f = cu_function(module, id % 2 ? "vadd" : "reduce");
	MUST(cuStreamCreate(&s, 1));
	for (int i = 1; i <= launches; i++) {
		MUST(cuLaunchKernel(f, id, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
		if (i % 100 == 0)
			MUST(cuStreamSynchronize(s));
	}
	MUST(cuStreamDestroy_v2(s));
	return NULL;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t thread[n];

	launches = argc > 2 ? atoi(argv[2]) : launches;
	module = cu_begin();
	MUST(cuDevicePrimaryCtxRetain(&context, 0));
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)(intptr_t)(i + 1)))
			return 92;
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	printf("launch vadd %d\nlaunch reduce %d\n", (n + 1) / 2 * launches, n / 2 * launches);
	return argc > 3 ? atoi(argv[3]) : 0;
}
