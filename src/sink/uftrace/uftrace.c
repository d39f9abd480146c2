/*
 * uftrace.c - uftrace.data: one file of records per task, and what names them.
 *
 * A function's entry is 16 bytes appended to its task's file, nothing more. A
 * syscall waits until its end is known, since its strings come with it; nothing
 * else of its task can happen meanwhile. Everything but the records is written
 * at checkpoints and at the end, in an order that leaves a readable directory at
 * any moment: what records refer to, then the records, then `info`, which says
 * what there is.
 */
#include "about.h"
#include "base.h"
#include "cuda.h"
#include "event.h"
#include "image.h"
#include "log.h"
#include "mark.h"
#include "out.h"
#include "sink.h"
#include "sink/uftrace/uftrace.h"
#include "task.h"

struct sink {
	int		    dirfd;
	unsigned	    slot;
	const struct about *about;
	struct uf_calls	   *calls, *cuda;
	struct uf_modules   modules;
	struct uf_sessions  sessions;
	struct uf_tasks	    tasks;
	struct uf_perf	    perf;
	struct out	   *extern_out;		/* extern.dat: marks; NULL: there was none */
	struct uf_tracks    tracks;
	struct uf_task	   *dirty;		/* tasks with records that are not in their files */
	uint32_t	    deepest;
	uint32_t	    told_deepest;	/* this and the next: as `info` has them */
	size_t		    told_tasks;
	bool		    told_perf;
	uint64_t	    last;		/* time of the last event */
	uint64_t	    lost;		/* records that CPUs lost */
	uint64_t	    lost_told;		/* of these, in a task's file */
	bool		    was_written;	/* the directory can be opened */
};

static void sink_destroy(struct sink *s)
{
	if (!s)
		return;
	uf_tasks_release(&s->tasks);
	uf_tracks_release(&s->tracks);
	out_destroy(s->perf.out);
	out_destroy(s->extern_out);
	uf_sessions_release(&s->sessions);
	uf_modules_release(&s->modules);
	uf_calls_destroy(s->calls);
	uf_calls_destroy(s->cuda);
	free(s);
}

DEFINE_CLEANUP(sink_destroy, struct sink *)

static int uf_open(struct sink **ret, const struct sink_args *args)
{
	__cleanup(sink_destroyp) struct sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->dirfd = s->perf.dirfd = args->dirfd;
	s->slot = args->slot;
	s->about = args->about;
	err = uf_calls_create(&s->calls, s->about, UF_CALLS) ?: uf_calls_create(&s->cuda, s->about, UF_CUDA);
	err = err ?: uf_modules_init(&s->modules);
	err = err ?: uf_tasks_init(&s->tasks, s->dirfd);
	if (err)
		return fail(err, "cannot create the files of uftrace.data");
	*ret = TAKE(s);
	return 0;
}

/* --- records --- */

static int write_names(struct sink *s, bool is_last);

/* A block of records is about to reach its file: what it refers to must be there. */
static int write_what_records_need(struct sink *s)
{
	if (s->modules.has_new_specs)
		return write_names(s, false);
	if (uf_calls_must_write(s->calls) || uf_calls_must_write(s->cuda))
		return uf_calls_write(s->calls, s->dirfd) ?: uf_calls_write(s->cuda, s->dirfd);
	return 0;
}

/* @len bytes that belong together: a record and its payload, or several. */
static int put(struct sink *s, struct uf_task *u, const void *data, size_t len)
{
	int err = 0;

	if (!u->is_dirty) {
		u->is_dirty = true;
		u->next_dirty = s->dirty;
		s->dirty = u;
	}
	if (len > out_room(u->dat))
		err = write_what_records_need(s) ?: out_flush(u->dat);
	out_bytes(u->dat, data, len);
	return err;
}

/* Times never decrease within a file: they come in order, but a task's line may be a little later. */
static uint64_t in_order(struct uf_task *u, uint64_t time)
{
	if (time > u->last)
		u->last = time;
	return u->last;
}

static int put_record(struct sink *s, struct uf_task *u, uint64_t time, enum uf_type type, uint32_t depth,
		      uint64_t addr)
{
	struct uf_record r = { in_order(u, time), uf_word(type, false, depth, addr) };

	return put(s, u, &r, sizeof(r));
}

