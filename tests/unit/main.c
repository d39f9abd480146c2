/*
 * main.c - runs the unit tests, each in a child of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define TIME_LIMIT	30	/* seconds a test may take; -t */
#define EXIT_SKIPPED	77

static struct test *tests;

static struct options {
	bool	 verbose, list;
	unsigned limit;
	char   **pattern;	/* NULL-ended: parts of names, or shell patterns; none: all */
} options = { .limit = TIME_LIMIT };

static struct count { unsigned passed, failed, skipped; } count;

void test_register(struct test *t)
{
	struct test **at = &tests;

	/* Files link in any order; within one, tests stay as written. */
	while (*at && (strcmp((*at)->file, t->file) < 0 ||
		       (!strcmp((*at)->file, t->file) && (*at)->line < t->line)))
		at = &(*at)->next;
	t->next = *at;
	*at = t;
}

void test_failed(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fflush(stderr);
	printf("  %s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

void test_skipped(const char *why)
{
	printf("  skipped: %s\n", why);
	fflush(stdout);
	_exit(EXIT_SKIPPED);
}

void test_check_str(const char *file, int line, const char *expr, const char *got, const char *want)
{
	if (got == want || (got && want && !strcmp(got, want)))
		return;
	test_failed(file, line, "%s\n    is   %s%s%s\n    want %s%s%s", expr,
		    got ? "\"" : "", got ?: "NULL", got ? "\"" : "",
		    want ? "\"" : "", want ?: "NULL", want ? "\"" : "");
}

void test_check_int(const char *file, int line, const char *expr, long long got, long long want)
{
	if (got != want)
		test_failed(file, line, "%s is %lld (%#llx), want %lld (%#llx)", expr, got,
			    (unsigned long long)got, want, (unsigned long long)want);
}

void test_check_mem(const char *file, int line, const char *expr, const void *got, const void *want, size_t len)
{
	const unsigned char *a = got, *b = want;

	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i])
			test_failed(file, line, "%s: byte %zu of %zu is %#04x, want %#04x", expr, i, len, a[i], b[i]);
}

static bool is_chosen(const struct test *t)
{
	if (!*options.pattern)
		return true;
	for (char **p = options.pattern; *p; p++)
		if (strstr(t->name, *p) || strstr(t->file, *p) || !fnmatch(*p, t->name, 0))
			return true;
	return false;
}

/* Copies what a test printed to our stdout. */
static void show(int fd)
{
	char buf[4096];
	ssize_t n;

	fflush(stdout);
	for (off_t at = 0; (n = pread(fd, buf, sizeof(buf), at)) > 0; at += n)
		if (write(STDOUT_FILENO, buf, n) < 0)
			return;
}

/* Never returns: the child's part. */
static void run_in_child(const struct test *t, int output)
{
	setpgid(0, 0);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	signal(SIGALRM, SIG_DFL);
	alarm(options.limit);
	t->run();
	fflush(NULL);
	_exit(0);
}

static void tell(const struct test *t, int status, int output)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		count.passed++;
		if (options.verbose) {
			printf("ok %s\n", t->name);
			show(output);
		}
		return;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIPPED) {
		count.skipped++;
		printf("skip %s\n", t->name);
		show(output);
		return;
	}
	count.failed++;
	printf("not ok %s\n", t->name);
	show(output);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		printf("  %s:%d: still running after %u s\n", t->file, t->line, options.limit);
	else if (WIFSIGNALED(status))
		printf("  %s:%d: killed by signal %d (%s)\n", t->file, t->line, WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 1)
		printf("  %s:%d: exited with %d\n", t->file, t->line, WEXITSTATUS(status));
}

static int run(const struct test *t)
{
	FILE *output = tmpfile();
	int status;
	pid_t pid;

	if (!output)
		return -errno;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		run_in_child(t, fileno(output));
	if (pid < 0) {
		fclose(output);
		return -EAGAIN;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	kill(-pid, SIGKILL);	/* whatever the test started and left */
	tell(t, status, fileno(output));
	fclose(output);
	return 0;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "vlt:")) != -1) {
		if (c == 'v')
			options.verbose = true;
		else if (c == 'l')
			options.list = true;
		else if (c == 't')
			options.limit = atoi(optarg);
		else
			return fprintf(stderr, "usage: %s [-v] [-l] [-t SECONDS] [NAME...]\n", argv[0]), 2;
	}
	options.pattern = argv + optind;
	for (const struct test *t = tests; t; t = t->next) {
		if (!is_chosen(t))
			continue;
		if (options.list) {
			printf("%s\n", t->name);
		} else if (run(t) < 0) {
			perror("unit tests: cannot start a test");
			return 2;
		}
	}
	if (options.list)
		return 0;
	printf("%u passed, %u failed, %u skipped\n", count.passed, count.failed, count.skipped);
	return count.failed != 0;
}
