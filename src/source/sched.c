/*
 * sched.c - the scheduler's events: -e sched, and what wants to know when a task ran.
 */
#include <bpf/libbpf.h>

#include "config.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/rows.h"

static struct links links;

static int sched_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bpf_program__set_autoload(bpf->progs.sched_switched, cfg->events & EVENT_BIT(EVENT_SCHED_SWITCH));
	bpf_program__set_autoload(bpf->progs.sched_woken, cfg->events & EVENT_BIT(EVENT_SCHED_WAKEUP));
	bpf_program__set_autoload(bpf->progs.sched_woken_new, cfg->events & EVENT_BIT(EVENT_SCHED_WAKEUP_NEW));
	bpf_program__set_autoload(bpf->progs.sched_migrated, cfg->events & EVENT_BIT(EVENT_SCHED_MIGRATE));
	return 0;
}

static int sched_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = links_attach_loaded(&links, bpf->progs.sched_switched);

	(void)cfg;
	err = err ?: links_attach_loaded(&links, bpf->progs.sched_woken);
	err = err ?: links_attach_loaded(&links, bpf->progs.sched_woken_new);
	return err ?: links_attach_loaded(&links, bpf->progs.sched_migrated);
}

static void sched_detach(void)
{
	links_release(&links);
}

const struct source_ops source_sched = {
	.name	= "sched",
	.plan	= sched_plan,
	.attach	= sched_attach,
	.detach	= sched_detach,
};
