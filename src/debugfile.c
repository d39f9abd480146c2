/*
 * debugfile.c - find and open a separate debug file.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base.h"
#include "debugfile.h"
#include "image.h"

#define DEBUG_FOLDER	"/usr/lib/debug"

char *debugfile_place(const struct image *img, const char *path, unsigned n)
{
	const char *slash = strrchr(path, '/'), *link = img->debug_link;
	int folder = slash ? slash - path : 0, len = -1;
	char *place = NULL;

	if (n == 0)
		len = strlen(img->build_id) > 2 ? asprintf(&place, DEBUG_FOLDER "/.build-id/%.2s/%s.debug", img->build_id,
							   img->build_id + 2) : -1;
	else if (!link || *path != '/')
		return NULL;
	else if (n == 1)
		len = asprintf(&place, "%.*s/%s", folder, path, link);
	else if (n == 2)
		len = asprintf(&place, "%.*s/.debug/%s", folder, path, link);
	else
		len = asprintf(&place, DEBUG_FOLDER "%.*s/%s", folder, path, link);
	return len < 0 ? NULL : place;
}

int debugfile_open(int proc, const char *place)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	__cleanup(close_fd) int root = openat(proc, "root", O_PATH | O_CLOEXEC);
	__cleanup(close_fd) int at = -1;
	struct stat st;
	char self[32];
	int fd;

	if (root < 0)
		return -errno;
	at = syscall(SYS_openat2, root, place, &how, sizeof(how));
	if (at < 0 || fstat(at, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))	/* a FIFO would wait, a device might do anything */
		return -EINVAL;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}
