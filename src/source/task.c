/*
 * task.c - task life: always recorded, since every other source leans on it.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "config.h"
#include "kernel.h"
#include "log.h"
#include "process.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/point.h"
#include "source/rows.h"
#include "taskstate.h"

#define STRAYS_ALL_MAX	32768	/* tasks that are recorded at a time, where none has storage */

static struct links links;

static enum storage_at_forks storage_at_forks(void)
{
	if (!kernel_has(HAVE_STORAGE_LOOKUPS))
		return STORAGE_HIDDEN;
	if (kernel_has(HAVE_STORAGE_AT_FORKS))
		return STORAGE_GIVEN;
	return kernel_denies(HAVE_STORAGE_AT_FORKS) ? STORAGE_REFUSED : STORAGE_MAY_BE_REFUSED;
}

static int task_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bpf->rodata->follow = cfg->follow;
	bpf->rodata->storage_at_forks = storage_at_forks();
	if (bpf->rodata->storage_at_forks == STORAGE_HIDDEN)
		bpf_map__set_max_entries(bpf->maps.strays, STRAYS_ALL_MAX);
	bpf_map__set_autocreate(bpf->maps.strays, bpf->rodata->storage_at_forks != STORAGE_GIVEN);
	bpf_program__set_autoload(bpf->progs.task_free, bpf->rodata->storage_at_forks != STORAGE_GIVEN);
	bpf->rodata->own_pid = getpid();
	bpf->rodata->own_pid_ns = process_namespace();
	if (!bpf->rodata->own_pid_ns)
		return fail(-errno, "cannot tell which PID namespace this is: /proc/self/ns/pid");
	point_load(bpf, bpf->progs.task_new, true);
	point_load(bpf, bpf->progs.task_new_second, point_by_events());
	point_load(bpf, bpf->progs.task_exec, true);
	point_load(bpf, bpf->progs.task_name, true);
	point_load(bpf, bpf->progs.task_exit, true);
	return 0;
}

static int task_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = point_attach(&links, bpf, bpf->progs.task_new);

	(void)cfg;
	err = err ?: point_attach(&links, bpf, bpf->progs.task_new_second);
	err = err ?: point_attach(&links, bpf, bpf->progs.task_exec);
	err = err ?: point_attach(&links, bpf, bpf->progs.task_name);
	err = err ?: point_attach(&links, bpf, bpf->progs.task_free);
	return err ?: point_attach(&links, bpf, bpf->progs.task_exit);
}

static void task_detach(void)
{
	links_release(&links);
}

const struct source_ops source_task = {
	.name	= "task",
	.plan	= task_plan,
	.attach	= task_attach,
	.detach	= task_detach,
};
