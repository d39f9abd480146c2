/* The command line: what is meant, and one line with the user's own word when it cannot be. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"
#include "condition.h"
#include "config.h"
#include "filter.h"
#include "launch.h"
#include "log.h"
#include "nearest.h"
#include "sink.h"
#include "test.h"
#include "trigger.h"

#define WORDS_MAX	32

/* Parse words parted by single spaces; "_" stands for an empty word. Not freed: a test's process ends soon. */
static int parse(struct config **ret, const char *line)
{
	static char *argv[WORDS_MAX + 2];
	char *rest = strdup(line), *word;
	int argc = 1;

	argv[0] = (char *)"recorder";
	while ((word = strsep(&rest, " ")))
		if (*word && argc <= WORDS_MAX)
			argv[argc++] = strcmp(word, "_") ? word : (char *)"";
	argv[argc] = NULL;
	*ret = NULL;
	return config_parse(ret, argc, argv);
}

static struct config *parsed(const char *line)
{
	struct config *cfg;

	CHECK_INT(parse(&cfg, line), 0);
	return cfg;
}

/* What @line makes config_parse() print on stderr; its answer goes to *@status. */
static char *complaint(const char *line, int *status)
{
	static char text[4096];
	struct config *cfg;
	int fd = fileno(tmpfile()), old = dup(STDERR_FILENO);
	ssize_t n;

	dup2(fd, STDERR_FILENO);
	*status = parse(&cfg, line);
	dup2(old, STDERR_FILENO);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void wrong(const char *line, const char *said)
{
	int status;
	char *text = complaint(line, &status);

	text[strcspn(text, "\n")] = '\0';	/* a second line is a hint */
	CHECK_STR(text, said);
	CHECK_INT(status, 1 + EXIT_USAGE);
}

TEST(usual_options_record_everything)
{
	struct config *cfg = parsed("true");

	CHECK(cfg->syscalls && cfg->functions && cfg->libcalls && cfg->follow);
	CHECK(cfg->dear && !cfg->nop5 && !cfg->strict && !cfg->as_root && !cfg->raw && !cfg->dry_run);
	CHECK_INT(cfg->string_bytes, 32);
	CHECK_INT(cfg->sink_count, 1);
	CHECK(cfg->sink[0] == sinks[0]);
	for (int nr = 0; nr < SYS_MAX; nr++)
		CHECK(cfg->syscall_wanted[nr]);
	CHECK(cfg->ring_bytes >= 8 << 20 && !(cfg->ring_bytes & (cfg->ring_bytes - 1)));
	CHECK(!cfg->status);		/* stderr is no terminal here */
	config_destroy(cfg);
}

TEST(the_first_word_that_is_no_option_is_the_command)
{
	struct config *cfg = parsed("--strict true -s --strict --");

	CHECK_STR(cfg->argv[0], "true");
	CHECK_STR(cfg->argv[1], "-s");
	CHECK_STR(cfg->argv[3], "--");
	CHECK(!cfg->argv[4]);
	CHECK_INT(cfg->string_bytes, 32);
	config_destroy(cfg);
	cfg = parsed("-- true --");
	CHECK_STR(cfg->argv[0], "true");
	CHECK_STR(cfg->argv[1], "--");
	config_destroy(cfg);
}

TEST(letters_and_names_set_the_same)
{
	struct config *a, *b;
	char line[128], uid[16];

	snprintf(uid, sizeof(uid), "%u", geteuid());	/* any other takes root */
	snprintf(line, sizeof(line), "-o x -s 100 -u %s -b 4M -v true", uid);
	a = parsed(line);
	snprintf(line, sizeof(line), "--output=x --string-size=100 --user %s --buffer 4M --verbose true", uid);
	b = parsed(line);

	CHECK_STR(a->output, "x");
	CHECK_STR(b->output, "x");
	CHECK_INT(a->string_bytes, 100);
	CHECK_INT(b->string_bytes, 100);
	CHECK_STR(a->user, uid);
	CHECK_STR(b->user, uid);
	CHECK_INT(a->ring_bytes, 4 << 20);
	CHECK_INT(b->ring_bytes, 4 << 20);
	CHECK_INT(a->verbosity, LOG_VERBOSE);
	CHECK_INT(b->verbosity, LOG_VERBOSE);
	CHECK_STR(parsed("-d y true")->output, "y");
}

TEST(what_other_tracers_say_is_understood)
{
	struct config *cfg = parsed("-f -yy -Y -e trace=openat,read true");

	CHECK(cfg->follow && cfg->syscalls);
	CHECK(!cfg->syscall_wanted[39]);		/* getpid on x86-64, umount2 on arm64 */
	CHECK(!cfg->other_syscalls_wanted && !cfg->compat_wanted[20]);	/* getpid of 32-bit programs */
	CHECK(parsed("--syscalls=all,read true")->other_syscalls_wanted && parsed("--syscalls=!read true")->other_syscalls_wanted);
	CHECK(!parsed("--syscalls=!read,%all true")->other_syscalls_wanted);
	CHECK(!parsed("-f --no-follow true")->follow);
	CHECK(!parsed("--no-syscalls true")->syscalls);
	CHECK(parsed("--no-syscalls --syscalls true")->syscalls);
	CHECK(parsed("-e openat true")->syscalls);
	CHECK(parsed("-e t=openat true")->syscalls);
}

TEST(switches_are_switched)
{
	struct config *cfg = parsed("--no-functions --no-libcall --no-dear --nop5 --strict --dry-run --as-root true");

	CHECK(!cfg->functions && !cfg->libcalls && !cfg->dear && cfg->nop5 && cfg->strict && cfg->dry_run && cfg->as_root);
	CHECK(parsed("--no-functions --functions true")->functions);
	CHECK(parsed("--doctor")->doctor);
	CHECK_INT(parsed("--simulate-drops 7 true")->lose_one_in, 7);
	CHECK_INT(parsed("-s 0 true")->string_bytes, 0);
	CHECK_INT(parsed("-vv true")->verbosity, LOG_DEBUG);
	CHECK_INT(parsed("-vvvv true")->verbosity, LOG_DEBUG);
	CHECK_INT(parsed("-v -q true")->verbosity, LOG_QUIET);
	CHECK_INT(parsed("-q -v true")->verbosity, LOG_VERBOSE);
}

TEST(sizes_have_units_and_are_kib_without)
{
	static const struct { const char *text; size_t bytes; } sizes[] = {
		{ "-b 64", 64 << 10 }, { "-b 64K", 64 << 10 }, { "-b 64k", 64 << 10 }, { "-b 1M", 1 << 20 },
		{ "-b 1MiB", 1 << 20 }, { "-b 1mb", 1 << 20 }, { "-b 1G", 1 << 30 }, { "-b 65536B", 64 << 10 },
		{ "-b 5M", 8 << 20 },		/* the next power of two */
		{ "-b 16385B", 32 << 10 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char line[64];

		snprintf(line, sizeof(line), "%s true", sizes[i].text);
		CHECK_INT(parsed(line)->ring_bytes, sizes[i].bytes);
	}
	CHECK_INT(parsed("--memory 100 true")->memory_bytes, 100 << 10);
	CHECK_INT(parsed("--memory 3G true")->memory_bytes, 3ull << 30);
}

TEST(wrong_sizes_and_numbers_are_named)
{
	wrong("-b 3X true", "recorder: -b: '3X' is not a size, such as 512K or 16M");
	wrong("-b _ true", "recorder: -b: '' is not a size, such as 512K or 16M");
	wrong("-b -1 true", "recorder: -b: '-1' is not a size, such as 512K or 16M");
	wrong("-b 1 true", "recorder: -b: '1' is 1024 bytes; it must be 16K to 1024G");
	wrong("-b 2G true", "recorder: -b: 2147483648 bytes are too many for the buffer of one CPU, which is at most 1G");
	wrong("--memory 99999999999999999999 true",
	      "recorder: --memory: '99999999999999999999' is not a size, such as 512K or 16M");
	wrong("-s x true", "recorder: -s: 'x' is not a number");
	wrong("-s -5 true", "recorder: -s: '-5' is not a number");
	wrong("-s 5x true", "recorder: -s: '5x' is not a number");
	wrong("--string-size 99999999999 true", "recorder: --string-size: '99999999999' is not a number");
	wrong("-s 5000 true", "recorder: -s: 5000 bytes are more than a record holds, 4000");
}

TEST(an_option_that_is_none_is_named_with_the_nearest)
{
	wrong("--syscals true", "recorder: '--syscals' is not an option; the nearest is '--syscalls'");
	wrong("--fromat=raw true", "recorder: '--fromat' is not an option; the nearest is '--format'");
	wrong("--quite true", "recorder: '--quite' is not an option; the nearest is '--quiet'");
	wrong("--xyzzy true", "recorder: '--xyzzy' is not an option; recorder --help lists them");
	wrong("-w true", "recorder: '-w' is not an option; recorder --help lists them");
	wrong("-qw true", "recorder: '-w' is not an option; recorder --help lists them");
	wrong("--no-f true", "recorder: '--no-f' may mean '--no-functions' or '--no-follow'");
	wrong("--strict=1 true", "recorder: --strict takes no argument, but '--strict=1' gives one");
	wrong("-o", "recorder: -o needs an argument: PATH");
	wrong("--format", "recorder: --format needs an argument: NAME,...");
}

TEST(processes_are_named_by_numbers)
{
	struct config *cfg = parsed("-p 12,13 --tree=7 --tid 8 --duration 1500ms");

	CHECK_INT(cfg->target_count, 4);
	CHECK_INT(cfg->target[1].pid, 13);
	CHECK_INT(cfg->target[1].kind, TARGET_PROCESS);
	CHECK_INT(cfg->target[2].kind, TARGET_TREE);
	CHECK_INT(cfg->target[3].kind, TARGET_THREAD);
	CHECK_INT(cfg->duration_ns, 1500000000ll);
	CHECK(!cfg->argv);
	config_destroy(cfg);
	wrong("-p redis", "recorder: -p: 'redis' is not the number of a process");
	wrong("-p 0", "recorder: -p: '0' is not the number of a process");
	wrong("-p 99999999999", "recorder: -p: '99999999999' is not the number of a process");
	wrong("--tid 1,,2", "recorder: --tid: a name is missing in '1,,2'");
	wrong("-p 1 -u nobody", "recorder: -u says who the command runs as, and there is none");
	wrong("-p 1 --replay x", "recorder: --replay reads a file and runs nothing, so there is no place for -p");
}

TEST(times_have_units)
{
	CHECK_INT(parsed("--duration 2 true")->duration_ns, 2000000000ll);
	CHECK_INT(parsed("--duration 3m true")->duration_ns, 180000000000ll);
	wrong("--duration 0 true", "recorder: --duration: '0' is not a time, such as 10s or 500ms");
	wrong("--duration 5x true", "recorder: --duration: '5x' is not a time, such as 10s or 500ms");
	wrong("--duration 99999999999999h true",
	      "recorder: --duration: '99999999999999h' is not a time, such as 10s or 500ms");
}

TEST(places_are_files_or_folders_and_may_be_turned_round)
{
	CHECK(filter_names_places(parsed("-L main.c true")->filter));
	CHECK(filter_names_places(parsed("-L a@hide;sub/@home/b.c true")->filter));
	for (const char *const *out = (const char *const[]){ "-L !a true", "-L a@hide true", "--loc-filter a@notrace true", NULL };
	     *out; out++) {
		struct config *cfg = parsed(*out);

		CHECK(filter_has_places(cfg->filter) && !filter_names_places(cfg->filter));
		CHECK(!filter_in_kernel(cfg));
	}
	CHECK(!filter_has_places(parsed("-F main.c true")->filter));
	wrong("-L a@show true", "recorder: -L: 'show' is neither 'hide' nor 'notrace'");
	wrong("-L a; true", "recorder: -L: a source file or folder is missing");
	wrong("-L !@hide true", "recorder: -L: a source file or folder is missing");
	wrong("-L a( true", "recorder: -L: 'a(' is not a regular expression of source files");
	CHECK(parsed("--match glob -L a( true"));
}

TEST(patterns_of_functions_are_checked_when_all_options_are_known)
{
	CHECK(parsed("-H a;b@PLT --hide c -l true")->list);
	CHECK(!parsed("-H a*[ --match glob true")->list);
	CHECK_INT(parsed("--size-filter 64 true")->least_size, 64);
	wrong("--match glob -H a( --match regex true", "recorder: -H: 'a(' is not a regular expression of functions");
	CHECK_INT(parsed("-F a;!b -N c --depth 3 true")->depth, 3);
	CHECK_INT(parsed("--max-stack=1000 true")->max_stack, 1000);
	CHECK(filter_judges(parsed("--max-stack 1 true")));
	wrong("--max-stack 0 true", "recorder: --max-stack: 0 open calls cannot be counted; 1 to 1000 can, and without it "
				    "there is no limit");
	CHECK_INT(parsed("-t 5ms true")->least_ns, 5000000);
	CHECK_INT(parsed("-t 1.5us true")->least_ns, 1500);
	CHECK_INT(parsed("--time-filter 700 true")->least_ns, 700);
	CHECK_INT(parsed("-t 1.25 true")->least_ns, 1);
	CHECK(parsed("-t 5ms true")->syscalls && !parsed("-C a true")->syscalls);
	wrong("-t 0 true", "recorder: -t: '0' is not a time, such as 5ms or 1.5us");
	wrong("-t 1.ms true", "recorder: -t: '1.ms' is not a time, such as 5ms or 1.5us");
	wrong("-C _ true", "recorder: -C: a function's name is missing");
	wrong("-F ! true", "recorder: -F: a function's name is missing");
	wrong("-D 0 true", "recorder: -D: 0 levels cannot be kept apart; 1 to 250 can");
	wrong("--hide a;;b true", "recorder: --hide: a function's name is missing");
	wrong("--match wild true", "recorder: --match: 'wild' is neither 'regex' nor 'glob' nor 'exact'");
}

TEST(an_option_of_another_tracer_is_answered)
{
	wrong("--container /x", "recorder: --container: recording a container is not built yet");
	wrong("--cgroup /x --no-follow", "recorder: --no-follow: --cgroup means also those who come into it");
	wrong("-P x true", "recorder: -P is not an option: strace, perf and trace-cmd mean three things by it");
	wrong("--delay 5 true", "recorder: --delay is not built yet");
	wrong("--event schd true", "recorder: --event: 'schd' is no group of events; the nearest is 'sched'");
	wrong("-e sched,openat true", "recorder: -e: 'openat' is neither a group of events nor SUBSYS:EVENT");
	wrong("-e sched, true", "recorder: -e: a name is missing in 'sched,'");
	wrong("-e signal=INT true", "recorder: -e: 'signal=' is not built yet, only 'trace=SET', 'SUBSYS:EVENT' and 'usdt:PROVIDER:NAME' are");
	wrong("--usdt redis true", "recorder: --usdt: 'redis' is not PROVIDER:NAME or LIB:PROVIDER:NAME, such as 'libc:*'");
	wrong("--usdt=redis true", "recorder: --usdt: 'redis' is not PROVIDER:NAME or LIB:PROVIDER:NAME, such as 'libc:*'");
	wrong("-e usdt:a:b@arg1/q true", "recorder: -e: 'arg1/q' is not argN/s, or x, i, u, c for s, with an N of 1 to 12");
	wrong("--usdt=a:b -t 1ms true", "recorder: --usdt does not go together with -t and -C: a probe takes no time, and calls nothing");
}

TEST(arguments_and_results_are_asked_for_with_A_and_R)
{
	struct config *cfg = parsed("-A add@arg1;puts@arg1/s -R add@retval -A x@arg2 true");

	CHECK_INT(cfg->args.count, 4);
	config_destroy(cfg);
	wrong("-A add@arg1/q true", "recorder: -A: 'arg1/q': a format is one of d i u x c p s f S t");
	wrong("-R add@arg1 true", "recorder: -R: 'arg1' is for -A; here it is retval");
}

TEST(names_that_are_none_are_named_with_the_nearest)
{
	wrong("--format uftrac true", "recorder: --format: 'uftrac' is not a format; the nearest is 'uftrace'");
	wrong("--format raw,zzz true", "recorder: --format: 'zzz' is not a format");
	wrong("--format raw,,raw true", "recorder: --format: a name is missing in 'raw,,raw'");
	wrong("--format _ true", "recorder: --format: a name is missing in ''");
	wrong("--no-feature uprobe-mutli true",
	      "recorder: --no-feature: 'uprobe-mutli' is not a feature; the nearest is 'uprobe-multi'");
	wrong("-e trace=opneat true", "recorder: -e: 'opneat' is not a syscall or class; the nearest is 'openat'");
	wrong("-u no-such-user true", "recorder: -u: there is no user 'no-such-user'");
	wrong("-u _ true", "recorder: -u: USER must not be empty");
	wrong("-o _ true", "recorder: -o: PATH must not be empty");
	wrong("--status=maybe true", "recorder: --status: 'maybe' is neither 'auto' nor 'never'");
}

TEST(what_does_not_fit_together_is_refused)
{
	wrong("", "recorder: no command to record");
	wrong("-v --", "recorder: no command to record");
	wrong("-u root --as-root true", "recorder: -u 'root' and --as-root: the command can run as one of them only");
	wrong("--replay /dev/null true", "recorder: --replay reads a file and runs nothing, so there is no place for 'true'");
	wrong("--replay /dev/null -u root",
	      "recorder: --replay reads a file and runs nothing, so there is no place for -u");
	wrong("--replay /dev/null -A main@arg1",
	      "recorder: --replay reads a file and runs nothing, so there is no place for -A and -R");
	wrong("--no-functions -R main@retval true",
	      "recorder: -A and -R tell of functions, which --no-functions leaves out");
	wrong("--no-functions --auto-args true",
	      "recorder: --auto-args tells of functions, which --no-functions leaves out");
	CHECK_INT(parsed("--auto-args -t 1ms -A a@arg1 -C main true")->least_ns, 1000000);
	wrong("--replay /dev/null --srcline",
	      "recorder: --replay reads a file and runs nothing, so there is no place for --srcline");
	wrong("--replay /no/such/file", "recorder: --replay: cannot read '/no/such/file': No such file or directory");
	wrong("--doctor true", "recorder: --doctor runs nothing, so there is no place for 'true'");
}

TEST(formats_are_a_list_and_the_last_list_counts)
{
	struct config *cfg = parsed("--format raw true");

	CHECK(cfg->raw && !cfg->sink_count);
	cfg = parsed("--format raw,uftrace,uftrace true");
	CHECK(cfg->raw);
	CHECK_INT(cfg->sink_count, 1);
	cfg = parsed("--format raw --format uftrace true");
	CHECK(!cfg->raw);
	CHECK_INT(cfg->sink_count, 1);
}

TEST(features_add_up)
{
	struct config *cfg = parsed("--no-feature uprobe-multi,uprobe-session --no-feature bpf-loop true");

	CHECK_INT(cfg->denied_features,
		  1ull << HAVE_UPROBE_MULTI | 1ull << HAVE_UPROBE_SESSION | 1ull << HAVE_BPF_LOOP);
}

static void make_file(const char *path, mode_t mode)
{
	close(open(path, O_CREAT | O_WRONLY, mode));
}

TEST(the_command_is_found_as_a_shell_finds_it)
{
	char dir[] = "/tmp/recorder-unit-XXXXXX", path[64];
	struct config *cfg;

	CHECK(mkdtemp(dir) && !chdir(dir));
	mkdir("a", 0755), mkdir("b", 0755), mkdir("a/tool", 0755);
	make_file("b/tool", 0755);
	make_file("a/text", 0644);
	make_file("here", 0755);
	setenv("PATH", "a:b:", 1);

	cfg = parsed("tool");
	CHECK_STR(cfg->exec_path, "b/tool");		/* a/tool is a directory */
	snprintf(path, sizeof(path), "%s/b/tool", dir);
	CHECK_STR(cfg->exe, path);
	CHECK_STR(parsed("here")->exec_path, "./here");	/* an empty element of PATH */
	cfg = parsed("./here");
	CHECK_STR(cfg->exec_path, "./here");
	snprintf(path, sizeof(path), "%s/here", dir);
	CHECK_STR(cfg->exe, path);
	CHECK_INT(parse(&cfg, "text"), 1 + EXIT_NO_EXEC);
	CHECK_INT(parse(&cfg, "a/text"), 1 + EXIT_NO_EXEC);
	CHECK_INT(parse(&cfg, "a/tool"), 1 + EXIT_NO_EXEC);
	CHECK_INT(parse(&cfg, "nothing"), 1 + EXIT_NOT_FOUND);
	CHECK_INT(parse(&cfg, "./nothing"), 1 + EXIT_NOT_FOUND);
	CHECK_INT(parse(&cfg, "_"), 1 + EXIT_NOT_FOUND);
	snprintf(path, sizeof(path), "/bin/rm -r %s", dir);
	(void)!system(path);
}

TEST(options_of_the_environment_come_first)
{
	struct config *cfg;

	setenv("RECORDER_OPTS", " -s 50  --strict\t-o env ", 1);
	cfg = parsed("-o line true");
	CHECK_INT(cfg->string_bytes, 50);
	CHECK(cfg->strict);
	CHECK_STR(cfg->output, "line");
	CHECK_STR(parsed("true")->output, "env");

	setenv("RECORDER_OPTS", "--strct", 1);
	wrong("true", "recorder: RECORDER_OPTS: '--strct' is not an option; the nearest is '--strict'");
	setenv("RECORDER_OPTS", "--strict ls", 1);
	wrong("true", "recorder: RECORDER_OPTS: 'ls' is not an option");
	setenv("RECORDER_OPTS", "-s x", 1);
	wrong("true", "recorder: RECORDER_OPTS: -s: 'x' is not a number");

	setenv("RECORDER_OPTS", "-s 50", 1);
	{
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", getpid());
		setenv("SYSTEMD_EXEC_PID", pid, 1);
	}
	CHECK_INT(parsed("true")->string_bytes, 32);
}

static char *help_text(void)
{
	static char text[16384];
	int fd = fileno(tmpfile()), old = dup(STDOUT_FILENO), status;
	struct config *cfg;
	ssize_t n;

	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	status = parse(&cfg, "--help");
	fflush(stdout);
	dup2(old, STDOUT_FILENO);
	CHECK_INT(status, 1);
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

TEST(help_fits_on_one_screen)
{
	unsigned lines = 0;

	for (char *line = help_text(); *line; line += strcspn(line, "\n"), line += *line == '\n', lines++)
		CHECK(strcspn(line, "\n") <= 100);
	CHECK(lines > 30 && lines <= 60);
}

TEST(version_and_help_end_well)
{
	struct config *cfg;

	CHECK_INT(parse(&cfg, "-V"), 1);
	CHECK_INT(parse(&cfg, "-h"), 1);
	CHECK_INT(parse(&cfg, "--strict --help --no-such"), 1);
}

static const char *nearest_of(const char *word, const char *const *candidates)
{
	struct nearest n = { .word = word };

	for (; *candidates; candidates++)
		nearest_offer(&n, *candidates);
	return n.found;
}

TEST(nearest_is_near_or_nothing)
{
	static const char *const words[] = { "follow", "format", "functions", "raw", NULL };

	CHECK_STR(nearest_of("folow", words), "follow");
	CHECK_STR(nearest_of("fromat", words), "format");
	CHECK_STR(nearest_of("func", words), "functions");
	CHECK_STR(nearest_of("rwa", words), "raw");
	CHECK_STR(nearest_of("raw", words), "raw");
	CHECK_STR(nearest_of("zebra", words), NULL);
	CHECK_STR(nearest_of("", words), NULL);
}

TEST(triggers_name_what_they_set_off)
{
	struct config *cfg = parsed("-T main@trace_off -T ^a@filter,depth=2;b@PLT,finish --trace=off -Z 64 true");

	CHECK(cfg->disabled);
	CHECK_INT(cfg->least_size, 64);
	CHECK_INT(filter_actions(cfg->filter), TRIGGER_OFF | TRIGGER_DEPTH | TRIGGER_FINISH);
	CHECK(filter_in_kernel(cfg));
	CHECK(!filter_is_flat(cfg));
	CHECK(!filter_actions(parsed("-T a@notrace,hide true")->filter));
	CHECK_INT(parsed("--estimate-return true")->returns, RETURNS_NEVER);
	wrong("-T main true", "recorder: -T: 'main' has no action, as FUNC@trace_on would");
	wrong("-T @trace_on true", "recorder: -T: '@trace_on' names no function");
	wrong("-T main@ true", "recorder: -T: '' is not an action, such as trace_on");
	wrong("-T main@trace_of true", "recorder: -T: 'trace_of' is not an action, such as trace_on");
	wrong("-T main@depth=0 true", "recorder: -T: 'depth=0': a depth is 1 to 250");
	wrong("-T main@depth=x true", "recorder: -T: 'depth=x': a depth is 1 to 250");
	wrong("-T main@filter,notrace true", "recorder: -T: 'main@filter,notrace': filter and notrace are opposites");
	wrong("-T main@color=red true", "recorder: -T: 'color=red' is for uftrace replay -T");
	wrong("-T main@arg1 true", "recorder: -T: 'arg1' is for -A");
	wrong("-T a@finish; true", "recorder: -T: '' names no function");
	wrong("--trace=of true", "recorder: --trace: 'of' is neither 'on' nor 'off'");
}

TEST(a_rate_is_calls_in_a_second)
{
	CHECK_INT(parsed("--rate-limit=1000/s true")->rate_limit, 1000);
	CHECK_INT(parsed("--rate-limit 7 true")->rate_limit, 7);
	CHECK(filter_in_kernel(parsed("--rate-limit 7 true")));
	CHECK(!filter_judges(parsed("--rate-limit 7 true")));
	wrong("--rate-limit=0 true", "recorder: --rate-limit: '0' is not a number of calls, such as 1000 or 1000/s");
	wrong("--rate-limit=5/m true", "recorder: --rate-limit: '5/m' is not a number of calls, such as 1000 or 1000/s");
	wrong("--rate-limit=x true", "recorder: --rate-limit: 'x' is not a number of calls, such as 1000 or 1000/s");
}

static struct func_cond condition(const char *item)
{
	struct func_cond c;
	char why[128] = "";

	CHECK_INT(condition_parse(&c, item, why, sizeof(why)), 0);
	return c;
}

static const char *not_a_condition(const char *item)
{
	static char why[128];
	struct func_cond c;

	CHECK_INT(condition_parse(&c, item, why, sizeof(why)), -EINVAL);
	return why;
}

TEST(conditions_compare_an_argument_to_a_number)
{
	CHECK_INT(condition("if:arg1==3").arg, 1);
	CHECK_INT(condition("if:arg1==3").value, 3);
	CHECK_INT(condition("if:arg1==3").bits, 0);
	CHECK_INT(condition("if:arg1==3").holds, COND_EQUAL);
	CHECK_INT(condition("if:arg2!=3").holds, COND_LESS | COND_MORE);
	CHECK_INT(condition("if:arg2<3").holds, COND_LESS);
	CHECK_INT(condition("if:arg2<=3").holds, COND_LESS | COND_EQUAL);
	CHECK_INT(condition("if:arg2>3").holds, COND_MORE);
	CHECK_INT(condition("if:arg6 >= 0x10").holds, COND_MORE | COND_EQUAL);
	CHECK_INT(condition("if:arg6 >= 0x10").value, 16);
	CHECK_INT((long long)condition("if:arg1==-7").value, -7);
	CHECK(condition("if:arg1==18446744073709551615").value == UINT64_MAX);
	CHECK_INT(condition("if:arg1/u8==3").bits, 8);
	CHECK(condition("if:arg1/u8==3").is_unsigned);
	CHECK_INT(condition("if:arg1/i32==3").bits, 32);
	CHECK(!condition("if:arg1/i32==3").is_unsigned);
	CHECK_INT(condition("if:arg1/c==3").bits, 8);
	CHECK_INT(condition("if:arg1/x==3").bits, 64);
}

TEST(conditions_that_are_none)
{
	CHECK_STR(not_a_condition("if:"), "'if:' asks no argument, as if:arg1==0 does");
	CHECK_STR(not_a_condition("if:retval==0"), "'if:retval==0' asks no argument, as if:arg1==0 does");
	CHECK_STR(not_a_condition("if:arg0==0"), "'if:arg0==0': conditions are on arg1 to arg6");
	CHECK_STR(not_a_condition("if:arg9==0"), "'if:arg9==0': conditions are on arg1 to arg6");
	CHECK_STR(not_a_condition("if:arg1=0"), "'if:arg1=0': an operator is one of == != < <= > >=");
	CHECK_STR(not_a_condition("if:arg1"), "'if:arg1': an operator is one of == != < <= > >=");
	CHECK_STR(not_a_condition("if:arg1=="), "'if:arg1==': what is compared to is a number");
	CHECK_STR(not_a_condition("if:arg1==x"), "'if:arg1==x': what is compared to is a number");
	CHECK_STR(not_a_condition("if:arg1==1x"), "'if:arg1==1x': what is compared to is a number");
	CHECK_STR(not_a_condition("if:arg1/s==1"), "'if:arg1/s==1': a format is one of d i u x p c, with one of 8 16 32 64 bits");
	CHECK_STR(not_a_condition("if:arg1/i7==1"), "'if:arg1/i7==1': a format is one of d i u x p c, with one of 8 16 32 64 bits");
}

TEST(rules_have_conditions)
{
	struct config *cfg = parsed("-F a@if:arg1==3;b@lib,if:arg2>0 -T c@trace_off,if:arg1<0 true");

	CHECK(filter_has_conditions(cfg->filter));
	CHECK(filter_judges(cfg));
	CHECK(filter_judges(parsed("-H a@if:arg1==3 true")));
	CHECK(!filter_judges(parsed("-H a true")));
	CHECK(!filter_has_conditions(parsed("-F a -T b@trace_on true")->filter));
	wrong("-F a@if:arg1=3 true", "recorder: -F: 'if:arg1=3': an operator is one of == != < <= > >=");
	wrong("-N a@if:arg1==3,if:arg2==3 true", "recorder: -N: 'if:arg2==3': a rule has one condition");
	wrong("-T a@finish,if:x true", "recorder: -T: 'if:x' asks no argument, as if:arg1==0 does");
	wrong("-T a@if:arg1==3 true", "recorder: -T: 'a@if:arg1==3' has no action, as FUNC@trace_on would");
	wrong("-F @if:arg1==3 true", "recorder: -F: a function's name is missing");
}

TEST(signals_to_recorder_switch_and_finish)
{
	struct config *cfg = parsed("--signal=SIGUSR1@trace_off;USR2@traceon,finish true");

	CHECK_INT(cfg->on_usr1, TRIGGER_OFF);
	CHECK_INT(cfg->on_usr2, TRIGGER_ON | TRIGGER_FINISH);
	CHECK(filter_judges(cfg));
	CHECK(!filter_judges(parsed("--signal SIGUSR1@finish true")));
	CHECK_INT(parsed("--signal SIGUSR1@mark,trace_off true")->on_usr1, TRIGGER_MARK | TRIGGER_OFF);
	wrong("--signal=SIGUSR3@finish true", "recorder: --signal: 'SIGUSR3' is neither SIGUSR1 nor SIGUSR2");
	wrong("--signal=SIGUSR1 true", "recorder: --signal: 'SIGUSR1' has no action, as SIGUSR1@finish would");
	wrong("--signal=SIGUSR1@depth=1 true",
	      "recorder: --signal: 'depth=1' is none of 'trace_on', 'trace_off', 'finish' and 'mark'");
}
