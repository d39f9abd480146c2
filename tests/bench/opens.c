/*
 * opens.c - opens DEPTH [ROUNDS [OPENS]]: opens and closes a file under as many folders, and prints the least wall time of
 * one such pair, ns, over the rounds.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 10, rounds = argc > 2 ? atoi(argv[2]) : 20, opens = argc > 3 ? atoi(argv[3]) : 2000;
	char path[PATH_MAX] = "/tmp";
	double least = 1e18;

	for (int i = 2; i < depth; i++) {
		strcat(path, "/opens");
		mkdir(path, 0700);
	}
	strcat(path, "/f");
	close(open(path, O_CREAT | O_RDWR, 0600));
	for (int r = 0; r < rounds; r++) {
		double begin = now();

		for (int i = 0; i < opens; i++)
			close(open(path, O_RDONLY));
		begin = (now() - begin) / opens;
		least = begin < least ? begin : least;
	}
	printf("%.0f\n", least);
	unlink(path);
	for (int i = 2; i < depth; i++) {
		*strrchr(path, '/') = 0;
		rmdir(path);
	}
	return 0;
}
