/*
 * reserve.c - room set aside in the spool directory: when the disk has become full, what ends the file has its place.
 *
 * It is not given back then, which anybody else could take: the files themselves are written to.
 */
#include <fcntl.h>

#include "base.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"

int td_reserve_grow(struct td_reserve *r, uint64_t bytes)
{
	if (r->is_not_possible || bytes <= r->bytes)
		return 0;
	if (r->fd < 0)
		r->fd = out_open_new(r->spoolfd, r->name);
	if (r->fd < 0)
		return r->fd;
	if (!fallocate(r->fd, FALLOC_FL_KEEP_SIZE, r->bytes, bytes - r->bytes)) {
		r->bytes = bytes;
		return 0;
	}
	if (out_is_full(-errno))
		return -errno;
	r->is_not_possible = true;
	return 0;
}

void td_reserves_remove(int spoolfd)
{
	unlinkat(spoolfd, TD_RESERVE_FILE, 0);
	unlinkat(spoolfd, TD_RESERVE_META, 0);
}
