/*
 * fds.c - which descriptors are open, of those that lines have told of: for --implicit-closes.
 *
 * A reader follows pipes by their descriptors, and knows of no close but those that are told. What exec, close_range()
 * and dup2() close is told here. Tasks that share their descriptors share a table; what a task
 * had open before it was recorded is not in it.
 */
#include <linux/close_range.h>
#include <sched.h>

#include "base.h"
#include "sink/bas/bas.h"

#define FDS_MAX		(1u << 20)	/* none above is followed */

struct bas_fds {
	unsigned  users;
	size_t	  words;
	uint64_t *bit;
};

void bas_fds_leave(struct bas_fds *fds)
{
	if (!fds || --fds->users)
		return;
	free(fds->bit);
	free(fds);
}

struct bas_fds *bas_fds_share(struct bas_fds *fds)
{
	if (fds)
		fds->users++;
	return fds;
}

static struct bas_fds *copy(const struct bas_fds *from)
{
	struct bas_fds *fds = calloc(1, sizeof(*fds));

	if (!fds)
		return NULL;
	fds->users = 1;
	fds->words = from->words;
	fds->bit = malloc(fds->words * sizeof(*fds->bit) ?: 1);
	if (!fds->bit) {
		free(fds);
		return NULL;
	}
	if (fds->words)
		memcpy(fds->bit, from->bit, fds->words * sizeof(*fds->bit));
	return fds;
}

static struct bas_fds *of(struct bas_task *u)
{
	static const struct bas_fds none;

	return u->fds = u->fds ?: copy(&none);
}

static bool is_open(const struct bas_fds *fds, uint32_t fd)
{
	return fd / 64 < fds->words && fds->bit[fd / 64] >> fd % 64 & 1;
}

static void forget(struct bas_fds *fds, uint32_t fd)
{
	if (is_open(fds, fd))
		fds->bit[fd / 64] &= ~(1ull << fd % 64);
}

static int note(struct bas_fds *fds, uint32_t fd)
{
	size_t words = MAX(fds->words * 2, (size_t)fd / 64 + 1);
	uint64_t *bit;

	if (fd >= FDS_MAX)
		return 0;
	if (fd / 64 >= fds->words) {
		bit = realloc(fds->bit, words * sizeof(*bit));
		if (!bit)
			return -ENOMEM;
		memset(bit + fds->words, 0, (words - fds->words) * sizeof(*bit));
		fds->bit = bit;
		fds->words = words;
	}
	fds->bit[fd / 64] |= 1ull << fd % 64;
	return 0;
}

/* ---- what tasks do with their tables ---- */

int bas_fds_fork(struct bas_task *parent, struct bas_task *child, bool is_shared)
{
	if (!of(parent))
		return -ENOMEM;
	bas_fds_leave(child->fds);
	child->fds = is_shared ? bas_fds_share(parent->fds) : copy(parent->fds);
	return child->fds ? 0 : -ENOMEM;
}

static int unshare_table(struct bas_task *u)
{
	struct bas_fds *own;

	if (!of(u))
		return -ENOMEM;
	if (u->fds->users == 1)
		return 0;
	own = copy(u->fds);
	if (!own)
		return -ENOMEM;
	bas_fds_leave(u->fds);
	u->fds = own;
	return 0;
}

/* ---- told ---- */

static int put_close(struct sink *s, struct bas_task *u, const struct event *ev, uint32_t fd)
{
	forget(u->fds, fd);
	bas_begin(s->text, u->upid, ev->rec->cpu, ev->time);
	bas_line(s->text, "Close|fd=%u", fd);
	bas_stats_told(s->stats, ev->rec->cpu);
	return bas_end(s->text);
}

/* Is a descriptor open as the record has it? Of one behind the end of a bitmap that was cut that is not known. */
static bool is_still_open(const struct rec_text *x, uint32_t fd)
{
	if (fd / 8 < x->len)
		return x->bytes[fd / 8] >> fd % 8 & 1;
	return x->flags & TEXT_CUT;
}

/* Of the descriptors @first to @last those that the record has no more. */
static int put_closed(struct sink *s, struct bas_task *u, const struct event *ev, const struct rec_text *x,
		      uint32_t first, uint32_t last)
{
	int err = 0;

	for (uint32_t fd = first; fd <= last && fd / 64 < u->fds->words && !err; fd++)
		if (is_open(u->fds, fd) && !is_still_open(x, fd))
			err = put_close(s, u, ev, fd);
	return err;
}

int bas_fds_on_exec(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_exec *r = (const void *)ev->rec;
	const struct bas_told d = { .texts = r->text, .len = r->text_len };
	const struct rec_text *x = bas_told_text(&d, FILE_TEXT_FDS);
	int err = unshare_table(u);

	return err || !x ? err : put_closed(s, u, ev, x, 0, UINT32_MAX);
}

static int on_close_range(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_file *r = (const void *)ev->rec;
	const struct bas_told d = bas_told_of(s, ev);
	const struct rec_text *x = bas_told_text(&d, FILE_TEXT_FDS);
	int err = r->arg[2] & CLOSE_RANGE_UNSHARE ? unshare_table(u) : 0;

	return err || !x ? err : put_closed(s, u, ev, x, r->arg[0], r->arg[1]);
}

int bas_fds_on_file(struct sink *s, struct bas_task *u, const struct event *ev)
{
	const struct rec_file *r = (const void *)ev->rec;
	int err;

	if (!of(u))
		return -ENOMEM;
	switch (r->op) {
	case FILE_OPEN:
		return note(u->fds, r->ret);
	case FILE_PIPE:
		return note(u->fds, r->arg[0]) ?: note(u->fds, r->arg[1]);
	case FILE_DUP:
		/* In dup() the number was free, though the record of the close that freed it may still come. */
		err = r->arg[2] && is_open(u->fds, r->ret) ? put_close(s, u, ev, r->ret) : 0;
		return err ?: note(u->fds, r->ret);
	case FILE_CLOSE:
		forget(u->fds, r->arg[0]);
		return 0;
	case FILE_CLOSE_RANGE:
		return on_close_range(s, u, ev);
	default:
		return 0;
	}
}

void bas_fds_forget(struct bas_task *u, uint32_t fd)
{
	if (u->fds)
		forget(u->fds, fd);
}
