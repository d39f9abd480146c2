/*
 * sink.h - an output format.
 *
 * A sink is called from the writer thread only, so it needs no lock. It sees
 * a whole recording between open() and close(), whether that is all there is
 * or one segment of many. NULL callback: the format has no use for it.
 * Callbacks return 0 or a negative errno; after an error only close() follows.
 *
 * Order: session_begin comes before the task_begin or task_exec that enters
 * the session; map_added after its session_begin; task_begin before the task's
 * first event; task_end after its last.
 */
#ifndef SINK_H
#define SINK_H

#include <stdbool.h>
#include <stdint.h>

struct about;
struct cuda_process;
struct event;
struct map;
struct session;
struct sink;
struct task;

/* What the command line says of formats. */
struct sink_options {
	const char *compression;	/* --compression; NULL: the best there is */
	bool	    raw_syscalls;	/* --raw-syscalls: by number only */
	/* of formats that want REC_FILE */
	bool	    env_vars;		/* --env-vars: the environment of every program too */
	bool	    thread_names;	/* --thread-names: Comm lines */
	bool	    mounts;		/* --mounts: mount and umount2 */
	bool	    implicit_closes;	/* --implicit-closes: what exec, close_range and dup2 close */
	bool	    long_lines;		/* --long-lines: a path of up to 1990 bytes on one line */
	bool	    ignore_repeats;	/* --ignore-repeated-opens */
};

struct sink_args {
	int		    dirfd;	/* where to create files */
	unsigned	    slot;	/* this sink's index in task->slot[] */
	const struct about *about;	/* command, host, kernel, CPUs, clocks; the exit status too by close() */
	const struct sink_options *options;
	/* A sink whose output is a file has @dirfd to itself until that is whole: then it makes the file and removes it. */
	int		    file_dirfd;
	const char	   *file_name, *spool_name;	/* of the file, and of @dirfd, in @file_dirfd */
};

#define SINK_WANTS(kind)	(1ull << (kind))

#define SINK_FULL	1	/* of event(): it was taken, but there is no room for another */

struct sink_ops {
	const char *name;	/* as in --format NAME */
	const char *doc;	/* for --help */
	const char *path;	/* the directory or file it writes when no -o is given */
	const char *open_with;	/* printf format for the summary: the command that opens @path, one %s */
	bool	    is_file;	/* @path is a file's name, not a directory's */
	uint64_t    wants;	/* SINK_WANTS() of record kinds: decides which sources attach */
	unsigned    events;	/* EVENT_BIT() of the kernel's events that are recorded unless others are chosen */
	bool	  (*is_ours)(int fd);	/* of a file: is that open one of this format? It makes way, others do not. */
	const char *spooled;	/* of a file: a name that no other format's spool directory has */
	/* Make the file @name in @dirfd of what a recorder that was killed left in @spoolfd. */
	int	  (*recover)(int spoolfd, int dirfd, const char *name);

	int (*open)(struct sink **ret, const struct sink_args *args);
	int (*session_begin)(struct sink *s, const struct session *sess);
	int (*map_added)(struct sink *s, const struct session *sess, const struct map *map);
	int (*task_begin)(struct sink *s, struct task *t);
	int (*task_exec)(struct sink *s, struct task *t, uint64_t time);	/* t->session is the new one */
	int (*task_moves)(struct sink *s, struct task *t, uint64_t time);	/* ... that has been its process's own from here on: calls go on */
	int (*event)(struct sink *s, const struct event *ev);	/* ev->time never decreases */
	int (*task_end)(struct sink *s, struct task *t);
	int (*cuda_end)(struct sink *s, struct cuda_process *p);	/* after the last event of a process's calls of the CUDA driver */
	int (*lost)(struct sink *s, unsigned cpu, uint64_t time, const uint64_t *count);	/* [REC_CLASSES] */
	int (*checkpoint)(struct sink *s);	/* make what is on disk readable now; about once a second */
	/* It failed: what came since, [REC_CLASSES]; close() is next. Without this op close() comes when it fails. */
	int (*lacks)(struct sink *s, const uint64_t *count);
	int (*close)(struct sink *s);		/* seal the files; frees @s whatever it returns */
};

extern const struct sink_ops *const sinks[];	/* src/sink/sinks.c; ends in NULL */

#endif
