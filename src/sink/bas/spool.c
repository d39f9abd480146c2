/*
 * spool.c - the text is gathered in the spool directory, and renamed to where it belongs.
 *
 * An event is given to the file whole, but whoever kills recorder may do so in the middle of a write. Then the file is
 * cut behind the last line that ends an event, or before one that begins an event of several lines, if that is later.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "about.h"
#include "base.h"
#include "out.h"
#include "sink/bas/bas.h"

#define WINDOW	(64u << 10)	/* bytes at the end that are looked at first */

int bas_spool_create(struct bas_text **ret, const struct sink_args *args)
{
	struct out *out = NULL;
	int err = out_create(&out, args->dirfd, BAS_SPOOLED);

	err = err ?: bas_text_create(ret, out, args->options->long_lines);
	return err ?: bas_text_head(*ret, args->about->cwd ?: "/");
}

/* ---- where it ends ---- */

static bool is_one_of(const char *const *names, const char *tag, size_t len)
{
	for (; *names; names++)
		if (strlen(*names) == len && !memcmp(*names, tag, len))
			return true;
	return false;
}

enum line { LINE_ENDS, LINE_BEGINS, LINE_IS_WITHIN };

static enum line kind_of(const char *line, const char *end)
{
	static const char *const ends[] = {
		"End_of_args", "SchedFork", "SysCloneFailed", "Exit", "Pipe", "Close", "Dup", "RenameFailed", "LinkFailed",
		"MountFailed", "UmountFailed", NULL
	};
	static const char *const begins[] = {
		"New_proc", "SysClone", "Open", "RenameFrom", "Rename2From", "LinkFrom", "LinkatFrom", "Symlink", "Mount",
		"Umount", "Comm", NULL
	};
	const char *tag = memchr(line, '!', end - line), *bar = tag ? memchr(tag, '|', end - tag) : NULL;

	if (!tag)
		return LINE_ENDS;		/* the file's first line, or one of lost events */
	if (!bar)
		return LINE_IS_WITHIN;
	tag++;
	if (is_one_of(ends, tag, bar - tag))
		return LINE_ENDS;
	return is_one_of(begins, tag, bar - tag) ? LINE_BEGINS : LINE_IS_WITHIN;
}

/* How much of @len bytes, which begin with a line or not, is whole events; 0: that cannot be told from them. */
static size_t whole_part(const char *text, size_t len)
{
	const char *end = memrchr(text, '\n', len), *line;

	for (; end; end = line) {
		line = memrchr(text, '\n', end - text);
		if (!line)
			return 0;
		switch (kind_of(line + 1, end)) {
		case LINE_ENDS:
			return end + 1 - text;
		case LINE_BEGINS:
			return line + 1 - text;
		case LINE_IS_WITHIN:
			break;
		}
	}
	return 0;
}

static int cut_torn(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	for (size_t window = WINDOW; ; window *= 4) {
		size_t len = MIN(window, (size_t)st.st_size), whole = 0;
		__cleanup(free_ptr) char *text = malloc(len + 1);

		if (!text)
			return -ENOMEM;
		text[0] = '\n';			/* at the file's begin, before its first line */
		if (pread(fd, text + 1, len, st.st_size - len) != (ssize_t)len)
			return -EBADMSG;
		whole = len == (size_t)st.st_size ? whole_part(text, len + 1) : whole_part(text + 1, len) + 1;
		if (whole > 1)
			return ftruncate(fd, st.st_size - len + whole - 1) ? -errno : 0;
		if (len == (size_t)st.st_size)
			return -EBADMSG;
	}
}

/* ---- into its place ---- */

/* Whoever owns the spool directory may have put something else there, or another's file under a second name. */
static int open_spooled(int spoolfd)
{
	__cleanup(close_fd) int fd = openat(spoolfd, BAS_SPOOLED, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) && st.st_nlink == 1 ? TAKE_FD(fd) : -EBADMSG;
}

int bas_spool_place(int spoolfd, int dirfd, const char *name, bool is_torn)
{
	__cleanup(close_fd) int fd = open_spooled(spoolfd);
	int err = fd < 0 ? fd : is_torn ? cut_torn(fd) : 0;

	if (!err && renameat(spoolfd, BAS_SPOOLED, dirfd, name))
		err = -errno;
	return err;
}
