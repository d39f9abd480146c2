/*
 * tasks.c - every task has a number of its own, its upid, and a SchedFork that names it.
 *
 * A task whose making was seen is announced by that event, which follows right after the task is heard of. Any other,
 * the command, one that was there before or one whose making was lost, is announced as soon as something else comes
 * instead. So all tasks but the one heard of last are announced.
 */
#include <sched.h>

#include "about.h"
#include "base.h"
#include "sink/bas/bas.h"

#define BUCKETS		4096	/* a power of two */
#define TID_BITS	22	/* of a upid */
#define KEPT_MAX	4096	/* processes in the middle of such an exec */

/* The upid that a number goes on with: of a leader whose place another thread of the process takes. */
struct kept {
	uint32_t tid;
	uint64_t upid;
	struct bas_fds *fds;
};

struct bas_tasks {
	struct bas_task *bucket[BUCKETS];
	struct bas_task *latest;	/* not announced yet; NULL: all are */
	uint64_t	 seq, root;
	struct kept	*kept;
	size_t		 kept_count, kept_room;
	struct kept	 ended;		/* the task that ended last, if without an exit */
};

static uint64_t next_upid(struct bas_tasks *tasks, uint32_t tid)
{
	return (++tasks->seq << TID_BITS & INT64_MAX) | (tid & ((1u << TID_BITS) - 1));
}

