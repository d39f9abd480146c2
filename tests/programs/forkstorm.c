/* forkstorm.c - forks N processes (10 000), 50 at a time, each of which calls a function and exits. */
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

static int in_child(int n) { ENTER(); return n & 63; }

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10000, alive = 0, sum = 0, status;

	ENTER();
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(in_child(i));
		if (pid < 0)
			abort();
		if (++alive < 50)
			continue;
		wait(&status);
		sum += WEXITSTATUS(status);
		alive--;
	}
	while (wait(&status) > 0)
		sum += WEXITSTATUS(status);
	printf("sum %d\n", sum);
	printf("syscalls exit_group %d\n", n + 1);
	truth_print();
	return 0;
}
