/*
 * triggers.h - triggers of functions in the kernel, and the one that ends the recording.
 */
#ifndef SOURCE_TRIGGERS_H
#define SOURCE_TRIGGERS_H

#include <stdbool.h>

#include "source.h"

struct filter;
struct func;

/* Before @f, a function of @img, is probed: what its calls set off. @bpf NULL: --dry-run. Returns 0 or a negative errno. */
int  trigger_tell(struct recorder_bpf *bpf, const struct filter *filter, const struct image *img, const struct func *f);

/* By a signal to recorder: do what of @actions, TRIGGER_*, is done there; all but ending the recording. */
void trigger_by_signal(int sig, unsigned actions);

int  trigger_fd(void);		/* readable when a function has ended the recording; -1: none can */
void trigger_say(void);		/* which */

#endif
