/*
 * trigger.bpf.h - what calls of some functions set off: -T.
 */
#ifndef TRIGGER_BPF_H
#define TRIGGER_BPF_H

#include "recorder.bpf.h"
#include "function.h"
#include "trigger.h"

extern const volatile bool has_triggers;
extern const volatile bool has_switches;	/* trace_on, trace_off, or recording begins switched off */

/* The function @func is called by the current task, where no filter takes it out: switch its process on or off. */
int trigger_switch(__u32 func);

/* Its process is switched off. */
int trigger_is_off(void);

/* What of @depth is left, itself included, when @func is called. */
__u32 trigger_depth(__u32 func, __u32 depth);

/* The call of @func was recorded: does the recording end with it? */
int trigger_finish(__u32 func);

#endif
