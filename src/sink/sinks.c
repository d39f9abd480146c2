/*
 * sinks.c - the output formats.
 */
#include <stddef.h>

#include "sink.h"

extern const struct sink_ops sink_uftrace, sink_tracedat, sink_neutrino, sink_bas;

const struct sink_ops *const sinks[] = {
	&sink_uftrace,
	&sink_tracedat,
	&sink_neutrino,
	&sink_bas,
	NULL
};
