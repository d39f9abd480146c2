/*
 * tracedat.c - trace.dat version 7: events per CPU, described by formats of our own, so no tracefs is asked.
 *
 * An event goes to the CPU it happened on, at the time that is known of it there: times of a CPU never decrease, so an
 * entry that was held back stands where it became known, and its exit tells how long the call took. What ran on a device
 * ran on none of the CPUs: each of its streams is one more.
 *
 * The file is made of what the spool directory holds: a file of events for each CPU (pages.c), what describes them
 * (meta.c), who has ended (tasks.c), and a reserve for a disk that becomes full (reserve.c).
 */
#include "about.h"
#include "base.h"
#include "cuda.h"
#include "event.h"
#include "image.h"
#include "log.h"
#include "mark.h"
#include "out.h"
#include "outdir.h"
#include "sink.h"
#include "sink/tracedat/tracedat.h"
#include "syscall/syscall.h"
#include "task.h"

#define CPUS_MAX	4096u
#define RESERVE_MORE	(64u << 10)	/* than what describes the events now */
#define ON_DEVICE	0x80000000u	/* and a stream's place, in place of a CPU */
#define NAMES_KNOWN	4096	/* a power of two: functions whose names are at hand */

/* What a function is called, and the file it is in. */
struct known {
	const struct func *func;
	const char	  *name, *module;
	uint32_t	   name_len, module_len;
};

struct sink {
	struct sink_args     args;
	const struct td_codec *codec;
	struct td_names	    *names;
	struct td_syscalls  *calls;
	struct td_kallsyms  *kallsyms;
	struct td_lane	   **lane;	/* by CPU, then by stream of a device; NULL: nothing has happened there */
	struct td_streams    streams;
	bool		    *has_functions;	/* by tracepoint: to be named in what it shows */
	unsigned	     cpus;
	bool		     has_news;		/* more than was written then */
	bool		     is_full;		/* the disk: nothing new is taken */
	struct td_reserve    for_file, for_meta;
	uint64_t	     latest;		/* time of all events */
	uint64_t	     meta_bytes, metas_bytes;	/* of what was written last that describes them, of all that was */
	struct td_used	     used;
	struct td_payload    p;
	struct known	     known[NAMES_KNOWN];
};

static void sink_destroy(struct sink *s)
{
	if (!s)
		return;
	for (unsigned i = 0; s->lane && i < s->cpus + TD_STREAMS; i++)
		td_lane_destroy(s->lane[i]);
	free(s->lane);
	free(s->has_functions);
	close_fd(&s->for_file.fd);
	close_fd(&s->for_meta.fd);
	td_names_destroy(s->names);
	td_syscalls_destroy(s->calls);
	td_kallsyms_destroy(s->kallsyms);
	free(s);
}

DEFINE_CLEANUP(sink_destroy, struct sink *)

/* ---- a disk that becomes full ---- */

static void note_full(void *ctx)
{
	((struct sink *)ctx)->is_full = true;
}

/* What describes the events has its place, in the spool and in the file that is made of it. */
static int keep_reserve(struct sink *s)
{
	int err;

	if (s->is_full)			/* they are in use */
		return 0;
	err = td_reserve_grow(&s->for_file, RESERVE_MORE + s->meta_bytes + td_names_bytes(s->names));
	err = err ?: td_reserve_grow(&s->for_meta, RESERVE_MORE + s->meta_bytes);
	if (!out_is_full(err))
		return err;
	note_full(s);
	return 0;
}

/* What was taken so far has its place; then the sink says that it takes no more. */
static int full_or(const struct sink *s, int err)
{
	return err ?: s->is_full ? SINK_FULL : 0;
}

/* ---- writing ---- */

