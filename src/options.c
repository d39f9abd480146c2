/*
 * options.c - the option table, from which parsing, help and messages are made.
 *
 * A row names an option, the field of struct config it sets and the function
 * that sets it. What users of other tracers type and we do not have is a table
 * too, so that the answer says more than "unknown option".
 */
#include <getopt.h>
#include <limits.h>

#include "base.h"
#include "config.h"
#include "filter.h"
#include "function.h"
#include "log.h"
#include "nearest.h"
#include "options.h"
#include "pattern.h"
#include "sink.h"
#include "syscall/syscall.h"

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

struct opt {
	const char *name;
	const char *letters;	/* the first is shown; "": none */
	size_t	    field;	/* offset in struct config */
	/* @word is the option as typed, for messages. Returns 0, or -EINVAL after a message. */
	int	    (*set)(struct config *cfg, const struct opt *opt, const char *word, const char *value);
	const char *arg;	/* what follows it, for the help; NULL: nothing; "[=SET]": may be left out */
	unsigned    group;	/* enum group, RARE */
	const char *help;	/* NULL: not shown */
};

typedef int set_fn(struct config *cfg, const struct opt *opt, const char *word, const char *value);

static set_fn set_true, set_false, set_text, set_count, set_bytes, set_string_bytes, set_syscalls,
	      set_no_syscalls, set_functions, set_targets, set_time, set_expression, set_formats, set_returns, set_status,
	      set_features, set_quiet, set_verbose, set_nothing, set_args, set_results, set_filter, set_list, set_depth,
	      show_help, show_version;

#define OPT(name, letters, field, set, arg, group, help)	\
	{ name, letters, offsetof(struct config, field), set, arg, group, help }

