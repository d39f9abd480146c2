/*
 * callers.c - who called, with the events and system calls that are recorded: -g. Other sources' programs look.
 */
#include <bpf/libbpf.h>

#include "config.h"
#include "recorder.skel.h"
#include "source/rows.h"

static int callers_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bpf->rodata->callers_wanted = cfg->callers;
	return bpf_map__set_autocreate(bpf->maps.callers_scratches, cfg->callers);
}

const struct source_ops source_callers = {
	.name = "callers",
	.plan = callers_plan,
};
