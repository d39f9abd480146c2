/*
 * names.c - absolute paths from names, by walking the directories of the task's root as it is now.
 *
 * No root directory is kept open: that would keep its file system from being unmounted. It is remembered where one is,
 * by its path or by the last tasks that had it and their parents, and opened for one walk, if it is still the same. The
 * walk is the kernel's own (openat2), within that root; where it came to, /proc/self/fd says. It is done with the rights
 * of whom the text belongs to, which must not tell what they could not find out.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "clock.h"
#include "identity.h"
#include "sink/bas/asker.h"
#include "sink/bas/names.h"
#include "walked.h"

#define ROOTS_MAX	256	/* known at a time; the oldest is forgotten */
#define TIDS		4	/* tasks remembered of each */
#define LEVELS_TRIED	16	/* directories above one that is gone */
#define MEMOS		64	/* look-ups remembered; the oldest is forgotten */
#define LINK_MAX_BYTES	(PATH_MAX + 1)

struct root {
	struct file_root id;
	uint64_t	 ino;		/* as statx() has it, which may be another than id's */
	char		*path;		/* what recorder calls it; "" of its own "/" */
	uint32_t	 tid[TIDS];	/* who had it, or may have, the latest last */
	uint32_t	 now, parent;	/* who has just told of it: it is theirs, whoever had it before */
};

/*
 * Where a path led to when it was looked up. That holds for all that had been done by then, and a look-up less is good
 * for more than speed: during one its file system cannot be unmounted.
 */
struct memo {
	struct file_root root;
	uint64_t	 time;		/* before the look-up */
	char		*path, *found;	/* NULL: none yet */
};

struct bas_names {
	struct root	 root[ROOTS_MAX];
	unsigned	 count, next;
	struct file_root own;
	struct memo	 memo[MEMOS];
	unsigned	 next_memo;
	struct bas_asker *asker;
	struct identity	 owner;
	bool		 looks;
	struct bas_names_failed failed;
};

static bool is_same_root(const struct file_root *a, const struct file_root *b)
{
	return a->ino == b->ino && a->mnt_ns == b->mnt_ns && a->mnt_id == b->mnt_id;
}

/* A directory by @path from @fd, as BPF would tell it as a root; @ino: as statx() has it. False: it cannot be told. */
static bool identify(int fd, const char *path, struct file_root *id, uint64_t *ino)
{
	struct statx sx = {};

	if (statx(fd, path, AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &sx) || !(sx.stx_mask & STATX_MNT_ID))
		return false;
	id->mnt_id = sx.stx_mnt_id;
	id->ino = sx.stx_attributes & STATX_ATTR_MOUNT_ROOT ? 0 : sx.stx_ino;
	*ino = sx.stx_ino;
	return true;
}

static void own_root(struct file_root *id)
{
	struct stat st;
	uint64_t ino;

	if (identify(AT_FDCWD, "/", id, &ino) && !stat("/proc/self/ns/mnt", &st))
		id->mnt_ns = st.st_ino;
}

static void memo_free(struct memo *m)
{
	free(m->path);
	free(m->found);
}

void bas_names_destroy(struct bas_names *n)
{
	for (unsigned i = 0; n && i < n->count; i++)
		free(n->root[i].path);
	for (unsigned i = 0; n && i < MEMOS; i++)
		memo_free(&n->memo[i]);
	if (n) {
		bas_asker_destroy(n->asker);
		identity_release(&n->owner);
	}
	free(n);
}

int bas_names_create(struct bas_names **ret, bool looks)
{
	struct bas_names *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	err = identity_find(&n->owner, NULL, false);
	err = err ?: bas_asker_create(&n->asker, &n->owner);
	if (err) {
		bas_names_destroy(n);
		return err;
	}
	own_root(&n->own);
	n->looks = looks;
	*ret = n;
	return 0;
}

/* What /proc/self/fd says of @fd; NULL: it is too long to be said, or no memory. To be freed. */
static char *path_of_fd(int fd)
{
	char link[32], *path = malloc(LINK_MAX_BYTES);
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = path ? readlink(link, path, LINK_MAX_BYTES - 1) : -1;
	if (len < 0) {
		free(path);
		return NULL;
	}
	path[len] = '\0';
	return path;
}

