/*
 * filter.c - filters of functions in the kernel: what bpf/filter.bpf.c needs besides its probes.
 *
 * function.c attaches those.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base.h"
#include "bpflink.h"
#include "config.h"
#include "filter.h"
#include "function.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/point.h"
#include "source/rows.h"

static struct links links;
static int counts_fd = -1;	/* the map of calls filtered out; lent */
static unsigned limit;		/* --max-stack; 0: none */

static int filter_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bool wanted = filter_in_kernel(cfg), holds = filter_holds(cfg);
	bool named = wanted || holds || wants_values(cfg);

	/* Before 6.8 the kernel verifies what programs of args.bpf.c and held.bpf.c do not call, too. */
	bpf_map__set_autocreate(bpf->maps.filter_frames, named);
	bpf_map__set_autocreate(bpf->maps.filter_frames_blank, named);
	bpf_map__set_autocreate(bpf->maps.filtered_calls, named);
	bpf_map__set_autocreate(bpf->maps.held_calls, holds);
	bpf_map__set_autocreate(bpf->maps.held_calls_blank, holds);
	bpf_map__set_autocreate(bpf->maps.held_values, holds && wants_values(cfg));
	bpf_map__set_autocreate(bpf->maps.held_values_blank, holds && wants_values(cfg));
	bpf_program__set_autoload(bpf->progs.held_stop, holds);
	point_load(bpf, bpf->progs.held_exec, holds);
	point_load(bpf, bpf->progs.held_task_exit, holds);
	point_load(bpf, bpf->progs.held_sys_exit, holds && cfg->syscalls);
	bpf->rodata->calls_are_held = holds;
	bpf->rodata->syscalls_are_held = holds && cfg->syscalls;
	bpf->rodata->calls_are_filtered = wanted;
	bpf->rodata->values_are_held = holds && wants_values(cfg);
	bpf->rodata->least_ns = cfg->least_ns;
	point_load(bpf, bpf->progs.filter_fork, wanted);
	point_load(bpf, bpf->progs.filter_exec, wanted);
	point_load(bpf, bpf->progs.filter_task_exit, wanted);
	if (cfg->depth)
		bpf->rodata->depth_max = cfg->depth;
	if (cfg->max_stack)
		bpf->rodata->level_max = cfg->max_stack;
	limit = cfg->functions ? cfg->max_stack : 0;
	return 0;
}

static int filter_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	bool wanted = filter_in_kernel(cfg), holds = filter_holds(cfg);
	int err = 0;

	if (filter_judges(cfg) || holds)
		counts_fd = bpf_map__fd(bpf->maps.filtered_calls);
	if (wanted)
		err = point_attach(&links, bpf, bpf->progs.filter_fork) ?: point_attach(&links, bpf, bpf->progs.filter_exec) ?:
		      point_attach(&links, bpf, bpf->progs.filter_task_exit);
	if (!err && holds)
		err = point_attach(&links, bpf, bpf->progs.held_exec) ?: point_attach(&links, bpf, bpf->progs.held_task_exit);
	if (!err && holds && cfg->syscalls)
		err = point_attach(&links, bpf, bpf->progs.held_sys_exit);
	return err;
}

/* A call that is open yet is recorded if it is long enough by now. */
static void filter_stop(struct recorder_bpf *bpf)
{
	int fd = bpf_program__fd(bpf->progs.held_stop), err = fd < 0 ? 0 : bpflink_iterate(fd, 0);

	if (err)
		warn("calls that are open yet are not recorded: cannot walk the kernel's tasks: %s", strerror(-err));
}

static void filter_detach(void)
{
	links_release(&links);
}

/* Of @what, over all CPUs. */
static uint64_t count_of(enum filtered what)
{
	int cpus = libbpf_num_possible_cpus();
	__cleanup(free_ptr) uint64_t *count = calloc(MAX(cpus, 1), sizeof(*count));
	uint64_t sum = 0;
	uint32_t key = what;

	if (!count || bpf_map_lookup_elem(counts_fd, &key, count))
		return 0;
	for (int i = 0; i < cpus; i++)
		sum += count[i];
	return sum;
}

static void filter_say(void)
{
	uint64_t too_deep, unkept;

	if (counts_fd < 0)
		return;
	say("filtered out in the kernel: %lu function calls, %lu syscalls", count_of(FILTERED_CALLS),
	    count_of(FILTERED_SYSCALLS));
	if (limit)
		say("--max-stack: %lu calls in more than %u open ones were not recorded", count_of(FILTERED_DEEP), limit);
	too_deep = count_of(HELD_TOO_DEEP);
	if (too_deep)
		warn("-t and -C: %lu calls in more than %d open ones were not judged, nor recorded", too_deep, HELD_MAX);
	unkept = count_of(HELD_WITHOUT_VALUES);
	if (unkept)
		warn("-t and -C: %lu calls are recorded without their arguments, which found no room while they were open",
		     unkept);
}

const struct source_ops source_filter = {
	.name	 = "filter",
	.plan	 = filter_plan,
	.attach	 = filter_attach,
	.stop	 = filter_stop,
	.detach	 = filter_detach,
	.summary = filter_say,
};
