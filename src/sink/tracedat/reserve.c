/*
 * reserve.c - bytes set aside in the spool directory: when the disk has become full, what was gathered so far and what
 * ends the file still have a place.
 */
#include <fcntl.h>

#include "base.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"

#define NAME	"reserve"

int td_reserve_grow(struct td_reserve *r, uint64_t bytes)
{
	int err;

	if (r->was_released || bytes <= r->bytes)
		return 0;
	if (r->fd < 0)
		r->fd = out_open_new(r->spoolfd, NAME);
	if (r->fd < 0)
		return r->fd;
	err = -posix_fallocate(r->fd, r->bytes, bytes - r->bytes);
	if (err)
		(void)!ftruncate(r->fd, r->bytes);
	else
		r->bytes = bytes;
	return err;
}

bool td_reserve_release(struct td_reserve *r)
{
	bool had = r->bytes > 0;

	if (r->fd >= 0)
		(void)!ftruncate(r->fd, 0);
	close_fd(&r->fd);
	r->fd = -1;
	r->bytes = 0;
	r->was_released = true;
	td_reserve_remove(r->spoolfd);
	return had;
}

void td_reserve_remove(int spoolfd)
{
	unlinkat(spoolfd, NAME, 0);
}
