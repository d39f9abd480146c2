/*
 * process.c - a pidfd is what a number of ours and one of /proc have in common.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "process.h"

pid_t process_in_proc(int pidfd)
{
	char path[40], line[64];
	pid_t pid = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	__cleanup(close_file) FILE *f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pid: %d", &pid) != 1)
			pid = 0;
	return MAX(pid, 0);
}

int process_open(pid_t pid)
{
	__cleanup(close_fd) int pidfd = syscall(SYS_pidfd_open, pid, 0);
	char path[32];
	int fd;

	if (pidfd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d", process_in_proc(pidfd));
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!process_in_proc(pidfd)) {		/* it ended meanwhile: the folder may be another's */
		close(fd);
		return -ESRCH;
	}
	return fd;
}

pid_t process_parent(pid_t pid)
{
	char path[32], text[512], *at;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	__cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[MAX(n, 0)] = '\0';
	at = strrchr(text, ')');	/* the name before it may hold anything: proc(5) */
	return at && sscanf(at, ") %*c %d", &pid) == 1 ? pid : 0;
}

uint32_t process_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}
