/*
 * stats.c - how many events each CPU had and how many were lost, in words that users of ftrace search for.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"
#include "log.h"
#include "out.h"
#include "sink/bas/bas.h"

struct cpu {
	uint64_t told, dropped;
};

struct bas_stats {
	struct cpu *cpu;
	size_t	    count;
	struct cpu  none;		/* without memory for a CPU */
	uint64_t    cut;		/* paths that are not whole */
	const char *not_whole;		/* why the text ends early; NULL: it does not */
	uint64_t    untold;		/* events whose record came, but not all that belongs to it */
};

int bas_stats_create(struct bas_stats **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void bas_stats_destroy(struct bas_stats *st)
{
	if (!st)
		return;
	free(st->cpu);
	free(st);
}

static struct cpu *cpu_of(struct bas_stats *st, unsigned cpu)
{
	struct cpu *all;

	if (cpu < st->count)
		return &st->cpu[cpu];
	all = realloc(st->cpu, (cpu + 1) * sizeof(*all));
	if (!all)
		return &st->none;
	memset(all + st->count, 0, (cpu + 1 - st->count) * sizeof(*all));
	st->cpu = all;
	st->count = cpu + 1;
	return &all[cpu];
}

void bas_stats_told(struct bas_stats *st, unsigned cpu)
{
	cpu_of(st, cpu)->told++;
}

void bas_stats_dropped(struct bas_stats *st, unsigned cpu, uint64_t count)
{
	cpu_of(st, cpu)->dropped += count;
}

void bas_stats_cut(struct bas_stats *st, uint64_t count)
{
	st->cut += count;
}

void bas_stats_not_whole(struct bas_stats *st, const char *why)
{
	st->not_whole = why;
}

void bas_stats_untold(struct bas_stats *st, unsigned cpu)
{
	bas_stats_dropped(st, cpu, 1);
	st->untold++;
}

void bas_stats_say(const struct bas_stats *st, const char *name)
{
	if (st->untold)
		warn("%lu events are not in '%s': a name or an argument of theirs could not be read, or was lost", st->untold, name);
	if (st->cut)
		warn("%lu paths in '%s' are not whole: they were too long", st->cut, name);
}

/* ---- the file ---- */

#define BEGIN	"cut paths: "

static bool may_replace(int dirfd, const char *name)
{
	__cleanup(close_fd) int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char begin[sizeof(BEGIN) - 1];
	struct stat st;

	if (fd < 0)
		return errno == ENOENT;
	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (!st.st_size || (read(fd, begin, sizeof(begin)) == sizeof(begin) && !memcmp(begin, BEGIN, sizeof(begin))));
}

int bas_stats_write(const struct bas_stats *st, int dirfd, const char *name)
{
	__cleanup(free_ptr) char *path = NULL;
	struct out *out;
	int err;

	if (asprintf(&path, "%s.stats", name) < 0)
		return -ENOMEM;
	if (!may_replace(dirfd, path)) {
		warn("'%s' is not one that recorder has made: it stays, and what was lost is not written there", path);
		return 0;
	}
	err = out_create_replacing(&out, dirfd, path);
	if (err)
		return err;
	if (st->not_whole)
		out_printf(out, BEGIN "unknown\nnot whole: %s\n", st->not_whole);
	else
		out_printf(out, BEGIN "%lu\n", st->cut);
	for (size_t i = 0; i < st->count; i++)
		if (st->cpu[i].told || st->cpu[i].dropped)
			out_printf(out, "CPU: %zu\nentries: %lu\ndropped events: %lu\n", i, st->cpu[i].told,
				   st->cpu[i].dropped);
	err = out_seal(out);
	out_destroy(out);
	return err;
}
