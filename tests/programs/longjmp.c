/* longjmp.c - jumps back over 3 frames and over 100, many times. */
#include <setjmp.h>

#include "truth.h"

static jmp_buf home;

static int down(int n)
{
	int r;

	ENTER();
	if (n == 0)
		longjmp(home, 1);
	r = down(n - 1) + 1;
	KEEP_FRAME();
	return r;
}

static int after(int n) { ENTER(); return n + 1; }

static int jump_over(int frames)
{
	volatile int r = 0;

	ENTER();
	if (setjmp(home) == 0)
		down(frames - 1);
	else
		r = after(frames);
	KEEP_FRAME();
	return r;
}

int main(void)
{
	int n = 0;

	ENTER();
	for (int i = 0; i < 20; i++)
		n += jump_over(3);
	printf("shallow %d\n", n);
	for (int i = 0; i < 5; i++)
		n += jump_over(100);
	printf("deep %d\n", n);
	for (int i = 0; i < 10; i++)
		n = after(n);
	printf("after %d\n", n);
	truth_print();
	return 0;
}
