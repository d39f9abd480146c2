/*
 * cufork.c - a parent, its children and what they become, each with launches of its own; a line for each at its end:
 *
 *	launch NAME COUNT pid PID WHO
 *
 * A child that was forked after the parent began cannot use the driver: it says so, by the result of its cuInit().
 */
#include <string.h>
#include <sys/wait.h>

#include "cu.h"

static void launches(const char *who, const char *name, int n)
{
	CUfunction f = cu_function(cu_begin(), name);

	for (int i = 0; i < n; i++)
		MUST(cuLaunchKernel(f, n, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	MUST(cuCtxSynchronize());
	printf("launch %s %d pid %d %s\n", name, n, getpid(), who);
	fflush(stdout);
}

static int run_as(char *self, const char *who)
{
	if (fakecuda_tell)
		fakecuda_tell();
	execl(self, self, who, (char *)NULL);
	return 93;
}

/* 1: forked before the parent began. 2: execs at once. 3: launches, then execs under the same pid. */
static int child(char *self, int which)
{
	if (which == 2)
		return run_as(self, "exec");
	launches("child", "vadd", 20 + which);
	return which == 3 ? run_as(self, "second-life") : 0;
}

static int in_child(char *self, int which)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (which)
			exit(child(self, which));
		printf("forked too late: %d\n", cuInit(0));
		exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(int argc, char **argv)
{
	int failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "exec")) {
		launches("exec", "reduce", 31);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "second-life")) {
		launches("second-life", "_Z4axpyfPfi", 41);
		return 0;
	}
	for (int which = 1; which <= 3; which++)
		failed |= in_child("/proc/self/exe", which);
	launches("parent", "vadd", 11);
	failed |= in_child(NULL, 0);
	return failed ? 94 : argc > 1 ? atoi(argv[1]) : 0;
}