/* What a reader has to know of the events, and how many there are. */
static int write_meta(struct sink *s)
{
	struct td_meta_args meta = {
		.about = s->args.about, .codec = s->codec, .used = &s->used, .calls = s->calls, .kallsyms = s->kallsyms,
		.names = s->names, .lane = s->lane, .cpus = s->cpus + s->streams.count,
	};
	int err, settled;

	s->used.has_new = false;
	settled = td_names_settle(s->names);
	err = td_meta_write(&meta, s->args.dirfd, NULL, &s->meta_bytes);
	if (out_is_full(err)) {
		note_full(s);
		err = td_meta_write(&meta, s->args.dirfd, TD_RESERVE_META, &s->meta_bytes);
	}
	s->metas_bytes += err ? 0 : s->meta_bytes;
	return err ?: settled ?: keep_reserve(s);
}

/* Recorder may be killed at any moment: no event is in the spool before what it is. On a full disk there is one place for that. */
static int describe(void *ctx)
{
	struct sink *s = ctx;

	return s->used.has_new && !s->is_full ? write_meta(s) : 0;
}

static int add_lane(struct sink *s, unsigned cpu)
{
	struct td_lane *l;
	int err = td_lane_create(&l, s->args.dirfd, cpu, s->codec);

	if (err)
		return err;
	td_lane_set_hooks(l, describe, note_full, s);
	if (s->is_full) {
		td_lane_destroy(l);
		return -ENOSPC;
	}
	s->lane[cpu] = l;
	s->used.has_new = true;
	return 0;
}

static int lane_of(struct sink *s, unsigned cpu, struct td_lane **ret)
{
	int err = 0;

	cpu = cpu >= ON_DEVICE ? s->cpus + cpu - ON_DEVICE : MIN(cpu, s->cpus - 1);
	if (!s->lane[cpu])
		err = add_lane(s, cpu);
	*ret = s->lane[cpu];
	return err;
}

static int put(struct sink *s, unsigned cpu, uint64_t time)
{
	struct td_lane *l;
	int err = lane_of(s, cpu, &l);

	s->has_news = true;
	s->latest = MAX(s->latest, time);
	return err ?: td_lane_add(l, time, &s->p);
}

/* All so far is in the spool, and can be sealed. */
static int write_all(struct sink *s)
{
	int err = 0;

	for (unsigned i = 0; i < s->cpus + TD_STREAMS; i++)
		if (s->lane[i])
			err = td_lane_flush(s->lane[i]) ?: err;
	s->has_news = false;
	return write_meta(s) ?: err;
}

static int td_open(struct sink **ret, const struct sink_args *args)
{
	__cleanup(sink_destroyp) struct sink *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->args = *args;
	s->for_file = (struct td_reserve){ .name = TD_RESERVE_FILE, .spoolfd = args->dirfd, .fd = -1 };
	s->for_meta = (struct td_reserve){ .name = TD_RESERVE_META, .spoolfd = args->dirfd, .fd = -1 };
	s->codec = td_codec_find(args->options->compression);
	if (!s->codec)
		return fail(-EPROTONOSUPPORT, "this recorder was built without --compression %s", args->options->compression);
	s->cpus = MIN(MAX(args->about->cpus_possible, 1u), CPUS_MAX);
	s->lane = calloc(s->cpus + TD_STREAMS, sizeof(*s->lane));
	if (!s->lane)
		return -ENOMEM;
	s->has_functions = calloc(MAX(args->about->tracepoints.count, (size_t)1), sizeof(*s->has_functions));
	if (!s->has_functions)
		return -ENOMEM;
	for (size_t i = 0; i < args->about->tracepoints.count; i++)
		s->has_functions[i] = td_kevent_has_functions(&args->about->tracepoints.tp[i]);
	err = td_names_create(&s->names, args->dirfd);
	if (!err)
		td_names_set_aside(s->names, note_full, s);
	err = err ?: td_syscalls_create(&s->calls, args->options->raw_syscalls, args->about->string_bytes);
	err = err ?: td_kallsyms_create(&s->kallsyms);
	err = err ?: write_meta(s);
	if (!err)
		*ret = TAKE(s);
	return err;
}

/* ---- functions ---- */

static const struct image *image_of(const struct session *sess, const struct func *f)
{
	for (size_t i = 0; sess && i < sess->map_count; i++) {
		const struct image *img = sess->map[i].image;

		if (img && f >= img->func && f < img->func + img->func_count)
			return img;
	}
	return NULL;
}

