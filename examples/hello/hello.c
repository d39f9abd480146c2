/*
 * hello.c - a little of everything that recorder shows: nested calls, a recursion, two threads, a fork and an exec,
 * a file, a pipe, a library call.
 *
 *	cc -g -o hello hello.c -lpthread
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int add(int a, int b)
{
	return a + b;
}

static int add_twice(int a, int b)
{
	return add(add(a, b), b);
}

static int factorial(int n)
{
	return n < 2 ? 1 : n * factorial(n - 1);
}

/* Each thread sums its own part of 0..99, ten at a step. */
static void *sum_part(void *arg)
{
	int *part = arg, sum = 0;

	for (int i = part[0]; i <= part[1]; i += 10)
		sum = add(sum, i * 10 + 45);
	part[2] = sum;
	return NULL;
}

static int sum_in_two_threads(void)
{
	int part[2][3] = { { 0, 49, 0 }, { 50, 99, 0 } };
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, sum_part, part[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return add(part[0][2], part[1][2]);
}

/* The text goes to a file that nobody else sees, and comes back. */
static void write_and_read_back(char *text, size_t len)
{
	char path[] = "/tmp/hello-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, "hello, file", 11) != 11 || pread(fd, text, len, 0) != 11)
		exit(1);
	text[11] = '\0';
	close(fd);
	unlink(path);
}

/* A child becomes echo(1), and what it says comes through a pipe. */
static void ask_a_child(char *text, size_t len)
{
	ssize_t n, got = 0;
	int fd[2];

	if (pipe(fd))
		exit(1);
	fflush(stdout);
	if (fork() == 0) {
		dup2(fd[1], STDOUT_FILENO);
		execlp("echo", "echo", "hello, pipe", (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	while ((n = read(fd[0], text + got, len - 1 - got)) > 0)
		got += n;
	close(fd[0]);
	wait(NULL);
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

int main(void)
{
	char text[64];

	printf("add_twice(1, 2) = %d\n", add_twice(1, 2));
	printf("factorial(6) = %d\n", factorial(6));
	printf("sum of two threads = %d\n", sum_in_two_threads());
	write_and_read_back(text, sizeof(text));
	printf("a file said: %s\n", text);
	ask_a_child(text, sizeof(text));
	printf("a child said: %s\n", text);
	if (open("/no/such/file", O_RDONLY) < 0)
		printf("no such file: %s\n", strerror(errno));
	return 0;
}
