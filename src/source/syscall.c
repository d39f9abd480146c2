/*
 * syscall.c - system calls: one pair of programs, told by the syscall table what to take along.
 *
 * Not loaded with --no-syscalls: every probed return is a system call of the kernel's own, and would pay for the two. The
 * libraries a program maps are told by the gates then (src/source/gate.c); where these are probes, they are seen here if their
 * functions are to be recorded, else not at all. The program itself and its linker are told by the exec.
 */
#include <bpf/libbpf.h>

#include "base.h"
#include "config.h"
#include "gate.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/point.h"
#include "source/rows.h"
#include "syscall/syscall.h"

static struct links links;

static bool sees_only_maps(const struct config *cfg)
{
	return !cfg->syscalls && wants_libraries(cfg) && !gate_tells_maps(cfg);
}

static int syscall_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	point_load(bpf, bpf->progs.map_exit, sees_only_maps(cfg));
	if (!cfg->syscalls)
		return 0;
	bpf->rodata->string_max = cfg->string_bytes;
	memcpy((void *)bpf->rodata->compat_wanted, cfg->compat_wanted, sizeof(cfg->compat_wanted));
	bpf->rodata->other_syscalls_wanted = cfg->other_syscalls_wanted;
	syscall_plans((struct sys_plan *)bpf->rodata->plans, cfg->syscall_wanted);
	point_load(bpf, bpf->progs.sys_enter, true);
	point_load(bpf, bpf->progs.sys_exit, true);
	return 0;
}

static int syscall_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	if (sees_only_maps(cfg))
		return point_attach(&links, bpf, bpf->progs.map_exit);
	if (!cfg->syscalls)
		return 0;
	return point_attach(&links, bpf, bpf->progs.sys_enter) ?: point_attach(&links, bpf, bpf->progs.sys_exit);
}

static void syscall_detach(void)
{
	links_release(&links);
}

const struct source_ops source_syscall = {
	.name	= "syscall",
	.plan	= syscall_plan,
	.attach	= syscall_attach,
	.detach	= syscall_detach,
};
