/*
 * sysargs.c - one system call of each kind of argument, with values that the tests look for in the recording.
 *
 * The lines it prints are what must be seen, as uftrace shows it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char longname[120];
	int fd, pair[2];

	fd = syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY | O_CLOEXEC);
	printf("want sys_openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = %d\n", fd);
	syscall(SYS_close, fd);
	printf("want sys_close(%d) = 0\n", fd);

	syscall(SYS_openat, AT_FDCWD, "/no/such/file", O_RDONLY);
	printf("errno sys_openat(AT_FDCWD, \"/no/such/file\", O_RDONLY) ENOENT\n");
	syscall(SYS_close, -1);
	printf("errno sys_close(-1) EBADF\n");
	syscall(SYS_openat, AT_FDCWD, NULL, O_RDONLY);
	printf("errno sys_openat(AT_FDCWD, NULL, O_RDONLY) EFAULT\n");

	memset(longname, 'x', sizeof(longname) - 1);
	longname[0] = '/';
	longname[sizeof(longname) - 1] = '\0';
	syscall(SYS_openat, AT_FDCWD, longname, O_RDONLY);
	printf("cut sys_openat \"/xxx\n");

	syscall(SYS_openat, AT_FDCWD, "/tmp/recorder \"odd\\name\n", O_RDONLY);
	printf("odd sys_openat recorder\n");

	syscall(SYS_mkdirat, AT_FDCWD, "/no/such/dir/here", 0750);
	printf("errno sys_mkdirat(AT_FDCWD, \"/no/such/dir/here\", ENOENT\n");
	syscall(SYS_pipe2, pair, O_CLOEXEC);
	syscall(SYS_write, pair[1], "hello pipe", 10);
	syscall(SYS_read, pair[0], longname, 100);
	printf("some sys_pipe2\nsome sys_write\nsome sys_read\n");
	syscall(SYS_mmap, NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("flags sys_mmap PROT_READ|PROT_WRITE\nflags sys_mmap MAP_PRIVATE|MAP_ANONYMOUS\n");
	syscall(SYS_kill, getpid(), 0);
	printf("some sys_kill\n");
	syscall(999, 1, 2, 3);		/* no such call: recorded all the same */
	printf("errno (0x1, 0x2, 0x3 ENOSYS\n");
	fflush(stdout);
	return 0;
}
