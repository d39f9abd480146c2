/*
 * tasks.c - task.txt: which task lives in which session, from when on.
 *
 * The reader binds a task to the newest session of its pid when it meets the
 * task's line (utils/session.c:create_task): so a SESS line stands before the
 * lines that use it, and the order of the file counts as much as the times. A
 * forked child inherits only what its parent was bound to strictly before. An
 * exec's line bears a time after all records of the old image, since those of
 * the same time would get names of the new one.
 *
 * Lines wait in memory until the next checkpoint, because a session's program is
 * known a little after the session is.
 */
#include "base.h"
#include "out.h"
#include "sink/uftrace/uftrace.h"
#include "task.h"

#define EXENAME_MAX	1000	/* bytes of a path in task.txt */

int uf_tasks_init(struct uf_tasks *t, int dirfd)
{
	t->dirfd = dirfd;
	t->hash_size = 256;
	t->hash = calloc(t->hash_size, sizeof(*t->hash));
	if (!t->hash)
		return -ENOMEM;
	return out_create(&t->txt, dirfd, "task.txt");
}

static void task_destroy(struct uf_task *u)
{
	if (!u)
		return;
	out_destroy(u->dat);
	if (u->open)
		free(u->open->text);
	free(u->open);
	free(u);
}

DEFINE_CLEANUP(task_destroy, struct uf_task *)

void uf_tasks_release(struct uf_tasks *t)
{
	for (size_t i = 0; t->hash && i < t->hash_size; i++)
		while (t->hash[i]) {
			struct uf_task *u = t->hash[i];

			t->hash[i] = u->next;
			task_destroy(u);
		}
	out_destroy(t->txt);
	free(t->hash);
	free(t->line);
	free(t->tids);
}

static struct uf_task **bucket(const struct uf_tasks *t, uint32_t tid)
{
	return &t->hash[tid & (t->hash_size - 1)];
}

struct uf_task *uf_task_find(const struct uf_tasks *t, uint32_t tid)
{
	struct uf_task *u = *bucket(t, tid);

	while (u && u->tid != tid)
		u = u->next;
	return u;
}

struct uf_task *uf_task_after(const struct uf_tasks *t, const struct uf_task *u)
{
	size_t i = u ? (u->tid & (t->hash_size - 1)) + 1 : 0;

	if (u && u->next)
		return u->next;
	while (i < t->hash_size && !t->hash[i])
		i++;
	return i < t->hash_size ? t->hash[i] : NULL;
}

/* As many buckets as tasks; ids are given out one by one, so they spread well by themselves. */
static int widen(struct uf_tasks *t)
{
	struct uf_tasks wide = { .hash_size = t->hash_size * 2 };
	struct uf_task *u;

	if (t->count < t->hash_size)
		return 0;
	wide.hash = calloc(wide.hash_size, sizeof(*wide.hash));
	if (!wide.hash)
		return -ENOMEM;
	for (size_t i = 0; i < t->hash_size; i++)
		while ((u = t->hash[i])) {
			struct uf_task **to = bucket(&wide, u->tid);

			t->hash[i] = u->next;
			u->next = *to;
			*to = u;
		}
	free(t->hash);
	t->hash = wide.hash;
	t->hash_size = wide.hash_size;
	return 0;
}

static int make_task(struct uf_tasks *t, struct uf_task **ret, uint32_t tid)
{
	__cleanup(task_destroyp) struct uf_task *u = calloc(1, sizeof(*u));
	char name[32];
	int err = widen(t);

	if (err || !u)
		return -ENOMEM;
	u->tid = tid;
	snprintf(name, sizeof(name), "%u.dat", tid);
	err = out_create(&u->dat, t->dirfd, name);
	err = err ?: out_park(u->dat);
	if (err)
		return err;
	u->next = *bucket(t, tid);
	*bucket(t, tid) = u;
	t->count++;
	if (!t->first)
		t->first = u;
	*ret = TAKE(u);
	return 0;
}

static int add_line(struct uf_tasks *t, const struct uf_line *line)
{
	if (grow(&t->line, &t->line_room, t->line_count, sizeof(*t->line)))
		return -ENOMEM;
	t->line[t->line_count++] = *line;
	return 0;
}

/* @u lives in @us from @time on, whatever the reader knew of its pid before. */
static int enter(struct uf_tasks *t, struct uf_task *u, struct uf_session *us, uint64_t time,
		 bool with_session)
{
	struct uf_line line = { LINE_SESS, time, u->tid, u->pid, us, u };
	struct uf_task *leader = u->tid == u->pid ? u : uf_task_find(t, u->pid);
	int err = 0;

	if (with_session) {
		err = add_line(t, &line);
		if (leader)
			leader->has_session = true;
	}
	line.kind = LINE_TASK;
	err = err ?: add_line(t, &line);
	u->session = us;
	u->bound = u->last = time;
	return err;
}

/* A process, known by its leader. */
static int begin_process(struct uf_tasks *t, struct uf_task *u, const struct uf_task *parent,
			 struct uf_session *us, uint64_t time, bool is_new)
{
	struct uf_line line = { LINE_FORK, time, u->tid, 0, us, u };

