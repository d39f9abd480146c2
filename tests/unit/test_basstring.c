/*
 * test_basstring.c - the sink of bas text: strings of all lengths, arguments and execs.
 */
#include <stdarg.h>

#include "basdesk.h"
#include "test.h"

/* ---- strings ---- */

/* What an open of the name "/", then @name, has behind "FO", lines joined by ' ', in @to. */
static void told_name(const char *name, size_t len, bool long_lines, char *to)
{
	__cleanup(free_ptr) char *copy = NULL;
	struct basdesk d;
	struct rec_file *r;
	char *rest, *line;

	basdesk_set(&d);
	d.options.long_lines = long_lines;
	basdesk_start(&d);
	r = file(&d, FILE_OPEN, 3, 0, 0, 0);
	with_path(r, FILE_TEXT_PATH, 0, "/");
	with_bytes(r, FILE_TEXT_NAME, 0, name, len);
	plays(&d, r);
	copy = rest = strdup(lines(&d));
	strsep(&rest, "\n");			/* Open */
	strsep(&rest, "\n");			/* FN */
	*to = '\0';
	while ((line = strsep(&rest, "\n")) && *line)
		to += sprintf(to, "%s%s", strchr(line, ' ') + 1, *rest ? " " : "");
	basdesk_clear(&d);
}

static void check_name(const char *name, size_t len, bool long_lines, const char *want)
{
	char got[16384];

	told_name(name, len, long_lines, got);
	CHECK_STR(got, want);
}

/* @count times @c, in a buffer of its own until the fourth call from now. */
static const char *times(char c, unsigned count)
{
	static char room[4][4096];
	static unsigned turn;
	char *to = room[turn++ % 4];

	memset(to, c, count);
	to[count] = '\0';
	return to;
}

static const char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *text(const char *fmt, ...)
{
	static char room[2][16384];
	static unsigned turn;
	char *to = room[turn++ % 2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(to, sizeof(room[0]), fmt, args);
	va_end(args);
	return to;
}

TEST(bas_a_string_below_900_bytes_is_one_line)
{
	check_name("/x", 2, false, "FO|/x");
	check_name(text("/%s", times('a', 898)), 899, false, text("FO|/%s", times('a', 898)));
}

TEST(bas_a_string_of_nothing_has_its_line)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	{
		struct rec_file *r = file(&d, FILE_SYMLINK, 0, 0, 0, 0);

		with(r, FILE_TEXT_NAME, 0, "");
		with(r, FILE_TEXT_NAME2, 0, "/no/l");
		plays(&d, r);
	}
	CHECK_STR(lines(&d), "2:200 Symlink|targetnamesize=0,linknamesize=5\n2:200 ST|\n2:200 SL|/no/l\n");
	basdesk_clear(&d);
}

TEST(bas_a_string_from_900_bytes_on_is_in_parts)
{
	check_name(text("/%s", times('a', 899)), 900, false, text("FO[0]/%s FO_end|", times('a', 899)));
	check_name(text("/%s", times('a', 900)), 901, false, text("FO[0]/%s FO[1]a FO_end|", times('a', 899)));
	check_name(text("/%s", times('a', 1799)), 1800, false,
		   text("FO[0]/%s FO[1]%s FO_end|", times('a', 899), times('a', 900)));
}

TEST(bas_newlines_of_a_short_string)
{
	check_name("/a\nb", 4, false, "FO|/a Cont|b Cont_end|");
	check_name("/\n\n", 3, false, "FO|/ Cont| Cont| Cont_end|");
	check_name("/a\n\nb\n", 6, false, "FO|/a Cont| Cont|b Cont| Cont_end|");
}

/* Parts are counted, those of Cont are not. */
TEST(bas_newlines_of_a_long_string)
{
	check_name(text("/\n%s", times('a', 1000)), 1002, false,
		   text("FO[0]/ Cont|%s Cont_end| FO[1]%s FO_end|", times('a', 900), times('a', 100)));
	check_name(text("/%s\n\n%s", times('a', 899), times('b', 5)), 907, false,
		   text("FO[0]/%s Cont| Cont|bbbbb Cont_end| FO_end|", times('a', 899)));
	check_name(text("/%s\n", times('a', 950)), 952, false,
		   text("FO[0]/%s FO[1]%s Cont| Cont_end| FO_end|", times('a', 899), times('a', 51)));
}

TEST(bas_with_long_lines_1990_bytes_without_a_newline_are_one_line)
{
	check_name(text("/%s", times('a', 1989)), 1990, true, text("FO|/%s", times('a', 1989)));
	check_name(text("/%s", times('a', 1990)), 1991, true,
		   text("FO[0]/%s FO[1]%s FO[2]%s FO_end|", times('a', 899), times('a', 900), times('a', 191)));
	check_name(text("/\n%s", times('a', 998)), 1000, true,
		   text("FO[0]/ Cont|%s Cont_end| FO[1]%s FO_end|", times('a', 900), times('a', 98)));
}

