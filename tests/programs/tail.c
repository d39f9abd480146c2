/* tail.c - tail calls: built with -O2, so that last() and middle() are jumped to. */
#include "truth.h"

unsigned long last(unsigned long n);
unsigned long middle(unsigned long n);
unsigned long first(unsigned long n);

__attribute__((noinline, noclone)) unsigned long last(unsigned long n) { ENTER(); return n * 3; }
__attribute__((noinline, noclone)) unsigned long middle(unsigned long n) { ENTER(); return last(n + 1); }
__attribute__((noinline, noclone)) unsigned long first(unsigned long n) { ENTER(); return middle(n + 2); }

__attribute__((noinline, noclone)) unsigned long around(unsigned long n)
{
	unsigned long r;

	ENTER();
	r = first(n) + first(n + 1);
	KEEP_FRAME();
	return r;
}

int main(void)
{
	unsigned long n = 1;

	ENTER();
	for (int i = 0; i < 100; i++)
		n = around(n) & 0xffff;
	printf("n %lx\n", n);
	truth_print();
	return 0;
}
