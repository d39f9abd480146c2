/*
 * filter.c - filters of functions in the kernel: what bpf/filter.bpf.c needs besides its probes.
 *
 * function.c attaches those.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base.h"
#include "config.h"
#include "filter.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/rows.h"

static struct links links;
static int counts_fd = -1;	/* the map of calls filtered out; lent */

static int filter_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bool wanted = filter_in_kernel(cfg);

	bpf_map__set_autocreate(bpf->maps.filter_frames, wanted);
	bpf_map__set_autocreate(bpf->maps.filtered_calls, wanted);
	bpf_program__set_autoload(bpf->progs.filter_fork, wanted);
	bpf_program__set_autoload(bpf->progs.filter_exec, wanted);
	if (cfg->depth)
		bpf->rodata->depth_max = cfg->depth;
	return 0;
}

static int filter_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err;

	if (!filter_in_kernel(cfg))
		return 0;
	counts_fd = bpf_map__fd(bpf->maps.filtered_calls);
	err = links_attach(&links, bpf->progs.filter_fork);
	return err ?: links_attach(&links, bpf->progs.filter_exec);
}

static void filter_detach(void)
{
	links_release(&links);
}

static void filter_say(void)
{
	int cpus = libbpf_num_possible_cpus();
	__cleanup(free_ptr) uint64_t *count = calloc(MAX(cpus, 1), sizeof(*count));
	uint64_t sum = 0;
	uint32_t key = 0;

	if (counts_fd < 0 || !count || bpf_map_lookup_elem(counts_fd, &key, count))
		return;
	for (int i = 0; i < cpus; i++)
		sum += count[i];
	say("filtered out in the kernel: %lu function calls", sum);
}

const struct source_ops source_filter = {
	.name	 = "filter",
	.plan	 = filter_plan,
	.attach	 = filter_attach,
	.detach	 = filter_detach,
	.summary = filter_say,
};
