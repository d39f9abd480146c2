/*
 * missed.c - what the kernel skipped at tracepoints, since a program of ours was held up there.
 *
 * The kernel runs the program of a typed tracepoint, or one of all those at perf events, not within another run on the
 * same CPU: what an interrupt meets meanwhile, or another task where the first was preempted, is missed, and counted by
 * the kernel, of whichever task it is. All of it counts as lost: some may be of tasks that are not recorded.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base.h"
#include "kernel.h"
#include "log.h"
#include "record.h"
#include "recorder.skel.h"
#include "source/rows.h"

/* What a program's section begins with, and of which class are the records that it would have made. The first holds. */
static const struct row {
	const char	*section;
	enum rec_class	 class;
} rows[] = {
	{ "tp_btf/sys_",			CLASS_SYSCALL },
	{ "tracepoint/raw_syscalls/",		CLASS_SYSCALL },
	{ "tp_btf/sched_process_",		CLASS_TASK },
	{ "tp_btf/sched_prepare_exec",		CLASS_TASK },
	{ "tp_btf/task_rename",			CLASS_TASK },
	{ "tp_btf/cgroup_attach_task",		CLASS_TASK },
	{ "tracepoint/sched/sched_process_",	CLASS_TASK },
	{ "tracepoint/task/task_rename",	CLASS_TASK },
	{ "tp_btf/",				CLASS_EVENT },
	{ "tracepoint",				CLASS_EVENT },
};

static uint64_t missed[REC_CLASSES], before[REC_CLASSES];	/* recording began */

static const struct row *row_of(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	section += *section == '?';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strncmp(section, rows[i].section, strlen(rows[i].section)))
			return &rows[i];
	return NULL;
}

/* A CPU's is as good as another's: it is not known where they were missed. */
static void add_to(int tallies)
{
	struct tally tally;
	uint32_t first = 0;

	if (bpf_map_lookup_elem(tallies, &first, &tally))
		return;
	for (int i = 0; i < REC_CLASSES; i++)
		tally.lost[i] += missed[i];
	bpf_map_update_elem(tallies, &first, &tally, BPF_ANY);
}

static int missed_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	(void)bpf; (void)cfg;
	if (!kernel_has(HAVE_STEADY_TRACEPOINTS) && !kernel_has(HAVE_PERF_TRACEPOINTS))
		warn("events are missed, and counted as lost, while a task is preempted within a program of ours: "
		     "this kernel's tracepoints may be, and its perf events cannot be had");
	return 0;
}

/* Of what the second at forks misses, the first has told, or has been counted. */
static bool is_counted(const struct recorder_bpf *bpf, const struct bpf_program *prog)
{
	return bpf_program__fd(prog) >= 0 && prog != bpf->progs.task_new_second;
}

static void count(const struct recorder_bpf *bpf, uint64_t so_far[REC_CLASSES])
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, bpf->obj) {
		const struct row *row = row_of(prog);
		struct bpf_prog_info info = {};
		uint32_t len = sizeof(info);

		if (row && is_counted(bpf, prog) && !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
			so_far[row->class] += info.recursion_misses;
	}
	so_far[CLASS_TASK] -= MIN(so_far[CLASS_TASK], bpf->bss->forks_seconded);
}

/* What was skipped while recorder set itself up is nobody's. */
static void missed_begin(struct recorder_bpf *bpf)
{
	count(bpf, before);
}

static void missed_stop(struct recorder_bpf *bpf)
{
	uint64_t sum = 0;

	count(bpf, missed);
	for (int i = 0; i < REC_CLASSES; i++) {
		missed[i] -= before[i];
		sum += missed[i];
	}
	if (sum)
		add_to(bpf_map__fd(bpf->maps.tallies));
}

static void missed_summary(void)
{
	if (missed[CLASS_SYSCALL] || missed[CLASS_TASK] || missed[CLASS_EVENT])
		say("of these the kernel skipped %lu syscall, %lu task, %lu event, of any task, while one was being recorded; "
		    "larger rings do not help there", missed[CLASS_SYSCALL], missed[CLASS_TASK],
		    missed[CLASS_EVENT]);
}

const struct source_ops source_missed = {
	.name	 = "missed",
	.plan	 = missed_plan,
	.begin	 = missed_begin,
	.stop	 = missed_stop,
	.summary = missed_summary,
};