/* A file system may give its inodes other numbers in statx(): then only the mount tells. */
static bool is_it(int fd, const struct file_root *id, uint64_t ino)
{
	struct file_root is = {};
	uint64_t now;

	return identify(fd, "", &is, &now) && is.mnt_id == id->mnt_id && !is.ino == !id->ino && (!ino || now == ino);
}

static int open_if(const char *path, const struct file_root *id, uint64_t ino)
{
	__cleanup(close_fd) int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && is_it(fd, id, ino) ? TAKE_FD(fd) : -1;
}

static int open_of_task(uint32_t tid, const struct file_root *id, uint64_t ino)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/root", tid);
	return open_if(path, id, ino);
}

static bool is_own(const struct bas_names *n, const struct file_root *id)
{
	return is_same_root(id, &n->own);
}

/* Of the task that tells of it now, or its parent. */
static int open_of_now(const struct bas_names *n, const struct root *r)
{
	int fd = is_own(n, &r->id) ? open_if("/", &r->id, 0) : open_of_task(r->now, &r->id, 0);

	return fd < 0 && r->parent ? open_of_task(r->parent, &r->id, 0) : fd;
}

/* The kernel gives numbers of mounts and namespaces again: a root of the same id may be another than it was. */
static bool renew(struct root *r, int fd)
{
	struct file_root is;
	uint64_t ino = 0;
	char *path;

	if (identify(fd, "", &is, &ino) && r->path && ino == r->ino)
		return true;
	path = path_of_fd(fd);
	if (!path)
		return false;
	free(r->path);
	r->path = path;
	r->ino = ino;
	return true;
}

/* The root directory, for one walk. -1: nobody is there any more who has it. */
static int open_root(const struct bas_names *n, struct root *r)
{
	int fd;

	if (!r)
		return -1;
	fd = open_of_now(n, r);
	if (fd >= 0 && !renew(r, fd)) {
		close(fd);
		return -1;
	}
	if (fd < 0 && r->id.mnt_ns == n->own.mnt_ns)
		fd = open_if(r->path, &r->id, r->ino);
	for (int i = TIDS; i-- && fd < 0; )
		fd = r->tid[i] ? open_of_task(r->tid[i], &r->id, r->ino) : -1;
	return fd;
}

static struct root *root_find(struct bas_names *n, const struct file_root *id)
{
	for (unsigned i = 0; i < n->count; i++)
		if (is_same_root(&n->root[i].id, id))
			return &n->root[i];
	return NULL;
}

static void note_task(struct root *r, uint32_t tid)
{
	for (int i = 0; i < TIDS; i++)
		if (r->tid[i] == tid)
			return;
	memmove(r->tid, r->tid + 1, sizeof(r->tid) - sizeof(r->tid[0]));
	r->tid[TIDS - 1] = tid;
}

/* The place of a new one, the oldest's when there is none left. */
static struct root *root_place(struct bas_names *n)
{
	struct root *r = &n->root[n->next];

	if (n->next < n->count)
		free(r->path);
	else
		n->count++;
	n->next = (n->next + 1) % ROOTS_MAX;
	return r;
}

/* One seen for the first time; NULL: by another task of the same root, perhaps. */
static struct root *root_new(struct bas_names *n, const struct file_root *id, uint32_t tid, uint32_t parent)
{
	struct root new = { .id = *id, .now = tid, .parent = parent }, *r;
	__cleanup(close_fd) int fd = open_of_now(n, &new);

	if (fd < 0 || !renew(&new, fd))
		return NULL;
	r = root_place(n);
	*r = new;
	return r;
}

/* The parent last, so that many short tasks one after the other do not push out who started them all. */
void bas_names_root(struct bas_names *n, const struct file_root *id, uint32_t tid, uint32_t parent)
{
	struct root *r = n->looks ? root_find(n, id) ?: root_new(n, id, tid, parent) : NULL;

	if (!r)
		return;
	r->now = tid;
	r->parent = parent;
	note_task(r, tid);
	if (parent)
		note_task(r, parent);
}

