/*
 * cgroup.c - the programs that see who comes into a cgroup; switched on by target_plan(), which knows the cgroups.
 */
#include <bpf/libbpf.h>

#include "recorder.skel.h"
#include "source/links.h"
#include "source/point.h"
#include "source/rows.h"

static struct links links;

static int cgroup_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = point_attach(&links, bpf, bpf->progs.cgroup_exec);

	(void)cfg;
	err = err ?: point_attach(&links, bpf, bpf->progs.cgroup_fork);
	return err ?: links_attach_loaded(&links, bpf->progs.cgroup_move);
}

static void cgroup_detach(void)
{
	links_release(&links);
}

const struct source_ops source_cgroup = {
	.name	= "cgroup",
	.attach	= cgroup_attach,
	.detach	= cgroup_detach,
};
