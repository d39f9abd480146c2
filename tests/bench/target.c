/*
 * target.c - a loop around one thing, timed by the loop itself.
 *
 *	target loop [ROUNDS [CALLS]]	prints the least CPU time and the least wall time of a call, ns, over so many rounds
 *	target pace RATE SECONDS	makes RATE calls a second and prints the share of a core that its parent and its siblings took, %
 *
 * What is called is chosen when it is built: -DTARGET_PUSH, _CET, _NOP5 or _C (a function, which begins in that way) or
 * _SYSCALL (getppid) or _LIBC (malloc and free). The least, since what disturbs can only add; CPU time of the thread, since others may run meanwhile,
 * and wall time for tools that hold it up.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(TARGET_SYSCALL)

static inline void call(void)
{
	long r;

	__asm__ volatile("syscall" : "=a"(r) : "a"(110L /* getppid */) : "rcx", "r11", "memory");
}

#elif defined(TARGET_LIBC)

static inline void call(void)
{
	void *p = malloc(16);

	__asm__ volatile("" : "+r"(p) : : "memory");
	free(p);
}

#elif defined(TARGET_C)

void probed(void);
__attribute__((noinline, noclone)) void probed(void) { __asm__ volatile("" ::: "memory"); }

static inline void call(void) { probed(); }

#else

#if defined(TARGET_PUSH)
#define START ""
#elif defined(TARGET_CET)
#define START "endbr64\n"
#elif defined(TARGET_NOP5)
#define START ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#endif

__asm__(".text\n.p2align 6\n.globl probed\n.type probed, @function\nprobed:\n" START
	"push %rbp\nmov %rsp, %rbp\npop %rbp\nret\n.size probed, .-probed\n");

static inline void call(void)
{
	/* The red zone is the caller's: the call must not write there. */
	__asm__ volatile("sub $128, %%rsp\ncall probed\nadd $128, %%rsp" ::: "memory", "cc");
}

#endif

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* On the last CPU, so that who drains has another. */
static void stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sysconf(_SC_NPROCESSORS_ONLN) - 1, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void loop(int rounds, long calls)
{
	double least_cpu = 1e9, least_wall = 1e9;

	for (int r = 0; r < rounds; r++) {
		double cpu = seconds(CLOCK_THREAD_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);

		for (long i = 0; i < calls; i++)
			call();
		cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
		wall = seconds(CLOCK_MONOTONIC) - wall;
		least_cpu = cpu < least_cpu ? cpu : least_cpu;
		least_wall = wall < least_wall ? wall : least_wall;
	}
	printf("%.1f %.1f\n", least_cpu / calls * 1e9, least_wall / calls * 1e9);
}

/* CPU time of @pid and all its threads, s. */
static double cpu_of(int pid)
{
	unsigned long user = 0, sys = 0;
	char path[64], line[1024], *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f) && (p = strrchr(line, ')')))
		sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys);
	if (f)
		fclose(f);
	return (double)(user + sys) / sysconf(_SC_CLK_TCK);
}

/* Of who records us: our parent, and the processes it has beside us, as trace-cmd has one for each CPU. */
static double parent_cpu(void)
{
	double all = cpu_of(getppid());
	char path[64];
	int pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", getppid(), getppid());
	f = fopen(path, "r");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid != getpid())
			all += cpu_of(pid);
	if (f)
		fclose(f);
	return all;
}

static void pace(double rate, double duration)
{
	double begin = seconds(CLOCK_MONOTONIC), now = begin, cpu = parent_cpu();
	double done = 0;

	while (now < begin + duration) {
		struct timespec ms = { 0, 1000000 };

		for (; done < (now - begin) * rate; done++)
			call();
		nanosleep(&ms, NULL);
		now = seconds(CLOCK_MONOTONIC);
	}
	printf("%.2f %.0f\n", (parent_cpu() - cpu) / (now - begin) * 100, done / (now - begin));
}

int main(int argc, char **argv)
{
	stay();
	if (argc > 3 && !strcmp(argv[1], "pace"))
		pace(atof(argv[2]), atof(argv[3]));
	else
		loop(argc > 2 ? atoi(argv[2]) : 20, argc > 3 ? atol(argv[3]) : 20000);
	return 0;
}
