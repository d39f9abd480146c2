/*
 * rate.bpf.h - is a function called too often to be recorded: --rate-limit.
 */
#ifndef RATE_BPF_H
#define RATE_BPF_H

#include "recorder.bpf.h"

extern const volatile __u32 rate_max;	/* calls of one function that are recorded in a second; 0: all */

/* The function @func is called: is the call shed? Counts it either way. */
int rate_sheds(__u32 func);

#endif
