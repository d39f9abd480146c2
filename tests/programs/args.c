/* args.c - prints what it was given: arguments, environment, directory, umask, descriptors, signals, ids, terminal. */
#define _GNU_SOURCE
#include <dirent.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static void print_escaped(const char *what, const char *s)
{
	printf("%s ", what);
	for (; *s; s++) {
		if (*s < ' ' || *s > '~' || *s == '\\')
			printf("\\%02x", (unsigned char)*s);
		else
			putchar(*s);
	}
	putchar('\n');
}

static void print_signals(void)
{
	struct sigaction sa;
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	for (int s = 1; s < NSIG; s++) {
		if (sigismember(&set, s) == 1)
			printf("blocked %d\n", s);
		if (sigaction(s, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN)
			printf("ignored %d\n", s);
	}
}

static void print_limits(void)
{
	static const int limits[] = { RLIMIT_NOFILE, RLIMIT_CORE, RLIMIT_STACK, RLIMIT_NPROC, RLIMIT_MEMLOCK };
	struct rlimit r;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (getrlimit(limits[i], &r) == 0)
			printf("limit %d %llx %llx\n", limits[i], (unsigned long long)r.rlim_cur,
			       (unsigned long long)r.rlim_max);
}

static void print_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	struct stat st;

	while (d && (e = readdir(d))) {
		int fd = atoi(e->d_name);

		if (e->d_name[0] == '.' || fd == dirfd(d) || fstat(fd, &st))
			continue;
		printf("fd %d %o\n", fd, st.st_mode & S_IFMT);
	}
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	gid_t groups[256];
	char cwd[4096];
	mode_t mask = umask(0);
	int n;

	umask(mask);
	for (int i = 0; i < argc; i++)
		print_escaped("arg", argv[i]);
	for (char **e = environ; *e; e++)
		print_escaped("env", *e);
	print_escaped("cwd", getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	printf("umask %03o\n", mask);
	print_fds();
	print_signals();
	print_limits();
	printf("ids %d %d %d %d\n", getuid(), geteuid(), getgid(), getegid());
	n = getgroups(256, groups);
	for (int i = 0; i < n; i++)
		printf("group %d\n", groups[i]);
	for (int fd = 0; fd < 3; fd++)
		printf("tty %d %d\n", fd, isatty(fd));
	printf("priority %d\n", getpriority(PRIO_PROCESS, 0));
	return 0;
}
