/*
 * image.c - code images that the driver was given: module/SHA1.bin, and what they say of their kernels.
 *
 * Pieces of one are put together in memory, at most CUDA_IMAGE_MAX bytes. A longer one is read from the file that it lies
 * in, through the mapping that the process has of it: so it is what the process itself may read. One content has one file, whatever
 * number of calls it was given to; the folders of its kernels link there.
 */
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "about.h"
#include "base.h"
#include "cuda/code.h"
#include "event.h"
#include "log.h"
#include "out.h"
#include "process.h"
#include "sink/neutrino/neutrino.h"

#define FILE_IMAGE_MAX	(64ull << 20)	/* bytes of one that is read from a file */

struct nt_image {
	bool	    has_begun;
	const char *why;		/* it is not saved; NULL: it is, as name */
	char	   *bytes;		/* what has come so far; NULL: none, or it is done */
	size_t	    len, room, size;
	char	    name[NT_SHA1_HEX + sizeof(".bin")];
	struct nt_code *kernel;
	size_t	    kernels, kernel_room;
	struct nt_image *next;
};

static struct nt_image *image_of(struct nt_process *p, struct cuda_module *m)
{
	struct nt_image *i = m->slot[p->slot];

	if (i)
		return i;
	i = calloc(1, sizeof(*i));
	if (!i)
		return NULL;
	i->why = "no piece of it was seen";
	i->next = p->images;
	p->images = i;
	m->slot[p->slot] = i;
	return i;
}

void nt_images_free(struct nt_process *p)
{
	while (p->images) {
		struct nt_image *i = p->images;

		p->images = i->next;
		free(i->bytes);
		free(i->kernel);
		free(i);
	}
}

/* ---- what it says ---- */

/* FNV-1a. */
static uint64_t hash_of(const char *name, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 0x100000001b3ull;
	return h;
}

/* It is told once for each architecture, with the same parameters: the first is found. */
static int note_kernel(void *ctx, const struct code_kernel *k)
{
	struct nt_image *i = ctx;
	uint64_t name = hash_of(k->name, k->name_len);

	if (k->params == CODE_PARAMS_UNKNOWN)
		return 0;
	if (grow(&i->kernel, &i->kernel_room, i->kernels, sizeof(*i->kernel)))
		return -ENOMEM;
	i->kernel[i->kernels++] = (struct nt_code){ name, k->params };
	return 0;
}

bool nt_image_kernel(const struct nt_process *p, const struct cuda_kernel *k, struct nt_code *ret)
{
	const struct nt_image *i = k->module ? k->module->slot[p->slot] : NULL;
	uint64_t name = hash_of(k->name, strlen(k->name));

	for (size_t n = 0; i && n < i->kernels; n++)
		if (i->kernel[n].name == name) {
			*ret = i->kernel[n];
			return true;
		}
	return false;
}

/* ---- it is saved ---- */

/* Another call may have been given the same. */
static int save(struct nt_process *p, struct nt_image *i, const char *bytes, size_t len)
{
	__cleanup(close_fd) int dirfd = openat(p->dirfd, "module", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct out *o = NULL;
	int err;

	if (dirfd < 0)
		return -errno;
	nt_sha1(bytes, len, i->name);
	strcat(i->name, ".bin");
	err = out_create(&o, dirfd, i->name);
	if (!err) {
		out_bytes(o, bytes, len);
		err = out_seal(o);
	}
	out_destroy(o);
	if (err && err != -EEXIST)
		return err;
	i->why = NULL;
	i->size = len;
	return code_kernels(bytes, len, note_kernel, i);
}

static int end_image(struct nt_process *p, struct nt_image *i)
{
	__cleanup(free_ptr) char *bytes = TAKE(i->bytes);

	return save(p, i, bytes, i->len);
}

/* ---- it comes in pieces ---- */

static int give_up(struct nt_image *i, const char *why)
{
	free(TAKE(i->bytes));
	i->why = why;
	return 0;
}

static int add_piece(struct nt_image *i, const struct rec_cuda_image *r)
{
	if (i->len + r->len > i->room) {
		size_t room = MIN(MAX(2 * i->room, 4u * CUDA_IMAGE_PIECE), CUDA_IMAGE_MAX);
		char *bytes = realloc(i->bytes, room);

		if (!bytes)
			return -ENOMEM;
		i->bytes = bytes;
		i->room = room;
	}
	memcpy(i->bytes + i->len, r->bytes, r->len);
	i->len += r->len;
	return 0;
}

static int on_piece(struct nt_process *p, struct nt_image *i, const struct rec_cuda_image *r)
{
	int err;

	if (!r->at && i->has_begun)		/* of a call whose entry was lost */
		return 0;
	i->has_begun = true;
	if (r->at != i->len || r->at + r->len > CUDA_IMAGE_MAX || (r->at && !i->bytes))
		return give_up(i, "a piece of it was lost");
	if (r->end == CUDA_IMAGE_BROKEN)
		return give_up(i, "it could not be read to its end");
	if (r->end == CUDA_IMAGE_LONG)
		return give_up(i, "it is longer than 1 MiB and lies in no file as it is");
	err = add_piece(i, r);
	i->why = "its last piece was lost";
	return err ?: r->end == CUDA_IMAGE_WHOLE ? end_image(p, i) : 0;
}

/* ---- it lies in a file ---- */

/* Whoever serves it may take as long as he likes to answer. */
static bool may_stand_still(uint32_t magic)
{
	switch (magic) {
	case FUSE_SUPER_MAGIC:
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case AFS_SUPER_MAGIC:
	case V9FS_MAGIC:
		return true;
	default:
		return false;
	}
}

static int open_file(int dirfd, const char *name, ino_t ino, struct stat *st)
{
	__cleanup(close_fd) int fd = openat(dirfd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, st) || !S_ISREG(st->st_mode) || st->st_ino != ino)
		return -ENOENT;
	return TAKE_FD(fd);
}

