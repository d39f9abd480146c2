/*
 * bas.h - the parts of the sink of bas text. The format: shared/formats/bas-text.md of the project's notes.
 *
 *	bas.c		the callbacks: which part an event goes to
 *	tasks.c		tasks and their upids; fork, clone, exit
 *	exec.c		what a program was started with, from its pieces
 *	files.c		what system calls did to files
 *	fds.c		which descriptors are open: --implicit-closes
 *	repeats.c	files opened over and over: --ignore-repeated-opens
 *	env.c		environments: --env-vars
 *	told.c		names and paths of a record
 *	names.c		names into paths
 *	asker.c		a process that walks paths where a file system has to be asked
 *	text.c		lines, strings, times
 *	stats.c		what is counted of each CPU, and its file
 *	spool.c		the file, from the spool directory: at the end, or after recorder was killed
 *	recount.c	what is counted of each CPU, of a text that is not whole
 */
#ifndef BAS_H
#define BAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "record.h"
#include "sink.h"
#include "sink/bas/names.h"
#include "sink/bas/text.h"

struct bas_env;
struct bas_exec;
struct bas_fds;
struct bas_repeats;
struct bas_stats;
struct bas_tasks;

struct sink {
	struct sink_args  args;
	struct bas_text	 *text;
	struct bas_names *names;
	struct bas_tasks *tasks;
	struct bas_stats *stats;
	struct bas_env	 *env;
	uint64_t	  rings;		/* of io_uring, made by recorded tasks */
};

/* What hangs on a task. */
struct bas_task {
	struct bas_task *next;		/* in the table */
	uint32_t	 tid, pid, parent_tid;
	uint64_t	 upid, begin;
	bool		 is_announced;	/* a SchedFork names it */
	bool		 has_exited;	/* nothing of it is told any more */
	bool		 is_cloning;	/* its SysClone waits for the task that was made */
	uint64_t	 clone_flags;
	struct bas_exec *exec;		/* not all pieces of it have come; NULL: none */
	struct bas_fds	*fds;		/* --implicit-closes; NULL: nothing is known */
	struct bas_repeats *repeats;	/* --ignore-repeated-opens; NULL: nothing was opened */
};

/* ---- bas.c ---- */

/* An event's record came, but not all that belongs to it: it is told and counted as lost. Not within another event. */
void bas_untold(struct sink *s, unsigned cpu);

/* ---- tasks.c ---- */

/* The root of all is @pid. */
int  bas_tasks_create(struct bas_tasks **ret, uint32_t pid);
void bas_tasks_destroy(struct bas_tasks *tasks);

/* What hangs on @t, made when there is nothing yet; NULL: no memory. */
struct bas_task *bas_task_of(struct sink *s, struct task *t);
void bas_task_end(struct sink *s, struct bas_task *u);

/* Announce the task that was made last, unless @ev does that; NULL: no event. */
int  bas_announce(struct sink *s, const struct event *ev);
int  bas_announce_child(struct sink *s, const struct bas_task *parent);	/* if it is one of @parent, which ends */

int  bas_on_clone(struct sink *s, struct bas_task *u, const struct event *ev);	/* FILE_CLONE */
int  bas_on_task_new(struct sink *s, struct bas_task *u, const struct event *ev);
int  bas_on_task_exec(struct sink *s, struct bas_task *u, const struct event *ev);
int  bas_on_task_exit(struct sink *s, struct bas_task *u, const struct event *ev);

/* ---- exec.c ---- */

int  bas_on_exec(struct sink *s, struct bas_task *u, const struct event *ev);
int  bas_on_exec_piece(struct sink *s, struct bas_task *u, const struct event *ev);
/* A piece of it will not come: it is not told, but counted. */
void bas_exec_drop(struct sink *s, struct bas_task *u);
void bas_exec_free(struct bas_exec *e);

/* ---- files.c ---- */

int  bas_on_file(struct sink *s, struct bas_task *u, const struct event *ev);

/* ---- fds.c ---- */

