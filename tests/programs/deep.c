/* deep.c - recursion a thousand deep, three times; calls after it are as before. */
#include "truth.h"

static unsigned down(unsigned n)
{
	unsigned r;

	ENTER();
	r = n ? down(n - 1) + 1 : 0;
	KEEP_FRAME();
	return r;
}

static unsigned after(unsigned n) { ENTER(); return n + 1; }

int main(void)
{
	unsigned n = 0;

	ENTER();
	for (int i = 0; i < 3; i++) {
		n += down(1000);
		n = after(n);
	}
	printf("depth %u\n", n);
	truth_print();
	return 0;
}
