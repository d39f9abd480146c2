/*
 * rows.h - the sources that sources.c lists.
 */
#ifndef ROWS_H
#define ROWS_H

#include "source.h"

extern const struct source_ops source_cgroup, source_task, source_syscall, source_unwind, source_filter, source_function;
extern const struct source_ops source_vector, source_trigger, source_usdt, source_rate, source_gate;
extern const struct source_ops source_cuda, source_gputime, source_sched, source_signal, source_fault, source_tracepoint;
extern const struct source_ops source_clone, source_file, source_callers, source_grace, source_missed;

#endif
