/*
 * cumany.c - cumany N [GROUP]: launches N kernels as quickly as it can, waiting after each GROUP of them.
 *
 * The grid's width counts the launches from 1, so that each of them can be told from the others.
 */
#include "cu.h"

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000, group = argc > 2 ? atoi(argv[2]) : n;
	CUfunction f = cu_function(cu_begin(), "vadd");
	uint64_t begin = now();

	for (int i = 1; i <= n; i++) {
		MUST(cuLaunchKernel(f, i, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL));
		if (i % group == 0)
			MUST(cuCtxSynchronize());
	}
	fprintf(stderr, "%d launches in %llu us\n", n, (unsigned long long)(now() - begin) / 1000);
	printf("launch vadd %d\n", n);
	return argc > 3 ? atoi(argv[3]) : 0;
}
