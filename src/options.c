/*
 * options.c - the option table, from which parsing, help and messages are made.
 *
 * A row names an option, the field of struct config it sets and the function
 * that sets it. What users of other tracers type and we do not have is a table
 * too, so that the answer says more than "unknown option".
 */
#include <getopt.h>

#include "base.h"
#include "config.h"
#include "log.h"
#include "nearest.h"
#include "options.h"
#include "optset.h"
#include "sink.h"

#ifndef VERSION
#define VERSION	"unknown"
#endif

enum group { WHAT, WHO, WHERE, HOW_MUCH, TALK, GROUPS };

#define RARE	16	/* or'ed to a group: shown by --help=all only, so that --help fits on a screen */

static const char *const group_title[GROUPS] = {
	[WHAT]	   = "What is recorded (syscalls and functions, unless switched off):",
	[WHO]	   = "Who:",
	[WHERE]	   = "Where it goes:",
	[HOW_MUCH] = "How much:",
	[TALK]	   = "What recorder says:",
};

static set_fn show_help, show_version;

#define OPT(name, letters, field, set, arg, group, help)	\
	{ name, letters, offsetof(struct config, field), set, arg, group, help }

static const struct opt opts[] = {
	OPT("syscalls", "", syscalls, set_syscalls, "[=SET]", WHAT,
	    "only these: openat,%network,/^get  or all but: !%memory"),
	OPT("expression", "e", syscalls, set_expression, "trace=SET", WHAT,
	    "the same, as strace has it; usdt:...: as --usdt"),
	OPT("event", "", events, set_events, "NAME,...", WHAT,
	    "sched, signal, fault, or SUBSYS:EVENT; also by -e"),
	OPT("no-events", "", events, set_no_events, NULL, WHAT | RARE,
	    "none of them, also where a format has some by itself"),
	OPT("callers", "g", callers, set_true, NULL, WHAT | RARE,
	    "the stack with each of them, and with each system call: by frame pointers"),
	OPT("no-syscalls", "", syscalls, set_no_syscalls, NULL, WHAT,
	    "no syscalls"),
	OPT("string-size", "s", string_bytes, set_string_bytes, "N", WHAT,
	    "bytes of a string or buffer to keep (32)"),
	OPT("functions", "", functions, set_functions, "[=GLOB[@LIB]]", WHAT,
	    "only these: 'read_*', of libraries: '*@libc.so.6', '*@*'"),
	OPT("usdt", "", usdt, set_usdt, "[LIB:]PROVIDER:NAME", WHAT | RARE,
	    "these USDT probes: 'redis:*', '*'; '...@arg1/s': a string"),
	OPT("cuda", "", cuda, set_cuda, "[=GROUP,...]", WHAT | RARE,
	    "these calls of the CUDA driver: launch, memory, sync, module"),
	OPT("no-cuda", "", cuda, set_no_cuda, NULL, WHAT | RARE,
	    "none of them; else a program that has it mapped is recorded with them"),
	OPT("gpu-times", "", gpu_times, set_true, NULL, WHAT | RARE,
	    "when kernels and copies ran, by CUPTI in the command; NVIDIA's library is needed"),
	OPT("no-functions", "", functions, set_false, NULL, WHAT,
	    "no functions of the program"),
	OPT("no-libcall", "", libcalls, set_false, NULL, WHAT | RARE,
	    "no calls of library functions"),
	OPT("filter", "F", filter, set_filter, "FUNC", WHAT,
	    "only these functions and what they call; several times, too"),
	OPT("notrace", "N", filter, set_filter, "FUNC", WHAT,
	    "neither these functions nor what they call"),
	OPT("depth", "D", depth, set_depth, "N", WHAT,
	    "no more than N levels of calls, of -F FUNC those below it"),
	OPT("time-filter", "t", least_ns, set_least_time, "TIME", WHAT,
	    "only calls, also syscalls, that take longer, and their callers"),
	OPT("caller-filter", "C", filter, set_filter, "FUNC", WHAT,
	    "only these functions and their callers; no syscalls"),
	OPT("hide", "H", filter, set_filter, "FUNC", WHAT | RARE,
	    "not these functions, though what they call"),
	OPT("loc-filter", "L", filter, set_filter, "PLACE", WHAT | RARE,
	    "only functions from this source file or folder; PLACE@hide: not"),
	OPT("trigger", "T", filter, set_filter, "FUNC@ACTION", WHAT,
	    "depth=N, filter, notrace, hide, trace_on, trace_off, finish"),
	OPT("signal", "", on_usr1, set_signal, "SIG@ACTION", WHAT | RARE,
	    "to recorder, SIGUSR1 or 2: trace_on, trace_off (syscalls too), finish, mark"),
	OPT("disable", "", disabled, set_true, NULL, WHAT | RARE,
	    "no functions until a trigger says trace_on"),
	OPT("trace", "", disabled, set_trace, "WHEN", WHAT | RARE,
	    "off: as --disable; on"),
	OPT("estimate-return", "", returns, set_no_returns, NULL, WHAT | RARE,
	    "as --returns=never"),
	OPT("size-filter", "Z", least_size, set_count, "BYTES", WHAT | RARE,
	    "no functions smaller than that"),
	OPT("match", "", filter, set_filter, "KIND", WHAT | RARE,
	    "FUNC is a regex, glob or exact (regex)"),
	OPT("argument", "A", args, set_args, "FUNC@SPEC", WHAT,
	    "arguments, as uftrace has it: 'main@arg1,arg2/x;puts@arg1/s'"),
	OPT("retval", "R", args, set_results, "FUNC@SPEC", WHAT,
	    "results: '^get_@retval/i32'"),
	OPT("auto-args", "", auto_args, set_true, NULL, WHAT,
	    "both of every function that DWARF or a table tells of"),
	OPT("srcline", "", srcline, set_true, NULL, WHAT | RARE,
	    "the source line of each function, from DWARF"),
	OPT("returns", "", returns, set_returns, "WHEN", WHAT,
	    "probe returns: auto, never, or always, though programs may die"),
	OPT("no-dear", "", dear, set_false, NULL, WHAT,
	    "not tiny functions whose probes are ten times slower"),
	OPT("nop5", "", nop5, set_true, NULL, WHAT | RARE,
	    "fastest probes, though the program's forks may crash"),

	OPT("pid", "p", target, set_targets, "PID,...", WHO,
	    "processes that run already, until they end or Ctrl-C"),
	OPT("tree", "", target, set_targets, "PID,...", WHO,
	    "the same with all their descendants"),
	OPT("tid", "", target, set_targets, "TID,...", WHO,
	    "only these threads"),
	OPT("cgroup", "", target, set_cgroup, "PATH", WHO,
	    "who is in this cgroup (version 2) or comes into it"),
	OPT("follow", "f", follow, set_true, NULL, WHO, NULL),
	OPT("no-follow", "", follow, set_false, NULL, WHO,
	    "not what the command or the processes start"),
	OPT("user", "u", user, set_text, "USER", WHO,
	    "run the command as USER (who called sudo)"),
	OPT("as-root", "", as_root, set_true, NULL, WHO | RARE,
	    "run it as root, also under sudo"),

	OPT("output", "od", output, set_text, "PATH", WHERE,
	    "file or directory to write"),
	OPT("format", "", sink, set_formats, "NAME,...", WHERE,
	    ""),	/* its help is made from sinks[] */
	OPT("compression", "", sink_options.compression, set_compression, "KIND", WHERE | RARE,
	    "of formats that are compressed: zstd, zlib or none"),
	OPT("raw-syscalls", "", sink_options.raw_syscalls, set_true, NULL, WHERE | RARE,
	    "by number only, in formats that are written so"),
	OPT("env-vars", "", sink_options.env_vars, set_true, NULL, WHERE | RARE,
	    "the environment of every program too, in formats that tell of its start"),
	OPT("thread-names", "", sink_options.thread_names, set_true, NULL, WHERE | RARE,
	    "also when a task gets another name, in formats that leave that out"),
	OPT("mounts", "", sink_options.mounts, set_true, NULL, WHERE | RARE,
	    "mount and umount2 too, in formats that tell of files"),
	OPT("implicit-closes", "", sink_options.implicit_closes, set_true, NULL, WHERE | RARE,
	    "also what exec, close_range and dup2 close, in formats of descriptors"),
	OPT("long-lines", "", sink_options.long_lines, set_true, NULL, WHERE | RARE,
	    "paths of up to 1990 bytes on one line, in formats that part them"),
	OPT("ignore-repeated-opens", "", sink_options.ignore_repeats, set_true, NULL, WHERE | RARE,
	    "a file that a task opens again and again once, in formats that tell of files"),
	OPT("recover", "", recover, set_text, "PATH", WHERE | RARE,
	    "finish the file of a recorder that was killed, run nothing"),
	OPT("replay", "", replay, set_text, "FILE", WHERE,
	    "read a file of --format raw, run nothing"),

	OPT("duration", "", duration_ns, set_time, "TIME", HOW_MUCH,
	    "end after 10s, 500ms, 2m; who is recorded runs on"),
	OPT("buffer", "b", ring_bytes, set_bytes, "SIZE", HOW_MUCH,
	    "buffer of each CPU: 512K, 16M, a number is KiB"),
	OPT("memory", "", memory_bytes, set_bytes, "SIZE", HOW_MUCH | RARE,
	    "of records that wait for the disk (256M)"),
	OPT("max-stack", "", max_stack, set_max_stack, "N", HOW_MUCH | RARE,
	    "no calls in more than N open ones; counted"),
	OPT("rate-limit", "", rate_limit, set_rate, "N[/s]", HOW_MUCH | RARE,
	    "of each function no more than N calls a second; counted"),
	OPT("strict", "", strict, set_true, NULL, HOW_MUCH,
	    "exit with 3 if any record was lost"),
	OPT("simulate-drops", "", lose_one_in, set_count, "N", HOW_MUCH | RARE,
	    "lose one record in N, to test the counting"),

	OPT("list", "l", list, set_list, "[=FUNC[@LIB]]", TALK,
	    "list the command's functions and their probes, run nothing"),
	OPT("dry-run", "", dry_run, set_true, NULL, TALK | RARE,
	    "say what would be probed, run nothing"),
	OPT("doctor", "", doctor, set_true, NULL, TALK,
	    "say what this kernel can do"),
	OPT("no-feature", "", denied_features, set_features, "NAME,...", TALK | RARE,
	    "do without, as --doctor names it"),
	OPT("status", "", status, set_status, "WHEN", TALK | RARE,
	    "status line: auto or never"),
	OPT("quiet", "q", verbosity, set_quiet, NULL, TALK,
	    "errors and warnings only"),
	OPT("verbose", "v", verbosity, set_verbose, NULL, TALK,
	    "more; twice: still more"),
	OPT("version", "V", verbosity, show_version, NULL, TALK,
	    "the version"),
	OPT("help", "h", verbosity, show_help, "[=all]", TALK,
	    "this page; all: also what is rarely asked for"),

	/* What strace has to be asked for and we always do. */
	OPT("decode-fds", "yY", verbosity, set_nothing, NULL, TALK, NULL),
};

