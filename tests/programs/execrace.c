/*
 * execrace.c - threads of one process exec at one moment: `execrace SELF DELAY` says "ready", has one begin with an exec
 * when there is a file "one", and when there is a file "fire", three more, and DELAY us later one that execs SELF by a
 * bare system call, which takes all others with it: that says "done". `execrace SELF DELAY map`: those before it do not
 * exec a file, but map its code.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static pthread_barrier_t fired;
static bool maps;

static void *begins(void *file)
{
	char *argv[] = { file, NULL };

	if (maps)
		mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(file, O_RDONLY), 0);
	else
		execve(file, argv, environ);
	pause();
	return NULL;
}

static void *follows(void *file)
{
	pthread_barrier_wait(&fired);
	return begins(file);
}

static void await(const char *file)
{
	while (access(file, F_OK))
		usleep(5000);
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc < 3)
		return puts("done") < 0;
	maps = argc > 3;
	pthread_barrier_init(&fired, NULL, 4);
	puts("ready");
	fflush(stdout);
	await("one");
	pthread_create(&t, NULL, begins, "./first");
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, follows, "./second");
	await("fire");
	pthread_barrier_wait(&fired);
	usleep(atoi(argv[2]));
	syscall(SYS_execve, argv[1], (char *[]){ argv[1], NULL }, environ);
	return 1;
}
