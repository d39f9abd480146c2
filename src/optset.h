/*
 * optset.h - a row of the option table (options.c), and what rows call (optset.c).
 */
#ifndef OPTSET_H
#define OPTSET_H

#include "config.h"

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

#define FIELD(cfg, opt, type)	(*(type *)((char *)(cfg) + (opt)->field))

typedef int set_fn(struct config *cfg, const struct opt *opt, const char *word, const char *value);

set_fn set_true, set_false, set_nothing, set_text, set_count, set_bytes, set_time, set_least_time;
set_fn set_syscalls, set_no_syscalls, set_expression, set_events, set_no_events, set_string_bytes;
set_fn set_cuda, set_no_cuda, set_functions, set_usdt, set_args, set_results, set_filter, set_list, set_depth, set_max_stack, set_rate, set_returns;
set_fn set_trace, set_signal, set_no_returns;
set_fn set_targets, set_cgroup, set_formats, set_compression, set_features, set_status, set_quiet, set_verbose;

#endif
