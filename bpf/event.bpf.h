/*
 * event.bpf.h - events of the kernel's own tracepoints: whom they concern, and a place for the kernel's fields.
 */
#ifndef EVENT_BPF_H
#define EVENT_BPF_H

#include "callers.bpf.h"
#include "recorder.bpf.h"

static __always_inline bool is_recorded(struct task_struct *task)
{
	struct task_state *t = known_task(task);

	return t && recording && !(t->flags & TASK_ARMED);
}

static __always_inline bool concerns(struct task_struct *a, struct task_struct *b)
{
	return is_recorded(a) || is_recorded(b);
}

/*
 * Space for @event with @bytes of fields, a constant; NULL: there is none, which has been counted, by CPU: the task at
 * hand need not be one that is recorded.
 */
static __always_inline void *event_begin(__u32 event, __u32 bytes)
{
	struct rec_event *r = rec_begin_of(bpf_get_current_pid_tgid(), NULL, CLASS_EVENT, REC_EVENT, sizeof(*r) + bytes);

	if (!r)
		return NULL;
	r->event = event;
	r->len = bytes;
	return r->field;
}

/* Who caused it is the task at hand; its program's callers are only told of one that is recorded. */
static __always_inline void event_end(void *ctx, void *field)
{
	rec_end(field - sizeof(struct rec_event));
	if (callers_wanted)
		send_callers(ctx, NULL, true, is_recorded(bpf_get_current_task_btf()));
}

#endif
