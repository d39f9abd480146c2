/*
 * process.c - a pidfd is what a number of ours and one of /proc have in common.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "process.h"

/* The number that @format finds in a line of the file, 0: none. */
static pid_t number_in(const char *path, const char *format)
{
	__cleanup(close_file) FILE *f = fopen(path, "re");
	char line[128];
	pid_t n = 0;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	while (f && !n && fgets(line, sizeof(line), f))
		if (sscanf(line, format, &n) != 1)
			n = 0;
#pragma GCC diagnostic pop
	return MAX(n, 0);
}

pid_t process_own_in_proc(void)
{
	char self[16] = "";

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 ? atoi(self) : 0;
}

bool process_proc_is_ours(void)
{
	return process_own_in_proc() == getpid();
}

pid_t process_in_proc(int pidfd)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	return number_in(path, "Pid: %d");
}

pid_t process_of_thread(pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	return number_in(path, "Tgid: %d");
}

int process_open(pid_t pid)
{
	__cleanup(close_fd) int pidfd = syscall(SYS_pidfd_open, pid, 0);

	return pidfd < 0 ? -errno : process_folder(pidfd);
}

/* An errno: of a thread of the kernel ENOENT. */
static int look_for_program(pid_t tid)
{
	char path[32], exe[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	return readlink(path, exe, sizeof(exe)) < 0 ? errno : 0;
}

static bool has_program(pid_t tid)
{
	return !look_for_program(tid);
}

bool process_is_barred(pid_t pid)
{
	int err = look_for_program(pid);

	return err == EACCES || err == EPERM;
}

pid_t process_with_program(pid_t pid)
{
	pid_t found = has_program(pid) ? pid : 0;
	struct dirent *e;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = found ? NULL : opendir(path);
	while (dir && !found && (e = readdir(dir)))
		if (has_program(atoi(e->d_name)))
			found = atoi(e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

int process_folder(int pidfd)
{
	pid_t pid = process_in_proc(pidfd);
	char path[32];
	int fd;

	/* Threads have such folders, too. */
	snprintf(path, sizeof(path), "/proc/%d", process_with_program(pid) ?: pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!process_in_proc(pidfd)) {		/* it ended meanwhile: the folder may be another's */
		close(fd);
		return -ESRCH;
	}
	return fd;
}

#define PF_EXITING	0x4	/* <linux/sched.h> */

/* The third, fourth and ninth field of proc(5)'s stat. */
static bool read_stat(pid_t pid, char *state, pid_t *parent, unsigned *flags)
{
	char path[32], text[512], *at;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	__cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = '\0';
	at = strrchr(text, ')');	/* the name before it may hold anything */
	return at && sscanf(at, ") %c %d %*d %*d %*d %*d %u", state, parent, flags) == 3;
}

pid_t process_parent(pid_t pid)
{
	unsigned flags;
	char state;

	return read_stat(pid, &state, &pid, &flags) ? pid : 0;
}

bool process_is_at_work(pid_t pid)
{
	unsigned flags;
	char state;

	return !read_stat(pid, &state, &pid, &flags) || (state != 'T' && !(flags & PF_EXITING));
}

static pid_t helper[8];		/* the last that were started; others have ended */

void process_own(pid_t pid)
{
	static unsigned next;

	helper[next++ % ARRAY_SIZE(helper)] = pid;
}

static bool is_us(pid_t pid)
{
	bool found = pid == getpid();

	for (size_t i = 0; i < ARRAY_SIZE(helper) && pid; i++)
		found = found || helper[i] == pid;
	return found;
}

bool process_is_ours(pid_t pid)
{
	return is_us(pid) || is_us(process_parent(pid));
}

uint32_t process_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void process_keep_only(int *keep, size_t count)
{
	int first = 0;

	qsort(keep, count, sizeof(*keep), by_value);
	for (size_t i = 0; i < count; i++) {
		if (keep[i] > first)
			close_range(first, keep[i] - 1, 0);
		first = MAX(first, keep[i] + 1);
	}
	close_range(first, ~0u, 0);
}