/* ---- arguments ---- */

/* What a program started with these arguments has between CW and End_of_args, and no more; to be freed. */
static char *told_arguments(const char *args, size_t len, size_t most)
{
	struct basdesk d;
	char *all, *begin, *end;

	basdesk_set(&d);
	basdesk_start(&d);
	starts(&d, "/no/x", "/no/x", args, len, most);
	begin = strstr(lines(&d), "CW|/no/cwd\n");
	CHECK(begin);
	begin += strlen("CW|/no/cwd\n");
	end = strstr(begin, "2:200 End_of_args|\n");
	CHECK(end && !strcmp(end, "2:200 End_of_args|\n"));
	all = strndup(begin, end - begin);
	basdesk_clear(&d);
	return all;
}

#define CHECK_ARGUMENTS(args, want) do {						\
	__cleanup(free_ptr) char *got_ = told_arguments(args, sizeof(args), 7);		\
											\
	CHECK_STR(got_, want);								\
} while (0)

TEST(bas_each_argument_has_its_index_and_an_empty_one_too)
{
	CHECK_ARGUMENTS("cc\0-c\0\0a b.c", "2:200 A[0]cc\n2:200 A[1]-c\n2:200 A[2]\n2:200 A[3]a b.c\n");
	CHECK_ARGUMENTS("", "2:200 A[0]\n");
}

TEST(bas_newlines_of_an_argument)
{
	CHECK_ARGUMENTS("sh\0a\n\nb\n\0c", "2:200 A[0]sh\n2:200 A[1]a\n2:200 Cont|\n2:200 Cont|b\n2:200 Cont|\n"
					   "2:200 Cont_end|\n2:200 A[2]c\n");
}

TEST(bas_a_long_argument_repeats_its_index)
{
	const char *want = text("2:200 A[0]x\n2:200 A[1]%s\n2:200 A[1]%s\n2:200 Cont|%s\n2:200 Cont_end|\n2:200 A[1]b\n"
				"2:200 A[2]\n", times('a', 900), times('a', 1), times('b', 900));
	char args[4096];
	size_t n = sprintf(args, "x%c%s\n%s%c", 0, times('a', 901), times('b', 901), 0);
	__cleanup(free_ptr) char *got = NULL;

	args[n++] = '\0';
	got = told_arguments(args, n, 1000);
	CHECK_STR(got, want);
}

TEST(bas_an_argument_of_a_mebibyte_comes_whole)
{
	size_t len = 1 << 20, have = 0;
	__cleanup(free_ptr) char *args = malloc(len), *got = NULL;

	for (size_t i = 0; i < len - 1; i++)
		args[i] = 'a' + i % 23;
	args[len - 1] = '\0';
	got = told_arguments(args, len, EXEC_PIECE_MAX);
	for (char *line = got, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		CHECK(!strncmp(line, "2:200 A[0]", 10));
		line += 10;
		CHECK(end - line <= 900);
		CHECK_MEM(line, args + have, end - line);
		have += end - line;
	}
	CHECK_INT(have, len - 1);
}

/* ---- execs ---- */

static const char *told_start(struct basdesk *d, const char *name, const char *interp)
{
	basdesk_set(d);
	basdesk_start(d);
	starts(d, name, interp, "x", 2, 100);
	return lines(d);
}

TEST(bas_a_program_has_the_name_it_was_started_by)
{
	struct basdesk d;

	CHECK_STR(told_start(&d, "bin/x", "bin/x"),
		  "2:200 New_proc|argsize=2,prognameisize=13,prognamepsize=13,cwdsize=7\n"
		  "2:200 PI|/no/cwd/bin/x\n2:200 PP|/no/cwd/bin/x\n2:200 CW|/no/cwd\n2:200 A[0]x\n2:200 End_of_args|\n");
	basdesk_clear(&d);
}

TEST(bas_a_script_has_its_interpreter_too)
{
	struct basdesk d;

	CHECK(strstr(told_start(&d, "/no/s", "/no/sh"), "PI|/no/sh\n2:200 PP|/no/s\n"));
	basdesk_clear(&d);
}

TEST(bas_a_program_run_by_its_descriptor_has_its_path)
{
	struct basdesk d;

	CHECK(strstr(told_start(&d, "/dev/fd/3", "/dev/fd/3"), "PI|/no/what/runs\n2:200 PP|/no/what/runs\n"));
	basdesk_clear(&d);
	CHECK(strstr(told_start(&d, "/dev/fd/3/x", "/dev/fd/3/x"), "PI|/no/what/runs\n2:200 PP|/no/what/runs\n"));
	basdesk_clear(&d);
	CHECK(strstr(told_start(&d, "/dev/fd/3/s", "/no/sh"), "PI|/no/sh\n2:200 PP|/dev/fd/3/s\n"));
	basdesk_clear(&d);
}

