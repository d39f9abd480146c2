/*
 * bpflink.c - BPF links by bpf(2) itself, where libbpf lacks them.
 */
#include <linux/bpf.h>
#include <sys/syscall.h>

#include "base.h"
#include "bpflink.h"

/* The part of union bpf_attr that BPF_LINK_CREATE reads for a uprobe multi link: uapi/linux/bpf.h of 6.6. */
struct uprobe_multi_attr {
	uint32_t prog_fd, target_fd;
	uint32_t attach_type, link_flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;	/* pointers */
	uint32_t count, flags, pid;
	uint32_t pad;
};

_Static_assert(sizeof(struct uprobe_multi_attr) == 64, "a kernel interface");

int bpflink_uprobe_multi(int prog_fd, int attach_type, const char *path, const unsigned long *offsets,
			 const uint64_t *cookies, unsigned count, unsigned flags, pid_t pid)
{
	struct uprobe_multi_attr attr = {
		.prog_fd	= prog_fd,
		.attach_type	= attach_type,
		.path		= (uintptr_t)path,
		.offsets	= (uintptr_t)offsets,
		.cookies	= (uintptr_t)cookies,
		.count		= count,
		.flags		= flags,
		.pid		= pid,
	};
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}
