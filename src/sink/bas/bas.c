/*
 * bas.c - bas text, which Samsung's CAS reads: the lines that its kernel module would have printed.
 *
 * An event comes with its task. What has not been told of that task and is owed first, comes first: that it was made.
 * What waited for this task's next event, an exec for its next piece, a clone for the task it made, is given up when
 * another comes: the file has whole events only.
 */
#include "about.h"
#include "base.h"
#include "event.h"
#include "log.h"
#include "outdir.h"
#include "sink.h"
#include "sink/bas/bas.h"

static void sink_destroy(struct sink *s)
{
	if (!s)
		return;
	bas_text_destroy(s->text);
	bas_names_destroy(s->names);
	bas_tasks_destroy(s->tasks);
	bas_stats_destroy(s->stats);
	bas_env_destroy(s->env);
	free(s);
}

DEFINE_CLEANUP(sink_destroy, struct sink *)

static int bas_open(struct sink **ret, const struct sink_args *args)
{
	__cleanup(sink_destroyp) struct sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->args = *args;
	err = bas_names_create(&s->names, !args->about->is_replay);
	err = err ?: bas_tasks_create(&s->tasks, args->about->pid);
	err = err ?: bas_stats_create(&s->stats);
	if (args->options->env_vars)
		err = err ?: bas_env_create(&s->env);
	err = err ?: bas_spool_create(&s->text, args);
	if (!err)
		*ret = TAKE(s);
	return err;
}

void bas_untold(struct sink *s, unsigned cpu)
{
	bas_stats_untold(s->stats, cpu);
	(void)bas_lost(s->text, cpu, 1);	/* an error is kept, and comes with the next event */
}

/* ---- events ---- */

static int on_task_name(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_task_name *r = (const void *)ev->rec;
	size_t len = strnlen(r->comm, sizeof(r->comm));

	bas_begin(s->text, u->upid, r->hdr.cpu, ev->time);
	bas_line(s->text, "Comm|size=%zu", len);
	bas_string(s->text, "CN", r->comm, len);
	bas_stats_told(s->stats, r->hdr.cpu);
	return bas_end(s->text);
}

static int (*const on_event[REC_KINDS])(struct sink *s, struct bas_task *u, const struct event *ev) = {
	[REC_TASK_NEW]	 = bas_on_task_new,
	[REC_TASK_EXEC]	 = bas_on_task_exec,
	[REC_TASK_NAME]	 = on_task_name,
	[REC_TASK_EXIT]	 = bas_on_task_exit,
	[REC_FILE]	 = bas_on_file,
	[REC_EXEC]	 = bas_on_exec,
	[REC_EXEC_PIECE] = bas_on_exec_piece,
};

/* Another thread may name the task at any time: that comes between without ending anything. */
static void give_up_waiting(struct sink *s, struct bas_task *u, uint16_t kind)
{
	if (kind == REC_TASK_NAME)
		return;
	if (kind != REC_EXEC_PIECE)
		bas_exec_drop(s, u);
	if (kind != REC_TASK_NEW)
		u->is_cloning = false;
}

static int bas_event(struct sink *s, const struct event *ev)
{
	struct bas_task *u;
	int err;

	if (!ev->task || ev->kind >= REC_KINDS || (ev->kind == REC_TASK_NAME && !s->args.options->thread_names))
		return 0;
	err = bas_announce(s, ev);
	u = bas_task_of(s, ev->task);
	if (!u)
		return -ENOMEM;
	err = err ?: bas_announce(s, ev);	/* it may have been made just now: an exec is told before its task is */
	give_up_waiting(s, u, ev->kind);
	if (err || !on_event[ev->kind] || u->has_exited)
		return err;
	return on_event[ev->kind](s, u, ev);
}

static int bas_task_begin(struct sink *s, struct task *t)
{
	int err = bas_announce(s, NULL);

	return err ?: bas_task_of(s, t) ? 0 : -ENOMEM;
}

