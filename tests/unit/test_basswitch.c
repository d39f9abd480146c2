/*
 * test_basswitch.c - the sink of bas text: what its switches add and leave out.
 */
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include "basdesk.h"
#include "test.h"

static void opens(struct basdesk *d, const char *path, int fd)
{
	struct rec_file *r = file(d, FILE_OPEN, fd, 0, 0, 0);

	with_path(r, FILE_TEXT_PATH, 0, path);
	with(r, FILE_TEXT_NAME, 0, path);
	plays(d, r);
}

static void closes(struct basdesk *d, int fd)
{
	plays(d, file(d, FILE_CLOSE, 0, fd, 0, 0));
}

/* Only the lines of @tags, a list of beginnings, joined by ' '. */
static const char *only(struct basdesk *d, const char *a, const char *b)
{
	static char kept[8192];
	__cleanup(free_ptr) char *copy = strdup(lines(d));
	char *rest = copy, *line;
	size_t n = 0;

	kept[0] = '\0';
	while ((line = strsep(&rest, "\n")) && *line) {
		const char *tag = strchr(line, ' ') + 1;

		if (!strncmp(tag, a, strlen(a)) || !strncmp(tag, b, strlen(b)))
			n += sprintf(kept + n, "%s%s", n ? "; " : "", line);
	}
	return kept;
}

/* ---- --implicit-closes ---- */

static void begin_implicit(struct basdesk *d)
{
	basdesk_set(d);
	d->options.implicit_closes = true;
	basdesk_start(d);
}

/* An exec after which the descriptors of @fds, a bitmap, are open. */
static void execs_keeping(struct basdesk *d, uint64_t fds)
{
	struct rec_exec *r = begins_exec(d, 2, 0);

	exec_with(r, FILE_TEXT_NAME, "/no/x");
	exec_with(r, FILE_TEXT_INTERP, "/no/x");
	exec_with_path(r, FILE_TEXT_BASE, "/no/cwd");
	exec_with_bytes(r, FILE_TEXT_FDS, &fds, sizeof(fds));
	plays(d, r);
	piece(d, 0, "x", 2);
}

TEST(bas_what_an_exec_closes_is_closed_before_it)
{
	struct basdesk d;

	begin_implicit(&d);
	plays(&d, file(&d, FILE_PIPE, 0, 3, 4, 0));
	opens(&d, "/a", 70);
	execs_keeping(&d, 1 << 3 | 1 << 9);
	execs_keeping(&d, 1 << 3);
	CHECK_STR(only(&d, "Close", "New_proc|argsize=2,"),
		  "2:200 Close|fd=4; 2:200 Close|fd=70; 2:200 New_proc|argsize=2,prognameisize=5,prognamepsize=5,cwdsize=7; "
		  "2:200 New_proc|argsize=2,prognameisize=5,prognamepsize=5,cwdsize=7");
	basdesk_clear(&d);
}

TEST(bas_what_has_been_closed_is_not_closed_by_an_exec)
{
	struct basdesk d;

	begin_implicit(&d);
	opens(&d, "/a", 3);
	closes(&d, 3);
	execs_keeping(&d, 0);
	CHECK_STR(only(&d, "Close", "Close"), "2:200 Close|fd=3");
	basdesk_clear(&d);
}

TEST(bas_a_child_has_copies_of_descriptors)
{
	struct basdesk d;

	begin_implicit(&d);
	opens(&d, "/a", 3);
	forks(&d, 300, 300);
	closes(&d, 3);
	turns_to(&d, 300, 300);
	execs_keeping(&d, 0);
	CHECK_STR(only(&d, "Close", "Close"), "2:200 Close|fd=3; 3:300 Close|fd=3");
	basdesk_clear(&d);
}