static const struct known *know(struct sink *s, const struct task *t, const struct func *f)
{
	struct known *k = &s->known[((uintptr_t)f / sizeof(*f)) & (NAMES_KNOWN - 1)];
	const struct image *img;

	if (k->func == f)
		return k;
	img = image_of(t->session, f);
	k->func = f;
	k->name = f ? func_plain(f) : NULL;
	k->name = k->name ?: "unknown";
	k->name_len = strlen(k->name);
	k->module = img && img->path ? strrchr(img->path, '/') ?: img->path : "?";
	k->module += *k->module == '/';
	k->module_len = strlen(k->module);
	return k;
}

static int note_begin(struct td_task *u, uint32_t depth, uint64_t time)
{
	while (depth >= u->began_room)
		if (grow(&u->began, &u->began_room, u->began_room, sizeof(*u->began)))
			return -ENOMEM;
	u->began[depth] = time;
	return 0;
}

static int values_of(const struct event *ev, char *buf, size_t size)
{
	const struct rec_func_args *r = (const void *)ev->rec;

	return td_values_text(r->values, r->values_len, buf, size);
}

static int on_func_entry(struct sink *s, struct td_task *u, const struct event *ev)
{
	const struct known *k = know(s, ev->task, ev->call->func);
	char values[1024];
	int n = 0;

	td_begin(&s->p, TD_FUNC_ENTRY, ev->task->tid, 48);
	td_u64(&s->p, 8, ev->call->addr);
	td_u32(&s->p, 16, ev->depth);
	td_u32(&s->p, 20, ev->task->pid);
	td_text(&s->p, 24, k->name, k->name_len, TD_ALL);
	td_text(&s->p, 28, k->module, k->module_len, TD_ALL);
	if (ev->rec->kind == REC_FUNC_ENTRY_ARGS)
		n = values_of(ev, values, sizeof(values));
	td_text(&s->p, 32, n ? values : NULL, n, TD_ALL);
	td_u64(&s->p, 40, ev->call->func ? ev->call->func->addr : ev->call->addr);
	td_use(&s->used, TD_FUNC_ENTRY);
	return note_begin(u, ev->depth, ev->began) ?: put(s, ev->rec->cpu, ev->time);
}

static int on_func_exit(struct sink *s, struct td_task *u, const struct event *ev)
{
	const struct known *k = know(s, ev->task, ev->call->func);
	bool is_seen = ev->ending == ENDED_SEEN;
	uint64_t began = ev->depth < u->began_room ? u->began[ev->depth] : ev->time;
	char value[1024];
	int n = 0;

	td_begin(&s->p, TD_FUNC_EXIT, ev->task->tid, 44);
	td_u64(&s->p, 8, ev->call->addr);
	td_u32(&s->p, 16, ev->depth);
	td_u32(&s->p, 20, ev->task->pid);
	td_u64(&s->p, 24, ev->time - MIN(began, ev->time));
	td_u32(&s->p, 40, !is_seen);
	td_text(&s->p, 32, k->name, k->name_len, TD_ALL);
	if (is_seen && ev->rec->kind == REC_FUNC_EXIT_ARGS)
		n = values_of(ev, value, sizeof(value));
	td_text(&s->p, 36, n ? value : NULL, n, TD_ALL);
	td_use(&s->used, TD_FUNC_EXIT);
	return put(s, ev->rec->cpu, ev->time);
}

static int on_usdt(struct sink *s, struct td_task *u, const struct event *ev)
{
	const struct rec_usdt *r = (const void *)ev->rec;
	char values[1024];
	int n = td_values_text(r->values, r->values_len, values, sizeof(values));

	(void)u;
	td_begin(&s->p, TD_USDT, ev->task->tid, 24);
	td_u32(&s->p, 8, ev->depth);
	td_u32(&s->p, 12, ev->task->pid);
	td_text(&s->p, 16, r->name, strnlen(r->name, sizeof(r->name)), TD_ALL);
	td_text(&s->p, 20, n ? values : NULL, n, TD_ALL);
	td_use(&s->used, TD_USDT);
	return put(s, ev->rec->cpu, ev->time);
}