static const struct opt opts[] = {
	OPT("syscalls", "", syscalls, set_syscalls, "[=SET]", WHAT,
	    "only these: openat,%network,/^get  or all but: !%memory"),
	OPT("expression", "e", syscalls, set_expression, "trace=SET", WHAT,
	    "the same, as strace has it"),
	OPT("no-syscalls", "", syscalls, set_no_syscalls, NULL, WHAT,
	    "no syscalls"),
	OPT("string-size", "s", string_bytes, set_string_bytes, "N", WHAT,
	    "bytes of a string or buffer to keep (32)"),
	OPT("functions", "", functions, set_functions, "[=GLOB[@LIB]]", WHAT,
	    "only these: 'read_*', of libraries: '*@libc.so.6', '*@*'"),
	OPT("no-functions", "", functions, set_false, NULL, WHAT,
	    "no functions of the program"),
	OPT("no-libcall", "", libcalls, set_false, NULL, WHAT,
	    "no calls of library functions"),
	OPT("filter", "F", filter, set_filter, "FUNC", WHAT,
	    "only these functions and what they call; several times, too"),
	OPT("notrace", "N", filter, set_filter, "FUNC", WHAT,
	    "neither these functions nor what they call"),
	OPT("depth", "D", depth, set_depth, "N", WHAT,
	    "no more than N levels of calls, of -F FUNC those below it"),
	OPT("hide", "H", filter, set_filter, "FUNC", WHAT,
	    "not these functions, though what they call"),
	OPT("size-filter", "", least_size, set_count, "BYTES", WHAT | RARE,
	    "no functions smaller than that"),
	OPT("match", "", filter, set_filter, "KIND", WHAT,
	    "FUNC is a regex, glob or exact (regex)"),
	OPT("argument", "A", args, set_args, "FUNC@SPEC", WHAT,
	    "arguments, as uftrace has it: 'main@arg1,arg2/x;puts@arg1/s'"),
	OPT("retval", "R", args, set_results, "FUNC@SPEC", WHAT,
	    "results: '^get_@retval/i32'"),
	OPT("returns", "", returns, set_returns, "WHEN", WHAT,
	    "probe returns: auto, never, or always, though programs may die"),
	OPT("dear", "", dear, set_true, NULL, WHAT,
	    "also functions whose probes are ten times slower"),
	OPT("nop5", "", nop5, set_true, NULL, WHAT | RARE,
	    "fastest probes, though the program's forks may crash"),

	OPT("pid", "p", target, set_targets, "PID,...", WHO,
	    "processes that run already, until they end or Ctrl-C"),
	OPT("tree", "", target, set_targets, "PID,...", WHO,
	    "the same with all their descendants"),
	OPT("tid", "", target, set_targets, "TID,...", WHO,
	    "only these threads"),
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
	OPT("replay", "", replay, set_text, "FILE", WHERE,
	    "read a file of --format raw, run nothing"),

	OPT("duration", "", duration_ns, set_time, "TIME", HOW_MUCH,
	    "end after 10s, 500ms, 2m; who is recorded runs on"),
	OPT("buffer", "b", ring_bytes, set_bytes, "SIZE", HOW_MUCH,
	    "buffer of each CPU: 512K, 16M, a number is KiB"),
	OPT("memory", "", memory_bytes, set_bytes, "SIZE", HOW_MUCH | RARE,
	    "of records that wait for the disk (256M)"),
	OPT("strict", "", strict, set_true, NULL, HOW_MUCH,
	    "exit with 3 if any record was lost"),
	OPT("simulate-drops", "", lose_one_in, set_count, "N", HOW_MUCH | RARE,
	    "lose one record in N, to test the counting"),

	OPT("list", "l", list, set_list, "[=FUNC]", TALK,
	    "list the command's functions and their probes, run nothing"),
	OPT("dry-run", "", dry_run, set_true, NULL, TALK,
	    "say what would be probed, run nothing"),
	OPT("doctor", "", doctor, set_true, NULL, TALK,
	    "say what this kernel can do"),
	OPT("no-feature", "", denied_features, set_features, "NAME,...", TALK | RARE,
	    "do without, as --doctor names it"),
	OPT("status", "", status, set_status, "WHEN", TALK,
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
	{ 0,   "cgroup",      "recording a cgroup is not built yet", "recorder --tree PID" },
	{ 0,   "container",   "recording a container is not built yet", "recorder --tree PID, of its first process" },
	{ 0,   "pod",	      "recording a pod is not built yet", NULL },
	{ 'a', "all",	      "recording all processes is not built yet", "recorder -- COMMAND" },
	{ 'P', NULL,	      "is not an option: strace, perf and trace-cmd mean three things by it",
	  "--syscalls=%file" },
	{ 'c', NULL,	      "is not an option: strace, trace-cmd and bpftrace mean three things by it",
	  "uftrace report, which counts the calls of a recording" },
	{ 'g', NULL,	      "recording stacks is not built yet", NULL },
	{ 't', NULL,	      "filters of functions are not built yet", "uftrace replay -t TIME" },
	{ 'C', NULL,	      "filters of functions are not built yet", "uftrace replay -C FUNC" },
	{ 'T', NULL,	      "triggers are not built yet", NULL },
	{ 'k', NULL,	      "kernel functions are not built yet", NULL },
	{ 'L', NULL,	      "functions of libraries are chosen by --functions", "--functions='*@LIB'" },
	{ 'z', NULL,	      "filters by result are not built yet", NULL },
	{ 'Z', NULL,	      "filters by result are not built yet", NULL },
	{ 'm', "max-size",    "limits of size are not built yet", NULL },
	{ 0,   "delay",	      "is not built yet", NULL },
	{ 0,   "flight",      "is not built yet", NULL },
	{ 0,   "config",      "is not built yet", NULL },
	{ 0,   "rotate",      "is not built yet", NULL },
	{ 0,   "freq",	      "sampling is not built yet", NULL },
};

#define LONG_VALUE	256	/* getopt_long() answers this plus the row for a long option */

/* ---- what the rows call ---- */

#define FIELD(cfg, opt, type)	(*(type *)((char *)(cfg) + (opt)->field))

static int set_true(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)word, (void)value;
	FIELD(cfg, opt, bool) = true;
	return 0;
}

