/*
 * cgroup.h - cgroups of version 2, by path, and who is in them. The first line is shared with BPF.
 */
#ifndef CGROUP_H
#define CGROUP_H

#define CGROUPS_MAX	8	/* --cgroup may be said so often */

#ifndef __bpf__

#include <stdint.h>
#include <sys/types.h>

/*
 * The folder of a cgroup: @path as it is, or relative to where version 2 is mounted. Its
 * number, as the kernel has it, into @id. Returns an fd, or a negative errno, having said why.
 */
int cgroup_open(const char *path, uint64_t *id);

/*
 * Call @fn for each process in the cgroup at @dir and those below, as far as our PID
 * namespace has a number for it; until it returns other than 0, which is returned then.
 * A cgroup that goes meanwhile has none.
 */
int cgroup_each(int dir, int (*fn)(void *ctx, pid_t pid), void *ctx);

#endif
#endif
