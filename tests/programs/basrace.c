/*
 * basrace.c - threads open files while others rename a directory of their paths, change the working directory that all
 * share, and fill and empty the table of descriptors.
 *
 * basrace [OPENS]: run in an empty folder. Prints for each open what /proc/thread-self/fd/N said at once afterwards, as
 * `bas.py events` prints it, without FO. A renamed directory is called "?" there, whichever of its two names it has just
 * then; the test does so with what was recorded. Nobody touches a descriptor that another thread opened: what those are
 * could not be said.
 */
#include "bassay.h"

#define OPENERS	3
#define SHORT	"/flip/"
#define LONG	"/a-name-that-is-much-longer-than-the-other-one/"

static char top[PATH_MAX];
static int opens = 2000;
static volatile int done;

struct opener {
	pthread_t	thread;
	int		number;
	struct say	out;
};

static void must(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

/* Both names of the directory become one. */
static void one_name(char *path)
{
	char *at;

	if ((at = strstr(path, LONG)))
		memmove(at + 3, at + strlen(LONG), strlen(at + strlen(LONG)) + 1);
	else if ((at = strstr(path, SHORT)))
		memmove(at + 3, at + strlen(SHORT), strlen(at + strlen(SHORT)) + 1);
	if (at)
		memcpy(at, "/?/", 3);
}

static void open_one(struct opener *o, const char *name, int flags)
{
	char path[PATH_MAX];
	int fd = syscall(SYS_openat, AT_FDCWD, name, flags, 0);

	if (fd < 0)
		return;
	link_of(fd, path);
	one_name(path);
	say(&o->out, "%d\tOpen\tflags=%d,mode=0,fd=%d", (int)gettid(), flags, fd);
	say_string(&o->out, "FN", path);
	say_byte(&o->out, '\n');
	syscall(SYS_close, fd);
}

static void *opener(void *arg)
{
	struct opener *o = arg;
	char under[2 * PATH_MAX], other[2 * PATH_MAX];

	snprintf(under, sizeof(under), "%s%sx/y/z/f%d", top, SHORT, o->number);
	snprintf(other, sizeof(other), "%s%sx/y/z/f%d", top, LONG, o->number);
	for (int i = 0; i < opens; i++) {
		open_one(o, i & 1 ? under : other, O_RDONLY);
		open_one(o, "here", O_RDONLY | O_CLOEXEC);
		open_one(o, "./../flip/x/../x/y/z/f0", O_RDONLY);
	}
	return NULL;
}

static void *renamer(void *arg)
{
	char one[2 * PATH_MAX], other[2 * PATH_MAX];

	(void)arg;
	snprintf(one, sizeof(one), "%s%s", top, SHORT);
	snprintf(other, sizeof(other), "%s%s", top, LONG);
	while (!done)
		if (rename(one, other))
			rename(other, one);
	return NULL;
}

static void *mover(void *arg)
{
	char name[2][PATH_MAX + 16];

	(void)arg;
	snprintf(name[0], sizeof(name[0]), "%s/one", top);
	snprintf(name[1], sizeof(name[1]), "%s/the-second", top);
	for (int i = 0; !done; i++)
		if (chdir(name[i & 1]))
			abort();
	return NULL;
}

/* Its own descriptors only; the table that all share grows while they are opened. */
static void *filler(void *arg)
{
	int null = open("/dev/null", O_RDWR);

	(void)arg;
	for (int i = 0; !done; i++) {
		int high = fcntl(null, F_DUPFD, 600 + i % 400), dir = open(top, O_RDONLY);

		dup2(dir, high);
		dup2(null, dir);
		close(dir);
		close(high);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct opener openers[OPENERS];
	void *(*others[])(void *) = { renamer, mover, filler };
	pthread_t threads[3];
	char name[PATH_MAX];

	opens = argc > 1 ? atoi(argv[1]) : opens;
	must(getcwd(top, sizeof(top)) != NULL, "getcwd");
	must(!mkdir("one", 0700) && !mkdir("the-second", 0700) && !mkdir("flip", 0700) && !mkdir("flip/x", 0700) &&
	     !mkdir("flip/x/y", 0700) && !mkdir("flip/x/y/z", 0700), "an empty folder is needed");
	close(creat("one/here", 0600));
	close(creat("the-second/here", 0600));
	for (int i = 0; i < OPENERS; i++) {
		snprintf(name, sizeof(name), "flip/x/y/z/f%d", i);
		close(creat(name, 0600));
		openers[i].number = i;
	}
	must(!chdir("one"), "chdir");
	for (int i = 0; i < 3; i++)
		must(!pthread_create(&threads[i], NULL, others[i], NULL), "thread");
	for (int i = 0; i < OPENERS; i++)
		must(!pthread_create(&openers[i].thread, NULL, opener, &openers[i]), "thread");
	for (int i = 0; i < OPENERS; i++)
		pthread_join(openers[i].thread, NULL);
	done = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < OPENERS; i++)
		said(&openers[i].out);
	return 0;
}
