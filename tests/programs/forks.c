/*
 * forks.c - a tree of forks, each of whose leaves execs this program again.
 *
 * forks LEVEL: forks twice and waits, the children being LEVEL - 1; at 0 it
 * execs "forks end", which calls ended() and exits with 7.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

static int ended(void) { ENTER(); return 7; }

static void in_child(int level) { ENTER(); (void)level; KEEP_FRAME(); }

static void tree(char *self, int level)
{
	int status, sevens = 0;

	ENTER();
	if (level == 0) {
		execl(self, "forks", "end", (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			in_child(level);
			tree(self, level - 1);
			_exit(7);
		}
	}
	while (wait(&status) > 0)
		sevens += WIFEXITED(status) && WEXITSTATUS(status) == 7;
	if (sevens != 2)
		abort();
}

int main(int argc, char **argv)
{
	ENTER();
	if (argc > 1 && !strcmp(argv[1], "end")) {
		int r = ended();

		truth_print();
		return r;
	}
	setvbuf(stdout, NULL, _IOFBF, 65536);
	tree("/proc/self/exe", argc > 1 ? atoi(argv[1]) : 3);
	truth_print();
	return 0;
}