/* ---- pieces ---- */

static struct rec_exec *begins(struct basdesk *d, uint64_t args)
{
	struct rec_exec *r = begins_exec(d, args, 0);

	exec_with(r, FILE_TEXT_NAME, "/no/x");
	exec_with(r, FILE_TEXT_INTERP, "/no/x");
	exec_with_path(r, FILE_TEXT_BASE, "/no/cwd");
	return r;
}

static void check_dropped(struct basdesk *d, const char *want)
{
	__cleanup(free_ptr) char *stats = NULL, *told = NULL;

	CHECK(asprintf(&told, "CPU:1 [LOST 1 EVENTS]\n%s", want) > 0);
	CHECK_STR(lines(d), told);
	stats = basdesk_file(d, "out.stats", NULL);
	CHECK(stats && strstr(stats, "dropped events: 1\n"));
	basdesk_clear(d);
}

TEST(bas_an_exec_that_lacks_a_piece_is_dropped_whole)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, begins(&d, 6));
	piece(&d, 0, "a\0", 2);
	piece(&d, 4, "c\0", 2);
	check_dropped(&d, "");
}

TEST(bas_an_exec_whose_last_piece_was_lost_is_dropped_with_the_next_event)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, begins(&d, 6));
	piece(&d, 0, "a\0", 2);
	plays(&d, file(&d, FILE_CLOSE, 0, 3, 0, 0));
	piece(&d, 2, "b\0c\0", 4);
	check_dropped(&d, "2:200 Close|fd=3\n");
}

TEST(bas_an_exec_that_is_not_whole_at_the_end_is_dropped)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, begins(&d, 6));
	check_dropped(&d, "");
}

TEST(bas_a_piece_beyond_what_was_announced_is_not_taken)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, begins(&d, 2));
	piece(&d, 0, "abcdefgh", 8);
	check_dropped(&d, "");
}

TEST(bas_another_thread_may_name_the_task_while_its_pieces_come)
{
	struct rec_task_name *r;
	struct basdesk d;

	basdesk_set(&d);
	d.options.thread_names = true;
	basdesk_start(&d);
	plays(&d, begins(&d, 4));
	piece(&d, 0, "a\0", 2);
	r = made(&d, REC_TASK_NAME, sizeof(*r));
	r->comm[0] = 'n';
	plays(&d, r);
	piece(&d, 2, "b\0", 2);
	CHECK_STR(lines(&d), "2:200 Comm|size=1\n2:200 CN|n\n"
			     "2:200 New_proc|argsize=4,prognameisize=5,prognamepsize=5,cwdsize=7\n2:200 PI|/no/x\n"
			     "2:200 PP|/no/x\n2:200 CW|/no/cwd\n2:200 A[0]a\n2:200 A[1]b\n2:200 End_of_args|\n");
	basdesk_clear(&d);
}

/* ---- times ---- */

/* basdesk checks that times grow from line to line, whatever those of the records are. */
TEST(bas_events_of_one_time_have_lines_of_several)
{
	struct basdesk d;

	basdesk_set(&d);
	basdesk_start(&d);
	for (unsigned i = 0; i < 50; i++) {
		struct rec_file *r = file(&d, FILE_OPEN, 3, 0, 0, 0);

		d.now = r->hdr.time = 6000000000ull;
		with_path(r, FILE_TEXT_PATH, 0, "/x");
		with(r, FILE_TEXT_NAME, 0, "/x");
		plays(&d, r);
	}
	CHECK(strstr(lines(&d), "FO|/x\n"));
	basdesk_clear(&d);
}

TEST(bas_all_lines_of_an_event_are_of_its_cpu)
{
	__cleanup(free_ptr) char *all = NULL;
	struct basdesk d;
	char *line;
	int n = 0;

	basdesk_set(&d);
	basdesk_start(&d);
	plays(&d, file(&d, FILE_CLOSE, 0, 3, 0, 0));
	d.cpu = 3;
	starts(&d, "/no/x", "/no/x", "x", 2, 100);
	(void)lines(&d);
	all = basdesk_file(&d, "out", NULL);
	line = strstr(all, "!Close|fd=3\n");
	CHECK(line);
	while (*(line = strchr(line, '\n') + 1)) {
		CHECK(!strncmp(line, "0: 8388808,3,5,", 15));
		n++;
	}
	CHECK_INT(n, 6);
	basdesk_clear(&d);
}
