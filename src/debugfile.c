/*
 * debugfile.c - find and open a separate debug file.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "base.h"
#include "debugfile.h"
#include "image.h"
#include "log.h"
#include "regular.h"

#define DEBUG_FOLDER	"/usr/lib/debug"

static char *place_of_id(const char *build_id)
{
	char *place = NULL;

	if (strlen(build_id) <= 2 || asprintf(&place, DEBUG_FOLDER "/.build-id/%.2s/%s.debug", build_id, build_id + 2) < 0)
		return NULL;
	return place;
}

char *debugfile_place(const struct image *img, const char *path, unsigned n)
{
	const char *slash = strrchr(path, '/'), *link = img->debug_link;
	int folder = slash ? slash - path : 0, len;
	char *place = NULL;

	if (n == 0)
		return place_of_id(img->build_id);
	if (!link || *path != '/')
		return NULL;
	if (n == 1)
		len = asprintf(&place, "%.*s/%s", folder, path, link);
	else if (n == 2)
		len = asprintf(&place, "%.*s/.debug/%s", folder, path, link);
	else
		len = asprintf(&place, DEBUG_FOLDER "%.*s/%s", folder, path, link);
	return len < 0 ? NULL : place;
}

char *debugfile_common_place(const struct image *img, const char *beside, unsigned n)
{
	const char *slash = strrchr(beside, '/'), *link = img->common_link;
	char *place = NULL;

	if (n == 0)
		return place_of_id(img->common_id);
	if (*link == '/')
		return strdup(link);
	if (!slash || asprintf(&place, "%.*s/%s", (int)(slash - beside), beside, link) < 0)
		return NULL;
	return place;
}

int debugfile_open(int proc, const char *place)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	__cleanup(close_fd) int root = openat(proc, "root", O_PATH | O_CLOEXEC);
	__cleanup(close_fd) int at = -1;

	if (root < 0)
		return -errno;
	at = syscall(SYS_openat2, root, place, &how, sizeof(how));
	return at < 0 ? -errno : regular_open(at);
}

static bool wants_symbols(enum image_depth depth)
{
	return depth == IMAGE_FUNCTIONS || depth == IMAGE_NAMES;
}

int debugfile_read_whole(struct image_child *child, struct image **ret, const struct image_files *files, const char *beside,
			 int proc, enum image_depth depth)
{
	int err = image_child_read_with(child, ret, files, depth);

	for (unsigned n = 0; !err && (*ret)->common_link && n < DEBUGFILE_COMMON_PLACES; n++) {
		__cleanup(free_ptr) char *place = debugfile_common_place(*ret, beside, n);
		__cleanup(close_fd) int common = place ? debugfile_open(proc, place) : -1;
		const struct image_files all = { files->fd, files->debug, common };
		struct image *whole;

		if (common < 0 || image_child_read_with(child, &whole, &all, depth))
			continue;
		detail("'%s' %s", place, whole->common_link ? "is of another, or of texts alone" : "has the rest of the debug information");
		image_destroy(*ret);
		*ret = whole;
	}
	return err;
}

static int read_with(struct image_child *child, struct image **ret, const struct image_files *files, const char *place, int proc,
		     enum image_depth depth)
{
	int err = debugfile_read_whole(child, ret, files, place, proc, depth);

	if (err || !wants_symbols(depth) || !(*ret)->is_stripped)
		return err;
	image_destroy(*ret);
	return -ENOENT;
}

int debugfile_read(struct image_child *child, struct image **ret, const struct image *img, const char *path, int proc,
		   int fd, enum image_depth depth)
{
	const char *what = wants_symbols(depth) ? "symbols" : "debug information";
	int failed = -ENOENT;

	for (unsigned n = 0; n < DEBUGFILE_PLACES; n++) {
		__cleanup(free_ptr) char *place = debugfile_place(img, path, n);
		__cleanup(close_fd) int debug_fd = place ? debugfile_open(proc, place) : -1;
		int err;

		if (debug_fd < 0)
			continue;
		err = read_with(child, ret, &(struct image_files){ fd, debug_fd, -1 }, place, proc, depth);
		detail(err ? "'%s' has no %s for '%s', or is not of it" : "'%s' has the %s of '%s'", place, what, path);
		if (!err)
			return 0;
		failed = err == -ENOENT ? failed : err;
	}
	return failed;
}