TEST(bas_threads_share_descriptors_until_one_execs)
{
	struct basdesk d;

	begin_implicit(&d);
	plays(&d, file(&d, FILE_CLONE, 0, CLONE_FILES | CLONE_THREAD, 0, 0));
	forks(&d, PROG, 201);
	opens(&d, "/a", 3);
	opens(&d, "/b", 4);
	turns_to(&d, PROG, 201);
	closes(&d, 3);
	turns_to(&d, PROG, PROG);
	exits(&d, 0, REC_F_REPLACED);
	execs(&d, 201);
	execs_keeping(&d, 0);
	CHECK_STR(only(&d, "Close", "Close"), "3:201 Close|fd=3; 2:200 Close|fd=4");
	basdesk_clear(&d);
}

TEST(bas_dup2_closes_what_was_open_there)
{
	struct basdesk d;

	begin_implicit(&d);
	opens(&d, "/a", 3);
	opens(&d, "/b", 4);
	plays(&d, file(&d, FILE_DUP, 3, 4, 0, 1));
	plays(&d, file(&d, FILE_DUP, 5, 4, 0, 1));
	CHECK_STR(only(&d, "Close", "Dup"), "2:200 Close|fd=3; 2:200 Dup|oldfd=4,newfd=3,flags=0; 2:200 Dup|oldfd=4,newfd=5,flags=0");
	basdesk_clear(&d);
}

/* Its number was free in the kernel, whatever the order in which two threads' records come. */
TEST(bas_dup_closes_nothing)
{
	struct basdesk d;

	begin_implicit(&d);
	opens(&d, "/a", 3);
	opens(&d, "/b", 4);
	plays(&d, file(&d, FILE_DUP, 3, 4, 0, 0));
	closes(&d, 3);
	CHECK_STR(only(&d, "Close", "Dup"), "2:200 Dup|oldfd=4,newfd=3,flags=0; 2:200 Close|fd=3");
	basdesk_clear(&d);
}

TEST(bas_close_range_closes_what_was_open_in_it)
{
	uint64_t left = 1 << 3 | 1 << 6;
	struct rec_file *r;
	struct basdesk d;

	begin_implicit(&d);
	for (int fd = 3; fd < 7; fd++)
		opens(&d, "/a", fd);
	plays(&d, file(&d, FILE_CLOSE_RANGE, 0, 3, ~0u, CLOSE_RANGE_CLOEXEC));
	r = file(&d, FILE_CLOSE_RANGE, 0, 4, 5, 0);
	with_bytes(r, FILE_TEXT_FDS, 0, &left, sizeof(left));
	plays(&d, r);
	CHECK_STR(only(&d, "Close", "Close"), "2:200 Close|fd=4; 2:200 Close|fd=5");
	basdesk_clear(&d);
}

TEST(bas_without_the_switch_only_closes_are_closes)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	opens(&d, "/a", 3);
	plays(&d, file(&d, FILE_DUP, 3, 4, 0, 0));
	execs_keeping(&d, 0);
	CHECK_STR(only(&d, "Close", "Close"), "");
	basdesk_clear(&d);
}

/* ---- --ignore-repeated-opens ---- */

TEST(bas_an_open_that_is_repeated_is_told_once_and_so_is_its_close)
{
	struct basdesk d;

	basdesk_set(&d);
	d.options.ignore_repeats = true;
	basdesk_start(&d);
	for (int i = 0; i < 3; i++) {
		opens(&d, "/a", 3);
		opens(&d, "/a", 4);
		closes(&d, 3);
		closes(&d, 4);
	}
	opens(&d, "/b", 3);
	closes(&d, 3);
	opens(&d, "/a", 3);
	CHECK_STR(only(&d, "FN", "Close"), "2:200 FN|/a; 2:200 Close|fd=3; 2:200 FN|/b; 2:200 Close|fd=3; 2:200 FN|/a");
	basdesk_clear(&d);
}

