/*
 * bpflink.h - BPF links that libbpf 1.1 cannot make, and programs that are run by hand.
 */
#ifndef BPFLINK_H
#define BPFLINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Values of <linux/bpf.h> that Debian 12's does not have. Macros of their own,
 * since a newer header has the names as enum members. The commits that made them:
 * 89ae89f53d20 ("bpf: Add multi uprobe link"), 6.6, and d920179b3d48 ("bpf: Add
 * support for uprobe multi session attach"), 6.13.
 */
#define BPFLINK_UPROBE_MULTI	48	/* BPF_TRACE_UPROBE_MULTI */
#define BPFLINK_UPROBE_SESSION	57	/* BPF_TRACE_UPROBE_SESSION */
#define BPFLINK_RETURN		1u	/* flag, BPF_F_UPROBE_MULTI_RETURN: at the returns, not the entries */

/*
 * One link for many sites of one file. They are probed in every process that
 * maps the file now or later; closing the fd removes them all.
 *
 * @prog_fd	program of type kprobe, loaded with expected_attach_type @attach_type
 * @attach_type	BPFLINK_UPROBE_MULTI or BPFLINK_UPROBE_SESSION
 * @path	of the file; /proc/self/fd/N names one that is open
 * @offsets	into the file, @count of them
 * @cookies	what bpf_get_attach_cookie() says at each site; NULL: 0
 * @flags	0 or BPFLINK_RETURN; a session takes 0 only
 * @pid		only in this process; 0: in all
 *
 * Returns a close-on-exec fd, or a negative errno: -EINVAL also from a kernel
 * that has no such links, -EOPNOTSUPP or -EINVAL for an instruction it refuses
 * when the file is mapped already.
 */
int bpflink_uprobe_multi(int prog_fd, int attach_type, const char *path, const unsigned long *offsets,
			 const uint64_t *cookies, unsigned count, unsigned flags, pid_t pid);

/*
 * The same for USDT probes in all processes: @semaphores are file offsets of 16-bit counters, 0: none, which are one
 * higher in each process that has the file mapped, as long as the link is there.
 */
int bpflink_usdt_multi(int prog_fd, const char *path, const unsigned long *offsets, const unsigned long *semaphores,
		       const uint64_t *cookies, unsigned count);

/* Run the iterator @prog_fd once; @pid: over the tasks of that process, 0: over all. Returns 0 or a negative errno. */
int bpflink_iterate(int prog_fd, pid_t pid);

/* Run the program @prog_fd of type syscall once, with @ctx, @size bytes. What it returns, or a negative errno. */
int bpflink_run(int prog_fd, void *ctx, size_t size);

#endif