char *bas_names_join(const char *base, const char *name)
{
	char *path;

	if (!base || *name == '/')
		return strdup(name);
	return asprintf(&path, "%s/%s", base, name) < 0 ? NULL : path;
}

/* The kernel calls what asks /proc/self; here that would be recorder. */
static char *with_number(const char *path, const struct bas_whose *whose)
{
	static const struct { const char *name, *now; } own[] = {
		{ "/proc/self", "/proc/%u" }, { "/proc/thread-self", "/proc/%u/task/%u" },
		{ "/dev/fd", "/proc/%u/fd" }, { "/dev/stdin", "/proc/%u/fd/0" }, { "/dev/stdout", "/proc/%u/fd/1" },
		{ "/dev/stderr", "/proc/%u/fd/2" },
	};
	char begin[64], *all;

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		size_t len = strlen(own[i].name);

		if (strncmp(path, own[i].name, len) || (path[len] && path[len] != '/'))
			continue;
		snprintf(begin, sizeof(begin), own[i].now, whose->pid, whose->tid);
		return asprintf(&all, "%s%s", begin, path + len) < 0 ? NULL : all;
	}
	return strdup(path);
}

/* What can be said of a directory that is gone. */
char *bas_names_tidy(const char *path)
{
	char *tidy = malloc(strlen(path) + 2), *to = tidy;

	if (!tidy)
		return NULL;
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (to > tidy && *--to != '/')
				;
		} else if (len && !(len == 1 && *path == '.')) {
			*to++ = '/';
			memcpy(to, path, len);
			to += len;
		}
		path += len + (path[len] == '/');
	}
	if (to == tidy)
		*to++ = '/';
	*to = '\0';
	return tidy;
}

/* A root directory, open from the first look-up on. */
struct opened {
	struct bas_names      *names;
	const struct bas_whose *whose;
	struct root	      *root;
	int		       fd;
	bool		       was_tried;
	char		      *prefix;	/* what recorder calls it; "" of its own */
};

static struct opened open_for(struct bas_names *n, const struct bas_whose *whose)
{
	return (struct opened){ n, whose, root_find(n, whose->root), -1, false, NULL };
}

/* -1: it could not be opened. */
static int opened_fd(struct opened *o)
{
	if (!o->was_tried)
		o->fd = open_root(o->names, o->root);
	o->was_tried = true;
	return o->fd;
}

static void opened_close(struct opened *o)
{
	close_fd(&o->fd);
	free(o->prefix);
}

/* Asked for each time: the directory, or one above it, may have another name by now. NULL: it cannot be told. */
static const char *prefix_of(struct opened *o)
{
	if (opened_fd(o) < 0)
		return NULL;
	o->prefix = o->prefix ?: is_own(o->names, &o->root->id) ? strdup("") : path_of_fd(o->fd);
	if (o->prefix && !strcmp(o->prefix, "/"))
		*o->prefix = '\0';
	return o->prefix;
}

/* @path, as recorder calls it, becomes what the task calls it. False: it lies elsewhere, and stays. */
static bool take_prefix(struct opened *o, char *path)
{
	const char *prefix = prefix_of(o);
	size_t len = prefix ? strlen(prefix) : 0;

	if (!prefix || strncmp(path, prefix, len) || (path[len] && path[len] != '/'))
		return false;
	memmove(path, path + len, strlen(path + len) + 1);
	if (!*path)
		strcpy(path, "/");
	return true;
}

/* What was found at @path after all that was done until then; NULL: nobody has looked. */
static const char *recall(const struct opened *o, const char *path)
{
	for (const struct memo *m = o->names->memo; m < o->names->memo + MEMOS; m++)
		if (m->path && o->whose->time <= m->time && is_same_root(&m->root, o->whose->root) && !strcmp(m->path, path))
			return m->found;
	return NULL;
}

static void remember(struct opened *o, uint64_t time, const char *path, const char *found)
{
	struct memo *m = &o->names->memo[o->names->next_memo++ % MEMOS];

	memo_free(m);
	*m = (struct memo){ *o->whose->root, time, strdup(path), strdup(found) };
	if (m->found)
		return;
	free(m->path);
	m->path = NULL;
}

