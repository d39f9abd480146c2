/*
 * spool.c - the text is gathered in the spool directory, and renamed to where it belongs.
 *
 * An event is given to the file whole, but whoever kills recorder may do so in the middle of a write. Then the file is
 * cut behind the last event that is whole. From its end on back, the line is looked for that ends an event, or begins
 * one of several lines: that says how long its strings are.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "about.h"
#include "base.h"
#include "out.h"
#include "outdir.h"
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

bool bas_is_one_of(const char *const *names, const char *tag, size_t len)
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
		"End_of_args", "SchedFork", "SysCloneFailed", "Exit", "Pipe", "Close", "Dup", "RenameFailed",
		"LinkFailed", "MountFailed", "UmountFailed", NULL
	};
	static const char *const begins[] = {
		"New_proc", "SysClone", "Open", "RenameFrom", "Rename2From", "LinkFrom", "LinkatFrom", "Symlink",
		"Mount", "Umount", "Comm", NULL
	};
	const char *tag = memchr(line, '!', end - line), *bar = tag ? memchr(tag, '|', end - tag) : NULL;

	if (!tag)
		return LINE_ENDS;		/* the file's first line, or one of lost events */
	if (!bar)
		return LINE_IS_WITHIN;
	tag++;
	if (bas_is_one_of(ends, tag, bar - tag))
		return LINE_ENDS;
	return bas_is_one_of(begins, tag, bar - tag) ? LINE_BEGINS : LINE_IS_WITHIN;
}

/* ---- is an event whole that no line of its own ends? ---- */

struct lines {
	const char *at, *end;		/* whole lines */
};

/* The next line, behind its time; @len without the newline. NULL: there is none. */
static const char *next_line(struct lines *l, size_t *len)
{
	const char *line = l->at, *end = line < l->end ? memchr(line, '\n', l->end - line) : NULL;
	const char *tag = end ? memchr(line, '!', end - line) : NULL;

	if (!tag)
		return NULL;
	l->at = end + 1;
	*len = end - ++tag;
	return tag;
}

static bool begins_with(const char *line, const char *word)
{
	return !strncmp(line, word, strlen(word));
}

/* Are the lines of a string of @size bytes all there? text.c says which these are. */
static bool take_string(struct lines *l, size_t size)
{
	bool is_long = false;
	size_t have = 0, len, tag;
	const char *line;

	while ((line = next_line(l, &len))) {
		tag = strcspn(line, "|[\n");
		if (begins_with(line, "Cont_end|")) {
			if (!is_long && have == size)
				return true;
		} else if (begins_with(line, "Cont|")) {
			have += 1 + len - strlen("Cont|");
		} else if (tag > 4 && begins_with(line + tag - 4, "_end|")) {
			return is_long && have == size;
		} else if (line[tag] == '[') {
			is_long = true;
			have += len - MIN(len, strcspn(line, "]\n") + 1);
		} else {
			have += len - MIN(len, tag + 1);
			if (have == size)
				return true;
		}
	}
	return false;
}

/* A line that says "...size=N" for each string that follows, and these. */
static bool take_strings(struct lines *l)
{
	size_t len;
	const char *line = next_line(l, &len), *end = line + (line ? len : 0);
	bool is_whole = line;

	while (is_whole && (line = memmem(line, end - line, "size=", 5))) {
		line += 5;
		is_whole = take_string(l, strtoul(line, NULL, 10));
	}
	return is_whole;
}

/* Where the event ends that begins at @begin; there when it is not whole. */
static const char *end_of(const char *begin, const char *end)
{
	struct lines l = { begin, end };
	size_t len;
	const char *tag = next_line(&l, &len);
	bool is_alone = tag && (begins_with(tag, "Open|") || begins_with(tag, "Symlink|") || begins_with(tag, "Comm|"));
	bool has_two = tag && memmem(tag, MIN(len, (size_t)16), "From|", 5);

	l.at = begin;
	if ((is_alone && take_strings(&l)) || (has_two && take_strings(&l) && take_strings(&l)))
		return l.at;
	return begin;
}

/* How much of @len bytes, which begin with a line or not, is whole events; 0: that cannot be told from them. */
static size_t whole_part(const char *text, size_t len)
{
	const char *last = memrchr(text, '\n', len), *line;

	for (const char *end = last; end; end = line) {
		line = memrchr(text, '\n', end - text);
		if (!line)
			return 0;
		switch (kind_of(line + 1, end)) {
		case LINE_ENDS:
			return end + 1 - text;
		case LINE_BEGINS:
			return end_of(line + 1, last + 1) - text;
		case LINE_IS_WITHIN:
			break;
		}
	}
	return 0;
}

/* Cut the file behind its last whole event. */
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

	return err ?: outdir_place(spoolfd, BAS_SPOOLED, dirfd, name);
}
