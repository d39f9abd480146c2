/*
 * spin.cu - kernels of 10 ms, one every PAUSE ms, SECONDS long; of each one line: what the host's clocks, the GPU's own
 * clock and CUDA events say of it, all in nanoseconds.
 *
 *	spin SECONDS [PAUSE]
 */
#include <cstdio>
#include <cstdlib>
#include <time.h>
#include <unistd.h>

__global__ void spin(unsigned long long ns, unsigned long long *t)
{
	unsigned long long start, now;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	while (now - start < ns);
	t[0] = start;
	t[1] = now;
}

static unsigned long long ns_of(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 2, pause = argc > 2 ? atof(argv[2]) : 200;
	unsigned long long *d, t[2], end;
	cudaEvent_t a, b;
	float ms;

	if (cudaMalloc(&d, 16) || cudaEventCreate(&a) || cudaEventCreate(&b))
		return printf("no device\n"), 1;
	spin<<<1, 1>>>(1000000, d);
	cudaDeviceSynchronize();
	end = ns_of(CLOCK_MONOTONIC) + (unsigned long long)(seconds * 1e9);
	while (ns_of(CLOCK_MONOTONIC) < end) {
		unsigned long long real = ns_of(CLOCK_REALTIME), before = ns_of(CLOCK_MONOTONIC), launched, synced;

		cudaEventRecord(a);
		spin<<<1, 1>>>(10000000, d);
		launched = ns_of(CLOCK_MONOTONIC);
		cudaEventRecord(b);
		cudaDeviceSynchronize();
		synced = ns_of(CLOCK_MONOTONIC);
		cudaEventElapsedTime(&ms, a, b);
		cudaMemcpy(t, d, 16, cudaMemcpyDeviceToHost);
		printf("spin %llu %llu %llu %llu %llu %llu %.0f\n", real, before, launched, synced, t[0], t[1], ms * 1e6);
		usleep(pause * 1000);
	}
	return 0;
}
