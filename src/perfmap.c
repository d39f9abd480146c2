/*
 * perfmap.c - a program's own map of the code it has made, read on as it grows.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base.h"
#include "clock.h"
#include "debugfile.h"
#include "image.h"
#include "log.h"
#include "perfmap.h"

#define LOOK_NS		100000000u	/* between looks whether a file is there, or has grown */
#define TOLD_MAX	64		/* processes whose maps are kept */
#define NAMES_MAX	(1u << 20)	/* of one process; what it tells beyond is not read */
#define BYTES_MAX	(256l << 20)	/* of a file, nor is that: it may have holes of terabytes */
#define LINE_MAX_BYTES	1024		/* a longer name is cut */
#define LOOK_BACK	16		/* ranges that begin before an address, of which one may reach there */

struct named {
	struct func func;
	size_t	    line;	/* of the file, in their order */
};

struct told {
	uint32_t      pid;	/* 0: none */
	FILE	     *file;	/* NULL: there is none yet */
	uint64_t      looked;	/* when, last */
	bool	      is_over;	/* there is more than is read, and that was said */
	bool	      is_within;	/* a line too long: what comes next is the rest of it */
	struct named **named;	/* by address; of those with the same the last line is last */
	size_t	      count, room;
};

struct perfmaps {
	struct told told[TOLD_MAX];
	unsigned    next;	/* to be given up */
};

static void forget(struct told *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free((char *)t->named[i]->func.name);
		free(t->named[i]);
	}
	free(t->named);
	close_file(&t->file);
	memset(t, 0, sizeof(*t));
}

int perfmaps_create(struct perfmaps **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void perfmaps_destroy(struct perfmaps *p)
{
	for (unsigned i = 0; p && i < TOLD_MAX; i++)
		forget(&p->told[i]);
	free(p);
}

/* The number that the process knows itself by, in the innermost of its namespaces. */
static uint32_t own_number(int proc, uint32_t pid)
{
	int fd = openat(proc, "status", O_RDONLY | O_CLOEXEC);
	__cleanup(close_file) FILE *f = fd < 0 ? NULL : fdopen(fd, "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6))
			return strtoul(strrchr(line, '\t') + 1, NULL, 10);
	return pid;
}

/* What others have put there is not its map, as perf sees it, too. */
static bool may_tell(int fd, int proc)
{
	struct stat file, process;

	return !fstat(fd, &file) && !fstat(proc, &process) && (file.st_uid == process.st_uid || !file.st_uid);
}

static FILE *open_map(uint32_t pid)
{
	__cleanup(close_fd) int proc = -1, fd = -1;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (proc < 0)
		return NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", own_number(proc, pid));
	fd = debugfile_open(proc, path);
	if (fd < 0 || !may_tell(fd, proc))
		return NULL;
	f = fdopen(fd, "re");
	if (f)
		TAKE_FD(fd);
	return f;
}

static int add(struct told *t, uint64_t start, uint64_t size, const char *name)
{
	struct named *n = calloc(1, sizeof(*n));
	int err = n ? grow(&t->named, &t->room, t->count, sizeof(*t->named)) : -ENOMEM;

	if (!err) {
		*n = (struct named){ { .addr = start, .size = size, .name = strdup(name) }, t->count };
		err = n->func.name ? 0 : -ENOMEM;
	}
	if (err)
		free(n);
	else
		t->named[t->count++] = n;
	return err;
}

/* Of a line that is none nothing is taken. */
static int take_line(struct told *t, const char *line)
{
	uint64_t start, size;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &size, &name) < 2 || !name || !line[name] || !size ||
	    start + size < start)
		return 0;
	return add(t, start, size, line + name);
}

/* A line whose end has not been written yet is read again, the rest of one that is too long not at all. */
static int read_lines(struct told *t)
{
	char line[LINE_MAX_BYTES];
	long at;
	int err = 0;

	for (at = ftell(t->file); !err && at < BYTES_MAX && t->count < NAMES_MAX && fgets(line, sizeof(line), t->file);
	     at = ftell(t->file)) {
		size_t len = strcspn(line, "\n");
		bool is_end = line[len] == '\n';

		if (!is_end && feof(t->file))
			break;
		line[len] = '\0';
		if (!t->is_within)
			err = take_line(t, line);
		t->is_within = !is_end;
	}
	clearerr(t->file);
	fseek(t->file, at, SEEK_SET);
	return err;
}

static bool has_more(const struct told *t)
{
	struct stat st;

	return (ftell(t->file) >= BYTES_MAX || t->count >= NAMES_MAX) && !fstat(fileno(t->file), &st) &&
	       st.st_size > ftell(t->file);
}

/* Once of each process. */
static void say_limits(struct told *t)
{
	if (t->is_over || !has_more(t))
		return;
	t->is_over = true;
	if (t->count >= NAMES_MAX)
		warn("the perf map of process %u names more code than is kept: its first %zu ranges have names", t->pid, t->count);
	else
		warn("the perf map of process %u names %zu ranges in more than %ld MB: the rest is not read",
		     t->pid, t->count, BYTES_MAX >> 20);
}

static int by_address(const void *a, const void *b)
{
	const struct named *x = *(struct named *const *)a, *y = *(struct named *const *)b;

	if (x->func.addr != y->func.addr)
		return x->func.addr < y->func.addr ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static void look(struct told *t)
{
	size_t before = t->count;
	uint64_t now = clock_now();

	if (t->looked && now - t->looked < LOOK_NS)
		return;
	t->looked = now;
	t->file = t->file ?: open_map(t->pid);
	if (t->file) {
		read_lines(t);
		say_limits(t);
	}
	if (t->count > before)
		qsort(t->named, t->count, sizeof(*t->named), by_address);
}

static struct told *told_of(struct perfmaps *p, uint32_t pid)
{
	struct told *t;

	for (t = p->told; t < p->told + TOLD_MAX; t++)
		if (t->pid == pid)
			return t;
	t = &p->told[p->next++ % TOLD_MAX];
	forget(t);
	t->pid = pid;
	return t;
}

static const struct func *find(const struct told *t, uint64_t ip)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->named[mid]->func.addr <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = 0; i < LOOK_BACK && i < low; i++) {
		const struct func *f = &t->named[low - 1 - i]->func;

		if (ip - f->addr < f->size)
			return f;
	}
	return NULL;
}

const struct func *perfmaps_at(struct perfmaps *p, uint32_t pid, uint64_t ip)
{
	struct told *t = pid ? told_of(p, pid) : NULL;
	const struct func *f = t ? find(t, ip) : NULL;

	if (f || !t)
		return f;
	look(t);
	return find(t, ip);
}