static int end_task(struct sink *s, struct task *t)
{
	struct bas_task *u = TAKE(t->slot[s->args.slot]);
	int err = u ? bas_announce_child(s, u) : 0;

	if (u)
		bas_task_end(s, u);
	return err;
}

static int bas_lost_events(struct sink *s, unsigned cpu, uint64_t time, const uint64_t *count)
{
	uint64_t n = count[CLASS_TASK] + count[CLASS_SYSCALL];

	(void)time;
	bas_stats_dropped(s->stats, cpu, n);
	return n ? bas_lost(s->text, cpu, n) : 0;
}

/* ---- the file ---- */

static int bas_checkpoint(struct sink *s)
{
	return bas_text_flush(s->text);
}

static int recover(int spoolfd, int dirfd, const char *name)
{
	return bas_spool_place(spoolfd, dirfd, name, true) ?: bas_recount(dirfd, name, "recorder was killed");
}

/* What the text cannot show, where that concerns somebody. */
static void say_gaps(const struct sink *s)
{
	struct bas_names_failed failed = bas_names_failed(s->names);
	const char *name = s->args.file_name;

	bas_stats_say(s->stats, name);
	if (s->rings)
		warn("'%s' has nothing of what was done by io_uring: %lu ring%s", name, s->rings, s->rings == 1 ? " was made" : "s were made");
	if (failed.late)
		warn("names in '%s' that are as programs called them, for a file system did not answer in time: %lu", name, failed.late);
	if (failed.denied)
		warn("names in '%s' that are as programs called them, for nobody may look there but others: %lu", name, failed.denied);
	if (failed.gone)
		say("names in '%s' that are as programs called them, for %s: %lu", name,
		    s->args.about->is_replay ? "a replay looks nothing up" : "the way to them was gone by then", failed.gone);
}

/* The spool goes once the file is in its place; else it stays, to be recovered later. */
static int bas_close(struct sink *s)
{
	const struct sink_args *a = &s->args;
	int err = bas_announce(s, NULL), placed;

	if (!err && s->env)
		err = bas_env_put(s->env, s->text);
	err = bas_text_seal(s->text) ?: err;
	say_gaps(s);
	placed = bas_spool_place(a->dirfd, a->file_dirfd, a->file_name, err);
	if (!placed)
		outdir_remove(a->file_dirfd, a->spool_name, a->dirfd);
	if (!placed && err)			/* what was counted is not what has come to the file */
		(void)bas_recount(a->file_dirfd, a->file_name, strerror(-err));
	else if (!placed)
		err = bas_stats_write(s->stats, a->file_dirfd, a->file_name);
	sink_destroy(s);
	return placed ?: err;
}

static bool bas_is_ours(int fd)
{
	static const char magic[] = "INITCWD=";
	char begin[sizeof(magic) - 1];

	return pread(fd, begin, sizeof(begin), 0) == sizeof(begin) && !memcmp(begin, magic, sizeof(begin));
}

const struct sink_ops sink_bas = {
	.name		= "bas",
	.doc		= "a text file for Samsung CAS: programs, their files and pipes",
	.path		= ".nfsdb",
	.open_with	= "etrace_parser -t %s .nfsdb.json",
	.is_file	= true,
	.is_ours	= bas_is_ours,
	.spooled	= BAS_SPOOLED,
	.recover	= recover,
	.wants		= SINK_WANTS(REC_TASK_NEW) | SINK_WANTS(REC_TASK_EXEC) | SINK_WANTS(REC_TASK_NAME) |
			  SINK_WANTS(REC_TASK_EXIT) | SINK_WANTS(REC_TASK_LOST) | SINK_WANTS(REC_LOST) |
			  SINK_WANTS(REC_FILE) | SINK_WANTS(REC_EXEC) | SINK_WANTS(REC_EXEC_PIECE),
	.open		= bas_open,
	.task_begin	= bas_task_begin,
	.event		= bas_event,
	.task_end	= end_task,
	.lost		= bas_lost_events,
	.checkpoint	= bas_checkpoint,
	.close		= bas_close,
};
