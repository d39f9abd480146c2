/*
 * serves.c - works when it is told to, line by line of its input, with a second thread and a child that were there before.
 *
 *	all N		it, its second thread and its child call step() N times each
 *	thread N	a thread made for it does
 *	fork N		a child made for it does
 *	bare N		a child made by a bare system call does, 0.3 s later
 *	exec		it runs itself anew
 *	leave		its first thread ends, another takes the orders
 *	begin		from here on calls are counted
 *	count		says how many there were
 *
 * It ends with 7 at the end of its input.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

static int to_thread[2], from_thread[2], to_child[2], from_child[2];

static int step(int n) { ENTER(); return n * 5 + 1; }

static int work(int rounds)
{
	int n = rounds;

	ENTER();
	for (int i = 0; i < rounds; i++)
		n = step(n);
	return n;
}

/* Works as often as it reads a number, and says so. */
static void obey(int in, int out)
{
	int rounds;

	while (read(in, &rounds, sizeof(rounds)) == sizeof(rounds)) {
		work(rounds);
		if (write(out, &rounds, sizeof(rounds)) < 0)
			return;
	}
}

static void *standing(void *arg)
{
	obey(to_thread[0], from_thread[1]);
	return arg;
}

static void *fresh(void *arg)
{
	work((long)arg);
	return NULL;
}

static void order(int to, int from, int rounds)
{
	if (write(to, &rounds, sizeof(rounds)) < 0 || read(from, &rounds, sizeof(rounds)) < 0)
		_exit(1);
}

static void *take_orders(void *argv);

static void obey_line(const char *line, char **argv)
{
	char word[16] = "";
	pthread_t t;
	int n = 0;

	sscanf(line, "%15s %d", word, &n);
	if (!strcmp(word, "all")) {
		work(n);
		order(to_thread[1], from_thread[0], n);
		order(to_child[1], from_child[0], n);
	} else if (!strcmp(word, "thread")) {
		pthread_create(&t, NULL, fresh, (void *)(long)n);
		pthread_join(t, NULL);
	} else if (!strcmp(word, "fork")) {
		if (!fork()) {
			work(n);
			_exit(0);
		}
		wait(NULL);
	} else if (!strcmp(word, "bare")) {
		if (!syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) {
			usleep(300000);
			work(n);
			_exit(0);
		}
		wait(NULL);
	} else if (!strcmp(word, "exec")) {
		execv("/proc/self/exe", argv);
	} else if (!strcmp(word, "leave")) {
		pthread_create(&t, NULL, take_orders, argv);
		pthread_exit(NULL);
	} else if (!strcmp(word, "begin")) {
		memset(truth_count, 0, 4096);
	} else if (!strcmp(word, "count")) {
		truth_print();
	}
}

static void *take_orders(void *argv)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin))
		obey_line(line, argv);
	exit(7);
}

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argc;
	setvbuf(stdin, NULL, _IONBF, 0);
	if (pipe(to_thread) || pipe(from_thread) || pipe(to_child) || pipe(from_child))
		return 1;
	if (!fork()) {
		close(to_child[1]);
		obey(to_child[0], from_child[1]);
		_exit(0);
	}
	pthread_create(&t, NULL, standing, NULL);
	printf("ready\n");
	fflush(stdout);
	take_orders(argv);
}
