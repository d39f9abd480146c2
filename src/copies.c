/*
 * copies.c - private copies of libraries, by mounts.
 *
 * The copies are files of a tmpfs that is mounted nowhere anyone sees: a thread with a mount
 * namespace of its own makes it, takes each file as a mount, goes over into the command's namespace
 * and mounts them there. The mount that a library lies in is private for that moment, so nothing of
 * it reaches other namespaces; then it joins its group again.
 */
#include <fcntl.h>
#include <linux/mount.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "base.h"
#include "chosen.h"
#include "config.h"
#include "copies.h"
#include "identity.h"
#include "image.h"
#include "kernel.h"
#include "log.h"
#include "source/library.h"

#ifndef MOVE_MOUNT_SET_GROUP
#define MOVE_MOUNT_SET_GROUP	0x100	/* Linux 5.15 */
#endif

#define WORKSHOP	"/sys"		/* where the thread mounts its tmpfs, seen by it alone */
#define LABEL		"security.selinux"

struct copy {
	char *path;		/* as this machine's linker finds it */
	dev_t dev;
	ino_t ino;
	bool  is_wanted;	/* a function of it is asked for, and the user cannot change it */
	bool  was_told;
	int   mount;		/* the copy as a mount that is nowhere yet */
	int   fd;		/* the copy, to be read */
};

struct copies {
	const struct config *cfg;
	int	     ns;	/* the command's mount namespace */
	struct copy *copy;	/* every library that was looked at */
	size_t	     count, room;
};

bool copies_wanted(const struct config *cfg, const struct identity *id)
{
	return cfg->functions && cfg->libraries && id->is_other && id->uid && kernel_has(HAVE_PRIVATE_LIBRARIES);
}

void copies_enter(void)
{
	(void)syscall(SYS_unshare, CLONE_NEWNS);
}

static bool is_same_namespace(int fd, const char *path)
{
	struct stat a, b;

	return !fstat(fd, &a) && !stat(path, &b) && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

int copies_create(struct copies **ret, const struct config *cfg, pid_t pid)
{
	__cleanup(close_fd) int ns = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || is_same_namespace(ns, "/proc/self/ns/mnt"))
		return 0;
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	(*ret)->cfg = cfg;
	(*ret)->ns = TAKE_FD(ns);
	return 0;
}

void copies_destroy(struct copies *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->count; i++) {
		free(c->copy[i].path);
		close_fd(&c->copy[i].mount);
		close_fd(&c->copy[i].fd);
	}
	free(c->copy);
	close(c->ns);
	free(c);
}

/* ---- which ---- */

static bool is_roots_alone(const struct stat *st)
{
	return st->st_uid == 0 && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* A file that is written or replaced where its copy is mounted would not be what others have. */
static bool is_fixed(const struct stat *st, const char *path)
{
	__cleanup(free_ptr) char *real = realpath(path, NULL);
	struct stat dir;

	if (!real || !S_ISREG(st->st_mode) || !is_roots_alone(st))
		return false;
	*strrchr(real, '/') = '\0';
	return !stat(*real ? real : "/", &dir) && is_roots_alone(&dir);
}

static void look_at(struct copies *c, const char *name);

static void needs(void *ctx, const char *name)
{
	look_at(ctx, name);
}

static int look_at_file(void *ctx, int fd, const char *path)
{
	struct copies *c = ctx;
	struct stat st;
	struct copy *k;

	if (fstat(fd, &st))
		return 0;
	for (size_t i = 0; i < c->count; i++)
		if (c->copy[i].ino == st.st_ino && c->copy[i].dev == st.st_dev)
			return 0;
	if (grow(&c->copy, &c->room, c->count, sizeof(*c->copy)))
		return -ENOMEM;
	k = &c->copy[c->count++];
	*k = (struct copy){ strdup(path), st.st_dev, st.st_ino, .mount = -1, .fd = -1 };
	k->is_wanted = k->path && chosen_library(c->cfg, path) && is_fixed(&st, path) &&
		       library_symbol(fd, "_dl_debug_state", &(uint64_t){ 0 });	/* the linker itself stays */
	return library_needs(fd, needs, c);
}

static void look_at(struct copies *c, const char *name)
{
	if (!strchr(name, '/'))
		(void)library_each(name, look_at_file, c);
}

/* ---- how ---- */

/* The copy, with what the kernel asks about a file before it lets code be mapped. */
static int fill(int to, int from)
{
	char label[256];
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(from, &st))
		return -errno;
	while (at < st.st_size)
		if (sendfile(to, from, &at, st.st_size - at) <= 0)
			return -EIO;
	n = fgetxattr(from, LABEL, label, sizeof(label));
	if (n > 0)
		(void)fsetxattr(to, LABEL, label, n, 0);
	return fchmod(to, st.st_mode & 07777) ? -errno : 0;
}

