/*
 * file.c - what system calls do to descriptors and names, and what programs are started with: one row for each call.
 *
 * To add a call, add its row; its numbers are in src/syscall/table.c.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <string.h>

#include "base.h"
#include "config.h"
#include "fileplan.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/point.h"
#include "source/rows.h"
#include "syscall/syscall.h"

#define CWD	FILE_AT_CWD
#define NO	FILE_AT_NONE

/* Where the names and what they are relative to stand; where what goes to rec_file.arg[] stands. */
#define NONE		NO, NO, NO, NO, NO
#define ONE(name, base)	name, base, NO, NO, NO
#define TWO(name, base, name2, base2)	name, base, name2, base2, NO

static const struct {
	const char	*name;
	struct file_plan plan;
} calls[] = {
	{ "open",	 { FILE_OPEN, 0, ONE(0, CWD), { 1, 2, NO }, 0 } },
	{ "openat",	 { FILE_OPEN, 0, ONE(1, 0), { 2, 3, NO }, 0 } },
	{ "openat2",	 { FILE_OPEN, FILE_HOW, ONE(1, 0), { NO, NO, NO }, 0 } },
	{ "creat",	 { FILE_OPEN, 0, ONE(0, CWD), { NO, 1, NO }, O_CREAT | O_WRONLY | O_TRUNC } },
	{ "close",	 { FILE_CLOSE, 0, NONE, { 0, NO, NO }, 0 } },
	{ "close_range", { FILE_CLOSE_RANGE, 0, NONE, { 0, 1, 2 }, 0 } },
	{ "pipe",	 { FILE_PIPE, 0, NONE, { NO, NO, NO }, 0 } },
	{ "pipe2",	 { FILE_PIPE, 0, NONE, { NO, NO, 1 }, 0 } },
	{ "dup",	 { FILE_DUP, 0, NONE, { 0, NO, NO }, 0 } },
	{ "dup2",	 { FILE_DUP, FILE_SAME_IS_NO, NONE, { 0, NO, NO }, 1 } },
	{ "dup3",	 { FILE_DUP, 0, NONE, { 0, 2, NO }, 1 } },
	{ "fcntl",	 { FILE_DUP, FILE_FCNTL, NONE, { 0, NO, NO }, 0 } },
	{ "fcntl64",	 { FILE_DUP, FILE_FCNTL, NONE, { 0, NO, NO }, 0 } },
	{ "rename",	 { FILE_RENAME, FILE_FAILED_TOO, TWO(0, CWD, 1, CWD), { NO, NO, NO }, 0 } },
	{ "renameat",	 { FILE_RENAME, FILE_FAILED_TOO, TWO(1, 0, 3, 2), { NO, NO, NO }, 0 } },
	{ "renameat2",	 { FILE_RENAME, FILE_FAILED_TOO, TWO(1, 0, 3, 2), { 4, NO, NO }, 1 } },
	{ "link",	 { FILE_LINK, FILE_FAILED_TOO, TWO(0, CWD, 1, CWD), { NO, NO, NO }, 0 } },
	{ "linkat",	 { FILE_LINK, FILE_FAILED_TOO, TWO(1, 0, 3, 2), { 4, NO, NO }, 1 } },
	{ "symlink",	 { FILE_SYMLINK, 0, TWO(0, NO, 1, CWD), { NO, NO, NO }, 0 } },
	{ "symlinkat",	 { FILE_SYMLINK, 0, TWO(0, NO, 2, 1), { NO, NO, NO }, 0 } },
	{ "mount",	 { FILE_MOUNT, FILE_FAILED_TOO, 0, CWD, 1, CWD, 2, { 3, NO, NO }, 0 } },
	{ "umount2",	 { FILE_UMOUNT, FILE_FAILED_TOO, NO, NO, 0, CWD, NO, { 1, NO, NO }, 0 } },
	{ "umount",	 { FILE_UMOUNT, FILE_FAILED_TOO, NO, NO, 0, CWD, NO, { NO, NO, NO }, 0 } },
	{ "clone",	 { FILE_CLONE, FILE_FAILED_TOO, NONE, { NO, NO, NO }, 0 } },
	{ "io_uring_setup", { FILE_RING, 0, NONE, { NO, NO, NO }, 0 } },
	{ "clone3",	 { FILE_CLONE, FILE_FAILED_TOO | FILE_STRUCT, NONE, { NO, NO, NO }, 0 } },
};

static struct links links, clone_links;

static void fill_plans(struct file_plan plan[SYS_MAX], bool compat, bool mounts)
{
	for (uint32_t nr = 0; nr < SYS_MAX; nr++) {
		const char *name = syscall_def(nr, compat)->name;

		for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
			bool is_mount = calls[i].plan.op == FILE_MOUNT || calls[i].plan.op == FILE_UMOUNT;

			if (!strcmp(calls[i].name, name) && (mounts || !is_mount))
				plan[nr] = calls[i].plan;
		}
	}
}

static int file_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	const struct sink_options *o = &cfg->sink_options;

	bpf_map__set_autocreate(bpf->maps.file_scratches, cfg->files);
	bpf_map__set_autocreate(bpf->maps.exec_interps, cfg->files && point_by_events());
	if (!cfg->files)
		return 0;
	fill_plans((struct file_plan *)bpf->rodata->file_plans, false, o->mounts);
	fill_plans((struct file_plan *)bpf->rodata->file_plans + SYS_MAX, true, o->mounts);
	bpf->rodata->file_env = o->env_vars;
	bpf->rodata->file_fds = o->implicit_closes;
	point_load(bpf, bpf->progs.file_exit, true);
	point_load(bpf, bpf->progs.file_clone, true);
	point_load(bpf, bpf->progs.file_exec, true);
	bpf_program__set_autoload(bpf->progs.file_interp, point_by_events());
	return 0;
}

static int file_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err;

	if (!cfg->files)
		return 0;
	err = point_attach(&links, bpf, bpf->progs.file_interp);
	err = err ?: point_attach(&links, bpf, bpf->progs.file_exec);
	return err ?: point_attach(&links, bpf, bpf->progs.file_exit);
}

static void file_detach(void)
{
	links_release(&links);
}

const struct source_ops source_file = {
	.name	= "file",
	.plan	= file_plan,
	.attach	= file_attach,
	.detach	= file_detach,
};

/* Its flags are told before the child is, so it stands before source_task. */
static int clone_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	return cfg->files ? point_attach(&clone_links, bpf, bpf->progs.file_clone) : 0;
}

static void clone_detach(void)
{
	links_release(&clone_links);
}

const struct source_ops source_clone = {
	.name	= "clone",
	.attach	= clone_attach,
	.detach	= clone_detach,
};