/* As the owner of the text may, in this thread only. */
static int open_as_owner(const struct bas_names *n, int rootfd, const char *path, const struct open_how *how)
{
	static __thread bool has_groups;
	int fd, err;

	if (!n->owner.is_other)
		return syscall(SYS_openat2, rootfd, path, how, sizeof(*how));
	if (!has_groups)
		has_groups = !syscall(SYS_setgroups, n->owner.group_count, n->owner.groups);
	syscall(SYS_setfsgid, n->owner.gid);
	syscall(SYS_setfsuid, n->owner.uid);
	fd = syscall(SYS_openat2, rootfd, path, how, sizeof(*how));
	err = errno;
	syscall(SYS_setfsuid, geteuid());
	syscall(SYS_setfsgid, getegid());
	errno = err;
	return fd;
}

/*
 * Where @path leads to, as recorder calls it. What lies in the kernel's cache has just been walked by the task, and is
 * walked at once; what its file system has to be asked for, or allows to the owner's own processes only, the asker walks.
 */
static char *walk(struct opened *o, const char *path, uint64_t flags)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_CACHED };
	struct bas_names *n = o->names;
	__cleanup(close_fd) int fd = opened_fd(o) >= 0 ? open_as_owner(n, o->fd, path, &how) : -1;
	int err = fd < 0 ? -errno : 0;
	char *found = NULL;

	if (fd >= 0)
		return path_of_fd(fd);
	if (o->fd < 0)
		return NULL;
	if (err == -EAGAIN || (err == -EACCES && n->owner.is_other))
		found = bas_ask(n->asker, o->fd, path, how.flags, RESOLVE_IN_ROOT, &err);
	n->failed.late += err == -ETIMEDOUT;
	n->failed.denied += err == -EACCES;
	return found;
}

static char *look_up(struct opened *o, const char *path)
{
	char *found = walk(o, path, 0);

	if (found)
		take_prefix(o, found);
	return found;
}

/* Where @path leads to, as the task calls it; NULL: nowhere, or it cannot be told. */
static char *led_to(struct opened *o, const char *path)
{
	const char *known = recall(o, path);
	uint64_t now = clock_now();
	char *found;

	if (known)
		return strdup(known);
	found = look_up(o, path);
	if (found)
		remember(o, now, path, found);
	return found;
}

/* The bytes of "/proc/N/cwd", "/proc/N/task/N/fd/N" and their like that @path begins with, before another '/'; 0: none. */
static size_t magic_part(const char *path)
{
	static const char *const forms[] = {
		"/proc/%*u/cwd%n", "/proc/%*u/root%n", "/proc/%*u/fd/%*u%n",
		"/proc/%*u/task/%*u/cwd%n", "/proc/%*u/task/%*u/root%n", "/proc/%*u/task/%*u/fd/%*u%n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		int len = 0;

		if (sscanf(path, forms[i], &len) >= 0 && len && path[len] == '/')
			return len;
	}
	return 0;
}

/* Where another process is, whom the text belongs to may not be allowed to know. */
static bool is_its_own(const struct bas_whose *whose, const char *path)
{
	unsigned pid;

	return sscanf(path, "/proc/%u/", &pid) == 1 && (pid == whose->pid || pid == whose->tid);
}

/*
 * A link of the kernel's own leads where its process is: no walk within a root goes there. @path, or to be freed instead
 * where it leads now.
 */
static char *through_magic(struct opened *o, char *path)
{
	size_t len = magic_part(path);
	char to[LINK_MAX_BYTES], *all;
	ssize_t n;

	if (!len || !is_its_own(o->whose, path))
		return path;
	path[len] = '\0';
	n = readlink(path, to, sizeof(to) - 1);
	path[len] = '/';
	if (n <= 0 || to[0] != '/')
		return path;
	to[n] = '\0';
	if (!take_prefix(o, to) || asprintf(&all, "%s%s", to, path + len) < 0)
		return path;
	free(path);
	return all;
}

/* A '/' at the end asks for a directory: where it is not one, nothing has been done; a link is none. */
static void strip_slashes(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
}

