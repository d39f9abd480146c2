/*
 * sources.c - the table of sources.
 */
#include <stddef.h>

#include "source.h"
#include "source/rows.h"

const struct source_ops *const sources[] = {
	&source_missed,		/* counts before others stop */
	&source_cgroup,		/* marks who execs, before source_task tells of the exec */
	&source_filter,		/* what it held back is sent before what ends it: at each tracepoint it comes first */
	&source_clone,		/* tells of its flags before source_task does of the child */
	&source_task,
	&source_file,		/* and of the arguments after the exec */
	&source_callers,
	&source_syscall,
	&source_sched,
	&source_signal,
	&source_fault,
	&source_tracepoint,
	&source_unwind,		/* before the returns it makes safe */
	&source_trigger,
	&source_rate,
	&source_vector,
	&source_function,
	&source_usdt,
	&source_cuda,
	&source_gputime,
	&source_gate,		/* a file is known when all else is attached to it */
	&source_grace,
	NULL
};
