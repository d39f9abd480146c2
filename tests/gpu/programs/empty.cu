/* empty.cu - N (100000) launches of an empty kernel by the runtime's <<<>>>. */
#include <cstdio>
#include <cstdlib>
#include "timed.h"

__global__ void empty(void) { }

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 100000;

	for (int i = 0; i < 500; i++)
		empty<<<1, 1>>>();
	if (cudaDeviceSynchronize())
		return printf("no device\n"), 1;
	TIMED_LAUNCHES(n, (empty<<<1, 1>>>()), cudaDeviceSynchronize());
	return 0;
}
