/*
 * fault.c - page faults: -e fault.
 *
 * A tracepoint of its own on x86 only, before 6.16 or so: where the kernel's types do not have it, it is refused.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>

#include "config.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/rows.h"

static struct links links;

static bool kernel_tells_faults(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool is_there = btf && btf__find_by_name_kind(btf, "btf_trace_page_fault_user", BTF_KIND_TYPEDEF) > 0;

	btf__free(btf);
	return is_there;
}

static int fault_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bool is_wanted = cfg->events & EVENT_BIT(EVENT_PAGE_FAULT);

	if (is_wanted && !kernel_tells_faults())
		return fail(-EOPNOTSUPP, "page faults cannot be recorded: this kernel has no tracepoint 'page_fault_user'");
	bpf_program__set_autoload(bpf->progs.page_fault, is_wanted);
	return 0;
}

static int fault_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	(void)cfg;
	return links_attach_loaded(&links, bpf->progs.page_fault);
}

static void fault_detach(void)
{
	links_release(&links);
}

const struct source_ops source_fault = {
	.name	= "fault",
	.plan	= fault_plan,
	.attach	= fault_attach,
	.detach	= fault_detach,
};
