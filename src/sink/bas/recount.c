/*
 * recount.c - how many events each CPU had and how many were lost, by the text itself: recorder was killed, or
 * the disk was full.
 */
#include <fcntl.h>

#include "base.h"
#include "sink/bas/bas.h"

#define LINE_MAX_BYTES	4096	/* no line is as long, but nobody has checked this file */
#define CPUS		4096u

struct recount {
	struct bas_stats *stats;
	bool		  is_open;	/* the second half of a rename, link or mount comes, or is none of its own */
};

/* Does the line with @tag stand for an event? Each event has one that does; no line of a string begins with such a tag. */
static bool counts(struct recount *rc, const char *tag)
{
	static const char *const alone[] = {
		"New_proc", "SchedFork", "SysCloneFailed", "Exit", "Open", "Pipe", "Close", "Dup", "Symlink", "Comm", NULL
	};
	static const char *const first[] = {
		"RenameFrom", "Rename2From", "LinkFrom", "LinkatFrom", "Mount", "Umount", NULL
	};
	static const char *const second[] = {
		"RenameTo", "LinkTo", "RenameFailed", "LinkFailed", "MountFailed", "UmountFailed", NULL
	};
	bool was_open = rc->is_open;
	size_t len = strcspn(tag, "|\n");

	if (bas_is_one_of(first, tag, len))
		return rc->is_open = true;
	if (bas_is_one_of(second, tag, len)) {
		rc->is_open = false;
		return !was_open;
	}
	if (!bas_is_one_of(alone, tag, len))
		return false;
	rc->is_open = false;
	return true;
}

static void count_line(struct recount *rc, const char *line)
{
	unsigned long upid, lost;
	unsigned cpu;
	int at = 0;

	if (sscanf(line, "0: %lu,%u,%*u,%*u!%n", &upid, &cpu, &at) == 2 && at && cpu < CPUS) {
		if (counts(rc, line + at))
			bas_stats_told(rc->stats, cpu);
	} else if (sscanf(line, "CPU:%u [LOST %lu EVENTS]", &cpu, &lost) == 2 && cpu < CPUS) {
		bas_stats_dropped(rc->stats, cpu, lost);
	}
}

static int count_lines(struct recount *rc, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char line[LINE_MAX_BYTES];
	int err = 0;

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file))
		count_line(rc, line);
	if (ferror(file))
		err = -EIO;
	fclose(file);
	return err;
}

int bas_recount(int dirfd, const char *name, const char *why)
{
	struct recount rc = {};
	int err = bas_stats_create(&rc.stats);

	if (err)
		return err;
	bas_stats_not_whole(rc.stats, why);
	err = count_lines(&rc, dirfd, name) ?: bas_stats_write(rc.stats, dirfd, name);
	bas_stats_destroy(rc.stats);
	return err;
}