/* Options of tracers people know, which are not ours; letters as much as names. */
static const struct foreign {
	char	    letter;	/* 0: none */
	const char *name;	/* NULL: none */
	const char *why;	/* the message, after the option as typed */
	const char *hint;	/* NULL: none */
} foreign[] = {
	{ 0,   "container",   "recording a container is not built yet", "recorder --cgroup PATH, or --tree of its first process" },
	{ 0,   "pod",	      "recording a pod is not built yet", NULL },
	{ 'a', "all",	      "recording all processes is not built yet",
	  "recorder -- COMMAND; as uftrace has it, with arguments: recorder --auto-args -- COMMAND" },
	{ 'P', NULL,	      "is not an option: strace, perf and trace-cmd mean three things by it",
	  "--syscalls=%file" },
	{ 'c', NULL,	      "is not an option: strace, trace-cmd and bpftrace mean three things by it",
	  "uftrace report, which counts the calls of a recording" },
	{ 'k', NULL,	      "kernel functions are not built yet", NULL },
	{ 'z', NULL,	      "filters by result are not built yet", NULL },
	{ 'm', "max-size",    "limits of size are not built yet", NULL },
	{ 0,   "delay",	      "is not built yet", NULL },
	{ 0,   "flight",      "is not built yet", NULL },
	{ 0,   "config",      "is not built yet", NULL },
	{ 0,   "rotate",      "is not built yet", NULL },
	{ 0,   "freq",	      "sampling is not built yet", NULL },
};

