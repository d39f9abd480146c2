/*
 * switches.c - functions for triggers to name: work() is called between them, so often each time that the sum tells
 * which times were recorded. What it prints is of -T 'off@trace_off;on@trace_on;stop@finish'.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONE	__attribute__((noipa))

static volatile int sum;

LONE void work(void) { sum += getpid() > 0; }
LONE void off(void) { sum++; }
LONE void on(void) { sum++; }
LONE void stop(void) { sum++; }

LONE static void works(int n)
{
	while (n--)
		work();
}

LONE static void child(void)
{
	works(20);
	on();
	works(300);
	_exit(0);
}

int main(void)
{
	works(1);
	off();
	works(400);
	if (!fork())
		child();
	wait(NULL);
	works(5000);		/* the child was switched on, not we */
	on();
	works(7);
	stop();
	works(60000);
	printf("calls work %d\n", 1 + 300 + 7);
	return 0;
}
