/*
 * optset.c - what the rows of the option table call: each reads a value into struct config.
 */
#include <limits.h>

#include "base.h"
#include "cuda.h"
#include "filter.h"
#include "function.h"
#include "log.h"
#include "nearest.h"
#include "optset.h"
#include "pattern.h"
#include "sink.h"
#include "syscall/syscall.h"
#include "trigger.h"
#include "usdt.h"

int set_true(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)word, (void)value;
	FIELD(cfg, opt, bool) = true;
	return 0;
}

int set_false(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)word, (void)value;
	FIELD(cfg, opt, bool) = false;
	return 0;
}

int set_filter(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	return filter_option(cfg->filter, opt->name, word, value);
}

int set_nothing(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)cfg, (void)opt, (void)word, (void)value;
	return 0;
}

int set_text(struct config *cfg, const struct opt *opt, const char *word, const char *value)
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

int set_count(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	const char *rest;
	uint64_t n;

	if (parse_number(value, &n, &rest) || *rest || n > UINT32_MAX)
		return fail(0, "%s: '%s' is not a number", word, value), -EINVAL;
	FIELD(cfg, opt, unsigned) = n;
	return 0;
}

int set_string_bytes(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	int err = set_count(cfg, opt, word, value);

	if (!err && cfg->string_bytes > STRING_BYTES_MAX) {
		fail(0, "%s: %u bytes are more than a record holds, %u", word, cfg->string_bytes,
		     STRING_BYTES_MAX);
		err = -EINVAL;
	}
	return err;
}

int set_depth(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	int err = set_count(cfg, opt, word, value);

	if (!err && (!cfg->depth || cfg->depth > FILTER_DEPTH_MAX)) {
		fail(0, "%s: %s levels cannot be kept apart; 1 to %d can", word, value, FILTER_DEPTH_MAX);
		err = -EINVAL;
	}
	return err;
}

int set_max_stack(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	int err = set_count(cfg, opt, word, value);

	if (!err && (!cfg->max_stack || cfg->max_stack > FILTER_STACK_MAX)) {
		fail(0, "%s: %s open calls cannot be counted; 1 to %d can, and without it there is no limit", word, value,
		     FILTER_STACK_MAX);
		err = -EINVAL;
	}
	return err;
}