/* ---- system calls ---- */

static int on_sys_enter(struct sink *s, struct td_task *u, const struct event *ev)
{
	u->is_in_exec = false;
	td_syscall_enter(s->calls, &s->p, ev->task->tid, (const void *)ev->rec, &s->used);
	return note_begin(u, ev->depth, ev->began) ?: put(s, ev->rec->cpu, ev->time);
}

/*
 * An exec returns in the new program, which may be one of 32 bits: its number is then what that calls something else by.
 * What else was not seen to end has no exit.
 */
static int on_sys_exit(struct sink *s, struct td_task *u, const struct event *ev)
{
	struct rec_sys_exit of_exec = { .nr = u->exec_nr };

	if (ev->call && ev->rec->kind == REC_TASK_EXEC && td_syscall_is_exec(ev->call->id, ev->call->flags & REC_F_COMPAT)) {
		u->is_in_exec = true;
		u->exec_nr = ev->call->id;
		u->exec_flags = ev->call->flags & REC_F_COMPAT;
	}
	if (ev->ending != ENDED_SEEN || ev->rec->kind != REC_SYS_EXIT)
		return 0;
	of_exec.hdr.flags = u->exec_flags;
	td_syscall_exit(s->calls, &s->p, ev->task->tid, u->is_in_exec ? &of_exec : (const void *)ev->rec, &s->used);
	u->is_in_exec = false;
	return put(s, ev->rec->cpu, ev->time);
}

/* ---- calls of the CUDA driver ---- */

static int on_cuda(struct sink *s, struct td_task *u, const struct event *ev)
{
	size_t n = td_cuda_events(ev);
	int err = 0;

	(void)u;
	for (size_t i = 0; i < n && !err; i++) {
		td_use(&s->used, td_cuda(&s->p, ev, i));
		err = put(s, ev->rec->cpu, ev->time);
	}
	return err;
}

/* A device whose clock is not ours, or that tells no times, would take its events out of the recording. */
static bool is_sane(const struct cuda_time *t, uint64_t now)
{
	return t->start && t->start <= t->end && t->end < now + NSEC_PER_SEC;
}

static int on_device_time(struct sink *s, const struct event *ev)
{
	const struct cuda_time *t = ev->device->time;
	uint16_t id = td_gpu(&s->p, ev->device);
	bool sane = is_sane(t, ev->time);
	unsigned at;
	int err;

	if (!id)
		return 0;
	at = ON_DEVICE + td_stream(&s->streams, ev->device);
	td_use(&s->used, id);
	err = put(s, at, sane ? t->start : ev->time);
	if (err)
		return err;
	td_use(&s->used, td_gpu_end(&s->p, ev->device));
	return put(s, at, sane ? t->end : ev->time);
}

/* ---- tasks ---- */

static int on_task_new(struct sink *s, struct td_task *u, const struct event *ev)
{
	const struct rec_task_new *r = (const void *)ev->rec;
	char parent[REC_COMM + 1], child[REC_COMM + 1], comm[REC_COMM + 1] = "";

	(void)u;
	td_begin(&s->p, TD_PROCESS_FORK, ev->task->tid, 24);
	td_u32(&s->p, 12, ev->task->tid);
	td_u32(&s->p, 20, r->new_tid);
	td_clean(parent, ev->task->comm);
	memcpy(comm, r->comm, sizeof(r->comm));
	td_clean(child, comm);
	td_text(&s->p, 8, parent, strlen(parent), TD_ALL);
	td_text(&s->p, 16, child, strlen(child), TD_ALL);
	td_use(&s->used, TD_PROCESS_FORK);
	return put(s, ev->rec->cpu, ev->time);
}

static int on_task_exec(struct sink *s, struct td_task *u, const struct event *ev)
{
	const struct rec_task_exec *r = (const void *)ev->rec;

	(void)u;
	td_begin(&s->p, TD_PROCESS_EXEC, ev->task->tid, 20);
	td_u32(&s->p, 12, ev->task->tid);
	td_u32(&s->p, 16, r->old_tid);
	td_escaped(&s->p, 8, r->hdr.size > sizeof(*r) ? r->filename : "");
	td_use(&s->used, TD_PROCESS_EXEC);
	return put(s, r->hdr.cpu, ev->time);
}