#define LONG_VALUE	256	/* getopt_long() answers this plus the row for a long option */

/* ---- help ---- */

static int show_version(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)cfg, (void)opt, (void)word, (void)value;
	puts("recorder " VERSION);
	return 1;
}

static void print_format_help(void)
{
	for (size_t i = 0; sinks[i]; i++)
		printf("%s, ", sinks[i]->name);
	printf("raw; several at once (%s)\n", sinks[0] ? sinks[0]->name : "raw");
}

static void print_row(const struct opt *o)
{
	char names[64];
	int n = 0;

	for (const char *c = o->letters; *c; c++)
		n += snprintf(names + n, sizeof(names) - n, "-%c, ", *c);
	n += snprintf(names + n, sizeof(names) - n, "--%s", o->name);
	if (o->arg)
		snprintf(names + n, sizeof(names) - n, "%s%s", !strncmp(o->arg, "[=", 2) ? "" : " ", o->arg);
	printf("  %-30s ", names);
	if (o->set == set_formats)
		print_format_help();
	else
		printf("%s\n", o->help);
}

static int show_help(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	bool all = value && !strcmp(value, "all");

	(void)cfg, (void)opt;
	if (value && !all)
		return fail(0, "%s: '%s' is not a part of the help, which is one page, or 'all'", word, value), -EINVAL;
	puts("usage: recorder [OPTION...] [--] COMMAND [ARG...]\n"
	     "       recorder [OPTION...] -p PID [-- COMMAND [ARG...]]\n"
	     "Run COMMAND and record what it does, with nothing put into it, for the viewers you have.\n"
	     "\n"
	     "  sudo recorder ./program            record syscalls and functions into uftrace.data/\n"
	     "  sudo recorder -p PID --duration 5s record a process that runs already\n"
	     "  uftrace replay                     ... and look at them: also report, graph, tui, dump --chrome\n"
	     "  sudo recorder --no-functions -- python3 script.py\n"
	     "  sudo recorder -e trace=%file,%process -s 200 -o build.data -- make\n"
	     "  sudo recorder --doctor             what this kernel can do");
	for (int group = 0; group < GROUPS; group++) {
		printf("\n%s\n", group_title[group]);
		for (size_t i = 0; i < ARRAY_SIZE(opts); i++)
			if ((opts[i].group & ~RARE) == (unsigned)group && opts[i].help &&
			    (all || !(opts[i].group & RARE)))
				print_row(&opts[i]);
	}
	puts("\nThe command runs as the user who called sudo; its exit status is passed on.\n"
	     "125: recorder failed, 126 and 127: the command cannot be run or found, 2: wrong options.\n"
	     "RECORDER_OPTS holds options that come before those of the command line.");
	return 1;
}

