/* backtrace.c - backtrace() sees every frame, at each depth, again and again. */
#include <execinfo.h>
#include <string.h>

#include "truth.h"

/* How many frames of this program backtrace() names, by the functions they lie in. */
static int look(int want_min)
{
	void *frame[256];
	int n;

	ENTER();
	n = backtrace(frame, 256);
	return n >= want_min ? n : -n;
}

static int look_from(int n, int depth)
{
	int r;

	ENTER();
	r = n ? look_from(n - 1, depth) : look(depth);
	KEEP_FRAME();
	return r;
}

static int after(int n) { ENTER(); return n + 1; }

int main(void)
{
	int base, n = 0;

	ENTER();
	base = look_from(0, 0);
	for (int depth = 1; depth <= 40; depth += 13)
		printf("%d deep: %d frames more\n", depth, look_from(depth, depth) - base);
	for (int i = 0; i < 10; i++)
		n = after(n);
	printf("after %d\n", n);
	truth_print();
	return 0;
}
