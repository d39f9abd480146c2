/* Messages: one line each, and nothing in them a terminal would obey. */
#include "base.h"
#include "log.h"
#include "printed.h"
#include "test.h"

static char *escaped(const char *text)
{
	static char to[256];

	log_escape(to, sizeof(to), text);
	return to;
}

TEST(escape_leaves_plain_text_alone)
{
	CHECK_STR(escaped("a 'b' \"c\" \\ ~"), "a 'b' \"c\" \\ ~");
	CHECK_STR(escaped(""), "");
}

TEST(escape_makes_a_copy)
{
	char *copy = log_escaped("\x1b\xff\n");

	CHECK_STR(copy, "\\x1b\\xff\\n");
	free(copy);
}

TEST(escape_shows_control_bytes)
{
	CHECK_STR(escaped("\033[2Ja\nb\tc\rd\x7f"), "\\x1b[2Ja\\nb\\tc\\x0dd\\x7f");
}

TEST(escape_lets_whole_utf8_pass)
{
	CHECK_STR(escaped("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa2"), "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa2");
}

TEST(escape_shows_broken_and_dangerous_utf8)
{
	CHECK_STR(escaped("\xc3"), "\\xc3");				/* cut short */
	CHECK_STR(escaped("\xc0\x8a"), "\\xc0\\x8a");			/* a newline, written too long */
	CHECK_STR(escaped("\xe0\x80\x8a"), "\\xe0\\x80\\x8a");
	CHECK_STR(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80");		/* a surrogate */
	CHECK_STR(escaped("\xc2\x9b" "2J"), "\\xc2\\x9b2J");		/* CSI as a C1 control */
	CHECK_STR(escaped("\xe2\x80\xae" "txt"), "\\xe2\\x80\\xaetxt");	/* text from right to left */
	CHECK_STR(escaped("\xff\xfe"), "\\xff\\xfe");
}

TEST(escape_never_cuts_inside_a_piece)
{
	char to[6];

	CHECK_INT(log_escape(to, sizeof(to), "a\033b\033"), 5);
	CHECK_STR(to, "a\\x1b");
	CHECK_INT(log_escape(to, sizeof(to), "abc\033"), 3);
	CHECK_STR(to, "abc");
}

TEST(fail_prints_one_line_and_returns_its_error)
{
	printed();
	CHECK_INT(fail(-ENOENT, "cannot open '%s'", "x\ny"), -ENOENT);
	CHECK_STR(printed(), "recorder: cannot open 'x\\ny': No such file or directory\n");
	CHECK_INT(fail(0, "plain"), 0);
	CHECK_STR(printed(), "recorder: plain\n");
}

TEST(quiet_keeps_failures_and_drops_the_summary)
{
	printed();
	log_set_level(LOG_QUIET);
	say("summary");
	detail("more");
	warn("careful");
	hint("this");
	CHECK_STR(printed(), "recorder: warning: careful\nrecorder: try: this\n");
	log_set_level(LOG_VERBOSE);
	say("summary");
	detail("more");
	CHECK_STR(printed(), "recorder: summary\nrecorder: more\n");
}

TEST(a_message_of_any_length_stays_whole)
{
	char long_name[2000];

	printed();
	memset(long_name, '\1', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	warn("%.900s", long_name);
	CHECK_INT(strlen(printed()), strlen("recorder: warning: \n") + 900 * 4);
}

TEST(no_status_line_without_a_terminal)
{
	printed();
	status_line("busy %d", 1);
	say("done");
	status_line(NULL);
	CHECK_STR(printed(), "recorder: done\n");
}
