/* atonce.c - `atonce N PROGRAM` runs PROGRAM N times, all at one moment; 0 if each of them gives 0. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void wait_and_run(const int gate[2], char *program)
{
	char none;

	close(gate[1]);
	if (read(gate[0], &none, 1) == 0)
		execl(program, program, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[1]) : 0, gate[2], status, bad = n == 0;

	if (pipe(gate))
		return 2;
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 2;
		if (!pid)
			wait_and_run(gate, argv[2]);
	}
	close(gate[0]);
	close(gate[1]);
	while (wait(&status) > 0)
		bad += status != 0;
	return bad != 0;
}
