/* bystander.c - fills its stack with a pattern, says so, and says at once when somebody has written there. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define WORDS	(256 * 1024 / 8)	/* from near the stack's top: where another program has its frames */
#define PATTERN	0x5afe5afe5afe5afeull

int main(void)
{
	volatile uint64_t word[WORDS];

	for (int i = 0; i < WORDS; i++)
		word[i] = PATTERN;
	puts("watching");
	fflush(stdout);
	for (;; usleep(500))
		for (int i = 0; i < WORDS; i++)
			if (word[i] != PATTERN) {
				printf("overwritten at %p by %#llx\n", (void *)&word[i], (unsigned long long)word[i]);
				return 1;
			}
}
