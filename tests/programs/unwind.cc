// unwind.cc - who walks over probed frames, and from where. Each case prints one line, the same on every run.
//
//	unwind [CASE [N]]	without CASE all that end by themselves
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define PROBED extern "C" __attribute__((noinline, noclone))
#define KEEP_FRAME() asm volatile("" ::: "memory")

#define ALT_BYTES 65536
#define FRAMES_MAX 256

static thread_local int destroyed;
static volatile int seen_by_handler;
static char *high_stack;	// mapped before any thread's stack, so above them all

struct guard {
	~guard() { destroyed++; }
};

PROBED int leaf(int n)
{
	KEEP_FRAME();
	return n + 1;
}

PROBED int throw_from(int n)
{
	guard g;

	if (n == 0)
		throw std::runtime_error("from the depth");
	n = throw_from(n - 1);
	KEEP_FRAME();
	return n + 1;
}

PROBED int catch_over(int n)
{
	destroyed = 0;
	try {
		throw_from(n);
	} catch (const std::exception &e) {
		return leaf(destroyed);
	}
	return -1;
}

PROBED int outer(int n)
{
	int r = catch_over(n);

	r += leaf(r);
	return r;
}

// A handler that throws something else, and one within it.
PROBED int throw_another(int n)
{
	try {
		throw_from(n);
	} catch (const std::exception &e) {
		leaf(1);
		throw std::logic_error(std::string(e.what()) + ", again");
	}
	return 0;
}

PROBED int within(int n)
{
	int r = 0;

	try {
		throw_from(n);
	} catch (...) {
		try {
			throw_another(n);
		} catch (const std::logic_error &e) {
			r = std::strlen(e.what());
		}
		r += outer(n);
	}
	return leaf(r);
}

// An exception that is thrown and caught while another is on its way.
struct catcher {
	~catcher()
	{
		try {
			throw_from(3);
		} catch (...) {
			destroyed += leaf(100);
		}
	}
};

PROBED int through_catcher(int n)
{
	catcher c;

	return throw_from(n);
}

PROBED int on_the_way(int n)
{
	destroyed = 0;
	try {
		through_catcher(n);
	} catch (...) {
		return leaf(destroyed);
	}
	return -1;
}

PROBED int look(int n)
{
	void *frame[FRAMES_MAX];
	int r;

	if (n == 0)
		return backtrace(frame, FRAMES_MAX);
	r = look(n - 1);
	KEEP_FRAME();
	return r;
}

// How many frames more are seen from 10 deeper: 10, if the walk got to the end both times.
PROBED int looks(int n)
{
	return look(n + 10) - look(n) + 100 * (look(n) - look(n));
}

PROBED void on_signal(int)
{
	seen_by_handler = look(3) > 12;
}

PROBED int signalled(int n)
{
	if (n == 0)
		return raise(SIGUSR1) + seen_by_handler;
	n = signalled(n - 1);
	KEEP_FRAME();
	return n;
}

PROBED void *leave(void *arg)
{
	guard g;

	leaf(1);
	if (arg) {
		guard h;
		pthread_exit(arg);
	}
	return nullptr;
}

PROBED void *wait_for_cancel(void *)
{
	guard g;

	for (;;)
		pause();
	return nullptr;
}

PROBED void *on_high_stack(void *result)
{
	stack_t high = {};

	high.ss_sp = high_stack;
	high.ss_size = ALT_BYTES;
	sigaltstack(&high, nullptr);
	*(int *)result = signalled(5) + outer(3);
	return nullptr;
}

static int in_thread(void *(*run)(void *), void *arg, bool cancel)
{
	pthread_t t;
	void *result;

	pthread_create(&t, nullptr, run, arg);
	if (cancel) {
		usleep(10000);
		pthread_cancel(t);
	}
	pthread_join(t, &result);
	return result == arg || result == PTHREAD_CANCELED;
}

// The child throws over frames that were probed in its parent, each in a page that it has not written.
PROBED int fork_from(int n)
{
	volatile char page[4096];
	pid_t pid;
	int status;

	if (n > 0) {
		page[0] = 0;
		n = fork_from(n - 1);
		KEEP_FRAME();
		return n + page[0];
	}
	pid = fork();
	if (pid == 0)
		throw 42;
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

PROBED int child_throws(int n)
{
	try {
		return fork_from(n);
	} catch (int e) {
		_exit(leaf(e));
	}
}

// The child throws when its parent has ended, and recorder too; with @above its parent forks when that has died.
PROBED int outlive(int n, pid_t above)
{
	if (n > 0) {
		n = outlive(n - 1, above);
		KEEP_FRAME();
		return n;
	}
	while (getppid() == above)
		usleep(10000);
	if (fork() > 0)
		_exit(0);
	sleep(4);
	throw 42;
}

PROBED int orphan_throws(int n, pid_t above)
{
	try {
		return outlive(n, above);
	} catch (int e) {
		return leaf(e);
	}
}

PROBED long storm(long n)
{
	long r = 0;

	for (long i = 0; i < n; i++)
		r += outer(5);
	return r;
}

static long in_threads(long n)
{
	std::vector<std::thread> threads;
	long sum[4] = {};

	for (long &s : sum)
		threads.emplace_back([&s, n] { s = storm(n); });
	for (auto &t : threads)
		t.join();
	return sum[0] + sum[1] + sum[2] + sum[3];
}

static long thread_storm(long n) { return in_threads(n); }
static long nested(long n) { return within(n); }
static long destructor(long n) { return on_the_way(n); }
static long deep(long) { return outer(5) + outer(40) + outer(100); }
static long backtraces(long n) { return looks(n) + looks(80); }
static long signals(long n) { return signalled(n); }
static long thread_exit(long n) { return in_thread(leave, &n, false); }
static long cancelled(long) { return in_thread(wait_for_cancel, nullptr, true); }
static long forked(long n) { return child_throws(n); }
static long orphaned(long n) { return orphan_throws(n, 0); }

static long bereaved(long n)
{
	std::puts("bereaved begins");
	std::fflush(stdout);
	return orphan_throws(n, getppid());
}

static long one_thread(long n) { return storm(n * 10); }

static long high(long)
{
	int result = 0;

	in_thread(on_high_stack, &result, false);
	return result;
}

static long forever(long)
{
	for (long i = 0;; i++) {
		if (storm(100) != 1500)
			abort();
		std::printf("%ld\n", i);
		std::fflush(stdout);
	}
}

static const struct {
	const char *name;
	long (*run)(long n);
} cases[] = {
	{ "deep", deep }, { "nested", nested }, { "destructor", destructor }, { "backtraces", backtraces },
	{ "signals", signals }, { "high", high }, { "thread_exit", thread_exit }, { "cancelled", cancelled },
	{ "forked", forked }, { "storm", one_thread }, { "thread_storm", thread_storm }, { "forever", forever },
	{ "orphaned", orphaned }, { "bereaved", bereaved },
};

int main(int argc, char **argv)
{
	struct sigaction act = {};

	high_stack = (char *)mmap(nullptr, ALT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	act.sa_handler = on_signal;
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &act, nullptr);
	for (const auto &c : cases) {
		if (argc == 1 && c.run == forever)
			break;			// this and what follows does not end by itself
		if (argc > 1 && std::strcmp(c.name, argv[1]))
			continue;
		std::printf("%s %ld\n", c.name, c.run(argc > 2 ? std::atol(argv[2]) : 5));
		std::fflush(stdout);
	}
	return 0;
}