static int set_false(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)word, (void)value;
	FIELD(cfg, opt, bool) = false;
	return 0;
}

static int set_filter(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	return filter_option(cfg->filter, opt->name, word, value);
}

static int set_list(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	cfg->list = true;
	return set_filter(cfg, opt, word, value);
}

static int set_nothing(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)cfg, (void)opt, (void)word, (void)value;
	return 0;
}

static int set_text(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	if (!*value)
		return fail(0, "%s: %s must not be empty", word, opt->arg), -EINVAL;
	FIELD(cfg, opt, const char *) = value;
	return 0;
}

/* A plain number; strtoul() alone takes "-1", " 1" and "". */
static int parse_number(const char *value, uint64_t *ret, const char **rest)
{
	char *end;

	if (*value < '0' || *value > '9')
		return -EINVAL;
	errno = 0;
	*ret = strtoull(value, &end, 10);
	*rest = end;
	return errno ? -ERANGE : 0;
}

static int set_count(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	const char *rest;
	uint64_t n;

	if (parse_number(value, &n, &rest) || *rest || n > UINT32_MAX)
		return fail(0, "%s: '%s' is not a number", word, value), -EINVAL;
	FIELD(cfg, opt, unsigned) = n;
	return 0;
}

static int set_string_bytes(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	int err = set_count(cfg, opt, word, value);

	if (!err && cfg->string_bytes > STRING_BYTES_MAX) {
		fail(0, "%s: %u bytes are more than a record holds, %u", word, cfg->string_bytes,
		     STRING_BYTES_MAX);
		err = -EINVAL;
	}
	return err;
}

static int set_depth(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	int err = set_count(cfg, opt, word, value);

	if (!err && (!cfg->depth || cfg->depth > FILTER_DEPTH_MAX)) {
		fail(0, "%s: %s levels cannot be kept apart; 1 to %d can", word, value, FILTER_DEPTH_MAX);
		err = -EINVAL;
	}
	return err;
}

static int parse_size(const char *value, uint64_t *ret)
{
	static const struct { const char *unit; unsigned shift; } units[] = {
		{ "", 10 }, { "B", 0 }, { "K", 10 }, { "M", 20 }, { "G", 30 },
		{ "KB", 10 }, { "MB", 20 }, { "GB", 30 }, { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 },
	};
	const char *rest;

	if (parse_number(value, ret, &rest))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcasecmp(rest, units[i].unit))
			continue;
		if (*ret > UINT64_MAX >> units[i].shift)
			return -ERANGE;
		*ret <<= units[i].shift;
		return 0;
	}
	return -EINVAL;
}

static int set_bytes(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	const uint64_t least = 16 << 10, most = sizeof(size_t) < 8 ? 512ull << 20 : 1ull << 40;
	uint64_t n;

	if (parse_size(value, &n))
		return fail(0, "%s: '%s' is not a size, such as 512K or 16M", word, value), -EINVAL;
	if (n < least || n > most) {
		fail(0, "%s: '%s' is %llu bytes; it must be 16K to %lluG", word, value, (unsigned long long)n,
		     (unsigned long long)(most >> 30));
		return -EINVAL;
	}
	FIELD(cfg, opt, size_t) = n;
	return 0;
}

static int set_syscalls(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	char bad[64];
	const char *nearest = NULL;

	(void)opt;
	cfg->syscalls = true;
	if (!value) {
		memset(cfg->syscall_wanted, true, sizeof(cfg->syscall_wanted));
		return 0;
	}
	if (!syscall_set_parse(cfg->syscall_wanted, value, bad, sizeof(bad), &nearest))
		return 0;
	if (nearest)
		fail(0, "%s: '%s' is not a syscall or class; the nearest is '%s'", word, bad, nearest);
	else if (*bad == '/')
		fail(0, "%s: '%s' is not a regular expression", word, bad);
	else
		fail(0, "%s: '%s' is not a syscall or class", word, bad);
	hint("a name, /REGEX, or a class: %s", syscall_classes());
	return -EINVAL;
}

