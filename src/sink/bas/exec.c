/*
 * exec.c - what a program was started with. Its arguments come in pieces; with the last one the event is told.
 *
 * Memory is taken as pieces come, not as a record claims.
 */
#include "base.h"
#include "sink/bas/bas.h"

#define DEV_FD	"/dev/fd/"

struct bas_exec {
	struct rec_exec *rec;		/* a copy */
	uint64_t	 time;
	char		*bytes;		/* the arguments, then the environment */
	size_t		 have, room;
};

void bas_exec_free(struct bas_exec *e)
{
	if (!e)
		return;
	free(e->rec);
	free(e->bytes);
	free(e);
}

DEFINE_CLEANUP(bas_exec_free, struct bas_exec *)

void bas_exec_drop(struct sink *s, struct bas_task *u)
{
	struct bas_exec *e = TAKE(u->exec);

	if (!e)
		return;
	bas_untold(s, e->rec->hdr.cpu);
	bas_exec_free(e);
}

static uint64_t all_bytes(const struct bas_exec *e)
{
	return e->rec->args + e->rec->env;
}

/* ---- telling it ---- */

/* The kernel names what execveat() runs by a descriptor, which the program may not have any more. */
static bool is_by_descriptor(const char *name)
{
	return !strncmp(name, DEV_FD, strlen(DEV_FD));
}

struct programs {
	char *interpreter, *program;	/* PI, PP */
};

static void programs_free(struct programs *p)
{
	free(p->interpreter);
	free(p->program);
}

/* By a name relative to a descriptor: it may be one of several of the file, or a link. NULL: not so, or that was closed. */
static char *by_directory(const struct bas_told *d, const char *name)
{
	const char *rest = strchr(name + strlen(DEV_FD), '/');
	__cleanup(free_ptr) char *base = rest ? bas_told_path(d, FILE_TEXT_BASE2, NULL) : NULL, *path = NULL;

	path = base ? bas_names_join(base, rest + 1) : NULL;
	return path ? bas_names_resolve(d->names, &d->whose, path, NULL) : NULL;
}

static bool ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), n = strlen(end);

	return len >= n && !strcmp(path + len - n, end);
}

/* Where the way to it is gone already, /bin/x is /usr/bin/x when that is the file that runs: a link of /bin to usr/bin. */
static char *by_name(const struct bas_told *d, unsigned which)
{
	__cleanup(free_ptr) char *running = NULL;
	bool is_gone = false;
	char *path = bas_told_resolved(d, which, FILE_TEXT_BASE, &is_gone);

	if (!path || !is_gone)
		return path;
	running = bas_told_path(d, FILE_TEXT_PATH, NULL);
	if (!running || !ends_with(running, path))
		return path;
	free(path);
	return TAKE(running);
}

static char *program_of(const struct bas_told *d, const char *name, bool is_script)
{
	char *path = NULL;

	if (!is_by_descriptor(name))
		return by_name(d, FILE_TEXT_NAME);
	path = by_directory(d, name);
	if (!path && !is_script)
		path = bas_told_path(d, FILE_TEXT_PATH, NULL);
	return path ?: strdup(name);
}

/* PP and PI: both the same, but of a script. False: the record does not tell. */
static bool find_programs(struct programs *p, const struct bas_told *d)
{
	__cleanup(free_ptr) char *name = bas_told_name(d, FILE_TEXT_NAME), *interp = bas_told_name(d, FILE_TEXT_INTERP);
	bool is_script = name && interp && strcmp(name, interp);

	if (!name)
		return false;
	p->program = program_of(d, name, is_script);
	if (is_script)
		p->interpreter = by_name(d, FILE_TEXT_INTERP);
	else
		p->interpreter = p->program ? strdup(p->program) : NULL;
	return p->program && p->interpreter;
}

static void put_arguments(struct bas_text *t, const char *at, size_t len)
{
	const char *end = at + len;

	for (unsigned i = 0; at < end; i++) {
		size_t n = strnlen(at, end - at);

		bas_argument(t, i, at, n);
		at += n + 1;
	}
}

static int tell(struct sink *s, const struct bas_task *u, const struct bas_exec *e)
{
	struct bas_told d = { s->names, { &e->rec->root, e->rec->hdr.pid, e->rec->hdr.tid, e->rec->hdr.time }, e->rec->text, e->rec->text_len };
	__cleanup(programs_free) struct programs p = {};
	__cleanup(free_ptr) char *cwd = bas_told_path(&d, FILE_TEXT_BASE, NULL);
	struct bas_text *t = s->text;

	bas_stats_cut(s->stats, bas_told_cut(&d));
	if (s->env)
		bas_env_note(s->env, u->upid, e->bytes + e->rec->args, e->rec->env);
	if (!cwd || !find_programs(&p, &d)) {
		bas_untold(s, e->rec->hdr.cpu);
		return 0;
	}
	bas_begin(t, u->upid, e->rec->hdr.cpu, e->time);
	bas_line(t, "New_proc|argsize=%lu,prognameisize=%zu,prognamepsize=%zu,cwdsize=%zu", (unsigned long)e->rec->args,
		 strlen(p.interpreter), strlen(p.program), strlen(cwd));
	bas_string(t, "PI", p.interpreter, strlen(p.interpreter));
	bas_string(t, "PP", p.program, strlen(p.program));
	bas_string(t, "CW", cwd, strlen(cwd));
	put_arguments(t, e->bytes, e->rec->args);
	bas_line(t, "End_of_args|");
	bas_stats_told(s->stats, e->rec->hdr.cpu);
	return bas_end(t);
}

static int tell_if_whole(struct sink *s, struct bas_task *u)
{
	struct bas_exec *e = u->exec;
	int err;

	if (e->have < all_bytes(e))
		return 0;
	err = tell(s, u, e);
	bas_exec_free(TAKE(u->exec));
	return err;
}

/* ---- gathering ---- */

int bas_on_exec(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_exec *r = (const void *)ev->rec;
	__cleanup(bas_exec_freep) struct bas_exec *e = calloc(1, sizeof(*e));
	int err = s->args.options->implicit_closes ? bas_fds_on_exec(s, u, ev) : 0;

	if (!e || err)
		return err ?: -ENOMEM;
	e->rec = malloc(r->hdr.size);
	if (!e->rec)
		return -ENOMEM;
	memcpy(e->rec, r, r->hdr.size);
	e->time = ev->time;
	u->exec = TAKE(e);
	bas_repeats_exec(u);
	bas_names_root(s->names, &r->root, r->hdr.tid, u->parent_tid);
	return tell_if_whole(s, u);
}

static int append(struct bas_exec *e, const char *bytes, size_t len)
{
	size_t room = MAX(e->room, (size_t)EXEC_PIECE_MAX);
	char *all;

	while (room - e->have < len)
		room *= 2;
	if (room > e->room) {
		all = realloc(e->bytes, room);
		if (!all)
			return -ENOMEM;
		e->bytes = all;
		e->room = room;
	}
	memcpy(e->bytes + e->have, bytes, len);
	e->have += len;
	return 0;
}

/* Of one whose beginning was lost nothing is known. */
int bas_on_exec_piece(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_exec_piece *r = (const void *)ev->rec;
	struct bas_exec *e = u->exec;
	int err;

	if (!e)
		return 0;
	if (r->at != e->have || r->len > all_bytes(e) - e->have) {
		bas_exec_drop(s, u);
		return 0;
	}
	err = append(e, r->bytes, r->len);
	return err ?: tell_if_whole(s, u);
}