/*
 * Loss is shown where a function is open (cmds/replay.c:print_graph_rstack), and
 * `graph` takes one frame away for each such record (cmds/graph.c): so one is made
 * up for it. It has no exit; the reader believes the depth of what comes next
 * (utils/fstack.c:fstack_account_time). It takes the number for an int.
 */
static int put_lost(struct sink *s, struct uf_task *u, uint64_t time, uint32_t depth, uint64_t count)
{
	uint64_t addr = count ? uf_calls_named(s->calls, "records_lost") : 0;
	int err = 0;

	for (uint64_t n; count && !err; count -= n) {
		n = MIN(count, (uint64_t)INT32_MAX);
		err = put_record(s, u, time, UF_ENTRY, depth, addr);
		err = err ?: put_record(s, u, time, UF_LOST, 0, n);
		s->lost_told += n;
	}
	return err;
}

/* Write the syscall that @u is in. @exit NULL: its end was not seen. */
static int put_syscall(struct sink *s, struct uf_task *u, uint64_t time, const struct rec_sys_exit *exit)
{
	struct {
		struct uf_record r;
		uint8_t payload[UF_PAYLOAD_MAX + sizeof(struct uf_record) + 8];
	} entry;
	struct uf_record *r;
	struct uf_shown shown;
	uint64_t lost = u->lost;
	int err = uf_calls_show(s->calls, &shown, u->open, exit);

	if (err)
		return err;
	u->is_in_syscall = false;
	u->lost = 0;
	entry.r.time = in_order(u, u->open->time);
	entry.r.word = uf_word(UF_ENTRY, shown.entry_len, u->open->depth, shown.addr);
	memcpy(entry.payload, shown.entry, shown.entry_len);
	r = (struct uf_record *)(entry.payload + shown.entry_len);
	r->time = in_order(u, time);
	r->word = uf_word(UF_EXIT, shown.exit_len, u->open->depth, shown.addr);
	memcpy(r + 1, shown.exit, shown.exit_len);
	err = put(s, u, &entry, 2 * sizeof(*r) + shown.entry_len + shown.exit_len);
	return err || !lost ? err : put_lost(s, u, time, u->open->depth, lost);
}

/* --- events --- */

/* Where the function lies; for one whose place is not known, where its name does. */
static uint64_t addr_of(struct sink *s, const struct call *call)
{
	if (call->addr)
		return call->addr;
	return uf_calls_named(s->calls, call->func && call->func->name ? call->func->name : "unknown");
}

/* The module that the function of @call is in; NULL: not known. */
static struct uf_module *module_of(struct sink *s, const struct uf_task *u, const struct call *call)
{
	const struct session *sess = u->session->sess;
	struct uf_module *mod;

	for (const struct map *m = sess ? sess->map : NULL; m && m < sess->map + sess->map_count; m++) {
		const struct image *img = m->image;

		if (img && m->path && call->func >= img->func && call->func < img->func + img->func_count &&
		    call->addr == m->start + call->func->addr)
			return uf_module_find(&s->modules, &mod, m->path, img) ? NULL : mod;
	}
	return NULL;
}

/* A record with values is followed by them, where it can be told where the function is. */
static int put_with_values(struct sink *s, struct uf_task *u, const struct event *ev, enum uf_type type)
{
	struct {
		struct uf_record r;
		uint8_t payload[UF_VALUES_MAX];
	} rec;
	struct uf_module *mod = ev->call->addr && ev->call->func ? module_of(s, u, ev->call) : NULL;
	size_t len = 0;
	int err = 0;

	if (mod)
		err = uf_values_show(&s->modules, mod, ev->call->func->addr, uf_name(ev->call->func),
				     (const void *)ev->rec, rec.payload, &len);
	if (err)
		return err;
	rec.r.time = in_order(u, ev->began);
	rec.r.word = uf_word(type, len, ev->depth, addr_of(s, ev->call));
	return put(s, u, &rec, sizeof(rec.r) + len);
}

static int on_func_entry(struct sink *s, struct uf_task *u, const struct event *ev)
{
	if (ev->depth > s->deepest)
		s->deepest = ev->depth;
	if (ev->rec->kind == REC_FUNC_ENTRY_ARGS)
		return put_with_values(s, u, ev, UF_ENTRY);
	return put_record(s, u, ev->began, UF_ENTRY, ev->depth, addr_of(s, ev->call));
}