	if (!is_new || !parent || parent->session != us || us->pid == u->pid)
		return enter(t, u, us, time, true);
	line.pid = parent->pid;
	line.time = MAX(time, parent->bound + 1);
	u->session = us;
	u->bound = u->last = line.time;
	return add_line(t, &line);
}

/* A thread. A tid that the reader knows already is bound through a SESS line of the pid only. */
static int begin_thread(struct uf_tasks *t, struct uf_task *u, struct uf_session *us, uint64_t time,
			bool is_new)
{
	struct uf_task *leader = uf_task_find(t, u->pid);
	bool is_bound = leader && leader->session == us && (is_new || leader->has_session);

	if (leader)
		time = MAX(time, leader->bound + 1);
	return enter(t, u, us, time, !is_bound);
}

int uf_task_begin(struct uf_tasks *t, struct uf_task **ret, const struct task *task, struct uf_session *us)
{
	struct uf_task *u = uf_task_find(t, task->tid), *parent;
	bool is_new = !u;
	uint64_t time;
	int err = 0;

	if (is_new)
		err = make_task(t, &u, task->tid);
	if (err)
		return err;
	/* Records of a tid that is used again go on in its file. */
	time = is_new ? task->begin : MAX(task->begin, u->last + 1);
	u->pid = task->pid;
	u->is_alive = true;
	memcpy(u->comm, task->comm, sizeof(u->comm));
	parent = task->parent_pid ? uf_task_find(t, task->parent_pid) : NULL;
	*ret = u;
	if (u->tid == u->pid)
		return begin_process(t, u, parent, us, time, is_new);
	return begin_thread(t, u, us, time, is_new);
}

int uf_task_exec(struct uf_tasks *t, struct uf_task *u, struct uf_session *us, uint64_t time)
{
	return enter(t, u, us, MAX(time, u->last + 1), true);
}

int uf_task_move(struct uf_tasks *t, struct uf_task *u, struct uf_session *to, uint64_t time)
{
	struct uf_task *leader = uf_task_find(t, u->pid);
	const struct uf_session *from = u->session;
	int err = 0;

	if (from == to || !u->is_alive)
		return 0;
	if (leader && leader != u && leader->session == from)
		err = enter(t, leader, to, MAX(time, leader->last + 1), true);
	time = MAX(time, leader ? leader->bound : 0);
	return err ?: enter(t, u, to, MAX(time, u->last + 1), !leader || leader == u);
}

int uf_tasks_move(struct uf_tasks *t, const struct uf_session *from, struct uf_session *to, uint64_t time)
{
	int err = 0;

	for (struct uf_task *u = uf_task_after(t, NULL); u && !err; u = uf_task_after(t, u))
		if (u->session == from)
			err = uf_task_move(t, u, to, time);
	return err;
}

/* Name @u's tid in info from now on. */
static int list_task(struct uf_tasks *t, struct uf_task *u)
{
	size_t room = MAX(t->tids_room, (size_t)256);
	char *tids;

	if (u->is_listed)
		return 0;
	if (t->tids_len + 16 > t->tids_room) {
		tids = realloc(t->tids, room * 2);
		if (!tids)
			return -ENOMEM;
		t->tids = tids;
		t->tids_room = room * 2;
	}
	t->tids_len += sprintf(t->tids + t->tids_len, t->tids_len ? ",%u" : "%u", u->tid);
	t->listed++;
	u->is_listed = true;
	return 0;
}

static void put_session(struct out *o, const struct uf_line *line)
{
	const char *exe = line->session->exe ?: line->task->comm;
	size_t len = strlen(exe);
	char clean[EXENAME_MAX];

	/* Of a path that is too long the end matters: the base name becomes the task's name. */
	uf_clean(clean, sizeof(clean), len < sizeof(clean) ? exe : exe + len - sizeof(clean) + 1, UF_LINE);
	out_printf(o, "SESS timestamp=" UF_TIME " pid=%u sid=%s exename=\"%s\"\n", UF_TIME_ARGS(line->time),
		   line->pid, line->session->sid, clean);
}

static void put_task(struct out *o, const struct uf_line *line)
{
	bool is_fork = line->kind == LINE_FORK;

	out_printf(o, "%s timestamp=" UF_TIME " %s=%u %s=%u\n",
		   is_fork ? "FORK" : "TASK", UF_TIME_ARGS(line->time),
		   is_fork ? "pid" : "tid", line->tid, is_fork ? "ppid" : "pid", line->pid);
}

/* A line whose session's program is not known waits for it, past one checkpoint. */
static bool must_wait(const struct uf_line *line)
{
	return line->kind == LINE_SESS && !line->session->exe && line->session->checks < 2;
}

int uf_tasks_write(struct uf_tasks *t, bool is_last)
{
	size_t done;
	int err = 0;

	for (done = 0; done < t->line_count && !err; done++) {
		const struct uf_line *line = &t->line[done];

		if (!is_last && must_wait(line))
			break;
		if (line->kind == LINE_SESS) {
			put_session(t->txt, line);
		} else {
			put_task(t->txt, line);
			err = list_task(t, line->task);
		}
	}
	t->line_count -= done;
	if (done)
		memmove(t->line, t->line + done, t->line_count * sizeof(*t->line));
	return err ?: out_flush(t->txt);
}
