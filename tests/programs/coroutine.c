/* coroutine.c - stacks that are switched with swapcontext(), in the middle of calls. */
#include <ucontext.h>

#include "truth.h"

#define COROUTINES 3
#define ROUNDS	50

static ucontext_t home, self[COROUTINES];
static int running, alive;
static unsigned long sum;

static void yield_home(void)
{
	ENTER();
	swapcontext(&self[running], &home);
	KEEP_FRAME();
}

static void step(int n)
{
	ENTER();
	if (n > 0)
		step(n - 1);
	else
		yield_home();
	sum = sum * 31 + n;
	KEEP_FRAME();
}

static void routine(int id)
{
	ENTER();
	for (int i = 0; i < ROUNDS; i++)
		step(id + 2);
	alive--;
	yield_home();
}

static void run_all(void)
{
	ENTER();
	while (alive)
		for (running = 0; running < COROUTINES; running++)
			swapcontext(&home, &self[running]);
}

int main(void)
{
	static char stack[COROUTINES][1 << 16];

	ENTER();
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&self[i]);
		self[i].uc_stack.ss_sp = stack[i];
		self[i].uc_stack.ss_size = sizeof(stack[i]);
		makecontext(&self[i], (void (*)(void))routine, 1, i);
	}
	/* One stack must not end before the others: all take the same number of turns. */
	alive = COROUTINES;
	run_all();
	printf("sum %lx\n", sum);
	truth_print();
	return 0;
}