/* The record of an end that was inferred is another call's. */
static int on_func_exit(struct sink *s, struct uf_task *u, const struct event *ev)
{
	if (ev->ending == ENDED_SEEN && ev->rec->kind == REC_FUNC_EXIT_ARGS)
		return put_with_values(s, u, ev, UF_EXIT);
	return put_record(s, u, ev->time, UF_EXIT, ev->depth, addr_of(s, ev->call));
}

static int keep_texts(struct uf_syscall *call, const struct rec_sys_enter *rec)
{
	char *text;

	call->text_len = 0;
	if (!rec->text_len)
		return 0;
	if (rec->text_len > call->text_room) {
		text = realloc(call->text, rec->text_len);
		if (!text)
			return -ENOMEM;
		call->text = text;
		call->text_room = rec->text_len;
	}
	memcpy(call->text, rec->text, rec->text_len);
	call->text_len = rec->text_len;
	return 0;
}

static int on_sys_enter(struct sink *s, struct uf_task *u, const struct event *ev)
{
	const struct rec_sys_enter *rec = (const void *)ev->rec;
	int err = 0;

	if (u->is_in_syscall)
		err = put_syscall(s, u, ev->time, NULL);
	if (!u->open)
		u->open = calloc(1, sizeof(*u->open));
	if (err || !u->open)
		return err ?: -ENOMEM;
	u->open->time = ev->began;
	u->open->nr = rec->nr;
	u->open->depth = ev->depth;
	u->open->is_compat = rec->hdr.flags & REC_F_COMPAT;
	memcpy(u->open->arg, rec->arg, sizeof(u->open->arg));
	u->is_in_syscall = true;
	if (ev->depth > s->deepest)
		s->deepest = ev->depth;
	return keep_texts(u->open, rec);
}

static int on_sys_exit(struct sink *s, struct uf_task *u, const struct event *ev)
{
	static const struct rec_sys_exit success = { .ret = 0 };
	const struct rec_sys_exit *exit = NULL;

	if (!u->is_in_syscall || !ev->call)
		return 0;
	if (ev->ending == ENDED_SEEN && ev->rec->kind == REC_SYS_EXIT)
		exit = (const void *)ev->rec;
	else if (ev->rec->kind == REC_TASK_EXEC && uf_calls_is_exec(u->open))
		exit = &success;	/* it returns 0, but in the new image, where it is not open */
	return put_syscall(s, u, ev->time, exit);
}

static int on_task_lost(struct sink *s, struct uf_task *u, const struct event *ev)
{
	const struct rec_lost *rec = (const void *)ev->rec;
	uint64_t count = 0;

	for (int i = 0; i < REC_CLASSES; i++)
		count += rec_lost_count(rec, i);
	if (!u->is_in_syscall)
		return put_lost(s, u, ev->time, ev->depth, count);
	u->lost += count;
	return 0;
}

/* Entered and left at one time: neither without the other. */
static int on_usdt(struct sink *s, struct uf_task *u, const struct event *ev)
{
	struct {
		struct uf_record r;
		uint8_t payload[UF_VALUES_MAX + sizeof(struct uf_record)];
	} entry;
	uint64_t addr, time = in_order(u, ev->time);
	struct uf_record exit;
	size_t len;

	if (ev->depth > s->deepest)
		s->deepest = ev->depth;
	uf_calls_probe(s->calls, (const void *)ev->rec, &addr, entry.payload, &len);
	entry.r = (struct uf_record){ time, uf_word(UF_ENTRY, len, ev->depth, addr) };
	exit = (struct uf_record){ time, uf_word(UF_EXIT, false, ev->depth, addr) };
	memcpy(entry.payload + len, &exit, sizeof(exit));
	return put(s, u, &entry, 2 * sizeof(exit) + len);
}

/* Either end of a call of the CUDA driver: where it lies, and what it carries. */
static int put_cuda(struct sink *s, struct uf_task *u, const struct event *ev, enum uf_type type)
{
	struct {
		struct uf_record r;
		uint8_t payload[UF_VALUES_MAX];
	} rec;
	size_t len = 0;
	uint64_t addr = type == UF_ENTRY ? uf_cuda_entry(s->cuda, ev->call->cuda, rec.payload, &len) :
					   uf_cuda_exit(s->cuda, ev->call->cuda, rec.payload, &len);

	if (!addr)
		return -ENOMEM;
	rec.r.time = in_order(u, ev->time);
	rec.r.word = uf_word(type, len, ev->depth, addr);
	return put(s, u, &rec, sizeof(rec.r) + len);
}

