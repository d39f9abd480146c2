/*
 * content.c - two programs for one file, content.red and, with -DBLUE, content.blue: functions at the same places of
 * the file that begin with other instructions, with calls and an exit status of their own.
 */
#include <stdio.h>

#include "truth.h"

#ifdef BLUE
#define NAME(f)	blue_##f
#define TIMES	9
#define STATUS	4
#else
#define NAME(f)	red_##f
#define TIMES	5
#define STATUS	3
#endif

#define PLACE	__attribute__((noinline, noclone, aligned(128)))

PLACE int NAME(one)(int n)
{
	ENTER();
	KEEP_FRAME();
	return n * 3 + TIMES;
}

PLACE int NAME(two)(int n)
{
	int r;

	ENTER();
	r = NAME(one)(n) + n;
	KEEP_FRAME();
	return r + 2;
}

PLACE int NAME(three)(int n)
{
	int r;

	ENTER();
	r = NAME(two)(n);
#ifdef BLUE
	r += NAME(two)(n + 1);
#endif
	KEEP_FRAME();
	return r + 3;
}

#ifdef BLUE
PLACE int blue_four(int n)
{
	int r;

	ENTER();
	r = blue_three(n) + blue_one(n);
	KEEP_FRAME();
	return r;
}
#endif

int main(void)
{
	int sum = 0;

	for (int i = 0; i < TIMES; i++) {
		sum += NAME(three)(i);
#ifdef BLUE
		sum += blue_four(i);
#endif
	}
	printf("%d\n", sum);
	truth_print();
	return STATUS;
}