static int set_no_syscalls(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt, (void)word, (void)value;
	cfg->syscalls = false;
	return 0;
}

/* Each adds to what is recorded; without a pattern it is the program's own, all of them. */
static int set_functions(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	struct pattern p, *more;
	int err;

	(void)opt;
	err = pattern_parse(&p, value ?: "*", value ? strlen(value) : 1, PATTERN_GLOB);
	if (err == -EINVAL) {
		fail(0, "%s: '%s' has no name %s the '@'", word, value, *value && *value != '@' ? "behind" : "before");
		hint("%s='GLOB', '*@libc.so.6' or '*@*'", word);
	}
	if (err)
		return err;
	more = realloc(cfg->function, (cfg->function_count + 1) * sizeof(*more));
	if (!more) {
		pattern_release(&p);
		return -ENOMEM;
	}
	cfg->function = more;
	cfg->function[cfg->function_count++] = p;
	cfg->functions = true;
	cfg->libraries |= p.lib && strcmp(p.lib, "PLT");
	return 0;
}

/*
 * Call @fn for each word of the list @value. An empty one is an error: it is
 * what a variable that was not set leaves behind.
 */
static int for_each_word(struct config *cfg, const char *word, const char *value,
			 int (*fn)(struct config *cfg, const char *word, const char *name))
{
	__cleanup(free_ptr) char *list = strdup(value);
	char *rest = list, *name;
	int err = list ? 0 : -ENOMEM;

	while (!err && (name = strsep(&rest, ",")))
		err = *name ? fn(cfg, word, name) :
			      (fail(0, "%s: a name is missing in '%s'", word, value), -EINVAL);
	return err;
}

static int add_target(struct config *cfg, const char *word, const char *text)
{
	const char *rest;
	uint64_t pid;
	int err;

	if (parse_number(text, &pid, &rest) || *rest || !pid || pid > INT_MAX) {
		fail(0, "%s: '%s' is not the number of a process", word, text);
		hint("%s \"$(pidof %s)\"", word, text);
		return -EINVAL;
	}
	err = grow(&cfg->target, &cfg->target_room, cfg->target_count, sizeof(*cfg->target));
	if (!err)
		cfg->target[cfg->target_count++] = (struct target_name){ .pid = pid };
	return err;
}

/* Separated by commas, or by blanks as pidof(1) does. */
static int set_targets(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	__cleanup(free_ptr) char *list = strdup(value);
	size_t first = cfg->target_count;
	int err;

	for (char *c = list; c && *c; c++)
		if (*c == ' ' || *c == '\n')
			*c = ',';
	err = list ? for_each_word(cfg, word, list, add_target) : -ENOMEM;
	for (size_t i = first; i < cfg->target_count; i++)
		cfg->target[i].kind = !strcmp(opt->name, "tree") ? TARGET_TREE :
				      !strcmp(opt->name, "tid") ? TARGET_THREAD : TARGET_PROCESS;
	return err;
}

static int set_time(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	static const struct { const char *unit; uint64_t ns; } units[] = {
		{ "", NSEC_PER_SEC }, { "s", NSEC_PER_SEC }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
		{ "m", 60 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC },
	};
	const char *rest = "?";
	uint64_t n = 0;
	size_t i = 0;

	if (parse_number(value, &n, &rest))
		rest = "?";
	while (i < ARRAY_SIZE(units) && strcmp(rest, units[i].unit))
		i++;
	if (i == ARRAY_SIZE(units) || !n || n > INT64_MAX / units[i].ns) {
		fail(0, "%s: '%s' is not a time, such as 10s or 500ms", word, value);
		return -EINVAL;
	}
	FIELD(cfg, opt, uint64_t) = n * units[i].ns;
	return 0;
}

