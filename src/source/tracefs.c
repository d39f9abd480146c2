/*
 * tracefs.c - lines into uprobe_events, one perf event per set of probes.
 *
 * Every set is an event of its own in a group named after our pid, so that
 * what a killed recorder left can be told from what a living one uses.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base.h"
#include "kernel.h"
#include "log.h"
#include "source/links.h"
#include "source/tracefs.h"

#define GROUP		"recorder_"
#define BATCH_BYTES	4000	/* the kernel takes a page of lines at a time */

static unsigned sets;		/* events named so far */

static int open_tracefs(const char *name, int flags)
{
	char path[512];
	int fd;

	if (!kernel_tracefs())
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s", kernel_tracefs(), name);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int write_lines(int fd, const char *lines, size_t len)
{
	ssize_t n = write(fd, lines, len);

	return n == (ssize_t)len ? 0 : n < 0 ? -errno : -EIO;
}

static int define(int fd, unsigned set, bool at_return, const char *path, const unsigned long *offset, unsigned count)
{
	char lines[BATCH_BYTES + 256];
	size_t len = 0;
	int err = 0;

	for (unsigned i = 0; i < count && !err; i++) {
		len += snprintf(lines + len, sizeof(lines) - len, "%c:" GROUP "%d/s%u %s:0x%lx\n",
				at_return ? 'r' : 'p', getpid(), set, path, offset[i]);
		if (len < BATCH_BYTES && i + 1 < count)
			continue;
		err = write_lines(fd, lines, len);
		len = 0;
	}
	return err;
}

static int event_id(unsigned set)
{
	char name[64], text[16] = "";
	__cleanup(close_fd) int fd = -1;

	snprintf(name, sizeof(name), "events/" GROUP "%d/s%u/id", getpid(), set);
	fd = open_tracefs(name, O_RDONLY);
	if (fd < 0)
		return fd;
	return read(fd, text, sizeof(text) - 1) > 0 ? atoi(text) : -EIO;
}

static int run_program(int prog_fd, int id)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id };
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	if (!err && (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)))
		err = -errno;
	if (!err)
		return fd;
	close_fd(&fd);
	return err;
}

int tracefs_attach(int prog_fd, bool at_return, const char *path, const unsigned long *offset, unsigned count)
{
	__cleanup(close_fd) int fd = open_tracefs("uprobe_events", O_WRONLY | O_APPEND);
	unsigned set = sets++;
	int err = fd < 0 ? fd : 0, id;

	err = err ?: define(fd, set, at_return, path, offset, count);
	id = err ?: event_id(set);
	return id < 0 ? id : run_program(prog_fd, id);
}

struct event {
	unsigned pid, set;
};

/* Does the line "p:GROUPpid/set path:offset" name a group whose recorder is gone, or our own? */
static bool is_left_over(const char *line, struct event *e)
{
	if (sscanf(line, "%*c:" GROUP "%u/s%u ", &e->pid, &e->set) != 2)
		return false;
	return e->pid == (unsigned)getpid() || (kill(e->pid, 0) && errno == ESRCH);
}

/* To the end before anything is removed: that would move what was not read yet. */
static size_t list_events(struct event **ret)
{
	int fd = open_tracefs("uprobe_events", O_RDONLY);
	__cleanup(close_file) FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	size_t count = 0, room = 0;
	struct event e;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (!is_left_over(line, &e) || (count && !memcmp(&e, &(*ret)[count - 1], sizeof(e))))
			continue;
		if (grow(ret, &room, count, sizeof(e)))
			break;
		(*ret)[count++] = e;
	}
	return count;
}

/* One removal per event: all its probes go with it. */
static void remove_events(void)
{
	__cleanup(close_fd) int fd = open_tracefs("uprobe_events", O_WRONLY | O_APPEND);
	__cleanup(free_ptr) struct event *event = NULL;
	size_t count = fd < 0 ? 0 : list_events(&event);
	char line[64];

	for (size_t i = 0; i < count; i++) {
		snprintf(line, sizeof(line), "-:" GROUP "%u/s%u\n", event[i].pid, event[i].set);
		(void)write_lines(fd, line, strlen(line));
	}
}

void tracefs_release(void)
{
	if (sets)
		links_wait();		/* an event in use cannot be removed */
	sets = 0;
	remove_events();
}
