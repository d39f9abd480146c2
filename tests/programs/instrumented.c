/*
 * instrumented.c - counts its own calls with -finstrument-functions: a truth that no ENTER() is needed for.
 *
 * The hooks know addresses only, so the functions are told apart by a table.
 */
#include <stdio.h>
#include <stdlib.h>

#define HOOK __attribute__((no_instrument_function))

struct known { void *fn; const char *name; unsigned long entered, left; };

static unsigned collatz(unsigned long n);
static unsigned long halve(unsigned long n);
static unsigned long triple(unsigned long n);
static int compare(const void *a, const void *b);
int main(void);

static struct known known[] = {
	{ (void *)main, "main", 0, 0 }, { (void *)collatz, "collatz", 0, 0 }, { (void *)halve, "halve", 0, 0 },
	{ (void *)triple, "triple", 0, 0 }, { (void *)compare, "compare", 0, 0 }, { NULL, NULL, 0, 0 }
};

HOOK void __cyg_profile_func_enter(void *fn, void *from);
HOOK void __cyg_profile_func_exit(void *fn, void *from);

HOOK static struct known *find(void *fn)
{
	struct known *k = known;

	while (k->fn && k->fn != fn)
		k++;
	return k;
}

HOOK void __cyg_profile_func_enter(void *fn, void *from) { (void)from; find(fn)->entered++; }
HOOK void __cyg_profile_func_exit(void *fn, void *from) { (void)from; find(fn)->left++; }

static unsigned long halve(unsigned long n) { return n / 2; }
static unsigned long triple(unsigned long n) { return n * 3 + 1; }

static unsigned collatz(unsigned long n)
{
	unsigned steps = 0;

	for (; n != 1; steps++)
		n = n & 1 ? triple(n) : halve(n);
	return steps;
}

static int compare(const void *a, const void *b) { return *(const unsigned *)a - *(const unsigned *)b; }

int main(void)
{
	unsigned steps[200];

	for (unsigned i = 0; i < 200; i++)
		steps[i] = collatz(i + 1);
	qsort(steps, 200, sizeof(steps[0]), compare);
	printf("median %u\n", steps[100]);
	for (struct known *k = known; k->fn; k++)
		printf("calls %s %lu\n", k->name, k->entered);
	return 0;
}
