/* altstack.c - signals handled on another stack, returning and leaving by siglongjmp, out of a stack overflow too. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "truth.h"

static sigjmp_buf home;
static volatile int got;

static int in_handler(int n) { ENTER(); return n + 1; }

static void returns(int sig) { ENTER(); got = in_handler(got) + (sig != SIGUSR1); }

static void jumps(int sig)
{
	ENTER();
	got = in_handler(got);
	siglongjmp(home, sig);
}

static int raise_from(int n, int sig)
{
	int r;

	ENTER();
	r = n ? raise_from(n - 1, sig) : raise(sig);
	KEEP_FRAME();
	return r;
}

/* Counted only where it is told, since how deep it comes depends on the stack's limit. */
static int overflow(volatile char *at)
{
	volatile char room[65536];

	room[0] = at ? *at : 1;
	return overflow(room) + room[0];
}

static int after(int n) { ENTER(); return n + 1; }

static void handle(int sig, void (*fn)(int))
{
	struct sigaction sa = { .sa_flags = SA_ONSTACK };

	ENTER();
	sa.sa_handler = fn;
	sigaction(sig, &sa, NULL);
}

int main(void)
{
	static char other[1 << 16];
	stack_t st = { .ss_sp = other, .ss_size = sizeof(other) };
	volatile int n = 0;

	ENTER();
	sigaltstack(&st, NULL);
	handle(SIGUSR1, returns);
	handle(SIGUSR2, jumps);
	handle(SIGSEGV, jumps);
	for (int i = 0; i < 10; i++)
		raise_from(i, SIGUSR1);
	printf("returned from %d\n", got);
	for (volatile int i = 0; i < 10; i++)
		if (sigsetjmp(home, 1) == 0)
			raise_from(i * 3, SIGUSR2);
	printf("jumped out of %d\n", got);
	if (sigsetjmp(home, 1) == 0)
		n = overflow(NULL);
	printf("survived overflow, %d\n", got);
	for (int i = 0; i < 10; i++)
		n = after(n);
	printf("after %d\n", n);
	truth_print();
	return 0;
}
