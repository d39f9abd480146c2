/* steps.c - reads numbers, and for each calls step() so often before it says so. */
#include <stdio.h>
#include <unistd.h>

#define LONE	__attribute__((noipa))

static volatile int sum;

LONE void step(void) { sum += getppid() > 0; }

int main(void)
{
	int n;

	while (scanf("%d", &n) == 1) {
		for (int i = 0; i < n; i++)
			step();
		printf("did %d\n", n);
		fflush(stdout);
	}
	return 0;
}
