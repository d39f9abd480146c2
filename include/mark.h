/*
 * mark.h - marks as text.
 */
#ifndef MARK_H
#define MARK_H

#include <stddef.h>

struct event;

#define MARK_TEXT_MAX	512

/* "trace_off by load()", "mark 1 by SIGUSR1": of @ev, which is a REC_MARK. Names are escaped, long ones cut. */
void mark_text(char text[MARK_TEXT_MAX], const struct event *ev);

#endif
