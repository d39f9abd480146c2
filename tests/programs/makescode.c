/*
 * makescode.c - a program that makes code while it runs and tells of it as compilers at run time do, in /tmp/perf-PID.map.
 *
 * makescode N: N times main() calls made code, that calls inner(), which asks for the parent's number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],16; ret */
static const unsigned int code[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
#endif

/* A function that calls none may go without a frame. */
void nothing(void) { __asm__ volatile(""); }

static long inner(void)
{
	long ret;

#if defined(__x86_64__)
	__asm__ volatile("syscall" : "=a"(ret) : "0"(SYS_getppid) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = SYS_getppid, x0 __asm__("x0");

	__asm__ volatile("svc 0" : "=r"(x0) : "r"(x8) : "memory");
	ret = x0;
#endif
	nothing();
	return ret;
}

int main(int argc, char **argv)
{
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), path[64];
	long sum = 0;
	FILE *f;

	if (at == MAP_FAILED)
		return 2;
	memcpy(at, code, sizeof(code));
	__builtin___clear_cache(at, at + sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	if (!f)
		return 2;
	fprintf(f, "%lx %zx JS:made /app.js:1;2\n", (unsigned long)at, sizeof(code));
	fclose(f);
	for (int i = argc > 1 ? atoi(argv[1]) : 3; i > 0; i--)
		sum += ((long (*)(long (*)(void)))at)(inner);
	sleep(1);			/* its map is read while it is there */
	unlink(path);
	return sum < 0;
}
