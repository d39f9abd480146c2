/*
 * task.c - task life: always recorded, since every other source leans on it.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <unistd.h>

#include "config.h"
#include "log.h"
#include "process.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/rows.h"

static struct links links;

static int task_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bpf->rodata->follow = cfg->follow;
	bpf->rodata->own_pid = getpid();
	bpf->rodata->own_pid_ns = process_namespace();
	if (!bpf->rodata->own_pid_ns)
		return fail(-errno, "cannot tell which PID namespace this is: /proc/self/ns/pid");
	bpf_program__set_autoload(bpf->progs.task_new, true);
	bpf_program__set_autoload(bpf->progs.task_exec, true);
	bpf_program__set_autoload(bpf->progs.task_name, true);
	bpf_program__set_autoload(bpf->progs.task_exit, true);
	return 0;
}

static int task_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = links_attach(&links, bpf->progs.task_new);

	(void)cfg;
	err = err ?: links_attach(&links, bpf->progs.task_exec);
	err = err ?: links_attach(&links, bpf->progs.task_name);
	return err ?: links_attach(&links, bpf->progs.task_exit);
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
