/*
 * probes.c - USDT probes of its own, their notes written out as <sys/sdt.h> would, and some as no compiler would.
 *
 *	probes [LIBRARY]	hits each so many times; LIBRARY, the same built with -DLIBRARY, is opened and does the same
 *	probes -		says ready, then does so for each line of its input, and says "watched N": what its semaphore is
 *
 * It tells how often each was hit, and what it passed.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef LIBRARY
#define PROVIDER	"library"
#else
#define PROVIDER	"program"
#endif

/* @name with @args at a nop; @semaphore: a symbol, or 0. What comes then are operands. */
#define PROBE(name, semaphore, args, ...)							\
	__asm__ __volatile__(									\
		"990:	nop\n"									\
		"	.pushsection .note.stapsdt,\"\",\"note\"\n"				\
		"	.balign 4\n"								\
		"	.4byte 992f-991f, 994f-993f, 3\n"					\
		"991:	.asciz \"stapsdt\"\n"							\
		"992:	.balign 4\n"								\
		"993:	.8byte 990b\n"								\
		"	.8byte _.stapsdt.base\n"						\
		"	.8byte " semaphore "\n"							\
		"	.asciz \"" PROVIDER "\"\n"						\
		"	.asciz \"" name "\"\n"							\
		"	.asciz \"" args "\"\n"							\
		"994:	.balign 4\n"								\
		"	.popsection\n"								\
		"	.ifndef _.stapsdt.base\n"						\
		"	.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"	\
		"	.weak _.stapsdt.base\n"							\
		"	.hidden _.stapsdt.base\n"						\
		"_.stapsdt.base: .space 1\n"							\
		"	.size _.stapsdt.base, 1\n"						\
		"	.popsection\n"								\
		"	.endif\n"								\
		:: __VA_ARGS__ : "memory")

#define ROUNDS	100

static volatile unsigned short watched __asm__(PROVIDER "_watched") __attribute__((section(".probes"), used));
static int counters[2] __asm__(PROVIDER "_counters") __attribute__((used)) = { -11, 22 };
static unsigned guarded;

/* Where its operands are, the compiler says. */
static __attribute__((noinline)) void compiled(int i, unsigned long u, short s)
{
	PROBE("compiled", "0", "-4@%0 8@%1 -2@%2 -4@%3 2@%4", "nor"(i), "nor"(u), "nor"(s), "nor"(-7), "nor"((unsigned short)u));
}

static __attribute__((noinline)) void in_memory(int i, unsigned char c)
{
	volatile int here = i;
	volatile unsigned char byte = c;

	PROBE("in_memory", "0", "-4@%0 1@%1", "m"(here), "m"(byte));
}

/* A probe that is prepared only while somebody watches. */
static __attribute__((noinline)) void when_watched(int i)
{
	if (!watched)
		return;
	guarded++;
	PROBE("guarded", PROVIDER "_watched", "-4@%0", "nor"(i));
}

static __attribute__((noinline)) void text(const char *s)
{
	PROBE("text", "0", "8@%0 -4@%1", "r"(s), "r"((int)strlen(s)));
}

static __attribute__((noinline)) void real(double d)
{
	volatile double there = d;

	PROBE("real", "0", "-4@%0 8f@%1", "r"(1), "m"(there));
}

static __attribute__((noinline)) void nothing(void)
{
	PROBE("nothing", "0", "");
}

#ifdef __x86_64__
/* Parts of registers, every way to address memory, constants, a symbol. */
static __attribute__((noinline)) void odd(void)
{
	static const int table[4] __attribute__((used)) = { 100, 101, -102, 103 };

	PROBE("parts", "0", "1@%%al 1@%%ah -1@%%al 2@%%ax 4@%%eax 8@%%rax 1@%%r10b 4@%%r10d",
	      "a"(0x1122334455667788ul), "r"(0));
	PROBE("places", "0", "-4@(%%rax,%%rbx,4) -4@4(%%rax,%%rbx,4) 8@$5 -4@$-5 4@$0x10 -4@8(%%rax)",
	      "a"(table), "b"(1ul));
	PROBE("symbols", "0", "-4@" PROVIDER "_counters(%%rip) 4@" PROVIDER "_counters+4(%%rip) 4@4+" PROVIDER "_counters(%%rip)", "r"(0));
	PROBE("unreadable", "0", "4@(%%rax) 8@%%fs:16 junk -4@$3 3@%%eax 4@nowhere(%%rip)", "a"(8ul));
}
#define HAS_ODD	1
#else
static void odd(void) { }
#define HAS_ODD	0
#endif

static void hit_all(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		compiled(-i, 1000000000000ul + i, -i);
		in_memory(-2 * i, i);
		when_watched(i);
	}
	nothing();
	text("hello, probe");
	text("");
	real(2.5);
	odd();
}

static void truth(void)
{
	static const char *const once[] = { "real", "nothing", "parts", "places", "symbols", "unreadable" };
	size_t n = HAS_ODD ? 6 : 2;

	printf("calls " PROVIDER ":compiled %d\ncalls " PROVIDER ":in_memory %d\n", ROUNDS, ROUNDS);
	printf("calls " PROVIDER ":guarded %u\ncalls " PROVIDER ":text 2\n", guarded);
	for (size_t i = 0; i < n; i++)
		printf("calls " PROVIDER ":%s 1\n", once[i]);
}

#ifdef LIBRARY
void library(void)
{
	hit_all();
	truth();
}
#else
static int open_library(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*library)(void) = lib ? (void (*)(void))dlsym(lib, "library") : NULL;

	if (!library)
		return 1;
	library();
	return dlclose(lib);
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc > 1 && strcmp(argv[1], "-"))
		return open_library(argv[1]);
	if (argc == 1) {
		hit_all();
		truth();
		return 0;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		hit_all();
		printf("watched %u\n", watched);
		fflush(stdout);
	}
	return 0;
}
#endif
