/*
 * control.h - the control thread's loop: signals, the end of what is recorded, the status line, tasks at a gate.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>

struct config;
struct images;
struct launch;
struct target;
struct writer;

struct control_args {
	const struct config *cfg;	/* lent, as all below */
	struct launch	    *launch;
	struct target	    *target;	/* NULL: only the command is recorded */
	struct writer	    *writer;
	struct images	    *images;
};

/* Until the command or the last target has ended, or is to be left, or the time is up. Returns 0 or a negative errno; @ended: the command did. */
int  control_run(const struct control_args *args, bool *ended);

#endif
