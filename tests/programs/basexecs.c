/*
 * basexecs.c - execs itself in all the ways there are; what was exec'd says what it was given.
 *
 * basexecs: run in an empty folder. Each exec prints one line as `bas.py events` prints New_proc; PI and PP are what the
 * one that called exec expects, in BASEXECS. The lines come in the order of the execs.
 */
#include "bassay.h"

static char top[PATH_MAX], self[PATH_MAX];

static void must(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

/* What the new program says of itself. */
static int show(int argc, char **argv, char *expected)
{
	char *pp = strchr(expected, '\n');
	struct say out = { 0 };
	size_t size = 0;

	*pp++ = 0;
	for (int i = 0; i < argc; i++)
		size += strlen(argv[i]) + 1;
	must(getcwd(top, sizeof(top)) != NULL, "getcwd");
	say(&out, "%d\tNew_proc\targsize=%zu", (int)getpid(), size);
	say_string(&out, "PI", expected);
	say_string(&out, "PP", pp);
	say_string(&out, "CW", top);
	for (int i = 0; i < argc; i++)
		say_string(&out, "A", argv[i]);
	say_byte(&out, '\n');
	said(&out);
	return 0;
}

/* ---- one child for each way ---- */

static char **env(const char *pi, const char *pp)
{
	static char text[3 * PATH_MAX], *list[] = { text, NULL };

	snprintf(text, sizeof(text), "BASEXECS=%s\n%s", pi, pp);
	return list;
}

static int child(void)
{
	int status;
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (!pid)
		return 1;
	must(waitpid(pid, &status, 0) == pid && !status, "a child");
	return 0;
}

static const char *here(const char *name)
{
	static char text[2][2 * PATH_MAX];
	static int turn;
	char *into = text[turn++ % 2];

	snprintf(into, sizeof(text[0]), "%s/%s", top, name);
	return into;
}

static void run(const char *name, char **argv, const char *pi, const char *pp)
{
	if (!child())
		return;
	execve("not-there", argv, env("", ""));
	execve(name, argv, env(pi, pp));
	must(0, name);
}

static void run_at(int dir, const char *name, int flags, const char *path)
{
	char *argv[] = { "at", (char *)name, NULL };

	if (!child())
		return;
	syscall(SYS_execveat, dir, name, argv, env(path, path), flags);
	must(0, "execveat");
}

static void many_arguments(void)
{
	static char *argv[10500];
	static char hundred[101];

	memset(hundred, 'x', 100);
	for (int i = 0; i < 10490; i++)
		argv[i] = hundred;
	run(self, argv, self, self);
}

static void odd_arguments(void)
{
	static char longest[131072];
	char *few[] = { "odd", "", longest, "", NULL }, *none[] = { NULL };
	char *lines[] = { "", "\n", "a\nb", "\n\nc\n", "tab\tand \\ and \xff|]", longest, "", NULL };

	memset(longest, 'y', 131071);
	run(self, few, self, self);
	for (int i = 700; i < 131071; i += 1013)
		longest[i] = '\n';
	longest[900] = longest[901] = longest[131070] = '\n';
	run(self, lines, self, self);
	run(self, none, self, self);
}

static void script(const char *name, const char *first)
{
	FILE *f = fopen(name, "w");

	must(f && fprintf(f, "#!%s\n", first) > 0 && !fclose(f) && !chmod(name, 0700), name);
}

static void other_names(void)
{
	char *argv[] = { "called so", "x y", "", NULL }, line[PATH_MAX + 32];

	must(!symlink(self, "link") && !mkdir("dir", 0700) && !symlink("dir", "way") && !symlink(self, "dir/linked"), "symlink");
	run("link", argv, here("link"), here("link"));
	run("./way/../way//linked", argv, here("dir/linked"), here("dir/linked"));
	snprintf(line, sizeof(line), " link \t two words\t ");
	script("s1", line);
	run("./s1", argv, here("link"), here("s1"));
	snprintf(line, sizeof(line), "%s/s1 -e", top);
	script("way/s2", line);
	script("s3", "way/s2");
	run(here("s3"), argv, here("link"), here("s3"));
}

static void by_descriptor(void)
{
	int dir = open("way", O_RDONLY), fd = open(self, O_RDONLY | O_CLOEXEC), copy = open("copy", O_CREAT | O_RDWR, 0700);
	char buffer[65536], gone[PATH_MAX];
	ssize_t n;

	run_at(fd, "", AT_EMPTY_PATH, self);
	run_at(AT_FDCWD, "way/linked", 0, here("dir/linked"));
	run_at(dir, "linked", 0, here("dir/linked"));
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		must(write(copy, buffer, n) == n, "copy");
	close(copy);
	copy = open("copy", O_RDONLY);
	unlink("copy");
	snprintf(gone, sizeof(gone), "%s (deleted)", here("copy"));
	run_at(copy, "", AT_EMPTY_PATH, gone);
}

/* ---- a thread that is not the leader ---- */

static void *sleeps(void *arg) { return pause(), arg; }

static void *execs(void *arg)
{
	char *argv[] = { "from a thread", arg, NULL };

	usleep(20000);
	execve(self, argv, env(self, self));
	must(0, self);
	return NULL;
}

static void from_a_thread(void)
{
	pthread_t thread;

	if (!child())
		return;
	pthread_create(&thread, NULL, sleeps, NULL);
	pthread_create(&thread, NULL, execs, "one");
	pthread_create(&thread, NULL, sleeps, NULL);
	pause();
}

int main(int argc, char **argv)
{
	ssize_t n;

	if (getenv("BASEXECS"))
		return show(argc, argv, getenv("BASEXECS"));
	must(getcwd(top, sizeof(top)) != NULL, "getcwd");
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	must(n > 0, "/proc/self/exe");
	many_arguments();
	odd_arguments();
	other_names();
	by_descriptor();
	from_a_thread();
	return 0;
}
