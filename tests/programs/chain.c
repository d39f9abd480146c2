/*
 * chain.c - functions that call each other in several ways, so that the filter of one meets another's above, below
 * and beside it. With an argument some are left by longjmp() too.
 */
#include <setjmp.h>
#include <stdlib.h>

#include "truth.h"

#define LONE	__attribute__((noipa))

static jmp_buf back;

LONE static int deepest(int n) { ENTER(); n += atoi("1"); KEEP_FRAME(); return n; }
LONE static int inner(int n) { ENTER(); n = deepest(n); KEEP_FRAME(); n += deepest(n); KEEP_FRAME(); return n; }
LONE static int middle(int n) { ENTER(); n = inner(n); KEEP_FRAME(); return n + 1; }
LONE static int side(int n) { ENTER(); n = deepest(n); KEEP_FRAME(); return n + 2; }
LONE static int outer(int n) { ENTER(); n = middle(n); n += side(n); KEEP_FRAME(); return n; }

/* Calls itself, and something else on the way back. */
LONE static int again(int n)
{
	ENTER();
	if (n <= 0)
		return side(n) + 1;
	n = again(n - 1);
	KEEP_FRAME();
	n += deepest(n);
	KEEP_FRAME();
	return n;
}

/* Left by longjmp(), two frames deep. */
LONE static int thrower(int n) { ENTER(); n += side(n); if (n) longjmp(back, 1); return n; }
LONE static int leaver(int n) { ENTER(); n = thrower(n); KEEP_FRAME(); return n; }
LONE static int catcher(volatile int n)
{
	ENTER();
	if (!setjmp(back))
		n = leaver(n);
	KEEP_FRAME();
	n += side(n);
	KEEP_FRAME();
	return n;
}

/* Its arguments on the stack make the frames of what it calls lie lower, one after the other. */
LONE static int many(int a, int b, int c, int d, int e, int f, int g, int h)
{
	ENTER();
	a = side(a + b + c + d + e + f + g + h);
	KEEP_FRAME();
	return a;
}
LONE static int few(int n)
{
	ENTER();
	n = side(n);
	KEEP_FRAME();
	n += many(n, 2, 3, 4, 5, 6, 7, 8);
	KEEP_FRAME();
	return n;
}

int main(int argc, char **argv __attribute__((unused)))
{
	int n;

	ENTER();
	n = outer(1);
	n += middle(n);
	n += again(2);
	n += inner(n);
	n += few(n);
	for (int i = 0; argc > 1 && i < 3; i++)
		n += catcher(n + 1);
	n += outer(n);
	KEEP_FRAME();
	printf("sum %d\n", n);
	truth_print();
	return 0;
}