/* "1000" or "1000/s". */
int set_rate(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	const char *rest;
	uint64_t n;

	if (parse_number(value, &n, &rest) || (*rest && strcmp(rest, "/s")) || !n || n > UINT32_MAX) {
		fail(0, "%s: '%s' is not a number of calls, such as 1000 or 1000/s", word, value);
		return -EINVAL;
	}
	FIELD(cfg, opt, unsigned) = n;
	return 0;
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

int set_bytes(struct config *cfg, const struct opt *opt, const char *word, const char *value)
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

int set_syscalls(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	char bad[64];
	const char *nearest = NULL;

	(void)opt;
	cfg->syscalls = true;
	if (!value) {
		config_want_syscalls(cfg);
		return 0;
	}
	cfg->other_syscalls_wanted = syscall_set_has_all(value) == (*value != '!');
	if (!syscall_set_parse_abi(ABI_COMPAT, cfg->compat_wanted, value, bad, sizeof(bad), &nearest) &&
	    !syscall_set_parse(cfg->syscall_wanted, value, bad, sizeof(bad), &nearest))
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

int set_no_syscalls(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt, (void)word, (void)value;
	cfg->syscalls = false;
	return 0;
}

/* Each adds to what is recorded; without a pattern it is the program's own, all of them. */
int set_functions(struct config *cfg, const struct opt *opt, const char *word, const char *value)
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

int set_usdt(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	struct usdt_pattern p, *more;
	char why[256];
	int err = usdt_pattern_parse(&p, value, why, sizeof(why));

	(void)opt;
	if (err == -EINVAL)
		fail(0, "%s: %s", word, why);
	if (err)
		return err;
	more = realloc(cfg->usdt, (cfg->usdt_count + 1) * sizeof(*more));
	if (!more) {
		usdt_pattern_release(&p);
		return -ENOMEM;
	}
	cfg->usdt = more;
	cfg->usdt[cfg->usdt_count++] = p;
	return 0;
}

/* FUNC@LIB is of a library: which is looked at as if --functions had named it. */
int set_list(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	const char *at = value ? strchr(value, '@') : NULL;
	int err = filter_option(cfg->filter, opt->name, word, value);

	cfg->list = true;
	for (; at && !err; at = strchr(at + 1, '@')) {
		__cleanup(free_ptr) char *of_lib = NULL;

		if (asprintf(&of_lib, "*%.*s", (int)strcspn(at, ";"), at) < 0)
			return -ENOMEM;
		err = set_functions(cfg, opt, word, of_lib);
	}
	return err;
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

static const char *const cuda_groups[CUDA_GROUPS] = { "launch", "memory", "sync", "module" };	/* a bit each */

static int add_cuda_group(struct config *cfg, const char *word, const char *name)
{
	for (unsigned i = 0; i < CUDA_GROUPS; i++)
		if (!strcmp(name, cuda_groups[i])) {
			cfg->cuda |= 1u << i;
			return 0;
		}
	fail(0, "%s: '%s' is no group of CUDA calls", word, name);
	hint("launch, memory, sync or module; %s alone: all", word);
	return -EINVAL;
}

int set_cuda(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	cfg->cuda = !cfg->cuda_asked || !value ? 0 : cfg->cuda;
	cfg->cuda_asked = true;
	if (value)
		return for_each_word(cfg, word, value, add_cuda_group);
	cfg->cuda = CUDA_ALL;
	return 0;
}

int set_no_cuda(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	(void)word;
	(void)value;
	cfg->cuda = 0;
	cfg->cuda_asked = false;
	return 0;
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
int set_targets(struct config *cfg, const struct opt *opt, const char *word, const char *value)
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

int set_cgroup(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	int err = *value ? 0 : -EINVAL;

	if (err)
		return fail(0, "%s: %s must not be empty", word, opt->arg), err;
	err = grow(&cfg->target, &cfg->target_room, cfg->target_count, sizeof(*cfg->target));
	if (!err)
		cfg->target[cfg->target_count++] = (struct target_name){ .kind = TARGET_CGROUP, .path = value };
	return err;
}

/* The thousandths of ".25": up to three digits. Leaves @rest behind them. */
static uint64_t parse_thousandths(const char **rest)
{
	const char *digit = *rest + 1;
	uint64_t n = 0;

	if (**rest != '.' || *digit < '0' || *digit > '9')
		return 0;
	for (unsigned place = 100; place && *digit >= '0' && *digit <= '9'; place /= 10)
		n += place * (*digit++ - '0');
	*rest = digit;
	return n;
}

/* A time, not 0, in ns; @plain: the unit of a bare number. */
static int parse_time(const char *value, const char *plain, uint64_t *ret)
{
	static const struct { const char *unit; uint64_t ns; } units[] = {
		{ "s", NSEC_PER_SEC }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
		{ "m", 60 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC },
	};
	uint64_t n, thousandths;
	const char *rest;
	size_t i = 0;

	if (parse_number(value, &n, &rest))
		return -EINVAL;
	thousandths = parse_thousandths(&rest);
	while (i < ARRAY_SIZE(units) && strcmp(*rest ? rest : plain, units[i].unit))
		i++;
	if (i == ARRAY_SIZE(units) || n >= INT64_MAX / units[i].ns)
		return -EINVAL;
	*ret = n * units[i].ns + thousandths * units[i].ns / 1000;
	return *ret ? 0 : -EINVAL;
}

static int set_time_in(struct config *cfg, const struct opt *opt, const char *word, const char *value,
		       const char *plain, const char *such_as)
{
	int err = parse_time(value, plain, &FIELD(cfg, opt, uint64_t));

	if (err)
		fail(0, "%s: '%s' is not a time, such as %s", word, value, such_as);
	return err;
}

int set_time(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	return set_time_in(cfg, opt, word, value, "s", "10s or 500ms");
}

/* uftrace's: a number alone is ns. */
int set_least_time(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	return set_time_in(cfg, opt, word, value, "ns", "5ms or 1.5us");
}

static int add_event(struct config *cfg, const char *word, const char *value)
{
	cfg->events_chosen = true;
	return kevent_choose(&cfg->events, &cfg->tracepoints, word, value);
}

int set_events(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	return for_each_word(cfg, word, value, add_event);
}

int set_no_events(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt, (void)word, (void)value;
	cfg->events_chosen = true;
	cfg->events = 0;
	tracepoints_release(&cfg->tracepoints);
	return 0;
}

/* Does a list of -e begin with what is an event, not a system call? */
static bool is_of_events(const char *value)
{
	char first[256];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, ","), value);
	return kevent_is_group(first);
}

/* strace's -e: trace=SET, t=SET, or a SET alone; and the events of the kernel. */
int set_expression(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	size_t n = strcspn(value, "=");

	if (!strncmp(value, "usdt:", 5))
		return set_usdt(cfg, opt, word, value + 5);
	if (!value[n] && is_of_events(value))
		return set_events(cfg, opt, word, value);
	if (!value[n])
		return set_syscalls(cfg, opt, word, value);
	if ((n == 5 && !strncmp(value, "trace", n)) || (n == 1 && *value == 't'))
		return set_syscalls(cfg, opt, word, value + n + 1);
	fail(0, "%s: '%.*s=' is not built yet, only 'trace=SET', 'SUBSYS:EVENT' and 'usdt:PROVIDER:NAME' are", word, (int)n, value);
	return -EINVAL;
}

/* "X is not a KIND; the nearest is Y", once every candidate was offered; @lister lists them. */
static int not_a(const char *word, const char *kind, const struct nearest *n, const char *lister)
{
	if (n->found)
		fail(0, "%s: '%s' is not a %s; the nearest is '%s'", word, n->word, kind, n->found);
	else
		fail(0, "%s: '%s' is not a %s", word, n->word, kind);
	hint("%s, which lists them", lister);
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
	return not_a(word, "format", &n, "recorder --help");
}

int set_formats(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	cfg->sink_count = 0;	/* the last --format counts, so a command line can overrule RECORDER_OPTS */
	cfg->raw = false;
	return for_each_word(cfg, word, value, add_format);
}

int set_compression(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	static const char *const kinds[] = { "zstd", "zlib", "none" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(value, kinds[i])) {
			FIELD(cfg, opt, const char *) = value;
			return 0;
		}
	fail(0, "%s: '%s' is not 'zstd', 'zlib' or 'none'", word, value);
	return -EINVAL;
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
	return not_a(word, "feature", &n, "recorder --doctor");
}

int set_features(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	return for_each_word(cfg, word, value, add_feature);
}

int set_status(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	cfg->status = !strcmp(value, "auto");
	if (cfg->status || !strcmp(value, "never"))
		return 0;
	fail(0, "%s: '%s' is neither 'auto' nor 'never'", word, value);
	return -EINVAL;
}

int set_returns(struct config *cfg, const struct opt *opt, const char *word, const char *value)
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

int set_no_returns(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt, (void)word, (void)value;
	cfg->returns = RETURNS_NEVER;
	return 0;
}

int set_trace(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	cfg->disabled = !strcmp(value, "off");
	if (cfg->disabled || !strcmp(value, "on"))
		return 0;
	fail(0, "%s: '%s' is neither 'on' nor 'off'", word, value);
	return -EINVAL;
}

/* What a signal does is of all processes, so it has no more than that. */
static int take_signal_action(unsigned *actions, const char *word, const char *action)
{
	const unsigned switches = TRIGGER_ON | TRIGGER_OFF;

	if (!strcmp(action, "trace_on") || !strcmp(action, "traceon"))
		*actions = (*actions & ~switches) | TRIGGER_ON;
	else if (!strcmp(action, "trace_off") || !strcmp(action, "traceoff"))
		*actions = (*actions & ~switches) | TRIGGER_OFF;
	else if (!strcmp(action, "finish"))
		*actions |= TRIGGER_FINISH;
	else if (!strcmp(action, "mark"))
		*actions |= TRIGGER_MARK;
	else
		return fail(0, "%s: '%s' is none of 'trace_on', 'trace_off', 'finish' and 'mark'", word, action), -EINVAL;
	return 0;
}

/* "SIGUSR1@trace_on"; several parted by ';' as in uftrace. */
int set_signal(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	__cleanup(free_ptr) char *copy = strdup(value);
	char *rest = copy, *rule, *action;
	int err = copy ? 0 : -ENOMEM;

	(void)opt;
	while (!err && (rule = strsep(&rest, ";"))) {
		const char *name = strsep(&rule, "@") ?: "", *bare = name + (strncmp(name, "SIG", 3) ? 0 : 3);
		unsigned *actions = !strcmp(bare, "USR1") ? &cfg->on_usr1 : !strcmp(bare, "USR2") ? &cfg->on_usr2 : NULL;

		if (!actions)
			return fail(0, "%s: '%s' is neither SIGUSR1 nor SIGUSR2", word, name), -EINVAL;
		if (!rule)
			return fail(0, "%s: '%s' has no action, as %s@finish would", word, name, name), -EINVAL;
		while (!err && (action = strsep(&rule, ",")))
			err = take_signal_action(actions, word, action);
	}
	return err;
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

int set_args(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	return add_spec(cfg, false, word, value);
}

int set_results(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt;
	return add_spec(cfg, true, word, value);
}

int set_quiet(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt, (void)word, (void)value;
	cfg->verbosity = LOG_QUIET;
	return 0;
}

int set_verbose(struct config *cfg, const struct opt *opt, const char *word, const char *value)
{
	(void)opt, (void)word, (void)value;
	cfg->verbosity = MIN(MAX(cfg->verbosity, LOG_NORMAL) + 1, LOG_DEBUG);
	return 0;
}
