/*
 * locked.c - functions that begin with an instruction which the kernel does not probe: on x86-64 one with a lock prefix,
 * elsewhere whatever an atomic addition is. Prints each call as uftrace shows it.
 */
#include <stdatomic.h>
#include <stdio.h>

#define CALLS 10

static atomic_long calls;

int sum(int a, int b)
{
	calls++;
	return a + b;
}

int five(void)
{
	calls++;
	return 5;
}

int first(const char *s)
{
	calls++;
	return *s;
}

int main(void)
{
	for (int i = 0; i < CALLS; i++) {
		printf("sum(%d, 2) = %d;\n", i, sum(i, 2));
		printf("five() = %d;\n", five());
		printf("first(\"%s\") = %d;\n", "text", first("text"));
	}
	return calls != 3 * CALLS;
}
