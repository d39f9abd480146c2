/* tiny.c - a function of a few bytes without an instruction that the kernel could emulate, called often. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noipa)) int tiny(int n)
{
	return n * 5;
}

int main(int argc, char **argv)
{
	int sum = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 100000; i > 0; i--)
		sum = tiny(sum + i) & 0xffff;
	printf("%d\n", sum);
	return 0;
}
