/*
 * logs.c - what ends in the file of the tasks and processes that a spool tells of: of those that had ended from its two logs,
 * of the others from its description. Of several of a number the last one, and of those that are alive that one, is kept.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"
#include "out.h"
#include "sink/tracedat/meta.h"

#define PLACE_HEAD	8	/* u32 pid, u32 bytes */
#define OPTION_HEAD	6	/* u16 id, u32 bytes */
#define PLACES_MAX	(1u << 24)	/* processes: four times as many as there are numbers */

int td_spool_open(int spoolfd, const char *name, int flags, uint64_t *size)
{
	__cleanup(close_fd) int fd = openat(spoolfd, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return -EBADMSG;
	*size = st.st_size;
	return TAKE_FD(fd);
}

int td_spool_read(int fd, uint64_t size, void **ret, size_t *len)
{
	size_t at = 0;
	ssize_t n;
	char *all;

	if (!size || size > TD_SPOOL_READ_MAX)
		return -EBADMSG;
	all = malloc(size);
	if (!all)
		return -ENOMEM;
	while (at < size && (n = pread(fd, all + at, size - at, at)) > 0)
		at += n;
	*ret = all;
	*len = at;
	return 0;
}

/* ---- names ---- */

struct line {
	uint32_t    tid;
	uint32_t    len;		/* its end included */
	const char *text;
};

struct lines {
	struct line *line;
	size_t	     count, room;
};

static int add_lines(struct lines *all, const char *text, size_t len)
{
	for (const char *at = text, *end = text + len, *stop; at < end; at = stop + 1) {
		stop = memchr(at, '\n', end - at);
		if (!stop)			/* it was being written */
			break;
		if (grow(&all->line, &all->room, all->count, sizeof(*all->line)))
			return -ENOMEM;
		all->line[all->count++] = (struct line){ strtoul(at, NULL, 10), stop + 1 - at, at };
	}
	return 0;
}

/* Texts of the log lie before those of the description: which is the later one their places tell. */
static int by_tid(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->text < y->text ? -1 : x->text > y->text;
}

static void keep_last_lines(struct lines *all)
{
	size_t n = 0;

	if (all->count)
		qsort(all->line, all->count, sizeof(*all->line), by_tid);
	for (size_t i = 0; i < all->count; i++)
		if (i + 1 == all->count || all->line[i + 1].tid != all->line[i].tid)
			all->line[n++] = all->line[i];
	all->count = n;
}

/* The log's whole lines and @more bytes of room behind them, to be freed; NULL: no memory. What cannot be read has none. */
static char *read_names(int spoolfd, size_t more, size_t *len, bool *is_whole)
{
	uint64_t size = 0;
	__cleanup(close_fd) int fd = td_spool_open(spoolfd, TD_LOG_NAMES, O_RDONLY, &size);
	void *log = NULL;
	char *text;

	*len = 0;
	if (fd >= 0 && size)
		(void)td_spool_read(fd, size, &log, len);	/* the events are worth more than their names */
	*is_whole = fd >= 0 && *len == size;
	while (*len && ((const char *)log)[*len - 1] != '\n')
		--*len;
	text = realloc(log, *len + more + 1);
	if (!text)
		free(log);
	return text;
}

int td_logs_names(struct out *o, int spoolfd, const struct td_block *alive, bool *is_whole)
{
	size_t own = alive->len > sizeof(uint64_t) ? alive->len - sizeof(uint64_t) : 0, len;
	__cleanup(free_ptr) char *text = read_names(spoolfd, own, &len, is_whole);
	struct lines all = {};
	uint64_t bytes = 0;
	int err;

	if (!text)
		return -ENOMEM;
	memcpy(text + len, (const char *)alive->data + sizeof(uint64_t), own);
	err = add_lines(&all, text, len + own);
	keep_last_lines(&all);
	for (size_t i = 0; i < all.count; i++)
		bytes += all.line[i].len;
	out_u64(o, bytes);
	for (size_t i = 0; i < all.count; i++)
		out_bytes(o, all.line[i].text, all.line[i].len);
	free(all.line);
	return err ?: out_error(o);
}

/* ---- maps ---- */

struct place {
	uint32_t pid, len;
	uint64_t order, at;		/* in the log, or in the description */
	bool	 is_alive;
};

struct td_maps {
	int		fd;		/* of the log; -1: there is none */
	struct td_block alive;
	struct place   *place;
	size_t		count, room;
};

static int add_place(struct td_maps *m, const uint8_t head[PLACE_HEAD], uint64_t at, bool is_alive)
{
	if (grow(&m->place, &m->room, m->count, sizeof(*m->place)))
		return -ENOMEM;
	m->place[m->count] = (struct place){ get_u32(head), get_u32(head + 4), m->count, at + PLACE_HEAD, is_alive };
	m->count++;
	return 0;
}

/* Up to what is not whole, or nothing that recorder writes. Returns where that is, or a negative errno. */
static int64_t find_in_log(struct td_maps *m, uint64_t size)
{
	uint8_t head[PLACE_HEAD];
	uint64_t at = 0;
	uint32_t len;
	int err = 0;

	while (!err && size - at >= PLACE_HEAD && pread(m->fd, head, sizeof(head), at) == sizeof(head)) {
		len = get_u32(head + 4);
		if (!get_u32(head) || !len || len > TD_MAPS_MAX || m->count >= PLACES_MAX || len > size - at - PLACE_HEAD)
			break;
		err = add_place(m, head, at, false);
		at += PLACE_HEAD + len;
	}
	return err ?: (int64_t)at;
}

static int find_alive(struct td_maps *m)
{
	const uint8_t *data = m->alive.data;
	uint64_t at = 0;
	int err = 0;

	while (!err && m->alive.len - at >= PLACE_HEAD && get_u32(data + at + 4) <= m->alive.len - at - PLACE_HEAD) {
		err = add_place(m, data + at, at, true);
		at += PLACE_HEAD + get_u32(data + at + 4);
	}
	return err;
}

static int by_pid(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void keep_last(struct td_maps *m)
{
	size_t n = 0;

	if (m->count)
		qsort(m->place, m->count, sizeof(*m->place), by_pid);
	for (size_t i = 0; i < m->count; i++)
		if (i + 1 == m->count || m->place[i + 1].pid != m->place[i].pid)
			m->place[n++] = m->place[i];
	m->count = n;
}

int td_maps_open(struct td_maps **ret, int spoolfd, const struct td_block *alive, bool *is_whole)
{
	struct td_maps *m = calloc(1, sizeof(*m));
	uint64_t size = 0;
	int64_t found = 0;
	int err;

	if (!m)
		return -ENOMEM;
	m->alive = *alive;
	m->fd = td_spool_open(spoolfd, TD_LOG_MAPS, O_RDONLY, &size);
	if (m->fd >= 0)
		found = find_in_log(m, size);
	*is_whole = m->fd >= 0 && found == (int64_t)size;
	err = found < 0 ? found : find_alive(m);
	keep_last(m);
	if (err)
		td_maps_close(m);
	else
		*ret = m;
	return err;
}

void td_maps_close(struct td_maps *m)
{
	if (!m)
		return;
	close_fd(&m->fd);
	free(m->place);
	free(m);
}

uint64_t td_maps_bytes(const struct td_maps *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->count; i++)
		n += OPTION_HEAD + m->place[i].len;
	return n;
}

size_t td_maps_count(const struct td_maps *m)
{
	return m->count;
}

int td_maps_option(const struct td_maps *m, size_t i, struct out *o)
{
	const struct place *p = &m->place[i];
	__cleanup(free_ptr) uint8_t *text = malloc(p->len ?: 1);

	if (!text)
		return -ENOMEM;
	if (p->is_alive)
		memcpy(text, (const uint8_t *)m->alive.data + p->at, p->len);
	else if (pread(m->fd, text, p->len, p->at) != (ssize_t)p->len)
		return -EBADMSG;
	td_option(o, TD_O_PROCMAPS, text, p->len);
	return out_error(o);
}
