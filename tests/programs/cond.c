/*
 * cond.c - functions that are called with many arguments, so that conditions on them choose some calls.
 * What it prints of them is what conditions should leave, by the options that tests/live/cond.sh gives.
 */
#include <stdint.h>
#include <string.h>

#include "truth.h"

#define LONE	__attribute__((noipa))

LONE static int leaf(int n) { ENTER(); return n + 1; }

/* Of its calls, by @n: each makes one of leaf(). */
LONE static int pick(int n)
{
	ENTER();
	n += leaf(n);
	KEEP_FRAME();
	return n;
}

/* Calls itself, down to 0, and leaf() on the way back. */
LONE static int down(int n)
{
	ENTER();
	if (n > 0)
		n = down(n - 1) + 1;
	KEEP_FRAME();
	n += leaf(n);
	KEEP_FRAME();
	return n;
}

LONE static int wide(int64_t a, uint8_t b, int c, uint64_t d, int e, int f)
{
	ENTER();
	KEEP_FRAME();
	return a + b + c + d + e + f;
}

#ifdef __x86_64__
/* The register of its argument is overwritten before anything that is cheap to probe. */
int swaps(int n);
__asm__(".text\n.type swaps,@function\nswaps:\n"
	"\tmov %edi, %eax\n\txor %edi, %edi\n\tpush %rbx\n\tadd $1, %eax\n\tpop %rbx\n\tret\n.size swaps, . - swaps\n");
#else
LONE static int swaps(int n) { return n + 1; }
#endif

int main(void)
{
	int n = 0;

	ENTER();
	for (int i = -5; i < 15; i++)
		n += pick(i);
	n += down(9);
	for (int i = 0; i < 12; i++)
		n += wide(i - 6, 0x100 + i, -i, UINT64_MAX - i, i, 2 * i);
	for (int i = 0; i < 10; i++)
		n += swaps(i);
	printf("sum %d\n", n);
	truth_print();
	return 0;
}