static char *resolve_in(struct opened *o, char *path)
{
	char *slash = strrchr(path, '/'), *last = slash + 1, *all;
	__cleanup(free_ptr) char *dir = NULL;

	if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
		return led_to(o, path);
	*slash = '\0';
	dir = led_to(o, *path ? path : "/");
	*slash = '/';
	if (!dir)
		return NULL;
	return asprintf(&all, "%s/%s", strcmp(dir, "/") ? dir : "", last) < 0 ? NULL : all;
}

/* Of a directory that is gone: what is left of the way to it, resolved, and the rest as it was called. */
static char *resolve_gone(struct opened *o, const char *path)
{
	__cleanup(free_ptr) char *way = bas_names_tidy(path), *dir = NULL;
	size_t len = way ? strlen(way) : 0;
	char *all;

	for (int level = 0; opened_fd(o) >= 0 && way && !dir && level < LEVELS_TRIED; level++) {
		while (len && way[len - 1] != '/')
			len--;
		if (len < 2)
			break;
		way[--len] = '\0';
		dir = led_to(o, way);
		way[len] = '/';
	}
	if (!dir)
		return TAKE(way);
	return asprintf(&all, "%s%s", strcmp(dir, "/") ? dir : "", way + len) < 0 ? NULL : all;
}

char *bas_names_resolve(struct bas_names *n, const struct bas_whose *whose, const char *path, bool *is_gone)
{
	__cleanup(opened_close) struct opened o = open_for(n, whose);
	__cleanup(free_ptr) char *all = with_number(path, whose);
	uint64_t before;
	char *found;

	if (!all)
		return NULL;
	all = through_magic(&o, all);
	strip_slashes(all);
	before = n->failed.late + n->failed.denied;
	found = *all == '/' ? resolve_in(&o, all) : NULL;
	n->failed.gone += !found && before == n->failed.late + n->failed.denied;
	if (is_gone)
		*is_gone = !found;
	return found ?: resolve_gone(&o, all);
}

char *bas_names_follow(struct bas_names *n, const struct bas_whose *whose, const char *path)
{
	__cleanup(opened_close) struct opened o = open_for(n, whose);
	__cleanup(free_ptr) char *all = with_number(path, whose);

	if (all)
		all = through_magic(&o, all);
	return all ? led_to(&o, all) : NULL;
}

bool bas_names_exists(struct bas_names *n, const struct bas_whose *whose, const char *path)
{
	__cleanup(opened_close) struct opened o = open_for(n, whose);
	__cleanup(free_ptr) char *found = walk(&o, path, O_NOFOLLOW);

	return found;
}

struct bas_names_failed bas_names_failed(const struct bas_names *n)
{
	return n->failed;
}

/* ---- paths that BPF has walked ---- */

#define TMPFS	0x01021994
#define DMA_BUF	0x444d4142

/* As the d_dname() of its filesystem has it. */
static char *object_name(const struct file_object *o, int len, const char *opened_by)
{
	char *name = NULL;
	int n;

	switch (o->magic) {
	case PIPEFS_MAGIC:
		n = asprintf(&name, "pipe:[%llu]", o->ino);
		break;
	case SOCKFS_MAGIC:
		n = asprintf(&name, "socket:[%llu]", o->ino);
		break;
	case NSFS_MAGIC:
		n = asprintf(&name, "%.*s:[%llu]", opened_by ? (int)strcspn(opened_by, "_") : 2, opened_by ?: "ns", o->ino);
		break;
	case TMPFS:
		n = asprintf(&name, "/%.*s (deleted)", len, o->name);
		break;
	case DMA_BUF:
		n = asprintf(&name, "/dmabuf:%.*s", len, o->name);
		break;
	default:
		n = asprintf(&name, "anon_inode:%.*s", len, o->name);
		break;
	}
	return n < 0 ? NULL : name;
}

char *bas_walked(const struct rec_text *text, const char *name)
{
	if (text->flags & TEXT_OBJECT)
		return object_name((const void *)text->bytes, text->len - sizeof(struct file_object), name);
	return walked_path(text->bytes, text->len, text->flags & TEXT_DELETED ? " (deleted)" : "");
}
