/*
 * callers.c - calls of known depth that ask the kernel for something themselves: no function of a library is between.
 *
 * callers N: N times main() calls outer(), middle() and inner(), which asks for the parent's number, then down(150) is 150
 * calls deep when it asks for the user's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline __attribute__((always_inline)) long ask(long nr, long a, long b)
{
	long ret;

#if defined(__x86_64__)
	__asm__ volatile("syscall" : "=a"(ret) : "0"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b;

	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
	ret = x0;
#else
	ret = syscall(nr, a, b);
#endif
	return ret;
}

/* A function that calls none may go without a frame. */
void nothing(void) { __asm__ volatile(""); }

long inner(void)
{
	static const struct timespec blink = { 0, 1000000 };
	long pid = ask(SYS_getppid, 0, 0);

	ask(SYS_nanosleep, (long)&blink, 0);
	nothing();
	return pid;
}

long middle(void) { return inner() + 1; }
long outer(void) { return middle() + 1; }
long down(int n) { return n ? down(n - 1) + 1 : ask(SYS_getuid, 0, 0); }

int main(int argc, char **argv)
{
	long sum = 0;

	for (int i = argc > 1 ? atoi(argv[1]) : 3; i > 0; i--)
		sum += outer() + down(150);
	return sum < 0;
}