static int on_cuda_entry(struct sink *s, struct uf_task *u, const struct event *ev)
{
	if (ev->depth > s->deepest)
		s->deepest = ev->depth;
	return put_cuda(s, u, ev, UF_ENTRY);
}

static int on_cuda_exit(struct sink *s, struct uf_task *u, const struct event *ev)
{
	return put_cuda(s, u, ev, UF_EXIT);
}

/* --- tracks of devices --- */

#define LATE_NS		(2 * (uint64_t)NSEC_PER_SEC)	/* what is told of a device is not older */

/* As a thread of the process, though one that begins nothing and is bound to no other session. */
static int begin_track(struct sink *s, struct uf_track *t, uint64_t time)
{
	struct task task = { .tid = t->tid, .pid = t->pid, .begin = time };
	const struct uf_task *leader = uf_task_find(&s->tasks, t->pid);
	char name[40];
	int err;

	if (!leader)
		return -ENOENT;
	snprintf(name, sizeof(name), "gpu%u:stream%u", t->device, t->stream);
	t->addr = uf_calls_named(s->cuda, name);
	err = uf_task_begin(&s->tasks, &t->task, &task, leader->session);
	if (err)
		return err;
	t->task->is_alive = false;
	s->deepest = MAX(s->deepest, 1u);
	return put_record(s, t->task, time, UF_ENTRY, 0, t->addr);
}

static int put_span(void *ctx, struct uf_track *t, const struct uf_span *span)
{
	struct {
		struct uf_record r;
		uint8_t payload[UF_SPAN_BYTES + sizeof(struct uf_record)];
	} entry;
	struct sink *s = ctx;
	struct uf_record exit;
	int err = t->task ? 0 : begin_track(s, t, span->start);

	if (err)
		return err == -ENOENT ? 0 : err;
	entry.r = (struct uf_record){ in_order(t->task, span->start), uf_word(UF_ENTRY, span->len, 1, span->addr) };
	memcpy(entry.payload, span->payload, span->len);
	exit = (struct uf_record){ in_order(t->task, span->end), uf_word(UF_EXIT, false, 1, span->addr) };
	memcpy(entry.payload + span->len, &exit, sizeof(exit));
	return put(s, t->task, &entry, 2 * sizeof(exit) + span->len);
}

/* The last of the process has been told: its tracks end. */
static int uf_cuda_end(struct sink *s, struct cuda_process *p)
{
	int err = uf_tracks_write(&s->tracks, UINT64_MAX, put_span, s);

	for (size_t i = 0; i < s->tracks.tracks && !err; ) {
		struct uf_track *t = &s->tracks.track[i];

		if (t->process != p->id) {
			i++;
			continue;
		}
		if (t->task)
			err = put_record(s, t->task, t->end, UF_EXIT, 0, t->addr);
		*t = s->tracks.track[--s->tracks.tracks];
	}
	return err;
}

/* The scheduler's; others have no place here. */
static int on_kernel_event(struct sink *s, const struct event *ev)
{
	const struct rec_event *r = (const void *)ev->rec;
	const struct event_sched_switch *e = (const void *)r->field;

	if (r->event != EVENT_SCHED_SWITCH)
		return 0;
	return uf_perf_switch(&s->perf, uf_task_find(&s->tasks, e->prev_pid), uf_task_find(&s->tasks, e->next_pid), ev->time);
}

/* A reader shows it with the task whose record came last. */
static int on_mark(struct sink *s, const struct event *ev)
{
	char text[MARK_TEXT_MAX];
	int err = s->extern_out ? 0 : out_create(&s->extern_out, s->dirfd, "extern.dat");

	if (err)
		return err;
	mark_text(text, ev);
	out_printf(s->extern_out, "%llu.%09llu %s\n", ev->time / NSEC_PER_SEC, ev->time % NSEC_PER_SEC, text);
	return out_error(s->extern_out);
}

