/*
 * segment.h - the open sinks of a recording, told of everything together.
 *
 * A sink that fails is named, and gets nothing more; the others go on. What it would have got is counted.
 */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

struct about;
struct cuda_process;
struct event;
struct map;
struct segment;
struct session;
struct sink_args;
struct sink_ops;
struct task;

int  segment_create(struct segment **ret);
void segment_destroy(struct segment *s);

/* Open @ops; of @args all is lent, its slot is filled in. */
int  segment_open(struct segment *s, const struct sink_ops *ops, const struct sink_args *args);

int  segment_session_begin(struct segment *s, const struct session *sess);
int  segment_map_added(struct segment *s, const struct session *sess, const struct map *map);
int  segment_task_begin(struct segment *s, struct task *t);
int  segment_task_exec(struct segment *s, struct task *t, uint64_t time);
int  segment_task_moves(struct segment *s, struct task *t, uint64_t time);
bool segment_wants(const struct segment *s, uint16_t kind);	/* does any sink look at such events? */
int  segment_event(struct segment *s, const struct event *ev);
int  segment_task_end(struct segment *s, struct task *t);
int  segment_cuda_end(struct segment *s, struct cuda_process *p);
int  segment_lost(struct segment *s, unsigned cpu, uint64_t time, const uint64_t *count);
int  segment_checkpoint(struct segment *s);
/* Of the sink opened as number @i: what it was called, when it failed and lacks what came after, @ret[REC_CLASSES]; else NULL. */
const char *segment_lacks(const struct segment *s, unsigned i, uint64_t *ret);

int  segment_close(struct segment *s);		/* the first error of any sink since the start */

#endif
