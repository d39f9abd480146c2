/*
 * basnames.c - opens, renames, links, duplicates and closes under names that builds do not have, and says what each was.
 *
 * basnames [FOLDER]: run in an empty folder. What it prints is what `bas.py events` must print for it: FN as the kernel's own readlink has it,
 * where that can say it; all else as this program meant it. Every call is the system call of that name.
 */
#include "bassay.h"

#include <linux/openat2.h>
#include <sys/mman.h>

#ifndef SYS_open
int main(void) { return 77; }	/* a machine without the old calls */
#else

#define LONG_NAME	250

static struct say out;
static char top[PATH_MAX];		/* where it was started */

static void begin(const char *tag, const char *numbers)
{
	say(&out, "%d\t%s\t%s", (int)getpid(), tag, numbers);
}

static void end(void) { say_byte(&out, '\n'); }

static void must(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

static const char *joined(const char *dir, const char *name)
{
	static char text[4][2 * PATH_MAX];
	static int turn;
	char *into = text[turn++ % 4];

	snprintf(into, sizeof(text[0]), "%s/%s", dir, name);
	return into;
}

/* ---- opens ---- */

static int opened(int fd, int flags, int mode, const char *path, const char *base, const char *name)
{
	char numbers[96], text[PATH_MAX];

	if (fd < 0)
		return fd;
	snprintf(numbers, sizeof(numbers), "flags=%d,mode=%d,fd=%d", flags, mode, fd);
	begin("Open", numbers);
	say_string(&out, "FN", path ? path : link_of(fd, text));
	say_string(&out, "FO", *name == '/' ? name : joined(base, name));
	end();
	return fd;
}

static int open_here(const char *base, const char *name, int flags, int mode)
{
	return opened(syscall(SYS_open, name, flags, mode), flags, flags & O_CREAT ? mode : 0, NULL, base, name);
}

static int open_at(int dir, const char *base, const char *name, int flags, int mode)
{
	return opened(syscall(SYS_openat, dir, name, flags, mode), flags, flags & O_CREAT ? mode : 0, NULL, base, name);
}

static void shut(int fd)
{
	if (fd < 0 || syscall(SYS_close, fd))
		return;
	say(&out, "%d\tClose\tfd=%d\n", (int)getpid(), fd);
}

static void make(const char *name) { shut(open_here(top, name, O_CREAT | O_RDWR, 0640)); }

/* ---- names ---- */

/* @from NULL: the source is not there, or the names do not come that far. */
static void moved(long failed, const char *head, const char *numbers, const char *letter, const char *from, const char *to)
{
	char tag[3] = { *letter, 'F', 0 };

	if (failed && !from) {
		begin(*letter == 'R' ? "RenameFailed" : "LinkFailed", "");
	} else {
		begin(head, numbers);
		say_string(&out, tag, from);
	}
	tag[1] = 'T';
	if (!failed)
		say_string(&out, tag, to);
	else
		say(&out, "\tfailed");
	end();
}

static void rename_here(const char *from, const char *to, const char *path, const char *to_path)
{
	moved(syscall(SYS_rename, from, to), "RenameFrom", "", "R", path, to_path);
}

static void link_here(const char *from, const char *to, const char *path, const char *to_path)
{
	moved(syscall(SYS_link, from, to), "LinkFrom", "", "L", path, to_path);
}

static void link_at(int dir, const char *from, const char *to, int flags, const char *path, const char *to_path)
{
	char numbers[32];

	snprintf(numbers, sizeof(numbers), "flags=%d", flags);
	moved(syscall(SYS_linkat, dir, from, AT_FDCWD, to, flags), "LinkatFrom", numbers, "L", path, to_path);
}

static void rename2(int dir, const char *from, const char *to, int flags, const char *path, const char *to_path)
{
	char numbers[32];

	snprintf(numbers, sizeof(numbers), "flags=%d", flags);
	moved(syscall(SYS_renameat2, dir, from, AT_FDCWD, to, flags), "Rename2From", numbers, "R", path, to_path);
}

static void symlinked(long failed, const char *target, const char *resolved, const char *link)
{
	if (failed)
		return;
	begin("Symlink", "");
	say_string(&out, "ST", target);
	if (resolved)
		say_string(&out, "SR", resolved);
	say_string(&out, "SL", link);
	end();
}

static void symlink_here(const char *target, const char *link, const char *resolved, const char *path)
{
	symlinked(syscall(SYS_symlink, target, link), target, resolved, path);
}

/* Names of renames and links are looked up by recorder after the call: what they go through must stay for a moment. */
static void settle(void) { usleep(300000); }

/* ---- what is done ---- */

static void plain_names(void)
{
	int dir, fd;

	make("d/f");
	symlink_here("d", "sl", joined(top, "d"), joined(top, "sl"));
	shut(open_here(top, joined(top, "sl/f"), O_RDONLY, 0));
	shut(open_here(top, "./d/../d//f", O_WRONLY | O_APPEND, 0777));
	shut(open_here(top, "d//e/../f", O_RDONLY | O_CLOEXEC, 0));
	shut(open_here(top, ".", O_RDONLY | O_DIRECTORY, 0));
	shut(open_here(top, "/", O_RDONLY, 0));
	shut(open_here(top, "/dev/null", O_RDWR, 0));
	open_here(top, "not-there", O_RDONLY, 0);
	dir = open_here(top, "sl", O_PATH | O_DIRECTORY, 0);
	shut(open_at(dir, joined(top, "d"), "f", O_RDONLY, 0));
	shut(open_at(dir, joined(top, "d"), "../sl/./e//../f", O_RDONLY, 0));
	shut(open_at(dir, joined(top, "d"), joined(top, "sl/f"), O_RDONLY, 0));
	shut(open_at(-1, "", joined(top, "sl/f"), O_RDONLY, 0));
	shut(open_at(AT_FDCWD, top, "d/new", O_CREAT | O_EXCL | O_WRONLY, 0600));
	open_at(AT_FDCWD, top, "d/new", O_CREAT | O_EXCL | O_WRONLY, 0600);
	fd = open_here(top, "sl", O_PATH | O_NOFOLLOW, 0);	/* the link itself */
	shut(fd);
	shut(dir);
}

static void odd_names(void)
{
	char most[256];

	memset(most, 'x', 255);
	most[255] = 0;
	make("n\nl\n");
	make("\xff\xfe|[0],=! \\ \t\x80");
	make(most);
	memset(most, 0xc3, 255);
	make(most);
	rename_here(most, "\n", joined(top, most), joined(top, "\n"));
	symlink_here("\n\n", "two\nlines", NULL, joined(top, "two\nlines"));
}

static void other_calls(void)
{
	struct open_how how = { .flags = O_CREAT | O_RDWR, .mode = 0644, .resolve = RESOLVE_NO_MAGICLINKS };
	int flags = O_CREAT | O_WRONLY | O_TRUNC, fd;

	shut(opened(syscall(SYS_creat, "created", 0604), flags, 0604, NULL, top, "created"));
	fd = syscall(SYS_openat2, AT_FDCWD, "two", &how, sizeof(how));
	shut(opened(fd, how.flags, how.mode, NULL, top, "two"));
	mkfifo("fifo", 0600);
	shut(open_here(top, "fifo", O_RDWR | O_NONBLOCK, 0));
	fd = syscall(SYS_open, ".", O_TMPFILE | O_RDWR, 0600);
	shut(opened(fd, O_TMPFILE | O_RDWR, 0600, NULL, top, "."));
	shut(open_here(top, "/proc/self/ns/mnt", O_RDONLY, 0));
	shut(open_here(top, "/proc/self/root", O_RDONLY, 0));
	shut(open_here(top, "/proc/self/cwd/d/f", O_RDONLY, 0));
}

static void by_descriptor(int fd, int flags)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	shut(open_here(top, name, flags, 0));
}

