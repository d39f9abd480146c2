/*
 * test.h - a unit test: TEST(what_is_promised) { given; when; CHECK(then); }
 *
 * TEST() registers itself. Each test runs in a child of its own with a time
 * limit, so a crash or a hang is one failure and nothing a test leaves behind
 * reaches the next. The first CHECK that fails ends its test; CHECKs may stand
 * in helper functions too. What a test prints is shown when it fails, or with -v.
 */
#ifndef TEST_H
#define TEST_H

#include <stddef.h>

struct test {
	const char  *name;
	const char  *file;
	int	     line;
	void	   (*run)(void);
	struct test *next;
};

void test_register(struct test *t);

/* One failed CHECK: prints where and what, and ends the test. */
void test_failed(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void test_skipped(const char *why) __attribute__((noreturn));
void test_check_str(const char *file, int line, const char *expr, const char *got, const char *want);
void test_check_int(const char *file, int line, const char *expr, long long got, long long want);
void test_check_mem(const char *file, int line, const char *expr, const void *got, const void *want, size_t len);

#define TEST(name_)								\
	static void test_##name_(void);						\
	static struct test test_of_##name_ = { #name_, __FILE__, __LINE__, test_##name_, NULL };	\
	__attribute__((constructor)) static void test_add_##name_(void)		\
	{									\
		test_register(&test_of_##name_);				\
	}									\
	static void test_##name_(void)

#define CHECK(expr)								\
	do {									\
		if (!(expr))							\
			test_failed(__FILE__, __LINE__, "not true: %s", #expr);	\
	} while (0)

/* What was got comes first, what is wanted second. NULL equals NULL only. */
#define CHECK_STR(got, want)	test_check_str(__FILE__, __LINE__, #got, (got), (want))
#define CHECK_INT(got, want)	test_check_int(__FILE__, __LINE__, #got, (long long)(got), (long long)(want))
#define CHECK_MEM(got, want, len)	test_check_mem(__FILE__, __LINE__, #got, (got), (want), (len))

/* The test cannot be made here (a privilege or tool is missing): counted as skipped, never as passed. */
#define SKIP(why)		test_skipped(why)

#endif
