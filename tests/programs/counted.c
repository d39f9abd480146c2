/* counted.c - a library that counts the calls of its functions: those it exports, and those it does not. */
#include "truth.h"

int counted_fib(int n);
int counted_each(int (*call)(int), int n);
void counted_truth(void);

static int hidden(int n)
{
	ENTER();
	KEEP_FRAME();
	return n + 1;
}

int counted_fib(int n)
{
	int r;

	ENTER();
	r = n < 2 ? hidden(n) : counted_fib(n - 1) + counted_fib(n - 2);
	KEEP_FRAME();
	return r;
}

int counted_each(int (*call)(int), int n)
{
	int sum = 0;

	ENTER();
	for (int i = 0; i < n; i++)
		sum += call(i);
	return sum;
}

void counted_truth(void)
{
	ENTER();
	truth_print();
}
