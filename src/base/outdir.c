/*
 * outdir.c - the directory a recording goes into.
 *
 * Everything is done relative to the open parent directory and by what is open,
 * not by what a name says a moment later: whoever may write in the parent can
 * exchange names at any time, but then meets O_NOFOLLOW, RENAME_NOREPLACE or a
 * comparison of inodes.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base.h"
#include "log.h"
#include "out.h"
#include "outdir.h"

#define UFTRACE_MAGIC	"Ftrace!"	/* its NUL counts too: uftrace-data.md 1.1 */
#define TREE_DEPTH	8		/* a recording has no deeper directories */

struct outdir {
	const char *path;	/* as the user wrote it, for messages */
	int	    parent;
	char	   *name, *old;	/* in @parent */
	bool	  (*is_ours)(int dirfd);
	uid_t	    uid;
	gid_t	    gid;
};

static int open_dir(int parent, const char *name)
{
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

/* A regular file called @name in @dirfd, open, or -1. */
static int open_file(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool outdir_is_ours(int dirfd)
{
	__cleanup(close_fd) int mark = open_file(dirfd, OUTDIR_MARK);
	__cleanup(close_fd) int info = open_file(dirfd, "info");
	char magic[sizeof(UFTRACE_MAGIC)] = "";

	if (mark >= 0)
		return true;
	return info >= 0 && read(info, magic, sizeof(magic)) == sizeof(magic) &&
	       !memcmp(magic, UFTRACE_MAGIC, sizeof(magic));
}

/* The entries of @dirfd, without "." and ".."; closedir() it. The descriptor stays open. */
static DIR *entries(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static const char *next_entry(DIR *d)
{
	struct dirent *e;

	do {
		errno = 0;
		e = readdir(d);
	} while (e && (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")));
	return e ? e->d_name : NULL;
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static bool is_empty(int dirfd)
{
	__cleanup(close_dir) DIR *d = entries(dirfd);

	return d && !next_entry(d) && !errno;
}

/*
 * Remove what is in @dirfd, which @top is or is the top of. A link is removed, not followed; another file system is not
 * entered, nor another's directory: whoever owns the top might have had one moved there that only its owner may empty.
 */
static int empty_dir(int dirfd, const struct stat *top, int depth)
{
	__cleanup(close_dir) DIR *d = entries(dirfd);
	const char *name;
	struct stat st;
	int err;

	if (!d)
		return -errno;
	while ((name = next_entry(d))) {
		__cleanup(close_fd) int sub = -1;

		if (!unlinkat(dirfd, name, 0))
			continue;
		if (errno != EISDIR && errno != EPERM)
			return -errno;
		sub = open_dir(dirfd, name);
		if (sub < 0 || fstat(sub, &st))
			return -errno;
		if (st.st_dev != top->st_dev || !depth)
			return -EXDEV;
		if (st.st_uid != top->st_uid)
			return -EPERM;
		err = empty_dir(sub, top, depth - 1);
		if (err)
			return err;
		if (unlinkat(dirfd, name, AT_REMOVEDIR))
			return -errno;
	}
	return -errno;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is what @name in the parent names now the directory @st? */
static bool names(const struct outdir *o, const char *name, const struct stat *st)
{
	struct stat now;

	return !fstatat(o->parent, name, &now, AT_SYMLINK_NOFOLLOW) && is_same(&now, st);
}

/* Root's own may make way, but what is removed is the user's. */
static bool may_touch(const struct outdir *o, const struct stat *st, const char *suffix)
{
	return st->st_uid == o->uid || (!*suffix && st->st_uid == geteuid());
}

/* Open the directory @name that is in the way, if it is one we may touch. Says why not. */
static int open_present(const struct outdir *o, int *ret, const char *name, const char *suffix,
			struct stat *st)
{
	if (fstatat(o->parent, name, st, AT_SYMLINK_NOFOLLOW))
		return fail(-errno, "cannot look at '%s%s'", o->path, suffix);
	if (S_ISLNK(st->st_mode)) {
		fail(0, "will not write through '%s%s': it is a symbolic link", o->path, suffix);
		hint("-o DIR with the directory itself");
		return -ELOOP;
	}
	if (!S_ISDIR(st->st_mode)) {
		fail(0, "cannot write to '%s%s': it exists and is not a directory", o->path, suffix);
		hint("-o DIR with another name");
		return -ENOTDIR;
	}
	if (!may_touch(o, st, suffix)) {
		fail(0, "will not touch '%s%s': it belongs to another user", o->path, suffix);
		hint("-o DIR with a directory of your own");
		return -EPERM;
	}
	*ret = open_dir(o->parent, name);
	if (*ret < 0 || fstat(*ret, st))
		return fail(-errno, "cannot open '%s%s'", o->path, suffix);
	return 0;
}

static int refuse(const struct outdir *o, const char *suffix)
{
	fail(0, "will not write over '%s%s': it is not empty and not a recording", o->path, suffix);
	hint("-o DIR with another name, or remove it");
	return -EEXIST;
}

/* Make NAME.old free: a recording there has been replaced by now. */
static int remove_old(const struct outdir *o)
{
	__cleanup(close_fd) int fd = -1;
	struct stat st;
	int err;

	if (fstatat(o->parent, o->old, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		return 0;
	err = open_present(o, &fd, o->old, ".old", &st);
	if (err)
		return err;
	if (!is_empty(fd)) {
		if (!o->is_ours(fd))
			return refuse(o, ".old");
		err = empty_dir(fd, &st, TREE_DEPTH);
		if (err)
			return fail(err, "cannot remove what is in '%s.old'", o->path);
	}
	if (!names(o, o->old, &st) || unlinkat(o->parent, o->old, AT_REMOVEDIR))
		return fail(-errno ?: -ESTALE, "cannot remove '%s.old'", o->path);
	return 0;
}

static int move_to_old(const struct outdir *o, const struct stat *st)
{
	int err = remove_old(o);

	if (err)
		return err;
	if (renameat2(o->parent, o->name, o->parent, o->old, RENAME_NOREPLACE))
		return fail(-errno, "cannot move '%s' to '%s.old'", o->path, o->path);
	if (!names(o, o->old, st)) {
		/* Somebody exchanged it: give back what we have taken. */
		renameat2(o->parent, o->old, o->parent, o->name, RENAME_NOREPLACE);
		return fail(-ESTALE, "'%s' changed while it was looked at", o->path);
	}
	return 0;
}

/* @fd is ours from now on. */
static int adopt(const struct outdir *o, int fd)
{
	int mark;

	if (fchown(fd, o->uid, o->gid) || fchmod(fd, 0700))
		return fail(-errno, "cannot make '%s' yours", o->path);
	mark = openat(fd, OUTDIR_MARK, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (mark < 0)
		return fail(-errno, "cannot create files in '%s'", o->path);
	if (fchown(mark, o->uid, o->gid)) {
		close(mark);
		return fail(-errno, "cannot make the files in '%s' yours", o->path);
	}
	close(mark);
	return 0;
}

/* Make the directory. -EEXIST without a message: it is there already. */
static int make_new(const struct outdir *o, int *ret)
{
	__cleanup(close_fd) int fd = -1;
	struct stat st;
	int err;

	if (mkdirat(o->parent, o->name, 0700))
		return errno == EEXIST ? -EEXIST : fail(-errno, "cannot create '%s'", o->path);
	fd = open_dir(o->parent, o->name);
	if (fd < 0 || fstat(fd, &st))
		return fail(-errno, "cannot open '%s'", o->path);
	if (st.st_uid != geteuid() || !is_empty(fd))
		return fail(-ESTALE, "'%s' changed while it was made", o->path);
	err = adopt(o, fd);
	if (!err)
		*ret = TAKE_FD(fd);
	return err;
}

/* Something of that name is there already. Returns 0 when it is taken, -EAGAIN when it has made way. */
static int deal_with_present(const struct outdir *o, int *ret)
{
	__cleanup(close_fd) int fd = -1;
	struct stat st;
	int err = open_present(o, &fd, o->name, "", &st);

	if (err)
		return err;
	if (is_empty(fd)) {
		err = adopt(o, fd);
		if (!err)
			*ret = TAKE_FD(fd);
		return err;
	}
	if (!o->is_ours(fd))
		return refuse(o, "");
	err = move_to_old(o, &st);
	return err ?: -EAGAIN;
}

/* Open the directory that @path lies in, and note the last name of @path. */
static int open_parent(struct outdir *o)
{
	__cleanup(free_ptr) char *for_dir = strdup(o->path), *for_name = strdup(o->path);
	const char *name, *dir;
	struct stat st;
	int err;

	if (!for_dir || !for_name)
		return -ENOMEM;
	dir = dirname(for_dir);
	name = basename(for_name);
	if (!*o->path || !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "/")) {
		fail(0, "'%s' is no name for a recording", o->path);
		hint("-o DIR with the name of a directory to be made");
		return -EINVAL;
	}
	if (!(o->name = strdup(name)) || asprintf(&o->old, "%s.old", name) < 0)
		return -ENOMEM;
	o->parent = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (o->parent < 0 || fstat(o->parent, &st)) {
		err = fail(-errno, "cannot write to '%s'", o->path);
		hint("-o DIR in a directory that exists");
		return err;
	}
	if ((st.st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH) {
		fail(0, "will not write to '%s': anyone may move files in '%s'", o->path, dir);
		hint("-o DIR elsewhere, or chmod +t '%s'", dir);
		return -EPERM;
	}
	return 0;
}

static int create(struct outdir *o, int *ret)
{
	int err = open_parent(o);

	if (err)
		return err;
	/* Twice: what is there may make way once. */
	for (int tries = 0; tries < 2; tries++) {
		err = make_new(o, ret);
		if (err != -EEXIST)
			return err;
		err = deal_with_present(o, ret);
		if (err != -EAGAIN)
			return err;
	}
	return fail(-ESTALE, "'%s' changed while it was made", o->path);
}

int outdir_create(int *ret, const char *path, bool (*is_ours)(int dirfd), uid_t uid, gid_t gid)
{
	struct outdir o = {
		.path = path, .parent = -1, .is_ours = is_ours ?: outdir_is_ours, .uid = uid, .gid = gid
	};
	int err = create(&o, ret);

	if (!err)
		out_set_owner(uid, gid);
	close_fd(&o.parent);
	free(o.name);
	free(o.old);
	return err;
}

/* ---- a file ---- */

/* The regular file called @name that is in the way, if it may be moved. Says why not. */
static int check_file(const struct outdir *o, const char *name, const char *suffix, struct stat *st)
{
	__cleanup(close_fd) int fd = -1;

	if (S_ISLNK(st->st_mode)) {
		fail(0, "will not write through '%s%s': it is a symbolic link", o->path, suffix);
		hint("-o FILE with the file itself");
		return -ELOOP;
	}
	if (!S_ISREG(st->st_mode)) {
		fail(0, "cannot write '%s%s': it exists and is not a file", o->path, suffix);
		hint("-o FILE with another name");
		return -EISDIR;
	}
	if (!may_touch(o, st, suffix)) {
		fail(0, "will not touch '%s%s': it belongs to another user", o->path, suffix);
		hint("-o FILE in a directory of your own");
		return -EPERM;
	}
	fd = open_file(o->parent, name);
	if (fd >= 0 && !fstat(fd, st) && (!st->st_size || o->is_ours(fd)))
		return 0;
	fail(0, "will not write over '%s%s': it is not such a recording", o->path, suffix);
	hint("-o FILE with another name, or remove it");
	return -EEXIST;
}

static int move_file_to_old(const struct outdir *o)
{
	struct stat st, old;
	int err;

	if (fstatat(o->parent, o->name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : fail(-errno, "cannot look at '%s'", o->path);
	err = check_file(o, o->name, "", &st);
	if (!err && !fstatat(o->parent, o->old, &old, AT_SYMLINK_NOFOLLOW)) {
		err = check_file(o, o->old, ".old", &old);
		if (!err && unlinkat(o->parent, o->old, 0))
			err = fail(-errno, "cannot remove '%s.old'", o->path);
	}
	if (err)
		return err;
	if (renameat2(o->parent, o->name, o->parent, o->old, RENAME_NOREPLACE))
		return fail(-errno, "cannot move '%s' to '%s.old'", o->path, o->path);
	if (names(o, o->old, &st))
		return 0;
	renameat2(o->parent, o->old, o->parent, o->name, RENAME_NOREPLACE);
	return fail(-ESTALE, "'%s' changed while it was looked at", o->path);
}

int outdir_file(int *dirfd, char **name, const char *path, bool (*is_ours)(int fd), uid_t uid)
{
	struct outdir o = { .path = path, .parent = -1, .is_ours = is_ours, .uid = uid };
	int err = open_parent(&o) ?: move_file_to_old(&o);

	if (!err) {
		*dirfd = TAKE_FD(o.parent);
		*name = TAKE(o.name);
	}
	close_fd(&o.parent);
	free(o.name);
	free(o.old);
	return err;
}

/* Not every filesystem renames without replacing (NFS), nor has each one links (FAT). */
int outdir_place(int fromdir, const char *from, int dirfd, const char *name)
{
	if (!renameat2(fromdir, from, dirfd, name, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!linkat(fromdir, from, dirfd, name, 0))
		return unlinkat(fromdir, from, 0) ? -errno : 0;
	if (errno == EEXIST || !faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(fromdir, from, dirfd, name) ? -errno : 0;
}

int outdir_remove(int parent, const char *name, int dirfd)
{
	struct outdir o = { .parent = parent };
	struct stat st;
	int err;

	if (fstat(dirfd, &st))
		return -errno;
	if (!outdir_is_ours(dirfd) || !names(&o, name, &st))
		return -ESTALE;
	err = empty_dir(dirfd, &st, TREE_DEPTH);
	if (!err && unlinkat(parent, name, AT_REMOVEDIR))
		err = -errno;
	return err;
}
