/*
 * meta.h - the file TD_META of a spool directory, for who writes and who reads it; and what lies beside it.
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
	struct td_block section[TD_METAS_END];	/* by enum td_section; TD_OPTIONS too, TD_PROCESSES and TD_BUFFER not of older ones */
};

/* ---- logs.c ---- */

#define TD_SPOOL_READ_MAX	(1ull << 31)

/* A file of the spool; whoever owns that may have put something else there, or another's file under a second name: -EBADMSG. */
int td_spool_open(int spoolfd, const char *name, int flags, uint64_t *size);
int td_spool_read(int fd, uint64_t size, void **ret, size_t *len);	/* all of it, to be freed */

/* The content of the section of command lines. @alive: that of the description. @is_whole: its log is there and sound. */
int td_logs_names(struct out *o, int spoolfd, const struct td_block *alive, bool *is_whole);

/* The options PROCMAPS, in order; they may be many. */
struct td_maps;
int	 td_maps_open(struct td_maps **ret, int spoolfd, const struct td_block *alive, bool *is_whole);	/* @alive is lent */
void	 td_maps_close(struct td_maps *m);
size_t	 td_maps_count(const struct td_maps *m);
uint64_t td_maps_bytes(const struct td_maps *m);		/* of all, as the file has them */
int	 td_maps_option(const struct td_maps *m, size_t i, struct out *o);

#endif
