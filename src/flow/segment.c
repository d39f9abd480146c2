/*
 * segment.c - one loop over the open sinks per callback.
 */
#include "base.h"
#include "event.h"
#include "flow/record.h"
#include "flow/segment.h"
#include "log.h"
#include "sink.h"

struct open_sink {
	const struct sink_ops *ops;
	struct sink	      *sink;	/* NULL: closed */
	bool		       has_failed;	/* and waits to be closed, if it tells what it lacks */
	uint64_t	       lacks[REC_CLASSES];	/* records since then */
};

struct segment {
	struct open_sink open[SINKS_MAX];
	unsigned	 count;
	uint64_t	 wants;		/* of all open sinks */
	int		 err;		/* the first */
};

int segment_create(struct segment **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void segment_destroy(struct segment *s)
{
	if (s)
		segment_close(s);
	free(s);
}

int segment_open(struct segment *s, const struct sink_ops *ops, const struct sink_args *with)
{
	struct open_sink *o = &s->open[s->count];
	struct sink_args args = *with;
	int err;

	args.slot = s->count;

	if (s->count == SINKS_MAX)
		return -E2BIG;
	err = ops->open(&o->sink, &args);
	if (err)
		return err;
	o->ops = ops;
	s->wants |= ops->wants;
	s->count++;
	return 0;
}

static bool is_at_work(const struct open_sink *o)
{
	return o->sink && !o->has_failed;
}

/* The sink is done for; what it has written stays. */
static void give_up(struct segment *s, struct open_sink *o, int err)
{
	if (err == SINK_FULL)
		err = -ENOSPC;
	fail(err, "format '%s' stopped here: its files hold what came before", o->ops->name);
	if (!s->err)
		s->err = err;
	o->has_failed = true;
	if (!o->ops->lacks)
		(void)o->ops->close(TAKE(o->sink));
}

/* Call @callback of every open sink that has one; an error closes that sink only. */
#define EACH_SINK(s, callback, ...) do {							\
	for (struct open_sink *o = (s)->open; o < (s)->open + (s)->count; o++) {		\
		int err_ = is_at_work(o) && o->ops->callback ? o->ops->callback(o->sink, ##__VA_ARGS__) : 0; \
												\
		if (err_)									\
			give_up((s), o, err_);							\
	}											\
} while (0)

int segment_session_begin(struct segment *s, const struct session *sess)
{
	EACH_SINK(s, session_begin, sess);
	return 0;
}

int segment_map_added(struct segment *s, const struct session *sess, const struct map *map)
{
	EACH_SINK(s, map_added, sess, map);
	return 0;
}

int segment_task_begin(struct segment *s, struct task *t)
{
	EACH_SINK(s, task_begin, t);
	return 0;
}

int segment_task_exec(struct segment *s, struct task *t, uint64_t time)
{
	EACH_SINK(s, task_exec, t, time);
	return 0;
}

int segment_task_moves(struct segment *s, struct task *t, uint64_t time)
{
	EACH_SINK(s, task_moves, t, time);
	return 0;
}

bool segment_wants(const struct segment *s, uint16_t kind)
{
	return s->wants & SINK_WANTS(kind);
}

static void note_lack(struct open_sink *o, const struct event *ev)
{
	if (ev->rec && ev->rec->kind == ev->kind)	/* else it is made of another's record */
		o->lacks[record_kinds[ev->kind].class]++;
}

int segment_event(struct segment *s, const struct event *ev)
{
	if (!segment_wants(s, ev->kind))
		return 0;
	for (struct open_sink *o = s->open; o < s->open + s->count; o++) {
		int err;

		if (!(o->ops->wants & SINK_WANTS(ev->kind)))
			continue;
		if (o->has_failed)
			note_lack(o, ev);
		if (!is_at_work(o))
			continue;
		err = o->ops->event(o->sink, ev);
		if (err)
			give_up(s, o, err);
		if (err < 0)
			note_lack(o, ev);
	}
	return 0;
}

/* Of a sink that has failed, too: it may still know the task, which is about to go. */
int segment_task_end(struct segment *s, struct task *t)
{
	EACH_SINK(s, task_end, t);
	for (struct open_sink *o = s->open; o < s->open + s->count; o++)
		if (o->sink && o->has_failed && o->ops->task_end)
			(void)o->ops->task_end(o->sink, t);
	return 0;
}

int segment_cuda_end(struct segment *s, struct cuda_process *p)
{
	EACH_SINK(s, cuda_end, p);
	return 0;
}

int segment_lost(struct segment *s, unsigned cpu, uint64_t time, const uint64_t *count)
{
	EACH_SINK(s, lost, cpu, time, count);
	return 0;
}

int segment_checkpoint(struct segment *s)
{
	EACH_SINK(s, checkpoint);
	return 0;
}

static int not_finished(const struct sink_ops *ops, int err)
{
	if (err == -EBADMSG || err == -ENOENT)
		return fail(0, "format '%s' could not be finished: what was gathered of it is gone, or was changed", ops->name), err;
	return fail(err, "format '%s' could not be finished", ops->name);
}

const char *segment_lacks(const struct segment *s, unsigned i, uint64_t *ret)
{
	const struct open_sink *o = &s->open[i];

	if (i >= s->count || !o->has_failed)
		return NULL;
	memcpy(ret, o->lacks, sizeof(o->lacks));
	return o->ops->name;
}

static int close_sink(struct open_sink *o)
{
	int err = 0;

	if (!o->sink)
		return 0;
	if (o->has_failed)
		err = o->ops->lacks(o->sink, o->lacks);
	return o->ops->close(TAKE(o->sink)) ?: err;
}

int segment_close(struct segment *s)
{
	for (struct open_sink *o = s->open; o < s->open + s->count; o++) {
		int err = close_sink(o);

		if (err && !s->err)
			s->err = not_finished(o->ops, err);
	}
	return s->err;
}
