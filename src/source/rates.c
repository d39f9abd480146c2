/*
 * rates.c - what bpf/rate.bpf.c is told, and which functions it has shed.
 *
 * What is shed has no record, so the sum is read from the map once recording has stopped.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>

#include "base.h"
#include "config.h"
#include "filter.h"
#include "image.h"
#include "log.h"
#include "rate.h"
#include "recorder.skel.h"
#include "source/rates.h"
#include "source/rows.h"

#define NAMED_MAX	5	/* functions that the summary names */

struct limited {
	uint32_t func;
	char	*name;
	uint64_t shed;
};

static struct {
	struct limited *func;
	size_t	 count, room;
	int	 fd;			/* the map; lent */
	unsigned most;			/* --rate-limit; 0: not given */
} limits;

static int rate_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	/* filter.bpf.c names the map, and is in the object whenever values are recorded. */
	bool named = filter_in_kernel(cfg) || filter_holds(cfg) || wants_values(cfg);

	bpf_map__set_autocreate(bpf->maps.rate_of_func, named);
	limits.most = cfg->functions ? cfg->rate_limit : 0;
	bpf->rodata->rate_max = limits.most;
	return 0;
}

int rate_tell(struct recorder_bpf *bpf, const struct image *img, const struct func *f)
{
	struct limited new = { .func = img->first_func + (f - img->func) };
	struct func_rate none = {};

	if (!bpf || !limits.most)
		return 0;
	limits.fd = bpf_map__fd(bpf->maps.rate_of_func);
	if (bpf_map_update_elem(limits.fd, &new.func, &none, BPF_ANY))
		return -errno;
	new.name = strdup(func_plain(f));
	if (!new.name || grow(&limits.func, &limits.room, limits.count, sizeof(new))) {
		free(new.name);
		return -ENOMEM;
	}
	limits.func[limits.count++] = new;
	return 0;
}

static void rate_stop(struct recorder_bpf *bpf)
{
	(void)bpf;
	for (struct limited *l = limits.func; l < limits.func + limits.count; l++) {
		struct func_rate r;

		if (!bpf_map_lookup_elem(limits.fd, &l->func, &r))
			l->shed = r.shed;
	}
}

static void release(void)
{
	for (struct limited *l = limits.func; l < limits.func + limits.count; l++)
		free(l->name);
	free(limits.func);
	memset(&limits, 0, sizeof(limits));
}

static int by_shed(const void *a, const void *b)
{
	const struct limited *x = a, *y = b;

	return x->shed < y->shed ? 1 : -(x->shed > y->shed);
}

static void rate_say(void)
{
	uint64_t calls = 0;
	size_t functions = 0, named;
	char who[512] = "";

	qsort(limits.func, limits.count, sizeof(*limits.func), by_shed);
	while (functions < limits.count && limits.func[functions].shed)
		calls += limits.func[functions++].shed;
	if (!functions) {
		say("shed by --rate-limit: nothing");
		return;
	}
	named = MIN(functions, (size_t)NAMED_MAX);
	for (size_t i = 0, at = 0; i < named && at < sizeof(who); i++)
		at += snprintf(who + at, sizeof(who) - at, "%s%.64s() %" PRIu64, i ? ", " : "", limits.func[i].name,
			       limits.func[i].shed);
	say("shed by --rate-limit: %" PRIu64 " calls of %zu function%s: %s%s", calls, functions, functions == 1 ? "" : "s",
	    who, functions > named ? ", ..." : "");
}

static void rate_summary(void)
{
	if (limits.most)
		rate_say();
	release();
}

const struct source_ops source_rate = {
	.name	 = "rate",
	.plan	 = rate_plan,
	.stop	 = rate_stop,
	.summary = rate_summary,
};