static void gone(void)
{
	int fd = open_here(top, "d/short", O_CREAT | O_RDWR, 0600), dir;

	unlink("d/short");
	by_descriptor(fd, O_RDONLY);
	shut(fd);
	fd = memfd_create("a name", 0);
	by_descriptor(fd, O_RDWR);
	shut(fd);
	mkdir("gone", 0700);
	must(!chdir("gone") && !rmdir("../gone"), "gone");
	dir = open_here(joined(top, "gone (deleted)"), ".", O_RDONLY, 0);
	shut(dir);
	must(!chdir(top), top);
}

static void descriptors(void)
{
	int p[2], fd, pid = getpid();

	must(!syscall(SYS_pipe, p), "pipe");
	say(&out, "%d\tPipe\tfd1=%d,fd2=%d,flags=0\n", pid, p[0], p[1]);
	by_descriptor(p[0], O_RDONLY | O_NONBLOCK);
	fd = syscall(SYS_dup, p[0]);
	say(&out, "%d\tDup\toldfd=%d,newfd=%d,flags=0\n", pid, p[0], fd);
	syscall(SYS_dup2, fd, fd);
	syscall(SYS_dup2, p[1], 100);
	say(&out, "%d\tDup\toldfd=%d,newfd=100,flags=0\n", pid, p[1]);
	syscall(SYS_dup3, p[1], 101, O_CLOEXEC);
	say(&out, "%d\tDup\toldfd=%d,newfd=101,flags=%d\n", pid, p[1], O_CLOEXEC);
	syscall(SYS_dup2, p[1], 101);
	say(&out, "%d\tDup\toldfd=%d,newfd=101,flags=0\n", pid, p[1]);
	fd = syscall(SYS_fcntl, p[0], F_DUPFD, 200);
	say(&out, "%d\tDup\toldfd=%d,newfd=%d,flags=0\n", pid, p[0], fd);
	fd = syscall(SYS_fcntl, p[0], F_DUPFD_CLOEXEC, 300);
	say(&out, "%d\tDup\toldfd=%d,newfd=%d,flags=%d\n", pid, p[0], fd, O_CLOEXEC);
	syscall(SYS_fcntl, p[0], F_SETFD, FD_CLOEXEC);
	syscall(SYS_dup, 999);
	syscall(SYS_dup2, 999, 5);
	syscall(SYS_close, 999);
	must(!syscall(SYS_pipe2, p, O_NONBLOCK | O_CLOEXEC), "pipe2");
	say(&out, "%d\tPipe\tfd1=%d,fd2=%d,flags=%d\n", pid, p[0], p[1], O_NONBLOCK | O_CLOEXEC);
	shut(100);
	syscall(436 /* close_range */, 101, 400, 0);
}

