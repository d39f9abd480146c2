/*
 * tracepoint.c - tracepoints by name: -e SUBSYS:EVENT.
 *
 * One program behind a perf event for each, which it is told apart by as its cookie.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base.h"
#include "config.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/point.h"
#include "source/rows.h"

static struct links links;

static int tracepoint_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	if (!cfg->tracepoints.count)
		return 0;
	bpf_program__set_autoload(bpf->progs.tracepoint_hit, true);
	return bpf_map__set_max_entries(bpf->maps.tracepoint_plans, cfg->tracepoints.count);
}

static int attach_one(struct recorder_bpf *bpf, uint32_t which, const struct tracepoint *tp)
{
	struct bpf_link *link = NULL;

	if (!bpf_map_update_elem(bpf_map__fd(bpf->maps.tracepoint_plans), &which, &tp->plan, BPF_ANY))
		link = point_link_event(bpf->progs.tracepoint_hit, tp->id, which);
	if (link)
		return links_keep(&links, link, NULL);
	return fail(-errno, "cannot attach to the kernel's '%s:%s'", tp->system, tp->name);
}

static int tracepoint_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = 0;

	for (size_t i = 0; i < cfg->tracepoints.count && !err; i++)
		err = attach_one(bpf, i, &cfg->tracepoints.tp[i]);
	return err;
}

static void tracepoint_detach(void)
{
	links_release(&links);
}

const struct source_ops source_tracepoint = {
	.name	= "tracepoint",
	.plan	= tracepoint_plan,
	.attach	= tracepoint_attach,
	.detach	= tracepoint_detach,
};
