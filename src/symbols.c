/*
 * symbols.c - the functions of mapped files, by inode and path.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base.h"
#include "debugfile.h"
#include "image.h"
#include "log.h"
#include "perfmap.h"
#include "symbols.h"
#include "task.h"

struct known {
	uint64_t      ino;
	uint32_t      dev, gen;
	char	     *path;
	struct image *img;	/* NULL: it cannot be had */
};

struct symbols {
	struct image_child *child;	/* NULL: not started */
	struct known	   *known;
	size_t		    count, room;
	struct perfmaps	   *made;	/* NULL: nobody asked */
};

int symbols_create(struct symbols **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

int symbols_start(struct symbols *s)
{
	return s->child ? 0 : image_child_start(&s->child);
}

void symbols_destroy(struct symbols *s)
{
	if (!s)
		return;
	image_child_stop(s->child);
	for (size_t i = 0; i < s->count; i++) {
		image_destroy(s->known[i].img);
		free(s->known[i].path);
	}
	free(s->known);
	perfmaps_destroy(s->made);
	free(s);
}

/* A file system of layers numbers its files otherwise than the kernel's maps do. */
static bool is_same_file(int fd, const struct map *m)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	return st.st_ino == m->ino || (!fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

/* The folder of @pid in /proc, or when it has ended that of recorder. */
static int open_proc(const char *pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%s", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static struct image *read_at(struct symbols *s, int proc, const struct map *m)
{
	__cleanup(close_fd) int fd = proc < 0 ? -1 : debugfile_open(proc, m->path);
	struct image *img, *with;

	if (fd < 0 || !is_same_file(fd, m) || image_child_read(s->child, &img, fd, IMAGE_NAMES))
		return NULL;
	if (!img->is_stripped || debugfile_read(s->child, &with, img, m->path, proc, fd, IMAGE_NAMES))
		return img;
	image_destroy(img);
	return with;
}

static struct image *read_names(struct symbols *s, uint32_t pid, const struct map *m)
{
	__cleanup(close_fd) int proc = -1, own = -1;
	struct image *img;
	char number[16];

	if (*m->path != '/' || symbols_start(s))
		return NULL;
	snprintf(number, sizeof(number), "%u", pid);
	proc = open_proc(number);
	img = read_at(s, proc, m);
	if (img)
		return img;
	own = open_proc("self");
	return read_at(s, own, m);
}

const struct image *symbols_of(struct symbols *s, uint32_t pid, const struct map *m)
{
	struct known *k;

	for (k = s->known; k < s->known + s->count; k++)
		if (k->ino == m->ino && k->dev == m->dev && k->gen == m->gen && !strcmp(k->path, m->path))
			return k->img;
	if (grow(&s->known, &s->room, s->count, sizeof(*s->known)))
		return NULL;
	k = &s->known[s->count];
	*k = (struct known){ .ino = m->ino, .dev = m->dev, .gen = m->gen, .path = strdup(m->path) };
	if (!k->path)
		return NULL;
	s->count++;
	k->img = read_names(s, pid, m);
	if (!k->img)
		detail("no names of the functions of '%s'", m->path);
	return k->img;
}

const struct func *symbols_made(struct symbols *s, uint32_t pid, uint64_t ip)
{
	if (!s->made && perfmaps_create(&s->made))
		return NULL;
	return perfmaps_at(s->made, pid, ip);
}
