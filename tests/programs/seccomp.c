/*
 * seccomp.c - a filter that forbids the kernel's own calls behind a probe, uprobe (336) and uretprobe (335): the program
 * did not make them, and must not pay for them.
 *
 *	seccomp errno|trap|kill		what the filter answers to them
 *	seccomp strict			only read, write, exit and sigreturn are allowed
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "truth.h"

static unsigned fib(unsigned n)
{
	ENTER();
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* Into libraries, whose functions may be probed as well. */
static void shout(const char *what)
{
	char text[64];

	ENTER();
	snprintf(text, sizeof(text), "%s %u\n", what, fib(10));
	if (write(1, text, strlen(text)) < 0)
		_exit(9);
}

static void trapped(int sig, siginfo_t *info, void *context)
{
	(void)sig; (void)context;
	printf("trapped %d\n", info->si_syscall);
	_exit(4);
}

static int forbid(unsigned answer)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 335, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 336, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, answer),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static unsigned answer_for(const char *word)
{
	if (!strcmp(word, "errno"))
		return SECCOMP_RET_ERRNO | 38;
	return !strcmp(word, "trap") ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = trapped, .sa_flags = SA_SIGINFO };
	const char *word = argc > 1 ? argv[1] : "errno";
	int status = 0;

	sigaction(SIGSYS, &action, NULL);
	shout("before");
	if (!strcmp(word, "strict")) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		shout("strict");
		syscall(SYS_exit, 3);
	}
	if (forbid(answer_for(word)))
		return 8;
	shout("after");
	if (!fork()) {
		shout("child");
		exit(5);
	}
	wait(&status);
	printf("child ended with %d\n", WEXITSTATUS(status));
	truth_print();
	return 6;
}
