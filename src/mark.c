/*
 * mark.c - marks as text.
 */
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "image.h"
#include "mark.h"
#include "syscall/syscall.h"

static const char *const words[MARKS] = {
	[MARK_OFF]    = "trace_off",
	[MARK_ON]     = "trace_on",
	[MARK_FINISH] = "finish",
	[MARK_USER]   = "mark",
};

void mark_text(char text[MARK_TEXT_MAX], const struct event *ev)
{
	const struct rec_mark *r = (const void *)ev->rec;
	const char *signal = sigabbrev_np(r->signal);
	const char *name = ev->func ? func_plain(ev->func) : "a function";
	char what[32], escaped[400];

	if (r->number)
		snprintf(what, sizeof(what), "%s %u", words[r->mark], r->number);
	else
		snprintf(what, sizeof(what), "%s", words[r->mark]);
	if (r->signal) {
		snprintf(text, MARK_TEXT_MAX, "%s by %s%s", what, signal ? "SIG" : "a signal", signal ?: "");
	} else {
		text_escape(name, strlen(name), false, escaped, sizeof(escaped));
		snprintf(text, MARK_TEXT_MAX, "%s by %s()", what, escaped);
	}
}
