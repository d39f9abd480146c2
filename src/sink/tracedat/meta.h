/*
 * meta.h - the file TD_META of a spool directory, for who writes and who reads it.
 */
#ifndef TRACEDAT_META_H
#define TRACEDAT_META_H

#include <stddef.h>
#include <stdint.h>

#include "sink/tracedat/tracedat.h"

#define TD_META_MAGIC	0x3161746164746372ull	/* "rctdata1" */

struct td_block {
	const void *data;
	size_t	    len;
};

/* It, read. The blocks point into @all. */
struct td_meta {
	void	       *all;
	uint32_t	cpus;
	const struct td_codec *codec;
	struct td_block section[TD_METAS_END];	/* by enum td_section; TD_OPTIONS and TD_BUFFER too, the latter not of older ones */
};

#endif
