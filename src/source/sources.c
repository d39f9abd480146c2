/*
 * sources.c - the table of sources.
 */
#include <stddef.h>

#include "source.h"
#include "source/rows.h"

const struct source_ops *const sources[] = {
	&source_task,
	&source_syscall,
	&source_unwind,		/* before the returns it makes safe */
	&source_filter,
	&source_function,
	&source_gate,		/* a file is known when all else is attached to it */
	NULL
};