static int (*const on_event[REC_KINDS])(struct sink *s, struct uf_task *u, const struct event *ev) = {
	[REC_SYS_ENTER]	 = on_sys_enter,
	[REC_SYS_EXIT]	 = on_sys_exit,
	[REC_FUNC_ENTRY] = on_func_entry,
	[REC_FUNC_EXIT]	 = on_func_exit,
	[REC_TASK_LOST]	 = on_task_lost,
	[REC_USDT]	 = on_usdt,
	[REC_CUDA_ENTRY] = on_cuda_entry,
	[REC_CUDA_EXIT]	 = on_cuda_exit,
};

/* --- to disk --- */

static const char *build_id_of(const struct sink *s, const char *exe)
{
	const struct uf_module *mod = exe ? uf_module_at(&s->modules, exe) : NULL;

	return mod ? mod->build_id : "";
}

/* What a reader needs of `info` to open the directory changes only with the tasks and the depth; the rest can wait. */
static bool info_is_current(struct sink *s)
{
	if (s->told_tasks == s->tasks.listed && s->told_deepest == s->deepest && s->told_perf == !!s->perf.out)
		return true;
	s->told_tasks = s->tasks.listed;
	s->told_deepest = s->deepest;
	s->told_perf = s->perf.out;
	return false;
}

static int write_info(const struct sink *s)
{
	struct uf_summary sum = {
		.about = s->about, .tids = s->tasks.tids, .tid_count = s->tasks.listed, .deepest = s->deepest,
		.has_perf = s->perf.out, .last = s->last, .build_id = build_id_of(s, s->about->exe),
	};

	return uf_info_write(&sum, s->dirfd);
}

static int write_records(struct sink *s)
{
	int err = 0;

	while (s->dirty) {
		struct uf_task *u = s->dirty;

		s->dirty = u->next_dirty;
		u->is_dirty = false;
		err = err ?: out_park(u->dat);
	}
	return err;
}

/* What records refer to. Costs what has changed since the last time. */
static int write_names(struct sink *s, bool is_last)
{
	int err = uf_calls_write(s->calls, s->dirfd) ?: uf_calls_write(s->cuda, s->dirfd);

	err = err ?: uf_sessions_update(&s->sessions, &s->modules, is_last);
	err = err ?: uf_modules_write(&s->modules, s->dirfd);
	err = err ?: uf_sessions_write(&s->sessions, s->dirfd);
	return err ?: uf_tasks_write(&s->tasks, is_last);
}

/* The same, the records, and `info`. */
static int write_all(struct sink *s, bool is_last)
{
	int err = write_names(s, is_last);

	err = err ?: write_records(s);
	if (s->perf.out)
		err = err ?: out_flush(s->perf.out);
	if (s->extern_out)
		err = err ?: out_flush(s->extern_out);
	s->was_written = true;
	if (err || (info_is_current(s) && !is_last))
		return err;
	return write_info(s);
}

/* --- the callbacks --- */

static int uf_event(struct sink *s, const struct event *ev)
{
	struct uf_task *u;
	int err;

	s->last = ev->time;
	if (ev->kind == REC_EVENT)
		return on_kernel_event(s, ev);
	if (ev->kind == REC_MARK)
		return on_mark(s, ev);
	if (ev->kind == REC_CUDA_TIMES)
		return uf_tracks_add(&s->tracks, s->cuda, ev->device);
	u = ev->task->slot[s->slot];
	if (!u || ev->kind >= REC_KINDS || !on_event[ev->kind])
		return 0;
	err = on_event[ev->kind](s, u, ev);
	if (!s->was_written && s->dirty && !err)
		err = write_all(s, false);	/* from the first record on, a recorder may be killed */
	return err;
}

static int uf_lost(struct sink *s, unsigned cpu, uint64_t time, const uint64_t *count)
{
	(void)cpu, (void)time;
	for (int i = 0; i < REC_CLASSES; i++)
		s->lost += count[i];
	return 0;
}

/* --- tasks, sessions, maps --- */

static int uf_begin_session(struct sink *s, const struct session *sess)
{
	return uf_session_begin(&s->sessions, sess);
}

static struct uf_session *session_of(const struct sink *s, const struct session *sess)
{
	return uf_session_at(&s->sessions, sess->id);
}

static int uf_map_added(struct sink *s, const struct session *sess, const struct map *map)
{
	struct uf_session *us = session_of(s, sess), *epoch = us;
	int err;

	if (!us)
		return 0;
	err = uf_session_map(&s->sessions, &epoch, &s->modules, map);
	if (!err && epoch != us)
		err = uf_tasks_move(&s->tasks, us, epoch, s->last);
	return err;
}