/*
 * Whoever gives the name stands as its task, as the kernel has it. Of what an older recorder kept the new name is all
 * that is known.
 */
static int on_task_name(struct sink *s, struct td_task *u, const struct event *ev)
{
	const struct rec_task_name *r = (const void *)ev->rec;
	bool is_whole = r->hdr.size >= sizeof(*r);
	int16_t adj = is_whole ? r->oom_score_adj : 0;

	(void)u;
	td_begin(&s->p, TD_TASK_RENAME, is_whole && r->by_tid ? r->by_tid : ev->task->tid, 48);
	td_u32(&s->p, 8, ev->task->tid);
	td_comm(&s->p, 12, is_whole ? r->old : "");
	td_comm(&s->p, 28, ev->task->comm);
	td_bytes(&s->p, 44, &adj, sizeof(adj));
	td_use(&s->used, TD_TASK_RENAME);
	return put(s, ev->rec->cpu, ev->time);
}

static int on_task_exit(struct sink *s, struct td_task *u, const struct event *ev)
{
	const struct rec_task_exit *r = (const void *)ev->rec;

	(void)u;
	td_begin(&s->p, TD_PROCESS_EXIT, ev->task->tid, 40);
	td_comm(&s->p, 8, ev->task->comm);
	td_u32(&s->p, 24, ev->task->tid);
	td_u32(&s->p, 28, r->prio);
	td_u32(&s->p, 32, !!r->last);
	td_u32(&s->p, 36, r->last ? r->group_status : r->status);
	td_use(&s->used, TD_PROCESS_EXIT);
	return put(s, ev->rec->cpu, ev->time);
}

/* ---- the kernel's events ---- */

static int on_kernel_event(struct sink *s, const struct event *ev)
{
	const struct rec_event *r = (const void *)ev->rec;
	const struct event_sched_switch *e = (const void *)r->field;

	if (r->event >= EVENT_TRACEPOINT + s->args.about->tracepoints.count)
		return 0;
	if (r->event == EVENT_SCHED_SWITCH) {
		td_names_note(s->names, e->prev_pid, e->prev_comm);
		td_names_note(s->names, e->next_pid, e->next_comm);
	}
	if (r->event >= EVENT_TRACEPOINT && s->has_functions[r->event - EVENT_TRACEPOINT])
		td_kevent_need(s->kallsyms, s->args.about, r);
	td_use(&s->used, td_kevent(&s->p, r));
	return put(s, r->hdr.cpu, ev->time);
}

static int on_callers(struct sink *s, const struct event *ev)
{
	const struct rec_callers *r = (const void *)ev->rec;
	uint16_t id = td_kernel_stack(&s->p, s->kallsyms, s->args.about, r);
	int err = 0;

	if (id) {
		td_use(&s->used, id);
		err = put(s, r->hdr.cpu, ev->time);
	}
	id = err ? 0 : td_callers(&s->p, r, ev->frame);
	if (!id)
		return err;
	td_use(&s->used, id);
	return put(s, r->hdr.cpu, ev->time);
}

static int on_mark(struct sink *s, const struct event *ev)
{
	const struct rec_mark *r = (const void *)ev->rec;
	char what[MARK_TEXT_MAX];

	mark_text(what, ev);
	td_names_note(s->names, r->hdr.tid, r->comm);
	td_begin(&s->p, TD_MARK, r->hdr.tid, 28);
	td_u32(&s->p, 8, r->mark);
	td_u32(&s->p, 12, r->number);
	td_u32(&s->p, 16, r->signal);
	td_u32(&s->p, 20, r->hdr.pid);
	td_text(&s->p, 24, what, strlen(what), TD_ALL);
	td_use(&s->used, TD_MARK);
	return put(s, r->hdr.cpu, ev->time);
}

/* ---- the callbacks ---- */

