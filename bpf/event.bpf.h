/*
 * event.bpf.h - events of the kernel's own tracepoints: whom they concern, and a place for the kernel's fields.
 */
#ifndef EVENT_BPF_H
#define EVENT_BPF_H

#include "recorder.bpf.h"

static __always_inline bool is_recorded(struct task_struct *task)
{
	struct task_state *t = bpf_task_storage_get(&tasks, task, NULL, 0);

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
	struct rec_event *r = NULL;
	void *ring = ring_of_this_cpu();

	if (ring && !(lose_one_in && bpf_get_prandom_u32() % lose_one_in == 0))
		r = bpf_ringbuf_reserve(ring, sizeof(*r) + bytes, 0);
	if (!r) {
		count_lost(NULL, CLASS_EVENT);
		return NULL;
	}
	rec_fill(&r->hdr, REC_EVENT, sizeof(*r) + bytes);
	r->event = event;
	r->len = bytes;
	return r->field;
}

static __always_inline void event_end(void *field)
{
	rec_end(field - sizeof(struct rec_event));
}

#endif