/* ---- getopt ---- */

static void make_getopt_tables(char *shorts, struct option *longs)
{
	*shorts++ = '+';	/* the first word that is no option is the command */
	*shorts++ = ':';	/* tell a missing argument from an unknown option */
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		int arg = !opts[i].arg ? no_argument :
			  !strncmp(opts[i].arg, "[=", 2) ? optional_argument : required_argument;

		longs[i] = (struct option){ opts[i].name, arg, NULL, LONG_VALUE + i };
		for (const char *c = opts[i].letters; *c; c++) {
			*shorts++ = *c;
			if (arg == required_argument)
				*shorts++ = ':';
		}
	}
	*shorts = '\0';
	longs[ARRAY_SIZE(opts)] = (struct option){};
}

static const struct opt *row_of(int value)
{
	if (value >= LONG_VALUE)
		return &opts[value - LONG_VALUE];
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++)
		if (strchr(opts[i].letters, value))
			return &opts[i];
	return NULL;
}

/* "-s" or "--string-size", whichever was typed: what the user's word for the option is. */
static void spell(char *to, size_t size, const struct pass *p, int value)
{
	if (value >= LONG_VALUE)
		snprintf(to, size, "%s--%s", p->from, row_of(value)->name);
	else
		snprintf(to, size, "%s-%c", p->from, value);
}

