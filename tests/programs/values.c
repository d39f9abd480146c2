/*
 * values.c - functions with arguments and results of all sorts.
 *
 *	values		one call of each
 *	values N	check() called N times, each call printed as uftrace shows it
 *	values bad	strings where no string is, or only after a page fault; prints the addresses
 *	values long	twelve strings of bytes that take much room when they are shown
 *	values file	strings in a file that is mapped and was not touched yet
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef SWAPS
#include <ucontext.h>
int (*keep)(ucontext_t *, const ucontext_t *) = swapcontext;	/* whoever imports it has no returns probed */
#endif

#define KEEP()	asm volatile("" ::: "memory")

long add(long a, long b)
{
	KEEP();
	return a + b;
}

int small(char c, short s, int i, unsigned u)
{
	KEEP();
	return c + s + i + (int)u;
}

const char *name(int which)
{
	KEEP();
	return which == 0 ? NULL : which == 1 ? "" : "a \"name\" of some length";
}

void show(const char *s)
{
	asm volatile("" : : "r"(s) : "memory");
}

void *where(void *p)
{
	KEEP();
	return p;
}

long other(long x)
{
	KEEP();
	return x;
}

/* Saves registers, so that a probe may stand behind pushes. */
long ten(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
	long sum = other(a) + b;

	sum += other(c) + d;
	sum += other(e) + f + other(sum);
	return sum + other(g) + h + i + j;
}

/* The same value in every argument. */
long wide(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	KEEP();
	return a + b + c + d + e + f + g + h + i;
}

long narrow(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
	KEEP();
	return a + b + c + d + e + f + g + h + i;
}

#ifdef __x86_64__
/* Its cheapest site comes after its first argument was overwritten. */
long gone(long a, long b);
asm(".text\n.globl gone\n.type gone, @function\ngone:\n"
    "	mov %rdi, %rax\n	mov $77, %edi\n	add %rsi, %rax\n	push %rbx\n	mov %rdi, %rbx\n	pop %rbx\n"
    "	mov $78, %edi\n	ret\n.size gone, . - gone");
#else
long gone(long a, long b)
{
	return add(a, b);
}
#endif

int check(long a, unsigned long b, const char *s)
{
	KEEP();
	return (int)(a + (long)b + s[0]);
}

static void all(void)
{
	static const long edges[] = {
		0, 1, -1, 'A', 127, 128, -128, 255, 32767, 65535, -65536, 100000, 100001, -100001, 0x7fffffff, 0x80000000,
		0xffff0000, 0xffff0001, 0xffffffff, 0x7fffffffffffffff, (long)0x8000000000000000,
	};
	char text[300];

	for (size_t i = 0; i < sizeof(edges) / sizeof(*edges); i++) {
		long v = edges[i];

		wide(v, v, v, v, v, v, v, v, v);
		narrow(v, v, v, v, v, v, v, v, v);
	}

	add(0, 0), add(-1, 99999), add(100000, -100000), add(100001, -100001), add(0x7fffffffffffffff, 0xffff0001);
	small('a', -300, -70000, 4000000000u), small(0, 32767, 65, 0), small('\n', -1, 0x7fffffff, 100001);
	for (int i = 0; i < 3; i++)
		name(i);
	for (int n = 90; n < 105; n++) {
		memset(text, 'x', n);
		text[n] = '\0';
		show(text);
	}
	show("tab\there, quote\", backslash\\, \303\251"), show(NULL), show((char *)8), show("");
	where((void *)add), where(NULL), where((void *)16);
	ten(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	gone(5, 6);
	printf("%zu\n", strlen(getenv("VALUES") ?: "nothing"));
}

static void many(int n)
{
	unsigned long x = 88172645463325252ul;
	char text[64];
	int r;

	for (int i = 0; i < n; i++) {
		long a;

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		a = (long)x >> (x & 63);
		snprintf(text, sizeof(text), "%.*s%d", (int)(x >> 8 & 31), "abcdefghijklmnopqrstuvwxyz012345", i);
		r = check(a, x >> (x >> 6 & 63), text);
		printf("check(%ld, %#lx, \"%s\") = %d;\n", a, x >> (x >> 6 & 63), text, r);
	}
}

static void bad(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *const strings[] = {
		(char *)8, page + 4096, page + 4090, (char *)-1l, (char *)0x8000000000000000ul, (char *)0x7fffffffffff,
	};

	memset(page, 'y', 4096);
	mprotect(page + 4096, 4096, PROT_NONE);
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		show(strings[i]);
		printf("show(\"<%p>\");\n", (void *)strings[i]);
	}
	show(page + 4096 - 1);
	printf("show(\"<%p>\");\n", (void *)(page + 4095));
}

void twelve(const char *a, const char *b, const char *c, const char *d, const char *e, const char *f, const char *g,
	    const char *h, const char *i, const char *j, const char *k, const char *l)
{
	const char *keep[] = { a, b, c, d, e, f, g, h, i, j, k, l };

	asm volatile("" : : "r"(keep) : "memory");
}

static void longest(void)
{
	static char s[200];

	memset(s, 1, sizeof(s) - 1);
	for (int i = 0; i < 2; i++, memset(s, 'z', sizeof(s) - 1))
		twelve(s, s, s, s, s, s, s, s, s, s, s, s);
}

#define FILE_BYTES	(1 << 20)
#define BORDER		(256 << 10)	/* what lies on the two sides of it is not mapped by one page fault */

static void from_file(void)
{
	char path[] = "values.XXXXXX", text[] = "a string in two pages";
	int fd = mkstemp(path);
	char *map;

	if (fd < 0 || ftruncate(fd, FILE_BYTES) || pwrite(fd, text, sizeof(text), BORDER - 8) < 0)
		exit(1);
	unlink(path);
	for (int i = 0; i < 100; i++) {
		map = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
		show(map + BORDER - 8);
		munmap(map, FILE_BYTES);
	}
}

int main(int argc, char **argv)
{
	if (argc < 2)
		all();
	else if (!strcmp(argv[1], "bad"))
		bad();
	else if (!strcmp(argv[1], "long"))
		longest();
	else if (!strcmp(argv[1], "file"))
		from_file();
	else
		many(atoi(argv[1]));
	return 0;
}
