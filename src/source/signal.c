/*
 * signal.c - signals sent and got: -e signal.
 */
#include <bpf/libbpf.h>

#include "config.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/rows.h"

static struct links links;

static int signal_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bpf_program__set_autoload(bpf->progs.signal_sent, cfg->events & EVENT_BIT(EVENT_SIGNAL_GENERATE));
	bpf_program__set_autoload(bpf->progs.signal_got, cfg->events & EVENT_BIT(EVENT_SIGNAL_DELIVER));
	return 0;
}

static int signal_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	(void)cfg;
	return links_attach_loaded(&links, bpf->progs.signal_sent) ?: links_attach_loaded(&links, bpf->progs.signal_got);
}

static void signal_detach(void)
{
	links_release(&links);
}

const struct source_ops source_signal = {
	.name	= "signal",
	.plan	= signal_plan,
	.attach	= signal_attach,
	.detach	= signal_detach,
};
