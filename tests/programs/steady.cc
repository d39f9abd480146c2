// steady.cc - works for so many seconds: calls, throws, jumps, threads, forks, system calls; then says "done" and is 0.
// steady SECONDS: what it finds wrong with itself it says instead. For tests that do things to recorder meanwhile.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <execinfo.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static thread_local jmp_buf home;
static double until;

static double now()
{
	timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void wrong(const char *what)
{
	printf("wrong: %s\n", what);
	fflush(stdout);
	_exit(1);
}

struct guard {
	int &count;
	explicit guard(int &c) : count(c) {}
	~guard() { count++; }
};

extern "C" {

__attribute__((noinline, noclone)) int throw_from(int n, int &count)
{
	guard g(count);
	int r;

	if (n == 0)
		throw 42;
	r = throw_from(n - 1, count);
	__asm__ volatile("" ::: "memory");
	return r + 1;
}

__attribute__((noinline, noclone)) int jump_from(int n)
{
	int r;

	if (n == 0)
		longjmp(home, 1);
	r = jump_from(n - 1);
	__asm__ volatile("" ::: "memory");
	return r + 1;
}

__attribute__((noinline, noclone)) int look_from(int n)
{
	void *frame[128];
	int r = n ? look_from(n - 1) : backtrace(frame, 128);

	__asm__ volatile("" ::: "memory");
	return r;
}

__attribute__((noinline, noclone)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

/* In a frame of its own, held open over all that the others do. */
__attribute__((noinline, noclone)) int in_depth(int n, int (*fn)())
{
	int r = n ? in_depth(n - 1, fn) : fn();

	__asm__ volatile("" ::: "memory");
	return r;
}

}

static int throws()
{
	int count = 0;

	try {
		throw_from(12, count);
	} catch (int e) {
		return e == 42 && count == 13;
	}
	return 0;
}

static int jumps()
{
	if (setjmp(home) == 0)
		jump_from(9);
	return 1;
}

static int looks() { return look_from(20) >= 20; }
static int adds() { return fib(12) == 144; }

static int forks()
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(throws() && fib(10) == 55 ? 7 : 1);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

static void *in_thread(void *)
{
	while (now() < until) {
		if (!in_depth(6, throws))
			wrong("a throw in the thread");
		if (!adds())
			wrong("a sum in the thread");
		usleep(1000);
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	pthread_t t;

	until = now() + (argc > 1 ? atof(argv[1]) : 1);
	pthread_create(&t, nullptr, in_thread, nullptr);
	while (now() < until) {
		if (!in_depth(10, throws))
			wrong("a throw");
		if (!in_depth(5, jumps))
			wrong("a jump");
		if (!in_depth(3, looks))
			wrong("a backtrace");
		if (!in_depth(30, adds))
			wrong("a sum");
		if (!in_depth(4, forks))
			wrong("a fork");
		usleep(500);
	}
	pthread_join(t, nullptr);
	puts("done");
	return 0;
}
