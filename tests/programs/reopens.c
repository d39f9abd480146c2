/*
 * reopens.c - libraries that come and go: one in the place of another, one in two places at a time, and after a fork()
 * different ones in one place.
 *
 * reopens LIB...: opens, calls and closes each, one more call each time.
 * reopens --fork A B: the parent opens A where its child opens B. --twice A: in two namespaces at once.
 * "calls NAME COUNT" for each library's function, which is called as its file: relib.NAME.so.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMES	8

static char names[NAMES][64];
static int count[NAMES];

static void note(const char *path, int calls)
{
	char *copy = strdup(path), *name = strchr(basename(copy), '.') + 1;
	int i = 0;

	*strchr(name, '.') = '\0';
	while (*names[i] && strcmp(names[i], name))
		i++;
	strcpy(names[i], name);
	count[i] += calls;
	free(copy);
}

static void *open_in(Lmid_t space, const char *path)
{
	void *lib = dlmopen(space, path, RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return lib;
}

static void call(void *lib, const char *path, int calls)
{
	int (**f)(int) = dlsym(lib, "call");

	for (int i = 0; i < calls; i++)
		(*f)(i);
	note(path, calls);
}

static void fork_with(const char *ours, const char *theirs)
{
	int go[2], back[2], status;
	char c = 0;
	void *lib;
	pid_t child;

	if (pipe(go) || pipe(back))
		exit(2);
	child = fork();
	if (!child) {
		if (read(go[0], &c, 1) != 1)
			_exit(2);
		lib = open_in(LM_ID_BASE, theirs);
		call(lib, theirs, 3);
		if (write(back[1], &c, 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(2);
		call(lib, theirs, 4);
		_exit(0);
	}
	lib = open_in(LM_ID_BASE, ours);
	call(lib, ours, 20);
	if (write(go[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
		exit(2);
	call(lib, ours, 30);
	if (write(go[1], &c, 1) != 1 || waitpid(child, &status, 0) != child || status)
		exit(2);
	call(lib, ours, 40);
	note(theirs, 3 + 4);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--fork")) {
		fork_with(argv[2], argv[3]);
	} else if (argc == 3 && !strcmp(argv[1], "--twice")) {
		void *one = open_in(LM_ID_BASE, argv[2]), *two = open_in(LM_ID_NEWLM, argv[2]);

		call(one, argv[2], 5);
		call(two, argv[2], 6);
	} else {
		for (int i = 1; i < argc; i++) {
			void *lib = open_in(LM_ID_BASE, argv[i]);

			call(lib, argv[i], i);
			dlclose(lib);
		}
	}
	for (int i = 0; i < NAMES && *names[i]; i++)
		printf("calls %s %d\n", names[i], count[i]);
	return 0;
}
