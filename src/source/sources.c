/*
 * sources.c - the table of sources.
 */
#include <stddef.h>

#include "source.h"
#include "source/rows.h"

const struct source_ops *const sources[] = {
	&source_task,
	&source_syscall,
	&source_function,
	NULL
};
