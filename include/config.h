/*
 * config.h - the options, parsed; const from then on.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "argspec.h"
#include "kernel.h"
#include "kevent.h"
#include "record.h"
#include "sink.h"
#include "task.h"
#include "taskstate.h"

struct filter;
struct pattern;
struct usdt_pattern;

/* Who is recorded besides the command: what a number names. */
enum target_kind {
	TARGET_PROCESS,		/* -p: a process, all its threads */
	TARGET_TREE,		/* --tree: and all its descendants */
	TARGET_THREAD,		/* --tid: one thread */
	TARGET_CGROUP,		/* --cgroup: every process in it and below, also those to come */
};

struct target_name {
	enum target_kind kind;
	pid_t		 pid;	/* in recorder's PID namespace */
	const char	*path;	/* TARGET_CGROUP */
};

struct config {
	/* what */
	bool	    syscalls;		/* default on; --no-syscalls */
	bool	    syscall_wanted[SYS_MAX];	/* --syscalls=SET; all true without it */
	bool	    compat_wanted[SYS_MAX];	/* the same of 32-bit calls, by their numbers */
	bool	    other_syscalls_wanted;	/* and of numbers that have no row: x32, and what is newer than recorder */
	bool	    functions;		/* default on; --no-functions */
	struct pattern *function;	/* --functions=GLOB[@LIB]: which; none: all of the program's own */
	size_t	    function_count;
	bool	    libraries;		/* one of them has an @LIB */
	struct usdt_pattern *usdt;	/* --usdt=[LIB:]PROVIDER:NAME: which USDT probes; none: none */
	size_t	    usdt_count;
	unsigned    events;		/* -e GROUP or SUBSYS:EVENT: EVENT_BIT() of each; what the formats want when none is chosen */
	struct tracepoints tracepoints;	/* -e SUBSYS:EVENT: others */
	bool	    events_chosen;	/* by -e or --no-events */
	bool	    callers;		/* -g: who called, with the events and system calls that are recorded */
	unsigned    cuda;		/* --cuda=GROUP,...: CUDA_* of cuda.h, of what maps a CUDA driver; default: all; --no-cuda: 0 */
	bool	    cuda_images;	/* a format takes the code images that the driver is given */
	bool	    cuda_asked;		/* --cuda, or a format is of nothing else: the driver is looked for in all that is mapped */
	bool	    gpu_times;		/* --gpu-times: CUPTI in the command times what its device does */
	bool	    files;		/* what system calls do to files, what programs start with: when a format wants it */
	bool	    libcalls;		/* PLT stubs; default on; --no-libcall */
	bool	    dear;		/* also what is tiny, single-stepped and not named; default on; --no-dear */
	struct argspecs args;		/* -A, -R */
	bool	    auto_args;		/* --auto-args: of every function whose types are known */
	bool	    srcline;		/* --srcline */
	enum returns_when returns;	/* --returns=WHEN; auto */
	struct filter *filter;		/* --filter, --notrace, --caller-filter, --hide, --trigger, --match, --list=FUNC; owned: filter.h */
	unsigned    on_usr1, on_usr2;	/* --signal: TRIGGER_* of the signals to recorder */
	bool	    disabled;		/* --disable: functions are recorded from a trace_on on */
	unsigned    depth;		/* -D: levels of calls to record; 0: all */
	unsigned    max_stack;		/* --max-stack: recorded calls that may be open in a task; 0: any number */
	uint64_t    least_ns;		/* -t: only calls that take longer, and who called them; 0: all */
	unsigned    rate_limit;		/* --rate-limit: calls of one function in a second to record; 0: all */
	unsigned    least_size;		/* --size-filter: bytes of the smallest function to record; not of PLT stubs */
	bool	    nop5;		/* --nop5: use nop5 sites although the program's forks may die (kernel fault) */
	unsigned    string_bytes;	/* -s N; 32 */

	/* who */
	char	  **argv;		/* the command, NULL-ended; NULL with --replay, --doctor, or only targets */
	char	   *exec_path;		/* what execve(2) is given: argv[0], or where PATH led to; may be relative */
	char	   *exe;		/* the same as an absolute path, links not followed */
	struct target_name *target;	/* -p, --tree, --tid, --cgroup; then the command runs only for its time, unrecorded */
	size_t	    target_count, target_room;
	bool	    follow;		/* children too: default on; --no-follow */
	const char *user;		/* -u USER; NULL: who called sudo, else ourselves */
	bool	    as_root;		/* --as-root */

	/* where */
	const char *output;		/* -o, -d; NULL: the format's usual name */
	const struct sink_ops *sink[SINKS_MAX];	/* --format; uftrace when none is named */
	unsigned    sink_count;
	bool	    raw;		/* --format raw: the rounds as they came */
	struct sink_options sink_options;	/* --compression, --raw-syscalls */
	const char *replay;		/* --replay FILE */
	const char *recover;		/* --recover PATH: only that is done */

	/* when */
	uint64_t    duration_ns;	/* --duration; 0: until all has ended */

	/* how much */
	size_t	    ring_bytes;		/* -b: of one CPU, a power of two */
	size_t	    memory_bytes;	/* --memory: rounds waiting to be written */
	bool	    strict;		/* --strict: loss makes the exit status 3 */
	unsigned    lose_one_in;	/* --simulate-drops N: BPF drops one record in N, counted; tests the accounting */

	/* talk */
	bool	    dry_run, doctor;
	bool	    list;		/* --list: the functions of the command, on stdout; runs nothing */
	bool	    status;		/* the status line: stderr is a terminal and not -q; --status=never */
	int	    verbosity;		/* -q, -v, -vv: enum log_level; the log has been told already */

	uint64_t    denied_features;	/* --no-feature NAME,...: bit per enum kernel_feature */

	char	   *env_words, **env_argv;	/* RECORDER_OPTS, which fields above may point into */
};

/* Are arguments or results of functions recorded? */
static inline bool wants_values(const struct config *cfg)
{
	return cfg->functions && (cfg->args.count || cfg->auto_args);
}

/* Are files looked at for what can be probed in them? */
static inline bool wants_probes(const struct config *cfg)
{
	return cfg->functions || cfg->usdt_count || cfg->cuda_asked;
}

/* May returns be probed? */
static inline bool wants_returns(const struct config *cfg)
{
	return cfg->functions || cfg->cuda_asked;
}

/* Also those that a program maps, before they run? */
static inline bool wants_libraries(const struct config *cfg)
{
	return (cfg->functions && cfg->libraries) || cfg->usdt_count || cfg->cuda_asked;
}

#define STRING_BYTES_MAX	4000	/* -s at most: what fits into a record beside the other texts of a call */

#define EXIT_USAGE	2		/* a wrong command line */

/*
 * Parse @argc/@argv into @ret; options in the environment's RECORDER_OPTS come
 * before them. @argv is lent as long as the config lives. The command, if there
 * is one, has been found and can be executed, as far as recorder itself can see.
 *
 * Returns 0, or 1 + the exit status to leave with, everything having been said:
 * 1 after --help and --version, 1 + EXIT_USAGE, or 1 + 126 or 127 when the command
 * cannot be run.
 */
int  config_parse(struct config **ret, int argc, char **argv);
void config_destroy(struct config *cfg);
/* --syscalls without a set: all there are. */
void config_want_syscalls(struct config *cfg);

#endif
