/*
 * kevent.h - events of the kernel's own tracepoints: those that have a program of their own, and those asked for by name.
 *
 * -e GROUP and -e SUBSYS:EVENT choose of both. What is recorded of tasks and system calls anyway is in neither.
 */
#ifndef KEVENT_H
#define KEVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"
#include "tracepoint.h"

struct kernel_event_row {
	const char *group;	/* as in -e GROUP */
	const char *system, *name;
	uint16_t    bytes;	/* of its fields: struct event_* */
};

extern const struct kernel_event_row kernel_events[EVENT_TRACEPOINT];

#define EVENT_BIT(e)	(1u << (e))

/* Bytes that a record of @event has at least. */
size_t kernel_event_bytes(uint32_t event);

/* A tracepoint as tracefs describes it. */
struct tracepoint {
	char	*system, *name;		/* owned, as is the next */
	char	*format;		/* the text of its file "format" from the line "format:" on */
	unsigned id;			/* for perf_event_open(2) */
	struct tracepoint_plan plan;
};

struct tracepoints {
	struct tracepoint *tp;
	size_t		   count, room;
};

/*
 * Choose by @value: GROUP or SUBSYS:EVENT, both parts globs. Adds to @events, a bit for each of kernel_events, and
 * to @tps. @word is the option as typed. Returns 0, or -EINVAL after a message.
 */
int  kevent_choose(unsigned *events, struct tracepoints *tps, const char *word, const char *value);
bool kevent_is_group(const char *value);	/* may @value, one word of -e, be meant so? */

int  tracepoints_copy(struct tracepoints *to, const struct tracepoints *from);
int  tracepoints_add(struct tracepoints *to, const struct tracepoint *tp);	/* a copy of it */
void tracepoints_release(struct tracepoints *tps);

#endif