int bas_tasks_create(struct bas_tasks **ret, uint32_t pid)
{
	struct bas_tasks *tasks = calloc(1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	tasks->root = next_upid(tasks, pid);
	*ret = tasks;
	return 0;
}

static void task_free(struct bas_task *u)
{
	bas_exec_free(u->exec);
	bas_fds_leave(u->fds);
	free(u->repeats);
	free(u);
}

void bas_tasks_destroy(struct bas_tasks *tasks)
{
	if (!tasks)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (tasks->bucket[i]) {
			struct bas_task *u = tasks->bucket[i];

			tasks->bucket[i] = u->next;
			task_free(u);
		}
	while (tasks->kept_count)
		bas_fds_leave(tasks->kept[--tasks->kept_count].fds);
	free(tasks->kept);
	free(tasks);
}

static struct bas_task **bucket_of(struct bas_tasks *tasks, uint32_t tid)
{
	return &tasks->bucket[tid & (BUCKETS - 1)];
}

static struct bas_task *find(struct bas_tasks *tasks, uint32_t tid)
{
	struct bas_task *u = *bucket_of(tasks, tid);

	while (u && u->tid != tid)
		u = u->next;
	return u;
}

/* ---- upids that are kept for the next task of a number ---- */

static struct kept *find_kept(struct bas_tasks *tasks, uint32_t tid)
{
	for (struct kept *k = tasks->kept; k < tasks->kept + tasks->kept_count; k++)
		if (k->tid == tid)
			return k;
	return NULL;
}

static int keep(struct bas_tasks *tasks, const struct bas_task *u)
{
	struct kept *k = find_kept(tasks, u->tid);

	if (!k && tasks->kept_count == KEPT_MAX)
		return 0;
	if (!k && grow(&tasks->kept, &tasks->kept_room, tasks->kept_count, sizeof(*tasks->kept)))
		return -ENOMEM;
	if (k)
		bas_fds_leave(k->fds);
	else
		k = &tasks->kept[tasks->kept_count++];
	*k = (struct kept){ u->tid, u->upid, bas_fds_share(u->fds) };
	return 0;
}

static bool take_kept(struct bas_tasks *tasks, struct bas_task *u)
{
	struct kept *k = find_kept(tasks, u->tid);

	if (!k)
		return false;
	u->upid = k->upid;
	u->fds = k->fds;
	*k = tasks->kept[--tasks->kept_count];
	return true;
}

/* ---- begin and end ---- */

struct bas_task *bas_task_of(struct sink *s, struct task *t)
{
	struct bas_task *u = t->slot[s->args.slot], **bucket = bucket_of(s->tasks, t->tid);

	if (u)
		return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->tid = t->tid;
	u->pid = t->pid;
	u->parent_tid = t->parent_tid ?: t->tid == t->pid ? t->found_under : t->pid;
	u->begin = t->begin;
	u->is_announced = take_kept(s->tasks, u);
	if (!u->is_announced) {
		u->upid = next_upid(s->tasks, u->tid);
		s->tasks->latest = u;
	}
	u->next = *bucket;
	return t->slot[s->args.slot] = *bucket = u;
}

void bas_task_end(struct sink *s, struct bas_task *u)
{
	struct bas_tasks *tasks = s->tasks;
	struct bas_task **at = bucket_of(tasks, u->tid);

	while (*at != u)
		at = &(*at)->next;
	*at = u->next;
	if (tasks->latest == u)
		tasks->latest = NULL;
	tasks->ended = u->has_exited ? (struct kept){} : (struct kept){ .tid = u->tid, .upid = u->upid };
	bas_exec_drop(s, u);
	task_free(u);
}

/* ---- announced ---- */

static int put_fork(struct sink *s, struct bas_task *child, unsigned cpu)
{
	child->is_announced = true;
	bas_stats_told(s->stats, cpu);
	if (s->tasks->latest == child)
		s->tasks->latest = NULL;
	bas_line(s->text, "SchedFork|pid=%lu", child->upid);
	return bas_end(s->text);
}

static bool announces(const struct event *ev, const struct bas_task *u)
{
	return ev && ev->kind == REC_TASK_NEW && ((const struct rec_task_new *)ev->rec)->new_tid == u->tid;
}

/* Who has made it, as far as is known; NULL: nobody that is recorded. */
static struct bas_task *parent_of(struct bas_tasks *tasks, const struct bas_task *u)
{
	struct bas_task *parent = find(tasks, u->parent_tid) ?: find(tasks, u->pid);

	return parent && parent->is_announced && !parent->has_exited ? parent : NULL;
}

int bas_announce_child(struct sink *s, const struct bas_task *parent)
{
	struct bas_task *u = s->tasks->latest;

	return u && parent_of(s->tasks, u) == parent ? bas_announce(s, NULL) : 0;
}

/* The thread that has become the leader by the exec @ev and has no exit of its own; 0: none. */
static uint64_t who_became_leader(const struct bas_tasks *tasks, const struct event *ev)
{
	const struct rec_task_exec *r = (const void *)ev->rec;
	bool is_it = ev->kind == REC_TASK_EXEC && r->old_tid != r->hdr.tid && r->old_tid == tasks->ended.tid;

	return is_it ? tasks->ended.upid : 0;
}

/* On whose behalf it is announced. One whose leader had exited before starts anew, made by that thread. */
static uint64_t announced_by(const struct bas_tasks *tasks, const struct bas_task *parent, const struct event *ev)
{
	uint64_t upid = parent ? parent->upid : ev ? who_became_leader(tasks, ev) : 0;

	return upid ?: tasks->root;
}

int bas_announce(struct sink *s, const struct event *ev)
{
	struct bas_task *u = s->tasks->latest, *parent;
	unsigned cpu;

	if (!u || announces(ev, u))
		return 0;
	parent = parent_of(s->tasks, u);
	if (parent && s->args.options->implicit_closes && bas_fds_fork(parent, u, parent->pid == u->pid))
		return -ENOMEM;
	cpu = ev ? ev->rec->cpu : 0;
	bas_begin(s->text, announced_by(s->tasks, parent, ev), cpu, u->begin);
	return put_fork(s, u, cpu);
}

/* ---- events ---- */

/* One that succeeded is told with the task it made, which comes next. */
int bas_on_clone(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_file *r = (const void *)ev->rec;

	if (r->ret >= 0) {
		u->is_cloning = true;
		u->clone_flags = r->arg[0];
		return 0;
	}
	bas_begin(s->text, u->upid, r->hdr.cpu, ev->time);
	bas_line(s->text, "SysClone|flags=%ld", (long)r->arg[0]);
	bas_line(s->text, "SysCloneFailed|");
	bas_stats_told(s->stats, r->hdr.cpu);
	return bas_end(s->text);
}

int bas_on_task_new(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_task_new *r = (const void *)ev->rec;
	struct bas_task *child = find(s->tasks, r->new_tid);

	if (!child)
		return 0;
	if (child->is_announced)	/* its number was kept for an exec that did not come */
		child->upid = next_upid(s->tasks, child->tid);
	if (s->args.options->implicit_closes && bas_fds_fork(u, child, u->is_cloning && u->clone_flags & CLONE_FILES))
		return -ENOMEM;
	bas_begin(s->text, u->upid, r->hdr.cpu, ev->time);
	if (u->is_cloning)
		bas_line(s->text, "SysClone|flags=%ld", (long)u->clone_flags);
	u->is_cloning = false;
	return put_fork(s, child, r->hdr.cpu);
}

static int put_exit(struct sink *s, uint64_t upid, const struct event *ev, unsigned status)
{
	bas_begin(s->text, upid, ev->rec->cpu, ev->time);
	bas_line(s->text, "Exit|status=%u", status);
	bas_stats_told(s->stats, ev->rec->cpu);
	return bas_end(s->text);
}

/* A thread that is not the leader has become it: what was its own number has ended just now. */
int bas_on_task_exec(struct sink *s, struct bas_task *u, const struct event *ev)
{
	uint64_t upid = who_became_leader(s->tasks, ev);

	(void)u;
	if (!upid)
		return 0;
	s->tasks->ended.upid = 0;
	return put_exit(s, upid, ev, 0);
}

int bas_on_task_exit(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_task_exit *r = (const void *)ev->rec;

	u->has_exited = true;
	if (r->hdr.flags & REC_F_REPLACED)
		return keep(s->tasks, u);
	return put_exit(s, u->upid, ev, r->status >> 8 & 0xff);
}
