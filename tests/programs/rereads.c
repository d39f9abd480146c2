/*
 * rereads.c - `rereads FILE HOW` maps a file to read it, does HOW to the mapping, and says "N bytes as in the file", or how many are
 * not; `rereads FILE runs` makes code of it and calls counted(), which lies at FILE's own place for it, 100 times: "calls counted 100".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char __executable_start[];

__attribute__((noinline)) int counted(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

#define PAGE 4096ul

/* As the kernel's: of a 32-bit program, where this machine's kernel runs those. */
static char *map_32(int fd, size_t size)
{
	long at = -1;
#ifdef __x86_64__
	__asm__ volatile("push %%rbp\n\txor %%ebp, %%ebp\n\tint $0x80\n\tpop %%rbp"
			 : "=a"(at) : "a"(192), "b"(0), "c"(size), "d"(PROT_READ), "S"(MAP_PRIVATE), "D"((long)fd)
			 : "memory", "r8", "r9", "r10", "r11");
#endif
	return (int)at < 0 && (int)at > -4096 ? MAP_FAILED : (char *)(unsigned long)(unsigned)at;
}

static char *mapped(int fd, size_t size, const char *how)
{
	char *at, *elsewhere;

	if (!strcmp(how, "by a 32-bit call"))
		return map_32(fd, size);
	at = mmap(NULL, size, strcmp(how, "protected") ? PROT_READ : PROT_NONE, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return at;
	if (!strcmp(how, "cut"))
		munmap(at + size / PAGE * PAGE, PAGE);
	else if (!strcmp(how, "advised"))
		madvise(at, PAGE, MADV_RANDOM);
	else if (!strcmp(how, "protected"))
		mprotect(at, size, PROT_READ);
	else if (!strcmp(how, "mapped over"))
		mmap(at, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	else if (!strcmp(how, "moved")) {
		elsewhere = mmap(NULL, size + 16 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		at = mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
		madvise(at, PAGE, MADV_RANDOM);
	}
	return at;
}

static int runs(char *at, size_t size)
{
	int (*fn)(int) = (int (*)(int))(at + ((char *)counted - __executable_start));
	int n = 0;

	if (mprotect(at, size, PROT_READ | PROT_EXEC))
		return 2;
	while (n < 100)
		n = fn(n);
	printf("calls counted %d\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[1], O_RDONLY) : -1;
	struct stat st;
	size_t size, same = 0;
	char *file, *at;

	if (fd < 0 || fstat(fd, &st))
		return 2;
	size = st.st_size;
	at = mapped(fd, size, argv[2]);
	file = malloc(size);
	if (at == MAP_FAILED || !file || pread(fd, file, size, 0) != st.st_size)
		return 2;
	if (!strcmp(argv[2], "runs"))
		return runs(at, size);
	if (!strcmp(argv[2], "cut"))
		size = size / PAGE * PAGE;
	for (size_t i = 0; i < size; i++)
		same += at[i] == file[i];
	printf("%zu of %zu bytes as in the file\n", same, size);
	return same != size;
}
