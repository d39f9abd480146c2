/*
 * names.c - absolute paths from names, by walking the directories of the task's root as it is now.
 *
 * One descriptor for each root directory that was met, opened while a task that has it is there. The walk is the
 * kernel's own (openat2), within that root; where it came to, /proc/self/fd says.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "sink/bas/names.h"
#include "walked.h"

#define ROOTS_MAX	256	/* known at a time; the oldest is forgotten */
#define LEVELS_TRIED	16	/* directories above one that is gone */
#define LINK_MAX_BYTES	(PATH_MAX + 1)

struct root {
	struct file_root id;
	int		 fd;		/* -1: no task was there to ask */
	char		*prefix;	/* what recorder calls it; "" of its own "/" */
};

struct bas_names {
	struct root root[ROOTS_MAX];
	unsigned    count, next;
	struct file_root own;
};

static bool is_same_root(const struct file_root *a, const struct file_root *b)
{
	return a->ino == b->ino && a->mnt_ns == b->mnt_ns && a->mnt_id == b->mnt_id;
}

/* Recorder's own root as BPF would tell it. */
static void own_root(struct file_root *r)
{
	struct statx sx = {};
	struct stat st;

	if (statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &sx) || !(sx.stx_mask & STATX_MNT_ID) || stat("/proc/self/ns/mnt", &st))
		return;
	r->mnt_ns = st.st_ino;
	r->mnt_id = sx.stx_mnt_id;
	r->ino = sx.stx_attributes & STATX_ATTR_MOUNT_ROOT ? 0 : sx.stx_ino;
}

int bas_names_create(struct bas_names **ret)
{
	struct bas_names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	own_root(&n->own);
	*ret = n;
	return 0;
}

static void forget(struct root *r)
{
	close_fd(&r->fd);
	free(TAKE(r->prefix));
}

void bas_names_destroy(struct bas_names *n)
{
	if (!n)
		return;
	for (unsigned i = 0; i < n->count; i++)
		forget(&n->root[i]);
	free(n);
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

static int open_root(const struct bas_names *n, const struct file_root *id, uint32_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/root", tid);
	return open(is_same_root(id, &n->own) ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static struct root *root_find(struct bas_names *n, const struct file_root *id)
{
	for (unsigned i = 0; i < n->count; i++)
		if (is_same_root(&n->root[i].id, id))
			return &n->root[i];
	return NULL;
}

void bas_names_root(struct bas_names *n, const struct file_root *id, uint32_t tid)
{
	struct root *r = root_find(n, id);
	char *prefix;
	int fd;

	if (r)
		return;
	fd = open_root(n, id, tid);
	prefix = fd >= 0 ? path_of_fd(fd) : NULL;
	if (!prefix) {
		close_fd(&fd);
		return;				/* by another task of the same root, perhaps */
	}
	if (!strcmp(prefix, "/"))
		*prefix = '\0';
	r = &n->root[n->next];
	if (n->next < n->count)
		forget(r);
	else
		n->count++;
	n->next = (n->next + 1) % ROOTS_MAX;
	*r = (struct root){ .id = *id, .fd = fd, .prefix = prefix };
}

char *bas_names_join(const char *base, const char *name)
{
	char *path;

	if (!base || *name == '/')
		return strdup(name);
	return asprintf(&path, "%s/%s", base, name) < 0 ? NULL : path;
}

/* The kernel calls what asks /proc/self; here that would be recorder. */
static char *with_number(const char *path, uint32_t tid)
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
		snprintf(begin, sizeof(begin), own[i].now, tid, tid);
		return asprintf(&all, "%s%s", begin, path + len) < 0 ? NULL : all;
	}
	return strdup(path);
}

/* Doubled slashes, "." and ".." done away with, nothing looked up: what can be said of a directory that is gone. */
static char *tidy(const char *path)
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

/* What lies in the kernel's cache has just been walked by the task, and costs no filesystem a question. */
static int walk(int rootfd, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_CACHED };
	int fd = syscall(SYS_openat2, rootfd, path, &how, sizeof(how));

	if (fd < 0 && errno == EAGAIN) {
		how.resolve = RESOLVE_IN_ROOT;
		fd = syscall(SYS_openat2, rootfd, path, &how, sizeof(how));
	}
	return fd;
}

/* Where @path leads to, as the task calls it; NULL: nowhere, or it cannot be told. */
static char *led_to(const struct root *r, const char *path)
{
	__cleanup(close_fd) int fd = walk(r->fd, path);
	char *found = fd >= 0 ? path_of_fd(fd) : NULL;
	size_t len = strlen(r->prefix);

	if (found && len && !strncmp(found, r->prefix, len) && (found[len] == '/' || !found[len]))
		memmove(found, found + len, strlen(found + len) + 1);
	if (found && !*found)
		strcpy(found, "/");
	return found;
}

/* A '/' at the end asks for a directory: where it is not one, nothing has been done; a link is none. */
static void strip_slashes(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		path[--len] = '\0';
}

static char *resolve_in(const struct root *r, char *path)
{
	char *slash = strrchr(path, '/'), *last = slash + 1, *all;
	__cleanup(free_ptr) char *dir = NULL;

	if (!*last || !strcmp(last, ".") || !strcmp(last, ".."))
		return led_to(r, path);
	*slash = '\0';
	dir = led_to(r, *path ? path : "/");
	*slash = '/';
	if (!dir)
		return NULL;
	return asprintf(&all, "%s/%s", strcmp(dir, "/") ? dir : "", last) < 0 ? NULL : all;
}

/* Of a directory that is gone: what is left of the way to it, resolved, and the rest as it was called. */
static char *resolve_gone(const struct root *r, const char *path)
{
	__cleanup(free_ptr) char *way = tidy(path), *dir = NULL;
	size_t len = way ? strlen(way) : 0;
	char *all;

	for (int level = 0; r && way && !dir && level < LEVELS_TRIED; level++) {
		while (len && way[len - 1] != '/')
			len--;
		if (len < 2)
			break;
		way[--len] = '\0';
		dir = led_to(r, way);
		way[len] = '/';
	}
	if (!dir)
		return TAKE(way);
	return asprintf(&all, "%s%s", strcmp(dir, "/") ? dir : "", way + len) < 0 ? NULL : all;
}

char *bas_names_resolve(struct bas_names *n, const struct file_root *root, uint32_t tid, const char *path)
{
	__cleanup(free_ptr) char *whose = with_number(path, tid);
	struct root *r = root_find(n, root);

	if (!whose)
		return NULL;
	strip_slashes(whose);
	return (r && *whose == '/' ? resolve_in(r, whose) : NULL) ?: resolve_gone(r, whose);
}

char *bas_names_follow(struct bas_names *n, const struct file_root *root, uint32_t tid, const char *path)
{
	__cleanup(free_ptr) char *whose = with_number(path, tid);
	struct root *r = root_find(n, root);

	return whose && r ? led_to(r, whose) : NULL;
}

bool bas_names_exists(struct bas_names *n, const struct file_root *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	struct root *r = root_find(n, root);
	__cleanup(close_fd) int fd = r ? (int)syscall(SYS_openat2, r->fd, path, &how, sizeof(how)) : -1;

	return fd >= 0;
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
