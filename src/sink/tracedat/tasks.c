/*
 * tasks.c - the last name of every task, and where each process's files lie in memory.
 *
 * A reader knows one name for a task number, and one map for a process: the last ones win.
 */
#include "base.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"
#include "task.h"

#define NOTED	1024	/* a power of two */

struct name {
	uint32_t tid, order;
	char	 comm[REC_COMM];
};

struct process {
	uint32_t	      pid, order;
	const struct session *sess;	/* the tracker keeps them to the end */
};

struct td_names {
	struct td_task *alive;
	struct name    *name;		/* of tasks that have ended */
	size_t		name_count, name_room;
	struct name     noted[NOTED];	/* by the last bits of tid: what was added last */
	struct process *process;
	size_t		process_count, process_room;
};

int td_names_create(struct td_names **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
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
	free(n->name);
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

static int add_name(struct td_names *n, uint32_t tid, const char *comm)
{
	struct name *name;

	if (grow(&n->name, &n->name_room, n->name_count, sizeof(*n->name)))
		return -ENOMEM;
	name = &n->name[n->name_count];
	name->tid = tid;
	name->order = n->name_count++;
	memcpy(name->comm, comm, sizeof(name->comm));
	return 0;
}

/* The idle task, 0, has a name with every reader. Most switches are between a few tasks. */
void td_names_note(struct td_names *n, uint32_t tid, const char comm[REC_COMM])
{
	struct name *known = &n->noted[tid & (NOTED - 1)];

	if (!tid || (known->tid == tid && !memcmp(known->comm, comm, REC_COMM)))
		return;
	known->tid = tid;
	memcpy(known->comm, comm, REC_COMM);
	(void)add_name(n, tid, comm);
}

void td_task_end(struct td_names *n, struct td_task *u)
{
	(void)add_name(n, u->task->tid, u->task->comm);
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
	n->process[n->process_count] = (struct process){ pid, n->process_count, sess };
	n->process_count++;
	return 0;
}

/* ---- written ---- */

static int by_tid(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* A line without a name, or with blanks only, ends all reading of names. */
static void write_comm(struct out *o, uint32_t tid, const char *comm)
{
	char text[REC_COMM + 1], whole[REC_COMM + 1] = "";

	memcpy(whole, comm, REC_COMM);
	td_clean(text, whole);
	out_printf(o, "%u %s\n", tid, text[strspn(text, " ")] ? text : "?");
}

int td_names_write(struct out *o, struct td_names *n)
{
	struct out *text;
	size_t ended = n->name_count, kept = 0;
	int err = out_memory(&text);

	if (err)
		return err;
	for (struct td_task *u = n->alive; u && !err; u = u->next)
		err = add_name(n, u->task->tid, u->task->comm);
	qsort(n->name, n->name_count, sizeof(*n->name), by_tid);
	for (size_t i = 0; i < n->name_count; i++) {
		if (i + 1 == n->name_count || n->name[i + 1].tid != n->name[i].tid)
			write_comm(text, n->name[i].tid, n->name[i].comm);
		if (n->name[i].order >= ended)
			continue;		/* of one that is alive: its name may change yet */
		if (kept && n->name[kept - 1].tid == n->name[i].tid)
			kept--;
		n->name[kept++] = n->name[i];
	}
	for (size_t i = 0; i < kept; i++)
		n->name[i].order = i;
	n->name_count = kept;
	out_u64(o, out_tell(text));
	out_bytes(o, out_data(text), out_tell(text));
	err = err ?: out_error(text);
	out_destroy(text);
	return err;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->order < y->order ? -1 : 1;
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

/* The order in which processes came is not needed any more once the last map of each is known. */
int td_names_maps(struct out *options, const struct td_names *n)
{
	struct process *p = malloc((n->process_count ?: 1) * sizeof(*p));
	int err = p ? 0 : -ENOMEM;

	if (p)
		memcpy(p, n->process, n->process_count * sizeof(*p));
	if (p)
		qsort(p, n->process_count, sizeof(*p), by_pid);
	for (size_t i = 0; i < n->process_count && !err; i++) {
		struct out *text;

		if (i + 1 < n->process_count && p[i + 1].pid == p[i].pid)
			continue;
		err = out_memory(&text);
		if (err)
			break;
		write_maps(text, p[i].pid, p[i].sess);
		td_option(options, TD_O_PROCMAPS, out_data(text), out_tell(text));
		err = out_error(text);
		out_destroy(text);
	}
	free(p);
	return err;
}
