/*
 * images.c - files by device, inode, generation, size and time of change.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base.h"
#include "chosen.h"
#include "config.h"
#include "copies.h"
#include "cuda.h"
#include "debugfile.h"
#include "debuginfo.h"
#include "flow/round.h"
#include "gate.h"
#include "image.h"
#include "images.h"
#include "kernel.h"
#include "log.h"
#include "mapped.h"
#include "regular.h"
#include "resolved.h"
#include "source.h"
#include "source/library.h"
#include "source/links.h"
#include "source/probed.h"

#define SCRIPTS_MAX	4	/* scripts that interpret scripts, as the kernel allows */

struct known {
	struct image_id id;		/* as ask_file() tells it, whatever the kernel calls the file */
	bool		has_functions;	/* it was read with its functions, and probed */
	bool		is_mapped;	/* the sources were told of it */
	bool		forbids_returns;
};

struct images {
	const struct config *cfg;
	struct queue	    *queue;
	struct recorder_bpf *bpf;
	struct image_child  *child;
	struct copies	    *copies;	/* NULL: none are made */
	struct known	    *known;
	size_t		     known_count, known_room;
	uint32_t	     next_func;
	bool		     has_owners;	/* probes are met by the process alone that a file was added for */
	pid_t		     pid;		/* that */
	bool		     is_ahead;		/* walkers are guarded only, nothing else is probed yet */
	struct image_id	     program;		/* then: of the process, which is added later */
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
	copies_destroy(im->copies);
	probed_release();
	free(im->known);
	free(im);
}

void images_set_bpf(struct images *im, struct recorder_bpf *bpf)
{
	im->bpf = bpf;
}

int images_copy_for(struct images *im, pid_t pid)
{
	return copies_create(&im->copies, im->cfg, pid);
}

static int ask_file(int fd, struct image_id *id)
{
	struct stat st;
	int gen = 0;

	if (fstat(fd, &st))
		return -errno;
	if (ioctl(fd, FS_IOC_GETVERSION, &gen))
		gen = 0;
	*id = (struct image_id){
		.ino = st.st_ino, .dev = major(st.st_dev) << 20 | minor(st.st_dev), .gen = gen,
		.size = st.st_size, .ctime = st.st_ctim.tv_sec * NSEC_PER_SEC + st.st_ctim.tv_nsec,
	};
	return 0;
}

/* What is known of the file, also when that has another content now. */
static struct known *find_known(const struct images *im, const struct image_id *id)
{
	for (size_t i = 0; i < im->known_count; i++)
		if (im->known[i].id.ino == id->ino && im->known[i].id.dev == id->dev)
			return &im->known[i];
	return NULL;
}

static void forget(struct probed *p)
{
	if (probed_is_forgotten(p))
		return;
	probed_forget(p);
	for (const struct source_ops *const *s = sources; *s; s++)
		if ((*s)->forget)
			(*s)->forget(p);
}

int images_rewritten_fd(void)
{
	return probed_fd();
}

/*
 * What the file open at @fd is known as, and its entry, made if there is none; good
 * until the next is made. Of a file that is no longer what was probed nothing is known,
 * and its probes are let go of. @p: the file, NULL when it has none.
 */
static int know(struct images *im, int fd, struct probed *p, struct image_id *id, struct known **ret)
{
	struct known *k;
	int err = ask_file(fd, id);

	if (err)
		return err;
	k = find_known(im, id);
	*ret = k;
	if (k && !memcmp(&k->id, id, sizeof(*id)) && !(p && probed_is_forgotten(p)))
		return 0;
	if (k && p)
		forget(p);
	if (!k && grow(&im->known, &im->known_room, im->known_count, sizeof(*im->known)))
		return -ENOMEM;
	if (!k)
		k = &im->known[im->known_count++];
	*k = (struct known){ .id = *id };
	*ret = k;
	return 0;
}

/*
 * Where the kernel lets probes go one by one, each waits for the tasks at a gate, and
 * the next for it: so meanwhile nobody waits there. An exec of the file itself is held.
 */
static void clear_gate(bool begins)
{
	if (kernel_has(HAVE_UPROBE_MULTI))
		return;
	if (!begins)
		links_wait();
	gate_open(!begins);
}

