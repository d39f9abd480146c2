/*
 * moves.c - lays a copy of a page of its own code over the page, as programs do that want their code in huge pages.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((aligned(4096))) int moved(int n)
{
	volatile int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i % 2 ? i : 2;
	return sum + n;
}

__attribute__((aligned(4096))) int main(void)
{
	void *page = (void *)((uintptr_t)moved & ~4095ul);
	void *copy = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return 1;
	memcpy(copy, page, 4096);
	if (mremap(copy, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page) == MAP_FAILED)
		return 1;
	printf("%d\n", moved(41));
	return 0;
}
