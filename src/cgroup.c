/*
 * cgroup.c - folders of the file system cgroup2, whose inode numbers are the kernel's own numbers of cgroups.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base.h"
#include "cgroup.h"
#include "log.h"

/* Where version 2 is mounted, the first place if there are several; false: nowhere. */
static bool find_mount(char *to, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts)))
		if (!strcmp(m->mnt_type, "cgroup2"))
			found = snprintf(to, size, "%s", m->mnt_dir) < (int)size;
	if (mounts)
		endmntent(mounts);
	return found;
}

static bool is_version_2(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* As it is when it leads into version 2, else below its mount, as /proc/PID/cgroup writes it. */
static int open_path(const char *path, const char *mount)
{
	int fd = *path == '/' ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	char full[4096];

	if (fd >= 0 && is_version_2(fd))
		return fd;
	close_fd(&fd);
	if (snprintf(full, sizeof(full), "%s/%s", mount, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A threaded cgroup holds threads without their processes: the kernel does not list it so. */
static int check_listed(int dir)
{
	__cleanup(close_fd) int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	char byte;

	return fd < 0 || read(fd, &byte, 1) < 0 ? -errno : 0;
}

int cgroup_open(const char *path, uint64_t *id)
{
	char mount[4096];
	struct stat st;
	int fd, err;

	if (!find_mount(mount, sizeof(mount))) {
		fail(0, "--cgroup %s: no file system of cgroup version 2 is mounted", path);
		hint("mount -t cgroup2 none /mnt");
		return -ENOENT;
	}
	fd = open_path(path, mount);
	err = fd < 0 ? fd : check_listed(fd);
	if (!err && fstat(fd, &st))
		err = -errno;
	if (!err) {
		*id = st.st_ino;
		return fd;
	}
	close_fd(&fd);
	if (err == -EOPNOTSUPP) {
		fail(0, "--cgroup %s: it is threaded, and holds threads, not processes", path);
		hint("the cgroup above it that is not, or --tid");
	} else {
		fail(err, "--cgroup %s: there is no such cgroup of version 2", path);
		hint("cat /proc/PID/cgroup, of a process in it, or find %s -type d", mount);
	}
	return err;
}

static int each_process(int dir, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC), err = 0;
	__cleanup(close_file) FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	pid_t pid;

	while (f && !err && fscanf(f, "%d", &pid) == 1)
		if (pid > 0)		/* 0: of another PID namespace */
			err = fn(ctx, pid);
	return err;
}

int cgroup_each(int dir, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	int err = each_process(dir, fn, ctx);
	int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = again < 0 ? NULL : fdopendir(again);
	struct dirent *e;

	while (list && !err && (e = readdir(list))) {
		__cleanup(close_fd) int below = -1;

		if (e->d_type != DT_DIR || !strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		below = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		err = below < 0 ? 0 : cgroup_each(below, fn, ctx);
	}
	if (list)
		closedir(list);
	return err;
}
