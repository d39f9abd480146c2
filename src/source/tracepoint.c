/*
 * tracepoint.c - tracepoints by name: -e SUBSYS:EVENT.
 *
 * One program behind a perf event for each, which it is told apart by as its cookie. The kernel runs such programs not within
 * each other: what an interrupt meets while one runs is missed, and counted by the kernel, of whichever task it is. All of
 * these count as lost: some may be of tasks that are not recorded.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "base.h"
#include "config.h"
#include "log.h"
#include "record.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/rows.h"

static struct links links;
static int program_fd = -1;
static uint64_t missed;

static int tracepoint_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	if (!cfg->tracepoints.count)
		return 0;
	bpf_program__set_autoload(bpf->progs.tracepoint_hit, true);
	return bpf_map__set_max_entries(bpf->maps.tracepoint_plans, cfg->tracepoints.count);
}

static int attach_one(struct recorder_bpf *bpf, uint32_t which, const struct tracepoint *tp)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = tp->id };
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = which);
	int plans = bpf_map__fd(bpf->maps.tracepoint_plans), fd = -1;
	int err = bpf_map_update_elem(plans, &which, &tp->plan, BPF_ANY) ? -errno : 0;
	struct bpf_link *link = NULL;

	if (!err)
		fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		link = bpf_program__attach_perf_event_opts(bpf->progs.tracepoint_hit, fd, &opts);	/* takes @fd */
	if (link)
		return links_keep(&links, link, NULL);
	err = err ?: -errno;
	if (fd >= 0)
		close(fd);
	return fail(err, "cannot attach to the kernel's '%s:%s'", tp->system, tp->name);
}

static int tracepoint_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = 0;

	if (cfg->tracepoints.count)
		program_fd = bpf_program__fd(bpf->progs.tracepoint_hit);
	for (size_t i = 0; i < cfg->tracepoints.count && !err; i++)
		err = attach_one(bpf, i, &cfg->tracepoints.tp[i]);
	return err;
}

static void count_missed(int tallies)
{
	int cpus = libbpf_num_possible_cpus();
	uint64_t (*tally)[REC_CLASSES] = calloc(MAX(cpus, 1), sizeof(*tally));
	uint32_t zero = 0;

	if (tally && !bpf_map_lookup_elem(tallies, &zero, tally)) {
		tally[0][CLASS_EVENT] += missed;
		bpf_map_update_elem(tallies, &zero, tally, BPF_ANY);
	}
	free(tally);
}

static void tracepoint_stop(struct recorder_bpf *bpf)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);

	if (program_fd >= 0 && !bpf_obj_get_info_by_fd(program_fd, &info, &len))
		missed = info.recursion_misses;
	if (missed)
		count_missed(bpf_map__fd(bpf->maps.tallies));
}

static void tracepoint_detach(void)
{
	program_fd = -1;
	links_release(&links);
}

static void tracepoint_summary(void)
{
	if (missed)
		say("events of interrupts that came while another was recorded: %lu, of any task; larger rings do not help there", missed);
}

const struct source_ops source_tracepoint = {
	.name	 = "tracepoint",
	.plan	 = tracepoint_plan,
	.attach	 = tracepoint_attach,
	.stop	 = tracepoint_stop,
	.detach	 = tracepoint_detach,
	.summary = tracepoint_summary,
};
