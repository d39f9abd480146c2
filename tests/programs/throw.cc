// throw.cc - exceptions through 5, 40 and 100 frames with destructors, rethrown, in threads and after a fork.
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <sys/wait.h>
#include <unistd.h>

#include "truth.h"

static thread_local int destroyed;

struct guard {
	~guard() { destroyed++; }
};

extern "C" {

__attribute__((noinline, noclone)) int throw_from(int n)
{
	guard g;
	int r;

	ENTER();
	if (n == 0)
		throw std::runtime_error("from the depth");
	r = throw_from(n - 1);
	KEEP_FRAME();
	return r + 1;
}

__attribute__((noinline, noclone)) int after(int n) { ENTER(); return n + 1; }

__attribute__((noinline, noclone)) int catch_over(int frames)
{
	ENTER();
	destroyed = 0;
	try {
		throw_from(frames - 1);
	} catch (const std::exception &e) {
		return after(destroyed) + std::strlen(e.what());
	}
	return -1;
}

__attribute__((noinline, noclone)) int rethrow_from(int n)
{
	guard g;

	ENTER();
	try {
		throw_from(n);
	} catch (...) {
		after(0);
		throw;
	}
	return 0;
}

__attribute__((noinline, noclone)) int catch_rethrown(int frames)
{
	ENTER();
	destroyed = 0;
	try {
		rethrow_from(frames);
	} catch (const std::runtime_error &) {
		return after(destroyed);
	}
	return -1;
}

__attribute__((noinline, noclone)) int catch_nested(int n)
{
	ENTER();
	try {
		throw_from(n);
	} catch (...) {
		try {
			throw_from(n + 1);
		} catch (...) {
			return after(n);
		}
	}
	return -1;
}

__attribute__((noinline, noclone)) int carry(int n)
{
	std::exception_ptr p;

	ENTER();
	try {
		throw_from(n);
	} catch (...) {
		p = std::current_exception();
	}
	try {
		std::rethrow_exception(p);
	} catch (const std::runtime_error &) {
		return after(n);
	}
	return -1;
}

}

static int in_fork()
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(catch_over(7));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main()
{
	int n = 0;

	ENTER();
	printf("over 5: %d\n", catch_over(5));
	printf("over 40: %d\n", catch_over(40));
	printf("over 100: %d\n", catch_over(100));
	printf("over 5 again: %d\n", catch_over(5));
	for (int i = 0; i < 50; i++)
		n += catch_over(i % 10 + 1);
	printf("many: %d\n", n);
	printf("rethrown: %d\n", catch_rethrown(6));
	printf("nested: %d\n", catch_nested(4));
	printf("carried: %d\n", carry(4));
	std::thread a([] { for (int i = 0; i < 20; i++) catch_over(8); });
	std::thread b([] { for (int i = 0; i < 20; i++) catch_rethrown(8); });
	a.join();
	b.join();
	printf("in a fork: %d\n", in_fork());
	for (int i = 0; i < 10; i++)
		n = after(n);
	printf("after: %d\n", n);
	truth_print();
	return 0;
}