/* strace's -e: trace=SET, t=SET, or a SET alone. */
static int set_expression(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	size_t n = strcspn(value, "=");

	if (!value[n])
		return set_syscalls(cfg, opt, word, value);
	if ((n == 5 && !strncmp(value, "trace", n)) || (n == 1 && *value == 't'))
		return set_syscalls(cfg, opt, word, value + n + 1);
	fail(0, "%s: '%.*s=' is not built yet, only 'trace=SET' is", word, (int)n, value);
	return -EINVAL;
}

/* "X is not a KIND; the nearest is Y", once every candidate was offered. */
static int not_a(const char *word, const char *kind, const struct nearest *n)
{
	if (n->found)
		fail(0, "%s: '%s' is not a %s; the nearest is '%s'", word, n->word, kind, n->found);
	else
		fail(0, "%s: '%s' is not a %s", word, n->word, kind);
	return -EINVAL;
}

static int add_format(struct config *cfg, const char *word, const char *name)
{
	struct nearest n = { .word = name };

	if (!strcmp(name, "raw")) {
		cfg->raw = true;
		return 0;
	}
	for (size_t i = 0; sinks[i]; i++) {
		if (!strcmp(sinks[i]->name, name)) {
			for (size_t j = 0; j < cfg->sink_count; j++)
				if (cfg->sink[j] == sinks[i])
					return 0;
			cfg->sink[cfg->sink_count++] = sinks[i];	/* SINKS_MAX rows at most */
			return 0;
		}
		nearest_offer(&n, sinks[i]->name);
	}
	nearest_offer(&n, "raw");
	return not_a(word, "format", &n);
}

static int set_formats(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	cfg->sink_count = 0;	/* the last --format counts, so a command line can overrule RECORDER_OPTS */
	cfg->raw = false;
	return for_each_word(cfg, word, value, add_format);
}

static int add_feature(struct config *cfg, const char *word, const char *name)
{
	struct nearest n = { .word = name };
	int f = kernel_feature_by_name(name);

	if (f >= 0) {
		cfg->denied_features |= 1ull << f;
		return 0;
	}
	for (f = 0; f < KERNEL_FEATURES; f++)
		nearest_offer(&n, kernel_feature_name(f));
	not_a(word, "feature", &n);
	hint("recorder --doctor, which lists them");
	return -EINVAL;
}

static int set_features(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	return for_each_word(cfg, word, value, add_feature);
}

static int set_status(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	cfg->status = !strcmp(value, "auto");
	if (cfg->status || !strcmp(value, "never"))
		return 0;
	fail(0, "%s: '%s' is neither 'auto' nor 'never'", word, value);
	return -EINVAL;
}

static int set_returns(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	static const char *const when[] = {
		[RETURNS_AUTO] = "auto", [RETURNS_NEVER] = "never", [RETURNS_ALWAYS] = "always",
	};

	(void)opt;
	for (size_t i = 0; i < ARRAY_SIZE(when); i++) {
		if (!strcmp(value, when[i])) {
			cfg->returns = i;
			return 0;
		}
	}
	fail(0, "%s: '%s' is neither 'auto' nor 'never' nor 'always'", word, value);
	return -EINVAL;
}

static int add_spec(struct config *cfg, bool is_result, const char *word, const char *value)
{
	char why[256];
	int err = argspecs_add(&cfg->args, value, is_result, why, sizeof(why));

	if (err == -EINVAL)
		fail(0, "%s: %s", word, why);
	else if (err)
		fail(err, "%s", word);
	return err;
}

static int set_args(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	return add_spec(cfg, false, word, value);
}

static int set_results(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	return add_spec(cfg, true, word, value);
}

static int set_quiet(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt, (void)word, (void)value;
	cfg->verbosity = LOG_QUIET;
	return 0;
}

static int set_verbose(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt, (void)word, (void)value;
	cfg->verbosity = MIN(MAX(cfg->verbosity, LOG_NORMAL) + 1, LOG_DEBUG);
	return 0;
}

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
		snprintf(names + n, sizeof(names) - n, "%s%s", *o->arg == '[' ? "" : " ", o->arg);
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
			  *opts[i].arg == '[' ? optional_argument : required_argument;

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