/* In the workshop: a file with the library's own name, in a folder of its own. */
static int make_copy(struct copy *k, size_t number)
{
	__cleanup(close_fd) int from = open(k->path, O_RDONLY | O_CLOEXEC), to = -1;
	char file[512];
	int err;

	snprintf(file, sizeof(file), WORKSHOP "/%zu", number);
	if (from < 0 || mkdir(file, 0755))
		return -errno;
	snprintf(file, sizeof(file), WORKSHOP "/%zu/%.400s", number, strrchr(k->path, '/') + 1);
	to = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	err = to < 0 ? -errno : fill(to, from);
	if (err)
		return err;
	k->fd = open(file, O_RDONLY | O_CLOEXEC);
	k->mount = syscall(SYS_open_tree, AT_FDCWD, file, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	return k->fd < 0 || k->mount < 0 ? -errno : 0;
}

/* The mount that @path lies in: where it is mounted, and whether mounts in it reach other namespaces. */
static int find_mount(const char *path, char *point, size_t size, bool *is_shared)
{
	__cleanup(close_file) FILE *f = fopen("/proc/thread-self/mountinfo", "re");
	__cleanup(free_ptr) char *line = NULL;
	struct statx st;
	size_t room = 0;

	if (!f || statx(AT_FDCWD, path, 0, STATX_MNT_ID, &st) || !(st.stx_mask & STATX_MNT_ID))
		return -ENOENT;
	while (getline(&line, &room, f) > 0) {
		unsigned long id;
		char where[1024], tags[256];

		if (sscanf(line, "%lu %*u %*s %*s %1023s %*s%255[^-]", &id, where, tags) != 3 || id != st.stx_mnt_id)
			continue;
		if (strchr(where, '\\') || strlen(where) >= size)
			return -ENOENT;		/* a name with a blank in it: written otherwise than it is */
		strcpy(point, where);
		*is_shared = strstr(tags, "shared:") || strstr(tags, "master:");
		return 0;
	}
	return -ENOENT;
}

/* @group: the same mount as recorder has it. */
static int join_again(const char *point, int group)
{
	__cleanup(close_fd) int to = open(point, O_PATH | O_CLOEXEC);

	return to < 0 || syscall(SYS_move_mount, group, "", to, "", MOVE_MOUNT_SET_GROUP | MOVE_MOUNT_F_EMPTY_PATH |
				 MOVE_MOUNT_T_EMPTY_PATH) ? -errno : 0;
}

static int mount_at(const struct copy *k)
{
	__cleanup(close_fd) int over = open(k->path, O_PATH | O_CLOEXEC);

	return over < 0 || syscall(SYS_move_mount, k->mount, "", over, "", MOVE_MOUNT_F_EMPTY_PATH |
				   MOVE_MOUNT_T_EMPTY_PATH) ? -errno : 0;
}

/* In the command's namespace. @group: in recorder's, what is mounted where the library's mount is. */
static int place(const struct copy *k, const char *point, bool is_shared, int group)
{
	int err, left;

	if (is_shared && mount(NULL, point, NULL, MS_PRIVATE, NULL))
		return -errno;
	err = mount_at(k);
	left = is_shared ? join_again(point, group) : 0;
	if (left && !err) {
		umount2(k->path, MNT_DETACH);
		err = left;
	}
	if (left)
		warn("mounts at '%s' that the command makes are not seen outside: %s", point, strerror(-left));
	return err;
}

struct plan {
	char point[1024];
	bool is_shared;
	int  group;
};

/* Before the thread leaves recorder's namespace. */
static int plan_copy(const struct copy *k, struct plan *p)
{
	int err = find_mount(k->path, p->point, sizeof(p->point), &p->is_shared);

	p->group = err ? -1 : open(p->point, O_PATH | O_CLOEXEC);
	return p->group < 0 ? err ?: -errno : 0;
}

static int open_workshop(void)
{
	if (unshare(CLONE_FS | CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("recorder", WORKSHOP, "tmpfs", MS_NOATIME, "mode=755"))
		return -errno;
	return 0;
}

static bool is_due(const struct copy *k)
{
	return k->is_wanted && k->fd < 0;
}

static void drop(struct copy *k, int err)
{
	detail("'%s' is not copied, who maps it meets its probes: %s", k->path, strerror(-err));
	k->is_wanted = false;
	close_fd(&k->fd);
	k->fd = -1;
}

static void *make_copies(void *ctx)
{
	struct copies *c = ctx;
	struct plan *plan = calloc(c->count, sizeof(*plan));
	int err = plan ? 0 : -ENOMEM;

	for (size_t i = 0; i < c->count && !err; i++) {
		int no = is_due(&c->copy[i]) ? plan_copy(&c->copy[i], &plan[i]) : 0;

		if (no)
			drop(&c->copy[i], no);
	}
	err = err ?: open_workshop();
	for (size_t i = 0; i < c->count; i++) {
		int no = !is_due(&c->copy[i]) ? 0 : err ?: make_copy(&c->copy[i], i);

		if (no)
			drop(&c->copy[i], no);
	}
	if (!err && setns(c->ns, CLONE_NEWNS))
		err = -errno;
	for (size_t i = 0; i < c->count; i++) {
		struct copy *k = &c->copy[i];
		int no = k->mount < 0 ? 0 : err ?: place(k, plan[i].point, plan[i].is_shared, plan[i].group);

		if (no)
			drop(k, no);
		close_fd(&k->mount);
		k->mount = -1;
		if (plan && plan[i].group > 0)
			close(plan[i].group);
	}
	free(plan);
	return NULL;
}

void copies_add(struct copies *c, const struct image *img)
{
	__cleanup(free_ptr) char *list = c && img->needed ? strdup(img->needed) : NULL;
	char *rest = list, *name;
	pthread_t thread;

	if (!list)
		return;
	while ((name = strsep(&rest, ":")))
		look_at(c, name);
	for (size_t i = 0; i < c->count; i++) {
		if (!is_due(&c->copy[i]))
			continue;
		if (!pthread_create(&thread, NULL, make_copies, c))
			pthread_join(thread, NULL);
		return;
	}
}

int copies_next(struct copies *c, const char **path)
{
	for (size_t i = 0; c && i < c->count; i++) {
		struct copy *k = &c->copy[i];

		if (k->was_told || k->fd < 0)
			continue;
		k->was_told = true;
		*path = k->path;
		return k->fd;
	}
	return -1;
}

static void *try_workshop(void *ctx)
{
	int fd = open_workshop() ? -1 : syscall(SYS_open_tree, AT_FDCWD, WORKSHOP, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	*(bool *)ctx = fd >= 0;
	close_fd(&fd);
	return NULL;
}

bool probe_private_libraries(void)
{
	bool answer = false;
	pthread_t thread;

	if (!pthread_create(&thread, NULL, try_workshop, &answer))
		pthread_join(thread, NULL);
	return answer;
}
