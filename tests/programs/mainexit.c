/* mainexit.c - main() ends by pthread_exit while a thread lives on and ends the process with 9. */
#include <pthread.h>
#include <unistd.h>

#include "truth.h"

static pthread_t first;

static int last_words(void) { ENTER(); return puts("main is gone"); }

static void *outlive(void *arg)
{
	ENTER();
	pthread_join(first, NULL);
	last_words();
	truth_print();
	exit(9);
	return arg;
}

static void leave(int n)
{
	ENTER();
	if (n == 0)
		pthread_exit(NULL);
	leave(n - 1);
	KEEP_FRAME();
}

int main(void)
{
	pthread_t t;

	ENTER();
	first = pthread_self();
	pthread_create(&t, NULL, outlive, NULL);
	leave(10);
	return 0;
}
