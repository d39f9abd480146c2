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

#include <stdint.h>

struct about;
struct event;
struct map;
struct session;
struct sink;
struct task;

struct sink_args {
	int		    dirfd;	/* where to create files */
	unsigned	    slot;	/* this sink's index in task->slot[] */
	const struct about *about;	/* command, host, kernel, CPUs, clocks; the exit status too by close() */
};

#define SINK_WANTS(kind)	(1ull << (kind))

struct sink_ops {
	const char *name;	/* as in --format NAME */
	const char *doc;	/* for --help */
	const char *path;	/* the directory or file it writes when no -o is given */
	const char *open_with;	/* printf format for the summary: the command that opens @path, one %s */
	uint64_t    wants;	/* SINK_WANTS() of record kinds: decides which sources attach */

	int (*open)(struct sink **ret, const struct sink_args *args);
	int (*session_begin)(struct sink *s, const struct session *sess);
	int (*map_added)(struct sink *s, const struct session *sess, const struct map *map);
	int (*task_begin)(struct sink *s, struct task *t);
	int (*task_exec)(struct sink *s, struct task *t, uint64_t time);	/* t->session is the new one */
	int (*event)(struct sink *s, const struct event *ev);	/* ev->time never decreases */
	int (*task_end)(struct sink *s, struct task *t);
	int (*lost)(struct sink *s, unsigned cpu, uint64_t time, const uint64_t *count);	/* [REC_CLASSES] */
	int (*checkpoint)(struct sink *s);	/* make what is on disk readable now; about once a second */
	int (*close)(struct sink *s);		/* seal the files; frees @s whatever it returns */
};

extern const struct sink_ops *const sinks[];	/* src/sink/sinks.c; ends in NULL */

#endif