TEST(bas_a_descriptor_used_for_something_else_is_closed_again)
{
	struct basdesk d;

	basdesk_set(&d);
	d.options.ignore_repeats = true;
	basdesk_start(&d);
	opens(&d, "/a", 3);
	opens(&d, "/a", 4);
	plays(&d, file(&d, FILE_DUP, 4, 1, 0, 0));
	closes(&d, 4);
	CHECK_STR(only(&d, "Dup", "Close"), "2:200 Dup|oldfd=1,newfd=4,flags=0; 2:200 Close|fd=4");
	basdesk_clear(&d);
}

TEST(bas_a_new_program_repeats_nothing)
{
	struct basdesk d;

	basdesk_set(&d);
	d.options.ignore_repeats = true;
	basdesk_start(&d);
	opens(&d, "/a", 3);
	closes(&d, 3);
	starts(&d, "/no/x", "/no/x", "x", 2, 100);
	opens(&d, "/a", 3);
	CHECK_STR(only(&d, "FN", "New_proc|a"),
		  "2:200 FN|/a; 2:200 New_proc|argsize=2,prognameisize=5,prognamepsize=5,cwdsize=7; 2:200 FN|/a");
	basdesk_clear(&d);
}

/* ---- --env-vars ---- */

static void starts_with(struct basdesk *d, const char *env, size_t len)
{
	struct rec_exec *r = begins_exec(d, 2, len);

	exec_with(r, FILE_TEXT_NAME, "/no/x");
	exec_with(r, FILE_TEXT_INTERP, "/no/x");
	exec_with_path(r, FILE_TEXT_BASE, "/no/cwd");
	plays(d, r);
	piece(d, 0, "x", 2);
	piece(d, 2, env, len);
}

TEST(bas_each_variable_is_told_once_with_all_who_had_it)
{
	struct basdesk d;
	const char *all;

	basdesk_set(&d);
	d.options.env_vars = true;
	basdesk_start(&d);
	starts_with(&d, "A=1\0B=2\n", 9);
	starts_with(&d, "A=1\0B=2\n", 9);
	forks(&d, 300, 300);
	turns_to(&d, 300, 300);
	starts_with(&d, "A=1", 4);
	all = lines(&d);
	all = strstr(all, "0:0 ");
	CHECK_STR(all, "0:0 UPID|8388808\n0:0 UPID|12583212\n0:0 Env[0]A=1\n"
		       "0:0 UPID|8388808\n0:0 Env[0]B=2\n0:0 Cont|\n0:0 Cont_end|\n");
	basdesk_clear(&d);
}

TEST(bas_a_long_variable_is_in_numbered_parts)
{
	char env[2048];
	struct basdesk d;
	const char *all;

	memset(env, 'a', sizeof(env));
	env[1900] = '\0';
	basdesk_set(&d);
	d.options.env_vars = true;
	basdesk_start(&d);
	starts_with(&d, env, 1901);
	all = lines(&d);
	CHECK(strstr(all, "0:0 UPID|8388808\n0:0 Env[0]aaa") && strstr(all, "0:0 Env[1]aaa") && strstr(all, "0:0 Env[2]aaa"));
	CHECK(!strstr(all, "Env[3]") && !strstr(all, "Env_end"));
	basdesk_clear(&d);
}

/* ---- a full disk ---- */

TEST(bas_a_file_that_cannot_grow_ends_with_a_whole_event)
{
	struct rlimit limit = { 200000, 200000 };
	__cleanup(free_ptr) char *all = NULL;
	size_t len = 0;
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	for (int i = 0; i < 5000; i++)
		opens(&d, "/some/where/there/is/a/file", 3);
	CHECK(!tracker_finish(d.tracker));
	CHECK(segment_close(d.segment) < 0);
	all = basdesk_file(&d, "out", &len);
	CHECK(all && len > 100000 && len <= 200000);
	while (len > 1 && all[len - 2] != '\n')
		len--;
	CHECK(strstr(all + len - 1, "FO|/some/where/there/is/a/file\n") || strstr(all + len - 1, "SchedFork"));
	tracker_destroy(TAKE(d.tracker));
	segment_destroy(TAKE(d.segment));
	basdesk_clear(&d);
}