static bool is_foreign(const struct pass *p, char letter, const char *name, size_t name_len)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign); i++) {
		const struct foreign *f = &foreign[i];
		const char *colon;

		if (letter ? f->letter != letter : !f->name || strlen(f->name) != name_len ||
		    strncmp(f->name, name, name_len))
			continue;
		/* "-P is not ..." but "-p: attaching is not ..." */
		colon = strncmp(f->why, "is ", 3) ? ":" : "";
		if (letter)
			fail(0, "%s-%c%s %s", p->from, letter, colon, f->why);
		else
			fail(0, "%s--%s%s %s", p->from, f->name, colon, f->why);
		if (f->hint)
			hint("%s", f->hint);
		return true;
	}
	return false;
}

/* A long option that is none, or the beginning of more than one. */
static void unknown_name(const struct pass *p, const char *word)
{
	size_t len = strcspn(word + 2, "=");
	__cleanup(free_ptr) char *name = strndup(word + 2, len);
	struct nearest n = { .word = name ?: "" };
	const char *first = NULL, *second = NULL;

	if (is_foreign(p, 0, word + 2, len))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(opts); i++) {
		if (!strncmp(opts[i].name, n.word, len)) {
			second = first ? opts[i].name : NULL;
			first = first ?: opts[i].name;
			if (second)
				break;
		}
		nearest_offer(&n, opts[i].name);
	}
	if (second && len)
		fail(0, "%s'--%s' may mean '--%s' or '--%s'", p->from, n.word, first, second);
	else if (n.found)
		fail(0, "%s'--%s' is not an option; the nearest is '--%s'", p->from, n.word, n.found);
	else
		fail(0, "%s'--%s' is not an option; recorder --help lists them", p->from, n.word);
}

/* getopt_long() has answered '?'. */
static void unknown_option(const struct pass *p)
{
	const char *word = p->argv[optind - 1];

	if (optopt >= LONG_VALUE) {
		fail(0, "%s--%s takes no argument, but '%s' gives one", p->from, row_of(optopt)->name,
		     word);
		return;
	}
	if (!optopt) {
		unknown_name(p, word);
		return;
	}
	if (is_foreign(p, optopt, NULL, 0))
		return;
	/* "-format": the option's name with one dash too few. */
	word = p->argv[optind] ?: "";
	if (word[0] != '-' || word[1] != optopt)
		word = "";
	for (size_t i = 0; *word && word[2] && i < ARRAY_SIZE(opts); i++) {
		if (!strncmp(opts[i].name, word + 1, strcspn(word + 1, "="))) {
			fail(0, "%s'%s' is not an option; the nearest is '--%s'", p->from, word,
			     opts[i].name);
			return;
		}
	}
	fail(0, "%s'-%c' is not an option; recorder --help lists them", p->from, optopt);
}

int options_parse(const struct pass *p)
{
	struct option longs[ARRAY_SIZE(opts) + 1];
	char shorts[2 * ARRAY_SIZE(opts) * 2 + 3], word[64];
	const struct opt *opt;
	int c, err;

	make_getopt_tables(shorts, longs);
	opterr = 0;
	optind = 0;		/* glibc: begin anew */
	while ((c = getopt_long(p->argc, p->argv, shorts, longs, NULL)) != -1) {
		if (c == '?') {
			unknown_option(p);
			return 1 + EXIT_USAGE;
		}
		if (c == ':') {
			spell(word, sizeof(word), p, optopt);
			fail(0, "%s needs an argument: %s", word, row_of(optopt)->arg);
			return 1 + EXIT_USAGE;
		}
		opt = row_of(c);
		spell(word, sizeof(word), p, c);
		err = opt->set(p->cfg, opt, word, optarg);
		if (err)
			return err < 0 ? 1 + EXIT_USAGE : err;
	}
	return 0;
}
