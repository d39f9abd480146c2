/*
 * config.h - the options, parsed; const from then on.
 */
#ifndef CONFIG_H
#define CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel.h"
#include "record.h"
#include "task.h"

struct sink_ops;

struct config {
	/* what */
	bool	    syscalls;		/* default on; --no-syscalls */
	bool	    syscall_wanted[SYS_MAX];	/* --syscalls=SET; all true without it */
	bool	    functions;		/* default on; --no-functions */
	bool	    libcalls;		/* PLT stubs; default on; --no-libcall */
	bool	    dear;		/* --dear: probe single-stepped functions too */
	bool	    nop5;		/* --nop5: use nop5 sites although the program's forks may die (kernel fault) */
	unsigned    string_bytes;	/* -s N; 32 */

	/* who */
	char	  **argv;		/* the command, NULL-ended; NULL with --replay, --doctor ... */
	char	   *exec_path;		/* what execve(2) is given: argv[0], or where PATH led to; may be relative */
	char	   *exe;		/* the same as an absolute path, links not followed */
	bool	    follow;		/* children too: default on; --no-follow */
	const char *user;		/* -u USER; NULL: who called sudo, else ourselves */
	bool	    as_root;		/* --as-root */

	/* where */
	const char *output;		/* -o, -d; NULL: the format's usual name */
	const struct sink_ops *sink[SINKS_MAX];	/* --format; uftrace when none is named */
	unsigned    sink_count;
	bool	    raw;		/* --format raw: the rounds as they came */
	const char *replay;		/* --replay FILE */

	/* how much */
	size_t	    ring_bytes;		/* -b: of one CPU, a power of two */
	size_t	    memory_bytes;	/* --memory: rounds waiting to be written */
	bool	    strict;		/* --strict: loss makes the exit status 3 */
	unsigned    lose_one_in;	/* --simulate-drops N: BPF drops one record in N, counted; tests the accounting */

	/* talk */
	bool	    dry_run, doctor;
	bool	    status;		/* the status line: stderr is a terminal and not -q; --status=never */

	uint64_t    denied_features;	/* --no-feature NAME,...: bit per enum kernel_feature */
};

/*
 * Parse @argc/@argv into @ret. Returns 0, or the exit status to leave with + 1
 * (1: all is said and done, as with --help; 3: a wrong command line, one line printed).
 */
int  config_parse(struct config **ret, int argc, char **argv);
void config_destroy(struct config *cfg);

#endif
