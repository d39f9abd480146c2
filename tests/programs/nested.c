/* nested.c - nested calls, a recursive part, a library call. */
#include <string.h>

#include "truth.h"

static int leaf(int n) { ENTER(); return n + 1; }

static int twig(int n)
{
	ENTER();
	n = leaf(n) + leaf(n);
	KEEP_FRAME();
	return n;
}

static int branch(int n)
{
	ENTER();
	for (int i = 0; i < 3; i++)
		n += twig(n) & 7;
	return n;
}

static int fib(int n)
{
	ENTER();
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int is_even(unsigned n);
static int is_odd(unsigned n)
{
	int r;

	ENTER();
	r = n == 0 ? 0 : is_even(n - 1);
	KEEP_FRAME();
	return r;
}

static int is_even(unsigned n)
{
	int r;

	ENTER();
	r = n == 0 ? 1 : is_odd(n - 1);
	KEEP_FRAME();
	return r;
}

int main(void)
{
	int n = 0;

	ENTER();
	for (int i = 0; i < 10; i++)
		n += branch(i);
	printf("branch %d\n", n);
	printf("fib %d\n", fib(15));
	printf("even %d\n", is_even(31));
	for (int i = 0; i < 7; i++)
		n += atoi(i & 1 ? "12" : "3");
	printf("sum %d\n", n);
	puts("calls atoi 7");
	truth_print();
	return 0;
}