static int begin_task(struct sink *s, struct task *t)
{
	struct uf_session *us = session_of(s, t->session);
	struct uf_task *u = NULL;
	int err;

	if (!us)
		return -EINVAL;
	err = uf_task_begin(&s->tasks, &u, t, us);
	t->slot[s->slot] = u;
	return err;
}

static int exec_task(struct sink *s, struct task *t, uint64_t time)
{
	struct uf_session *us = session_of(s, t->session);
	struct uf_task *u = t->slot[s->slot];
	int err = 0;

	if (!us || !u)
		return 0;
	if (u->is_in_syscall)
		err = put_syscall(s, u, time, NULL);
	return err ?: uf_task_exec(&s->tasks, u, us, time);
}

static int move_task(struct sink *s, struct task *t, uint64_t time)
{
	struct uf_session *us = session_of(s, t->session);
	struct uf_task *u = t->slot[s->slot];

	return us && u ? uf_task_move(&s->tasks, u, us, time) : 0;
}

static int end_task(struct sink *s, struct task *t)
{
	struct uf_task *u = TAKE(t->slot[s->slot]);
	int err = 0;

	if (!u)
		return 0;
	if (u->is_in_syscall)
		err = put_syscall(s, u, s->last, NULL);
	u->is_alive = false;
	if (u->open)
		free(u->open->text);
	free(TAKE(u->open));
	return err;
}

static int uf_checkpoint(struct sink *s)
{
	int err = s->last > LATE_NS ? uf_tracks_write(&s->tracks, s->last - LATE_NS, put_span, s) : 0;

	return err ?: write_all(s, false);
}

/* Records that were lost and that no task's file tells of are told in the first one. */
static int tell_rest_lost(struct sink *s)
{
	uint64_t about = 0, lost;

	for (int i = 0; i < REC_CLASSES; i++)
		about += s->about->lost[i];
	lost = MAX(s->lost, about);
	if (!s->tasks.first || lost <= s->lost_told)
		return 0;
	return put_lost(s, s->tasks.first, s->tasks.first->last, 0, lost - s->lost_told);
}

static int uf_close(struct sink *s)
{
	int err = 0, last;

	for (struct uf_task *u = uf_task_after(&s->tasks, NULL); u; u = uf_task_after(&s->tasks, u))
		if (u->is_in_syscall)
			err = err ?: put_syscall(s, u, s->last, NULL);
	err = err ?: tell_rest_lost(s);
	if (s->tracks.left_out)
		warn("format 'uftrace': %lu kernels and copies overlap too many others to be shown", s->tracks.left_out);
	last = write_all(s, true);
	sink_destroy(s);
	return err ?: last;
}

const struct sink_ops sink_uftrace = {
	.name		= "uftrace",
	.doc		= "a directory for uftrace: replay, report, graph, tui, dump",
	.path		= "uftrace.data",
	.open_with	= "uftrace replay -d %s",
	.wants		= SINK_WANTS(REC_TASK_NEW) | SINK_WANTS(REC_TASK_EXEC) | SINK_WANTS(REC_TASK_EXIT) |
			  SINK_WANTS(REC_IMAGE) | SINK_WANTS(REC_SYS_ENTER) | SINK_WANTS(REC_SYS_EXIT) |
			  SINK_WANTS(REC_FUNC_ENTRY) | SINK_WANTS(REC_FUNC_EXIT) | SINK_WANTS(REC_TASK_LOST) |
			  SINK_WANTS(REC_LOST) | SINK_WANTS(REC_USDT) | SINK_WANTS(REC_EVENT) | SINK_WANTS(REC_CUDA_ENTRY) |
			  SINK_WANTS(REC_CUDA_EXIT) | SINK_WANTS(REC_CUDA_TIMES) | SINK_WANTS(REC_MARK),
	.open		= uf_open,
	.session_begin	= uf_begin_session,
	.map_added	= uf_map_added,
	.task_begin	= begin_task,
	.task_exec	= exec_task,
	.task_moves	= move_task,
	.event		= uf_event,
	.task_end	= end_task,
	.lost		= uf_lost,
	.cuda_end	= uf_cuda_end,
	.checkpoint	= uf_checkpoint,
	.close		= uf_close,
};