static void renames(void)
{
	int dir = open_here(top, "d", O_RDONLY | O_DIRECTORY, 0);

	make("a");
	rename_here("a", "sl/b", joined(top, "a"), joined(top, "d/b"));
	rename_here("nope", "x", NULL, NULL);
	rename_here("d/b", "no-dir/x", joined(top, "d/b"), NULL);
	rename_here("d", "full", joined(top, "d"), NULL);	/* full is not empty */
	settle();
	rename_here("sl", "sl2", joined(top, "sl"), joined(top, "sl2"));	/* the link itself */
	rename_here("./d/../e1//", joined(top, "e2/"), joined(top, "e1"), joined(top, "e2"));
	moved(syscall(SYS_renameat, dir, "b", AT_FDCWD, "c"), "RenameFrom", "", "R", joined(top, "d/b"), joined(top, "c"));
	rename2(dir, "f", "c", 1, joined(top, "d/f"), NULL);		/* NOREPLACE: c is there */
	rename2(dir, "f", "c", 2, joined(top, "d/f"), joined(top, "c"));	/* EXCHANGE */
	rename2(dir, "f", "c2", 0, joined(top, "d/f"), joined(top, "c2"));
	shut(dir);
}

static void links(void)
{
	int fd;

	link_here("c", "l1", joined(top, "c"), joined(top, "l1"));
	link_here("c", "l1", joined(top, "c"), NULL);
	link_here("nope", "l2", NULL, NULL);
	symlink_here("c", "sc", joined(top, "c"), joined(top, "sc"));
	symlink_here("nowhere", "sn", NULL, joined(top, "sn"));
	symlink_here("c", "sc", NULL, NULL);
	link_here("sc", "l3", joined(top, "sc"), joined(top, "l3"));
	link_at(AT_FDCWD, "sc", "l4", AT_SYMLINK_FOLLOW, joined(top, "sc"), joined(top, "l4"));
	fd = open_here(top, "c2", O_RDONLY, 0);
	link_at(fd, "", "l5", AT_EMPTY_PATH, joined(top, "c2"), joined(top, "l5"));
	shut(fd);
	fd = open_here(top, "d", O_RDONLY, 0);
	symlinked(syscall(SYS_symlinkat, "../c", fd, "up"), "../c", joined(top, "c"), joined(top, "d/up"));
	shut(fd);
}

/* A path of 3 900 bytes by its absolute name, then a working directory as deep. */
static void long_paths(void)
{
	static char path[2 * PATH_MAX];
	size_t len = strlen(top), part;

	memcpy(path, top, len + 1);
	while (len < 3900 - 2) {
		part = 3900 - 2 - len - 1;
		part = part > LONG_NAME ? LONG_NAME : part ? part : 1;
		path[len] = '/';
		memset(path + len + 1, 'p', part);
		path[len + 1 + part] = 0;
		must(!mkdir(path, 0700), "mkdir of a long path");
		len += 1 + part;
	}
	must(!chdir(path), "chdir to a long path");
	shut(open_here(path, "f", O_CREAT | O_RDWR, 0600));
	shut(open_here(path, joined(path, "f"), O_RDONLY, 0));
	rename_here("f", "g", joined(path, "f"), joined(path, "g"));
	must(!chdir(top), top);
	memcpy(path, top, strlen(top) + 1);
	for (int i = 0; i < 500; i++) {
		strcat(path, "/q");
		must(!mkdir("q", 0700) && !chdir("q"), "q");
	}
	shut(open_here(path, "f", O_CREAT | O_RDWR, 0600));
	must(!chdir(top), top);
}

/* There is no /proc to ask in there. */
static void inside(const char *path, const char *name, int flags)
{
	shut(opened(syscall(SYS_open, name, flags, 0600), flags, flags & O_CREAT ? 0600 : 0, path, "/e", name));
}

static void other_root(void)
{
	if (chroot("d"))
		return;
	must(!chdir("/e"), "/e");
	inside("/inside", "/inside", O_CREAT | O_RDWR);
	inside("/e/x", "x", O_CREAT | O_RDWR);
	rename_here("x", "../y", "/e/x", "/y");
	inside("/", "../../..", O_RDONLY);
	settle();
}

int main(int argc, char **argv)
{
	must(argc < 2 || !chdir(argv[1]), "chdir");
	must(getcwd(top, sizeof(top)) != NULL, "getcwd");
	must(!mkdir("d", 0700) && !mkdir("d/e", 0700) && !mkdir("full", 0700) && !mkdir("full/x", 0700) && !mkdir("e1", 0700),
	     "an empty folder is needed");
	plain_names();
	odd_names();
	other_calls();
	gone();
	descriptors();
	renames();
	links();
	long_paths();
	other_root();
	said(&out);
	return 0;
}
#endif