/* What is closed without a close() is told: of a REC_FILE before its own lines, of a REC_EXEC. */
int  bas_fds_on_file(struct sink *s, struct bas_task *u, const struct event *ev);
int  bas_fds_on_exec(struct sink *s, struct bas_task *u, const struct event *ev);
int  bas_fds_fork(struct bas_task *parent, struct bas_task *child, bool is_shared);
void bas_fds_forget(struct bas_task *u, uint32_t fd);	/* its open is not told */
struct bas_fds *bas_fds_share(struct bas_fds *fds);
void bas_fds_leave(struct bas_fds *fds);

/* ---- repeats.c ---- */

/* True: it is a repetition, and not to be told; nor is its close. */
bool bas_repeats_open(struct bas_task *u, const char *path, int flags, int mode, int fd);
/* @fd is closed, or something else from now on. True: its open was not told. */
bool bas_repeats_taken(struct bas_task *u, int fd);
void bas_repeats_exec(struct bas_task *u);		/* a new program: its opens are its own */

/* ---- env.c ---- */

int  bas_env_create(struct bas_env **ret);
void bas_env_destroy(struct bas_env *env);
/* The task @upid has started a program with these variables, a NUL behind each. */
void bas_env_note(struct bas_env *env, uint64_t upid, const char *at, size_t len);
int  bas_env_put(struct bas_env *env, struct bas_text *t);

/* ---- told.c ---- */

/* The texts of a record. */
struct bas_told {
	struct bas_names	*names;
	struct bas_whose	 whose;
	const char		*texts;
	size_t			 len;
};

struct bas_told bas_told_of(struct sink *s, const struct event *ev);	/* of a REC_FILE */
/* A text of the kind @which; NULL: there is none, or it could not be read. */
const struct rec_text *bas_told_text(const struct bas_told *d, unsigned which);
unsigned bas_told_cut(const struct bas_told *d);			/* how many of them are not whole */

/* All to be freed. NULL: the record does not tell it, or no memory. */
char *bas_told_name(const struct bas_told *d, unsigned which);		/* as passed */
char *bas_told_path(const struct bas_told *d, unsigned which, const char *name);	/* walked, as the kernel prints it */
char *bas_told_joined(const struct bas_told *d, unsigned name, unsigned base);
char *bas_told_resolved(const struct bas_told *d, unsigned name, unsigned base, bool *is_gone);	/* bas_names_resolve() */
char *bas_told_followed(const struct bas_told *d, unsigned name, unsigned base);

/* ---- stats.c ---- */

int  bas_stats_create(struct bas_stats **ret);
void bas_stats_destroy(struct bas_stats *st);
void bas_stats_told(struct bas_stats *st, unsigned cpu);
void bas_stats_dropped(struct bas_stats *st, unsigned cpu, uint64_t count);
void bas_stats_untold(struct bas_stats *st, unsigned cpu);	/* dropped, too */
void bas_stats_cut(struct bas_stats *st, uint64_t count);
void bas_stats_say(const struct bas_stats *st, const char *name);	/* what the user has to know */
void bas_stats_not_whole(struct bas_stats *st, const char *why);	/* the text ends before the recording did; lent */
/* The file NAME.stats beside @name. One that is not such a file stays, after a warning. */
int  bas_stats_write(const struct bas_stats *st, int dirfd, const char *name);

/* ---- recount.c ---- */

/* The same file beside the text @name, which ends before the recording did, by what stands in it. @why it does. */
int  bas_recount(int dirfd, const char *name, const char *why);

/* ---- spool.c ---- */

#define BAS_SPOOLED	"text"	/* in the spool directory */

/* The file that the text is gathered in. */
int  bas_spool_create(struct bas_text **ret, const struct sink_args *args);
/* Put it in its place. @is_torn: it may end within an event, which is cut off. */
int  bas_spool_place(int spoolfd, int dirfd, const char *name, bool is_torn);
/* Is the tag of a line, @len bytes, one of @names? NULL ends them. */
bool bas_is_one_of(const char *const *names, const char *tag, size_t len);

#endif
