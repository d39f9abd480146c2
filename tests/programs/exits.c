/* exits.c - ends as it is told: "exits status N", "exits signal N", "exits thread N" (status from another thread). */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void *end_process(void *arg) { exit((int)(long)arg); }

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	struct rlimit none = { 0, 0 };
	pthread_t t;

	if (argc < 3)
		return 99;
	if (!strcmp(argv[1], "signal")) {
		setrlimit(RLIMIT_CORE, &none);
		signal(n, SIG_DFL);
		kill(getpid(), n);
		pause();
	}
	if (!strcmp(argv[1], "thread")) {
		pthread_create(&t, NULL, end_process, (void *)n);
		pause();
	}
	return n;
}
