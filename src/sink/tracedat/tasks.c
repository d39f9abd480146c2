/*
 * tasks.c - the last name of every task, and where each process's files lie in memory.
 *
 * A reader knows one name for a task number, and one map for a process: the last ones win. Of those that have ended they
 * go to two files of the spool, so that a recording of many keeps no more of them than are alive:
 *
 *	TD_LOG_NAMES	lines "TID NAME", as the section has them
 *	TD_LOG_MAPS	u32 pid, u32 bytes, the content of an option PROCMAPS
 */
#include "base.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"
#include "task.h"

#define NOTED	8192	/* sets, a power of two */
#define WAYS	4	/* names of a set: with 32768 task numbers each has a place */

struct noted {
	uint32_t tid;
	char	 comm[REC_COMM];
};

/* Where a process runs a program: after an exec, or a fork that shares its parent's. */
struct process {
	uint32_t	      pid;
	bool		      was_over;		/* when looked at last: what is mapped there is known by now */
	uint64_t	      order;
	const struct session *sess;		/* held */
};

struct td_names {
	struct td_task *alive;
	struct out     *names, *maps;	/* of those that have ended */
	struct noted    noted[NOTED][WAYS];	/* by the last bits of tid: what was written last, the latest first */
	struct process *process;
	size_t		process_count, process_room;
	uint64_t	processes;	/* so far */
};

int td_names_create(struct td_names **ret, int spoolfd)
{
	struct td_names *n = calloc(1, sizeof(*n));
	int err = n ? 0 : -ENOMEM;

	err = err ?: out_create(&n->names, spoolfd, TD_LOG_NAMES);
	err = err ?: out_create(&n->maps, spoolfd, TD_LOG_MAPS);
	if (err)
		td_names_destroy(n);
	else
		*ret = n;
	return err;
}

void td_names_set_aside(struct td_names *n, void (*is_full)(void *ctx), void *ctx)
{
	out_set_aside(n->names, 0, is_full, ctx);
	out_set_aside(n->maps, 0, is_full, ctx);
}

static void task_free(struct td_task *u)
{
	free(u->began);
	free(u);
}

void td_names_destroy(struct td_names *n)
{
	if (!n)
		return;
	while (n->alive)
		task_free(({ struct td_task *u = n->alive; n->alive = u->next; u; }));
	for (size_t i = 0; i < n->process_count; i++)
		session_release(n->process[i].sess);
	out_destroy(n->names);
	out_destroy(n->maps);
	free(n->process);
	free(n);
}

struct td_task *td_task_begin(struct td_names *n, const struct task *t)
{
	struct td_task *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->task = t;
	u->next = n->alive;
	u->link = &n->alive;
	if (u->next)
		u->next->link = &u->next;
	n->alive = u;
	return u;
}

/* A line without a name, or with blanks only, ends all reading of names. */
static void write_name(struct out *o, uint32_t tid, const char *comm)
{
	char text[REC_COMM + 1], whole[REC_COMM + 1] = "";

	memcpy(whole, comm, REC_COMM);
	td_clean(text, whole);
	out_printf(o, "%u %s\n", tid, text[strspn(text, " ")] ? text : "?");
}

/* The idle task, 0, has a name with every reader. Most switches are between a few tasks. */
void td_names_note(struct td_names *n, uint32_t tid, const char comm[REC_COMM])
{
	struct noted *set = n->noted[tid & (NOTED - 1)];
	unsigned way = 0;

	while (way < WAYS - 1 && set[way].tid != tid)
		way++;
	if (!tid || (set[way].tid == tid && !memcmp(set[way].comm, comm, REC_COMM)))
		return;
	memmove(set + 1, set, way * sizeof(*set));
	set[0].tid = tid;
	memcpy(set[0].comm, comm, REC_COMM);
	write_name(n->names, tid, comm);
}

void td_task_end(struct td_names *n, struct td_task *u)
{
	td_names_note(n, u->task->tid, u->task->comm);
	*u->link = u->next;
	if (u->next)
		u->next->link = u->link;
	task_free(u);
}

int td_names_process(struct td_names *n, uint32_t pid, const struct session *sess)
{
	struct process *last = n->process_count ? &n->process[n->process_count - 1] : NULL;

	if (last && last->pid == pid && last->sess == sess)
		return 0;
	if (grow(&n->process, &n->process_room, n->process_count, sizeof(*n->process)))
		return -ENOMEM;
	session_hold(sess);
	n->process[n->process_count++] = (struct process){ .pid = pid, .sess = sess, .order = n->processes++ };
	return 0;
}

/* ---- written ---- */

