/* spawn.c - children made by vfork, posix_spawn and clone3, each of which execs or exits with a status it knows. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

extern char **environ;

static int status_of(pid_t pid)
{
	int status;

	ENTER();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int by_vfork(const char *status)
{
	pid_t pid;

	ENTER();
	pid = vfork();
	if (pid == 0) {
		execl("/proc/self/exe", "spawn", status, (char *)NULL);
		_exit(127);
	}
	return status_of(pid);
}

static int by_failing_vfork(void)
{
	pid_t pid;

	ENTER();
	pid = vfork();
	if (pid == 0) {
		execl("/no/such/program", "no", (char *)NULL);
		_exit(44);
	}
	return status_of(pid);
}

static int by_spawn(char *status)
{
	char *argv[] = { "spawn", status, NULL };
	pid_t pid;

	ENTER();
	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ))
		return -1;
	return status_of(pid);
}

static int in_child(int n) { ENTER(); return n * 11; }

static int by_clone3(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	pid_t pid;

	ENTER();
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(in_child(3));
	return status_of(pid);
}

int main(int argc, char **argv)
{
	ENTER();
	if (argc > 1) {
		truth_print();
		_exit(atoi(argv[1]));
	}
	setvbuf(stdout, NULL, _IOFBF, 65536);	/* what the children say comes first, to a terminal too */
	for (int i = 0; i < 5; i++)
		printf("vfork %d\n", by_vfork("11"));
	printf("vfork without exec %d\n", by_failing_vfork());
	for (int i = 0; i < 5; i++)
		printf("posix_spawn %d\n", by_spawn("22"));
	printf("clone3 %d\n", by_clone3());
	truth_print();
	return 0;
}
