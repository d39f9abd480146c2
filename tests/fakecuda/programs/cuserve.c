/*
 * cuserve.c - cuserve [MICROSECONDS]: launches a kernel each so many microseconds until SIGTERM; then says how many.
 *
 * Says "ready" and its pid when it has made its first launches: whoever attaches then has missed handles and names.
 */
#include <signal.h>

#include "cu.h"

static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

int main(int argc, char **argv)
{
	unsigned us = argc > 1 ? atoi(argv[1]) : 1000;
	unsigned long vadd = 0, reduce = 0;
	CUmodule m = cu_begin();
	CUfunction f = cu_function(m, "vadd"), g = cu_function(m, "reduce");
	CUstream s;

	signal(SIGTERM, end);
	MUST(cuStreamCreate(&s, 0));
	while (!ended) {
		MUST(cuLaunchKernel(f, 8, 4, 2, 32, 2, 2, 128, s, NULL, NULL));
		if (++vadd % 4 == 0) {
			MUST(cuLaunchKernel(g, 3, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
			MUST(cuStreamSynchronize(s));
			reduce++;
		}
		if (vadd == 8) {
			printf("ready %d\n", getpid());
			fflush(stdout);
		}
		if (us)
			usleep(us);
	}
	printf("launch vadd %lu\nlaunch reduce %lu\n", vadd, reduce);
	return argc > 2 ? atoi(argv[2]) : 0;
}