static int (*const on_event[REC_KINDS])(struct sink *s, struct td_task *u, const struct event *ev) = {
	[REC_TASK_NEW]	 = on_task_new,
	[REC_TASK_EXEC]	 = on_task_exec,
	[REC_TASK_NAME]	 = on_task_name,
	[REC_TASK_EXIT]	 = on_task_exit,
	[REC_SYS_ENTER]	 = on_sys_enter,
	[REC_SYS_EXIT]	 = on_sys_exit,
	[REC_FUNC_ENTRY] = on_func_entry,
	[REC_FUNC_EXIT]	 = on_func_exit,
	[REC_USDT]	 = on_usdt,
	[REC_CUDA_ENTRY] = on_cuda,
	[REC_CUDA_EXIT]	 = on_cuda,
};

/* Of a task whose program is not known yet there may be an event: its exec. */
static struct td_task *task_of(struct sink *s, struct task *t)
{
	struct td_task *u = t->slot[s->args.slot];

	if (!u)
		u = t->slot[s->args.slot] = td_task_begin(s->names, t);
	return u;
}

static int take_event(struct sink *s, const struct event *ev)
{
	struct td_task *u;

	if (ev->kind == REC_EVENT)
		return on_kernel_event(s, ev);
	if (ev->kind == REC_CALLERS)
		return on_callers(s, ev);
	if (ev->kind == REC_MARK)
		return on_mark(s, ev);
	if (ev->kind == REC_CUDA_TIMES)
		return on_device_time(s, ev);
	if (ev->kind >= REC_KINDS || !on_event[ev->kind])
		return 0;
	u = task_of(s, ev->task);
	if (!u)
		return -ENOMEM;
	return on_event[ev->kind](s, u, ev);
}

static int td_event(struct sink *s, const struct event *ev)
{
	return full_or(s, take_event(s, ev));
}

static int begin_task(struct sink *s, struct task *t)
{
	struct td_task *u = task_of(s, t);

	if (!u)
		return -ENOMEM;
	return td_names_process(s->names, t->pid, t->session);
}

static int exec_task(struct sink *s, struct task *t, uint64_t time)
{
	(void)time;
	return begin_task(s, t);
}

static int end_task(struct sink *s, struct task *t)
{
	struct td_task *u = TAKE(t->slot[s->args.slot]);

	if (u)
		td_task_end(s->names, u);
	return 0;
}

/* Told as the kernel does, as events missed before the next one, and by an event of our own, by class. */
static int tell_lost(struct sink *s, unsigned cpu, uint64_t time, const uint64_t *count)
{
	uint64_t all = 0;
	struct td_lane *l;
	int err = lane_of(s, cpu, &l);

	for (int i = 0; i < REC_CLASSES; i++)
		all += count[i];
	if (err || !all)
		return err;
	td_begin(&s->p, TD_LOST, 0, 48);
	td_u64(&s->p, 8, count[CLASS_FUNCTION]);
	td_u64(&s->p, 16, count[CLASS_SYSCALL]);
	td_u64(&s->p, 24, count[CLASS_TASK]);
	td_u64(&s->p, 32, count[CLASS_EVENT]);
	td_u64(&s->p, 40, count[CLASS_CUDA]);
	td_use(&s->used, TD_LOST);
	s->has_news = true;
	return td_lane_lost(l, all) ?: td_lane_add(l, time, &s->p);
}

static int td_lost(struct sink *s, unsigned cpu, uint64_t time, const uint64_t *count)
{
	return full_or(s, tell_lost(s, cpu, time, count));
}

/* There is place for that, where there was for an event. */
static int td_lacks(struct sink *s, const uint64_t *count)
{
	unsigned cpu = 0;

	while (cpu < s->cpus && !s->lane[cpu])
		cpu++;
	return cpu < s->cpus ? tell_lost(s, cpu, s->latest, count) : 0;
}

static int td_checkpoint(struct sink *s)
{
	return full_or(s, s->has_news ? write_all(s) : 0);
}

