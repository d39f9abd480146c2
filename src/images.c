/*
 * images.c - files by device, inode and generation.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "config.h"
#include "flow/round.h"
#include "gate.h"
#include "image.h"
#include "images.h"
#include "log.h"
#include "source.h"

#define SCRIPTS_MAX	4	/* scripts that interpret scripts, as the kernel allows */

struct images {
	const struct config *cfg;
	struct queue	    *queue;
	struct recorder_bpf *bpf;
	struct image_child  *child;
	struct image_id	    *known;	/* as ask_file() tells it, whatever the kernel calls the file */
	size_t		     known_count, known_room;
	uint32_t	     next_func;
};

int images_create(struct images **ret, const struct config *cfg, struct queue *queue)
{
	struct images *im = calloc(1, sizeof(*im));
	int err;

	if (!im)
		return -ENOMEM;
	im->cfg = cfg;
	im->queue = queue;
	err = image_child_start(&im->child);
	if (err) {
		free(im);
		return fail(err, "cannot start the process that reads executable files");
	}
	*ret = im;
	return 0;
}

void images_destroy(struct images *im)
{
	if (!im)
		return;
	image_child_stop(im->child);
	free(im->known);
	free(im);
}

void images_set_bpf(struct images *im, struct recorder_bpf *bpf)
{
	im->bpf = bpf;
}

static int ask_file(int fd, struct image_id *id)
{
	struct stat st;
	int gen = 0;

	if (fstat(fd, &st))
		return -errno;
	if (ioctl(fd, FS_IOC_GETVERSION, &gen))
		gen = 0;
	*id = (struct image_id){ .ino = st.st_ino, .dev = major(st.st_dev) << 20 | minor(st.st_dev), .gen = gen };
	return 0;
}

static bool is_known(const struct images *im, const struct image_id *id)
{
	for (size_t i = 0; i < im->known_count; i++)
		if (!memcmp(&im->known[i], id, sizeof(*id)))
			return true;
	return false;
}

/* The writer gets a copy of its own, ahead of any record that names the image's functions. */
static int tell_writer(struct images *im, const struct image *img)
{
	__cleanup(free_ptr) void *packed = NULL;
	struct round *r = round_create(0);
	size_t len;
	int err = r ? image_pack(img, &packed, &len) : -ENOMEM;

	err = err ?: image_unpack(&r->image, packed, len);
	if (err) {
		round_destroy(r);
		return err;
	}
	queue_push(im->queue, r);
	return 0;
}

static int attach_sources(struct images *im, const struct image *img, int fd)
{
	int err = 0;

	for (const struct source_ops *const *s = sources; *s && !err; s++)
		if ((*s)->image)
			err = (*s)->image(im->bpf, im->cfg, img, fd);
	return err;
}

int images_add(struct images *im, int fd, const char *path, const struct image_id *given)
{
	struct image_id seen, id;
	struct image *img;
	int err = ask_file(fd, &seen);

	if (err || is_known(im, &seen))
		return err;
	err = grow(&im->known, &im->known_room, im->known_count, sizeof(seen));
	if (err)
		return err;
	im->known[im->known_count++] = seen;
	id = given ? *given : seen;
	err = image_child_read(im->child, &img, fd);
	if (err) {
		detail("no functions of '%s': %s", path, strerror(-err));
		return 0;
	}
	img->ino = id.ino;
	img->dev = id.dev;
	img->gen = id.gen;
	img->first_func = im->next_func;
	im->next_func += img->func_count;
	free(img->path);
	img->path = strdup(path);
	err = img->path ? tell_writer(im, img) : -ENOMEM;
	gate_attaching(true);
	err = err ?: attach_sources(im, img, fd);
	gate_attaching(false);
	image_destroy(img);
	return err;
}

/* @path as the process @pid sees it, opened without waiting for anything and never as a terminal of ours. */
static int open_as(unsigned pid, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
	__cleanup(close_fd) int from = -1;
	char dir[32];
	int fd;

	if (*path == '/')
		how.resolve = RESOLVE_IN_ROOT;	/* its links lead where they lead for that process */
	snprintf(dir, sizeof(dir), "/proc/%u/%s", pid, *path == '/' ? "root" : "cwd");
	from = open(dir, O_PATH | O_CLOEXEC);
	if (from < 0)
		return -errno;
	fd = syscall(SYS_openat2, from, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

static bool is_executable(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mode & 0111;
}

/* The interpreter that the first line of a script names, into @line; false: not a script. execve(2). */
static bool read_interpreter(int fd, char *line, size_t size)
{
	ssize_t n = pread(fd, line, size - 1, 0);
	char *word;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = line + 2 + strspn(line + 2, " \t");
	word[strcspn(word, " \t")] = '\0';
	memmove(line, word, strlen(word) + 1);
	return *line != '\0';
}

static int add_path(struct images *im, unsigned pid, const char *path, int depth)
{
	__cleanup(close_fd) int fd = open_as(pid, path);
	char text[4096], self[32];
	ssize_t n;

	if (fd < 0 || !is_executable(fd))
		return 1;
	if (read_interpreter(fd, text, 256))	/* BINPRM_BUF_SIZE */
		return depth < SCRIPTS_MAX ? add_path(im, pid, text, depth + 1) : 1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return images_add(im, fd, text, NULL);
}

int images_add_path(struct images *im, unsigned pid, const char *path)
{
	return add_path(im, pid, path, 0);
}