int images_drop_rewritten(struct images *im)
{
	struct probed *p = probed_next();
	bool any;
	int err = 0;

	if (!p)
		return 0;
	for (; p; p = probed_next())
		forget(p);
	clear_gate(true);
	any = probed_settle();
	clear_gate(false);
	for (const struct source_ops *const *s = sources; *s && any && im->bpf && !err; s++)
		if ((*s)->again)
			err = (*s)->again(im->bpf, im->cfg);
	return err;
}

void images_let_exec(void)
{
	probed_let_exec();
}

static bool renew(struct probed *p)
{
	bool is_gone;

	clear_gate(true);
	is_gone = probed_renew(p);
	clear_gate(false);
	return is_gone;
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

void images_own(struct images *im)
{
	im->has_owners = true;
	gate_at_forks(true);
}

int images_share(struct images *im)
{
	int err = 0;

	if (!im->has_owners)
		return 0;
	detail("who else runs what is probed meets the probes from here on");
	im->has_owners = false;
	gate_attaching(true);
	for (const struct source_ops *const *s = sources; *s && !err; s++)
		if ((*s)->share)
			err = (*s)->share(im->bpf, im->cfg);
	gate_attaching(false);
	gate_at_forks(false);
	return err;
}

/* The file was probed before, for others. */
static int add_owner(struct images *im, const struct probed *p)
{
	int err = 0;

	if (!im->has_owners || !p)
		return 0;
	gate_attaching(true);
	for (const struct source_ops *const *s = sources; *s && !err; s++)
		if ((*s)->owner)
			err = (*s)->owner(im->bpf, im->cfg, p, im->pid);
	gate_attaching(false);
	return err;
}

static int attach_sources(struct images *im, const struct image *img, int fd)
{
	int err = 0;

	for (const struct source_ops *const *s = sources; *s && !err; s++)
		if ((*s)->image)
			err = (*s)->image(im->bpf, im->cfg, img, fd);
	return err;
}

static int add_linker(struct images *im, int proc, const char *path);
static int list_needed(struct images *im, int proc, const struct image *img);

/* Tell the sources that the file may be mapped, once. */
static int tell_mapped(struct images *im, struct known *k, const struct image *img, int fd)
{
	if (k->is_mapped)
		return 0;
	k->is_mapped = true;
	for (const struct source_ops *const *s = sources; *s; s++) {
		int err = (*s)->mapped ? (*s)->mapped(im->bpf, im->cfg, img, fd) : 0;

		if (err < 0)
			return err;
		k->forbids_returns |= err > 0;
	}
	return 0;
}

static void tell_known(struct images *im, const struct known *k, const struct image *img)
{
	for (const struct source_ops *const *s = sources; *s; s++)
		if ((*s)->known)
			(*s)->known(im->bpf, im->cfg, img, !k->forbids_returns);
}

/* A stripped file is read again with its debug file. One that is none, or kills the child, changes nothing. */
static void read_debug_file(struct images *im, int proc, struct image **img, int fd, const char *path)
{
	struct image *with;

	if (!(*img)->is_stripped || debugfile_read(im->child, &with, *img, path, proc, fd, IMAGE_FUNCTIONS))
		return;
	image_destroy(*img);
	*img = with;
}

/* What the image child makes of the file, named as targets and the kernel know it. */
static int read_image(struct images *im, struct image **ret, int proc, int fd, const char *path,
		      const struct image_id *id, enum image_depth depth)
{
	struct image *img;
	int err = image_child_read(im->child, &img, fd, depth);

	if (err)
		return err;
	if (depth == IMAGE_FUNCTIONS)
		read_debug_file(im, proc, &img, fd, path);
	img->ino = id->ino;
	img->dev = id->dev;
	img->gen = id->gen;
	img->file_size = id->size;
	img->file_ctime = id->ctime;
	free(img->path);
	img->path = strdup(path);
	if (!img->path) {
		image_destroy(img);
		return -ENOMEM;
	}
	if (depth == IMAGE_FUNCTIONS)
		resolved_name(img);
	*ret = img;
	return 0;
}

/* The writer knows its functions by the numbers they get. */
static int number_and_tell(struct images *im, struct image *img)
{
	img->first_func = im->next_func;
	im->next_func += img->func_count;
	return tell_writer(im, img);
}

static int probe_image(struct images *im, int proc, struct known *k, struct image *img, int fd, const struct probed *p)
{
	int err;

	k->has_functions = true;
	img->since = p ? probed_since(p) : 0;
	img->owner = im->has_owners ? im->pid : 0;
	debuginfo_read(im->child, im->cfg, img, proc, fd);
	err = number_and_tell(im, img);
	gate_attaching(true);
	err = err ?: tell_mapped(im, k, img, fd);
	err = err ?: attach_sources(im, img, fd);
	gate_attaching(false);
	if (!err)
		tell_known(im, k, img);
	return err;
}

/* Ahead of the exec. Who calls execve() in a copy waits there as elsewhere. */
static void make_copies(struct images *im, const struct image *img)
{
	const char *path;
	int fd;

	copies_add(im->copies, img);
	gate_attaching(true);
	while ((fd = copies_next(im->copies, &path)) >= 0)
		gate_at_library(fd, path);
	gate_attaching(false);
}

int images_add(struct images *im, int proc, int fd, const char *path, const struct image_id *given)
{
	struct probed *p = probed_file(fd);
	struct image_id seen;
	struct image *img;
	struct known *k;
	int err = know(im, fd, p, &seen, &k);

	if (err)
		return err;
	if (k->has_functions)
		return add_owner(im, p);
	if (p && probed_is_forgotten(p) && !renew(p)) {
		warn("'%s' was rewritten, and its old probes stay: it may die of them, and is not recorded", path);
		return 0;
	}
	k->has_functions = true;
	err = read_image(im, &img, proc, fd, path, given ?: &seen, IMAGE_FUNCTIONS);
	if (err) {
		detail("no functions of '%s': %s", path, strerror(-err));
		return 0;
	}
	make_copies(im, img);
	err = probe_image(im, proc, k, img, fd, p);
	err = err ?: img->interp ? add_linker(im, proc, img->interp) : 0;
	err = err ?: list_needed(im, proc, img);
	image_destroy(img);
	return err;
}

/* A file that a process has mapped, or is about to. Returns > 0 when its returns may not be probed for that. */
static int add_mapped(struct images *im, int proc, int fd, const char *path, const struct image_id *given)
{
	struct probed *p = probed_find(fd);
	bool is_chosen = im->cfg->functions && chosen_library(im->cfg, path);
	enum image_depth depth;
	struct image_id seen;
	struct image *img;
	struct known *k;
	int forbids_returns;
	int err = know(im, fd, p, &seen, &k);

	if (err)
		return err;
	if (k->is_mapped && (k->has_functions || !is_chosen || im->is_ahead))
		return add_owner(im, p) ?: k->forbids_returns;
	if (p && probed_is_forgotten(p) && !renew(p)) {
		warn("'%s' was rewritten, and its old probes stay: who maps it may die of them", path);
		return 1;
	}
	depth = is_chosen && !im->is_ahead ? IMAGE_FUNCTIONS : im->cfg->cuda && cuda_is_driver(path) ? IMAGE_DRIVER : IMAGE_FACTS;
	k->has_functions |= depth == IMAGE_FUNCTIONS;
	err = read_image(im, &img, proc, fd, path, given ?: &seen, depth);
	if (err) {
		detail("returns are not probed where '%s' is mapped: %s", path, strerror(-err));
		k->is_mapped = k->forbids_returns = true;
		return 1;
	}
	img->is_library = true;
	if (depth == IMAGE_FUNCTIONS) {
		err = probe_image(im, proc, k, img, fd, probed_file(fd));
	} else {
		err = depth == IMAGE_DRIVER ? number_and_tell(im, img) : 0;
		gate_attaching(true);
		err = err ?: tell_mapped(im, k, img, fd);
		gate_attaching(false);
		if (!err)
			tell_known(im, k, img);
	}
	forbids_returns = k->forbids_returns;
	err = err ?: list_needed(im, proc, img);
	image_destroy(img);
	return err ?: forbids_returns;
}

struct lister {
	struct images *im;
	int	       proc;
};

static int list_library(void *ctx, int fd, const char *path)
{
	struct lister *l = ctx;

	return MIN(add_mapped(l->im, l->proc, fd, path, NULL), 0) ?: 1;
}

/* Of a command --list runs nothing: its libraries are looked for where the loader of this machine would, RUNPATH aside. */
static int list_needed(struct images *im, int proc, const struct image *img)
{
	struct lister l = { im, proc };
	bool is_wanted = im->cfg->list && wants_libraries(im->cfg) && !im->cfg->target_count && img->needed;
	__cleanup(free_ptr) char *names = is_wanted ? strdup(img->needed) : NULL;
	char *rest = names, *name;
	int err = 0;

	while (err >= 0 && (name = strsep(&rest, ":")))
		if (*name && strcmp(name, ".") && strcmp(name, "..") && !strchr(name, '/'))
			err = library_each(name, list_library, &l);
	return MIN(err, 0);
}

/* @path, an executable file, as the process sees it whose folder in /proc is @proc. It is named on a target's word. */
static int open_as(int proc, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC };
	__cleanup(close_fd) int from = -1, at = -1;
	struct stat st;

	if (*path == '/')
		how.resolve = RESOLVE_IN_ROOT;	/* its links lead where they lead for that process */
	from = openat(proc, *path == '/' ? "root" : "cwd", O_PATH | O_CLOEXEC);
	if (from < 0)
		return -errno;
	at = syscall(SYS_openat2, from, path, &how, sizeof(how));
	if (at < 0 || fstat(at, &st))
		return -errno;
	return st.st_mode & 0111 ? regular_open(at) : -EACCES;
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

static int add_path(struct images *im, int proc, const char *path, int depth)
{
	__cleanup(close_fd) int fd = open_as(proc, path);
	char text[4096], self[32];
	ssize_t n;

	if (fd < 0)
		return 1;
	if (read_interpreter(fd, text, 256))	/* BINPRM_BUF_SIZE */
		return depth < SCRIPTS_MAX ? add_path(im, proc, text, depth + 1) : 1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	n = readlink(self, text, sizeof(text) - 1);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return images_add(im, proc, fd, text, NULL);
}

int images_add_path(struct images *im, int proc, const char *path)
{
	int err = images_drop_rewritten(im);

	return err ?: add_path(im, proc, path, 0);
}

int images_add_exe(struct images *im, pid_t pid, int proc, const struct image_id *id)
{
	__cleanup(close_fd) int fd = openat(proc, "exe", O_RDONLY | O_CLOEXEC);
	char path[4096];
	ssize_t len = readlinkat(proc, "exe", path, sizeof(path) - 1);

	if (fd < 0 || len < 0)
		return 0;
	path[len] = '\0';
	im->pid = pid;
	return images_add(im, proc, fd, path, id);
}

/* The dynamic linker that a program of the process at @proc names: gates stand in it. */
static int add_linker(struct images *im, int proc, const char *path)
{
	__cleanup(close_fd) int fd = open_as(proc, path);

	if (fd < 0)
		return 0;
	return MIN(add_mapped(im, proc, fd, path, NULL), 0);
}

static int add_mapping(void *ctx, const struct mapping *m)
{
	struct images *im = ctx;
	__cleanup(close_fd) int fd = mapped_open(m);
	struct image_id id, seen;

	if (fd < 0) {
		detail("returns are not probed where '%s' is mapped: %s", m->path, strerror(-fd));
		return 1;
	}
	if (ask_file(fd, &seen))
		return 1;
	if (im->is_ahead && (!memcmp(&seen, &im->program, sizeof(seen)) || cuda_is_driver(m->path)))
		return 0;
	id = (struct image_id){ m->ino, m->dev, seen.gen, seen.size, seen.ctime };
	return add_mapped(im, m->proc, fd, m->path, &id);
}

int images_look(struct images *im, pid_t pid, int proc)
{
	im->pid = pid;
	return mapped_each(proc, MAPPED_CODE, add_mapping, im);
}

int images_look_ahead(struct images *im, pid_t pid, int proc)
{
	__cleanup(close_fd) int fd = openat(proc, "exe", O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return 0;
	err = ask_file(fd, &im->program);
	if (err)
		return err;
	im->pid = pid;
	im->is_ahead = true;
	err = MIN(mapped_each(proc, MAPPED_CODE, add_mapping, im), 0);
	im->is_ahead = false;
	return err;
}
