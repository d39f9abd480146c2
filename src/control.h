/*
 * control.h - the control thread's loop: signals, the command's end, the status line, tasks at a gate.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>

struct config;
struct images;
struct launch;
struct writer;

struct control_args {
	const struct config *cfg;	/* lent, as all below */
	struct launch	    *launch;
	struct writer	    *writer;
	struct images	    *images;
};

/* Until the command has ended or is to be left. Returns 0 or a negative errno; @ended: the command did. */
int  control_run(const struct control_args *args, bool *ended);

#endif