/* Of a process that has ended meanwhile: by the path that its code had, if that still is the same file. */
static int open_by_path(const struct session *s, ino_t ino)
{
	for (const struct map *m = s->map; m < s->map + s->map_count; m++) {
		__cleanup(close_fd) int fd = -1;
		struct stat st;

		if (m->ino != ino)
			continue;
		fd = open_file(AT_FDCWD, m->path, ino, &st);
		if (fd >= 0 && m->dev == (major(st.st_dev) << 20 | minor(st.st_dev)))
			return TAKE_FD(fd);
	}
	return -ENOENT;
}

/* The file that is mapped, whatever is at its path by now. */
static int open_mapped(const struct nt_process *p, const struct rec_cuda_image_file *r)
{
	__cleanup(close_fd) int proc = process_open(p->pid);
	struct stat st;
	char name[64];

	snprintf(name, sizeof(name), "map_files/%lx-%lx", (unsigned long)r->start, (unsigned long)r->end);
	return proc < 0 ? proc : open_file(proc, name, r->ino, &st);
}

static bool read_whole(int fd, char *to, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pread(fd, to, len, at);

		if (n <= 0)
			return false;
		to += n;
		at += n;
		len -= n;
	}
	return true;
}

static int on_file(struct nt_process *p, struct nt_image *i, const struct session *s, const struct rec_cuda_image_file *r)
{
	__cleanup(close_fd) int fd = -1;
	__cleanup(free_ptr) char *bytes = NULL;

	if (p->about->is_replay)
		return give_up(i, "it lies in a file, which is not looked at when a recording is replayed");
	if (r->len > FILE_IMAGE_MAX)
		return give_up(i, "it is longer than 64 MiB");
	if (may_stand_still(r->magic))
		return give_up(i, "it lies in a file of a file system that may not answer");
	fd = open_mapped(p, r);
	if (fd < 0)
		fd = open_by_path(s, r->ino);
	bytes = fd < 0 ? NULL : malloc(r->len);
	if (!bytes || !read_whole(fd, bytes, r->len, r->offset))
		return give_up(i, "the file that it lies in could not be read");
	return save(p, i, bytes, r->len);
}

int nt_image_record(struct nt_process *p, const struct event *ev)
{
	struct nt_image *i = image_of(p, ev->call->cuda->module);

	if (!i)
		return -ENOMEM;
	if (ev->kind == REC_CUDA_IMAGE)
		return on_piece(p, i, (const void *)ev->rec);
	return on_file(p, i, ev->task->session, (const void *)ev->rec);
}

/* ---- who looks for it ---- */

void nt_image_tell(struct nt_process *p, const struct cuda_call *call)
{
	const struct nt_image *i = call->module ? call->module->slot[p->slot] : NULL;

	if (!i)
		return;
	if (i->why)
		out_printf(p->log, "[recorder] image not saved: %s\n", i->why);
	else
		out_printf(p->log, "[recorder] image module/%s size %zu\n", i->name, i->size);
}

/* A second name for the file; on a file system that has none, the first is said. */
void nt_image_link(struct nt_process *p, const struct cuda_kernel *k, int dirfd, char to[NT_IMAGE_SAID])
{
	__cleanup(close_fd) int modules = openat(p->dirfd, "module", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct nt_image *i = k->module ? k->module->slot[p->slot] : NULL;

	if (!i || i->why) {
		snprintf(to, NT_IMAGE_SAID, "not saved: %s", i ? i->why : k->module ? "none was seen, or the driver read a file" :
			 "it is not known which");
		return;
	}
	if (modules >= 0 && !linkat(modules, i->name, dirfd, "original.bin", 0))
		snprintf(to, NT_IMAGE_SAID, "original.bin, %zu bytes, is module/%s", i->size, i->name);
	else
		snprintf(to, NT_IMAGE_SAID, "module/%s, %zu bytes", i->name, i->size);
}
