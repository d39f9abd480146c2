/*
 * test_pattern.c - FUNC[@LIB].
 */
#include <errno.h>
#include <string.h>

#include "pattern.h"
#include "test.h"

static struct pattern parsed(const char *text, enum pattern_kind kind)
{
	struct pattern p;

	CHECK_INT(pattern_parse(&p, text, strlen(text), kind), 0);
	return p;
}

static bool matches(const char *text, enum pattern_kind kind, const char *func)
{
	struct pattern p = parsed(text, kind);
	bool is = pattern_matches(&p, func);

	pattern_release(&p);
	return is;
}

static bool is_of(const char *text, const char *path)
{
	struct pattern p = parsed(text, PATTERN_GLOB);
	bool is = pattern_matches_file(&p, path);

	pattern_release(&p);
	return is;
}

TEST(a_name_without_special_characters_is_the_whole_name)
{
	CHECK(matches("main", PATTERN_REGEX, "main"));
	CHECK(!matches("main", PATTERN_REGEX, "domain"));
	CHECK(!matches("main", PATTERN_GLOB, "main2"));
}

TEST(a_regex_is_found_anywhere_unless_anchored)
{
	CHECK(matches("op[ef]", PATTERN_REGEX, "fopen"));
	CHECK(!matches("^op", PATTERN_REGEX, "fopen"));
	CHECK(matches("^(a|b)_", PATTERN_REGEX, "b_x"));
}

TEST(a_glob_is_of_the_whole_name)
{
	CHECK(matches("op*", PATTERN_GLOB, "open"));
	CHECK(!matches("op*", PATTERN_GLOB, "fopen"));
	CHECK(matches("[fd]open", PATTERN_GLOB, "dopen"));
}

TEST(special_characters_mean_nothing_in_an_exact_name)
{
	CHECK(matches("a.part.0", PATTERN_EXACT, "a.part.0"));
	CHECK(!matches("a.part.0", PATTERN_EXACT, "a_part_0"));
}

TEST(a_library_is_named_by_how_its_file_begins_or_by_a_glob)
{
	CHECK(is_of("*@libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6"));
	CHECK(is_of("*@libc", "/lib/libc.so.6"));
	CHECK(!is_of("*@libc.so", "/lib/libcrypt.so.1"));
	CHECK(is_of("*@*", "libm.so.6"));
	CHECK(is_of("*@lib[cm].*", "/x/libm.so.6"));
	CHECK(!is_of("*@lib", "/lib/ld-linux.so"));
	CHECK(is_of("*", "/any"));
	CHECK(!is_of("*@PLT", "/lib/PLT.so"));
}

TEST(what_is_no_pattern_is_refused)
{
	struct pattern p;

	CHECK_INT(pattern_parse(&p, "", 0, PATTERN_GLOB), -EINVAL);
	CHECK_INT(pattern_parse(&p, "@libc", 5, PATTERN_GLOB), -EINVAL);
	CHECK_INT(pattern_parse(&p, "f@", 2, PATTERN_GLOB), -EINVAL);
	CHECK_INT(pattern_parse(&p, "a(", 2, PATTERN_REGEX), -EINVAL);
	CHECK_INT(pattern_parse(&p, "(a", 2, PATTERN_GLOB), 0);
	pattern_release(&p);
}

TEST(no_more_of_the_text_is_read_than_was_said)
{
	struct pattern p;

	CHECK_INT(pattern_parse(&p, "open@libc;close", 9, PATTERN_REGEX), 0);
	CHECK_STR(p.func, "open");
	CHECK_STR(p.lib, "libc");
	pattern_release(&p);
}