static void say_missing(const char *name, const struct td_missing *missing)
{
	if (missing->cut)
		warn("'%s': the disk is full, %lu bytes of events had no place", name, missing->cut);
	if (missing->names)
		warn("'%s': names and files of some tasks that had ended are gone or damaged", name);
	if (missing->torn)
		warn("'%s': %lu bytes of events are gone, were cut short or damaged, and are not in it", name, missing->torn);
}

static int recover(int spoolfd, int dirfd, const char *name)
{
	struct td_missing missing;
	int err = td_seal(spoolfd, dirfd, name, &missing);

	if (!err)
		say_missing(name, &missing);
	return err;
}

/* Of all that was written the file is what stays. */
static void count_file(const struct sink *s, uint64_t bytes)
{
	uint64_t spooled = s->metas_bytes + td_names_bytes(s->names);

	for (unsigned i = 0; i < s->cpus + TD_STREAMS; i++)
		spooled += s->lane[i] ? td_lane_bytes(s->lane[i]) : 0;
	out_uncount(spooled);
	out_count(bytes);
}

/* The spool goes once the file is whole; one that could not be made leaves it, to be sealed later. */
static int td_close(struct sink *s)
{
	struct sink_args a = s->args;
	struct td_missing missing = {};
	int err, sealed;

	err = write_all(s);
	sealed = td_seal_moving(a.dirfd, a.file_dirfd, a.file_name, &missing);
	if (!sealed) {
		say_missing(a.file_name, &missing);
		count_file(s, missing.file);
	}
	sink_destroy(s);			/* closes its files: on FUSE and NFS an open one keeps the directory */
	if (!sealed)
		outdir_remove(a.file_dirfd, a.spool_name, a.dirfd);
	return sealed ?: err ?: missing.cut ? -ENOSPC : missing.torn ? -EBADMSG : 0;
}

static bool td_is_ours(int fd)
{
	static const char magic[] = "\x17\x08\x44tracing";
	char begin[sizeof(magic) - 1];

	return pread(fd, begin, sizeof(begin), 0) == sizeof(begin) && !memcmp(begin, magic, sizeof(begin));
}

const struct sink_ops sink_tracedat = {
	.name		= "trace-dat",
	.doc		= "a file for trace-cmd and KernelShark",
	.path		= "trace.dat",
	.open_with	= "trace-cmd report -i %s",
	.is_file	= true,
	.is_ours	= td_is_ours,
	.spooled	= TD_META,
	.recover	= recover,
	.wants		= SINK_WANTS(REC_TASK_NEW) | SINK_WANTS(REC_TASK_EXEC) | SINK_WANTS(REC_TASK_NAME) |
			  SINK_WANTS(REC_TASK_EXIT) | SINK_WANTS(REC_IMAGE) | SINK_WANTS(REC_SYS_ENTER) |
			  SINK_WANTS(REC_SYS_EXIT) | SINK_WANTS(REC_FUNC_ENTRY) | SINK_WANTS(REC_FUNC_EXIT) |
			  SINK_WANTS(REC_USDT) | SINK_WANTS(REC_LOST) | SINK_WANTS(REC_EVENT) |
			  SINK_WANTS(REC_CUDA_ENTRY) | SINK_WANTS(REC_CUDA_EXIT) | SINK_WANTS(REC_CALLERS) |
			  SINK_WANTS(REC_CUDA_TIMES) | SINK_WANTS(REC_MARK),
	.events		= EVENT_BIT(EVENT_SCHED_SWITCH) | EVENT_BIT(EVENT_SCHED_WAKEUP) | EVENT_BIT(EVENT_SCHED_WAKEUP_NEW) |
			  EVENT_BIT(EVENT_SCHED_MIGRATE) | EVENT_BIT(EVENT_SIGNAL_GENERATE) | EVENT_BIT(EVENT_SIGNAL_DELIVER),
	.open		= td_open,
	.task_begin	= begin_task,
	.task_exec	= exec_task,
	.task_moves	= exec_task,
	.event		= td_event,
	.task_end	= end_task,
	.lost		= td_lost,
	.checkpoint	= td_checkpoint,
	.lacks		= td_lacks,
	.close		= td_close,
};
