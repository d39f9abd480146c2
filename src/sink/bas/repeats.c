/*
 * repeats.c - a file that a task opens over and over is told once: for --ignore-repeated-opens.
 *
 * An open is a repetition when the task's last one had the same path, flags and mode. The close of a descriptor whose
 * open was not told is not told either.
 */
#include "base.h"
#include "sink/bas/bas.h"

#define TAIL	1023		/* bytes of a path that are compared, from its end */
#define UNTOLD	16		/* descriptors at once; what has no place is told */

struct bas_repeats {
	char	path[TAIL + 1];		/* of the last open; "": none */
	int	flags, mode;
	int	untold[UNTOLD];
	size_t	count;
};

static const char *tail_of(const char *path)
{
	size_t len = strlen(path);

	return path + (len > TAIL ? len - TAIL : 0);
}

bool bas_repeats_taken(struct bas_task *u, int fd)
{
	struct bas_repeats *r = u->repeats;

	for (size_t i = 0; r && i < r->count; i++)
		if (r->untold[i] == fd) {
			r->untold[i] = r->untold[--r->count];
			return true;
		}
	return false;
}

bool bas_repeats_open(struct bas_task *u, const char *path, int flags, int mode, int fd)
{
	struct bas_repeats *r = u->repeats = u->repeats ?: calloc(1, sizeof(*r));

	if (!r)
		return false;
	bas_repeats_taken(u, fd);
	path = tail_of(path);
	if (!strcmp(path, r->path) && flags == r->flags && mode == r->mode && r->count < UNTOLD) {
		r->untold[r->count++] = fd;
		return true;
	}
	strcpy(r->path, path);
	r->flags = flags;
	r->mode = mode;
	return false;
}

void bas_repeats_exec(struct bas_task *u)
{
	if (u->repeats)
		*u->repeats->path = '\0';
}