int td_names_write(struct out *o, const struct td_names *n)
{
	struct out *text;
	int err = out_memory(&text);

	if (err)
		return err;
	for (const struct td_task *u = n->alive; u; u = u->next)
		write_name(text, u->task->tid, u->task->comm);
	return td_put_text(o, text);
}

static int by_start(const void *a, const void *b)
{
	const struct map *x = *(const struct map *const *)a, *y = *(const struct map *const *)b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Blanks end a path for the reader. */
static void write_path(struct out *o, const char *path)
{
	for (; *path; path++) {
		if ((uint8_t)*path <= ' ' || *path == '\\' || *path == 0x7f)
			out_printf(o, "\\%03o", (uint8_t)*path);
		else
			out_bytes(o, path, 1);
	}
}

static void write_maps(struct out *o, uint32_t pid, const struct session *sess)
{
	const struct map **sorted = calloc(sess->map_count ?: 1, sizeof(*sorted));

	if (!sorted)
		return;
	for (size_t i = 0; i < sess->map_count; i++)
		sorted[i] = &sess->map[i];
	qsort(sorted, sess->map_count, sizeof(*sorted), by_start);
	out_printf(o, "%x %zx ", pid, sess->map_count);
	write_path(o, *sess->exe ? sess->exe : "?");
	out_printf(o, "\n");
	for (size_t i = 0; i < sess->map_count; i++) {
		out_printf(o, "%lx %lx ", (unsigned long)sorted[i]->start, (unsigned long)sorted[i]->end);
		write_path(o, sorted[i]->path);
		out_printf(o, "\n");
	}
	out_bytes(o, "", 1);
	free(sorted);
}

static int write_process(struct out *o, const struct process *p)
{
	struct out *text;
	int err = out_memory(&text);

	if (err)
		return err;
	write_maps(text, p->pid, p->sess);
	if (out_tell(text) > TD_MAPS_MAX) {
		out_destroy(text);
		return 0;
	}
	out_u32(o, p->pid);
	out_u32(o, out_tell(text));
	out_bytes(o, out_data(text), out_tell(text));
	err = out_error(text) ?: out_error(o);
	out_destroy(text);
	return err;
}

int td_names_maps(struct out *o, const struct td_names *n)
{
	int err = 0;

	for (size_t i = 0; i < n->process_count && !err; i++)
		err = write_process(o, &n->process[i]);
	return err;
}

static int by_place(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->sess->id < y->sess->id ? -1 : x->sess->id > y->sess->id;
}

/* The programs that somebody runs now, sorted. */
static struct process *now_run(const struct td_names *n, size_t *count)
{
	struct process *all;

	*count = 0;
	for (const struct td_task *u = n->alive; u; u = u->next)
		++*count;
	all = malloc((*count ?: 1) * sizeof(*all));
	if (!all)
		return NULL;
	*count = 0;
	for (const struct td_task *u = n->alive; u; u = u->next)
		if (u->task->session)
			all[(*count)++] = (struct process){ .pid = u->task->pid, .sess = u->task->session };
	qsort(all, *count, sizeof(*all), by_place);
	return all;
}

static int by_order(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* Each thread names the process that it is of: once is enough. */
static void forget_twins(struct td_names *n)
{
	struct process *p = n->process;
	size_t kept = 0;

	if (n->process_count < 2)
		return;
	qsort(p, n->process_count, sizeof(*p), by_place);
	for (size_t i = 0; i < n->process_count; i++)
		if (kept && !by_place(&p[kept - 1], &p[i])) {
			p[kept - 1].order = MAX(p[kept - 1].order, p[i].order);
			session_release(p[i].sess);
		} else {
			p[kept++] = p[i];
		}
	n->process_count = kept;
	qsort(p, kept, sizeof(*p), by_order);
}

/* What nobody has run since the last time either goes to its file. */
int td_names_settle(struct td_names *n)
{
	size_t count, kept = 0;
	__cleanup(free_ptr) struct process *run = now_run(n, &count);
	int err = run ? 0 : -ENOMEM;

	forget_twins(n);
	for (size_t i = 0; run && i < n->process_count; i++) {
		struct process p = n->process[i];
		bool is_over = !bsearch(&p, run, count, sizeof(*run), by_place);

		if (is_over && p.was_over && !err) {
			err = write_process(n->maps, &p);
			session_release(p.sess);
			continue;
		}
		p.was_over = is_over;
		n->process[kept++] = p;
	}
	if (run)
		n->process_count = kept;
	err = err ?: out_flush(n->names);
	return err ?: out_flush(n->maps);
}

uint64_t td_names_bytes(const struct td_names *n)
{
	return out_tell(n->names) + out_tell(n->maps);
}
