/*
 * mapped.c - /proc/PID/maps, and /proc/PID/map_files to open what it names.
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "mapped.h"
#include "regular.h"

static bool take_line(char *line, enum mapped kind, struct mapping *m)
{
	unsigned major, minor;
	char perms[5];
	int at = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &m->start, &m->end, perms, &m->offset, &major, &minor, &m->ino,
		   &at) < 7)
		return false;
	line[strcspn(line, "\n")] = '\0';
	m->dev = major << 20 | minor;
	m->path = line + at;
	m->is_readable = perms[0] == 'r';
	return m->ino && (kind == MAPPED_CODE ? perms[2] == 'x' : !strcmp(perms + 1, "--p"));
}

int mapped_each(int proc, enum mapped kind, mapping_fn fn, void *ctx)
{
	__cleanup(close_file) FILE *f = NULL;
	__cleanup(free_ptr) char *line = NULL;
	struct mapping m = { .proc = proc };
	int fd = openat(proc, "maps", O_RDONLY | O_CLOEXEC), err = 0;
	size_t room = 0;

	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? 0 : MAPPED_UNREADABLE;
	f = fdopen(fd, "r");
	if (!f) {
		close_fd(&fd);
		return MAPPED_UNREADABLE;
	}
	m.maps = fileno(f);
	while (err >= 0 && getline(&line, &room, f) > 0) {
		int n = take_line(line, kind, &m) ? fn(ctx, &m) : 0;

		err = n ?: err;
	}
	return err;
}

/* PROCMAP_QUERY of include/uapi/linux/fs.h: what lies at @addr. */
struct procmap_query {
	uint64_t size, flags, addr, start, end, vma_flags, page_size, offset, ino;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name, build_id;
};

#define PROCMAP_QUERY	_IOWR('f', 17, struct procmap_query)

_Static_assert(sizeof(struct procmap_query) == 104, "as the kernel's");

bool mapped_still(const struct mapping *m)
{
	struct procmap_query q = { .size = sizeof(q), .addr = m->start };

	if (ioctl(m->maps, PROCMAP_QUERY, &q))
		return errno == ENOTTY;
	return q.start == m->start && q.end == m->end && q.offset == m->offset && q.ino == m->ino &&
	       (q.major << 20 | q.minor) == m->dev;
}

/* A device may be mapped, too. */
int mapped_open(const struct mapping *m)
{
	__cleanup(close_fd) int at = -1;
	char path[64];

	snprintf(path, sizeof(path), "map_files/%lx-%lx", m->start, m->end);
	at = openat(m->proc, path, O_PATH | O_CLOEXEC);
	return at < 0 ? -errno : regular_open(at);
}
