/* syscalls.c - a storm of system calls whose numbers it knows. syscalls [N] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20000;
	int fd = open("/dev/null", O_WRONLY);
	char byte = 0;

	for (long i = 0; i < n; i++) {
		syscall(SYS_getppid);
		if (i % 4 == 0)
			syscall(SYS_write, fd, &byte, 1);
		if (i % 10 == 0)
			syscall(SYS_getpgid, -1);
		if (i % 20 == 0)
			syscall(SYS_readlinkat, AT_FDCWD, "/no/such/link", &byte, 1);
	}
	printf("syscalls getppid %ld\n", n);
	printf("syscalls getpgid %ld\n", (n + 9) / 10);
	printf("syscalls readlinkat %ld\n", (n + 19) / 20);
	return 0;
}
