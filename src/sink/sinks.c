/*
 * sinks.c - the output formats.
 */
#include <stddef.h>

#include "sink.h"

extern const struct sink_ops sink_uftrace, sink_tracedat;

const struct sink_ops *const sinks[] = {
	&sink_uftrace,
	&sink_tracedat,
	NULL
};
