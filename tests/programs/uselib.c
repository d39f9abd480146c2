/*
 * uselib.c - calls counted.c's library and the C library a known number of times.
 *
 * With -DOPENS it opens the library, calls it, closes it, and does so again: what is
 * called before the first close is counted by nobody but the recording, so it is told here.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <search.h>
#include <string.h>
#include <unistd.h>

#include "truth.h"

static int (*fib)(int);
static int (*each)(int (*)(int), int);
static void (*tell)(void);

static int callback(int n) { ENTER(); return n; }

#ifdef OPENS
static void *library;

static int begin(void)
{
	char path[PATH_MAX] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 20) < 0)
		return -1;
	library = dlopen(strcat(dirname(path), "/libcounted.so"), RTLD_NOW);
	if (!library)
		return -1;
	fib = dlsym(library, "counted_fib");
	each = dlsym(library, "counted_each");
	tell = dlsym(library, "counted_truth");
	return 0;
}

/* The library's counts die with it: it tells them first. */
static int end(void)
{
	tell();
	return dlclose(library);
}
#else
extern int counted_fib(int);
extern int counted_each(int (*)(int), int);
extern void counted_truth(void);

static int begin(void)
{
	fib = counted_fib;
	each = counted_each;
	tell = counted_truth;
	return 0;
}

static int end(void)
{
	tell();
	return 0;
}
#endif

/* One of those that the C library has for several CPUs; the compiler is not to know what it does. */
static size_t (*volatile strspn_of)(const char *, const char *) = strspn;

/* Functions of the C library that it does not call itself. */
static long call_libc(int n)
{
	struct { void *next, *prev; } a = { 0 }, b;
	char text[] = "abba";
	long sum = 0;

	ENTER();
	for (int i = 0; i < n; i++) {
		insque(&b, &a);
		remque(&b);
		sum += a64l("./");
		sum += strspn_of(text, "ab");
	}
	return sum;
}

int main(void)
{
	int sum = 0, rounds = 1;

	ENTER();
#ifdef OPENS
	rounds = 2;
#endif
	for (int i = 0; i < rounds; i++) {
		if (begin())
			return 1;
		sum += fib(12);
		sum += each(callback, 5);
		if (end())
			return 1;
	}
	sum += call_libc(11);
	printf("sum %d\ncalls insque 11\ncalls remque 11\ncalls a64l 11\ncalls strspn 11\n", sum);
	truth_print();
	return 0;
}
