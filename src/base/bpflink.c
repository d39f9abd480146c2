/*
 * bpflink.c - BPF links by bpf(2) itself, where libbpf lacks them.
 */
#include <bpf/bpf.h>
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

static int create_link(const struct uprobe_multi_attr *attr)
{
	int fd = syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

int bpflink_uprobe_multi(int prog_fd, int attach_type, const char *path, const unsigned long *offsets,
			 const uint64_t *cookies, unsigned count, unsigned flags, pid_t pid)
{
	return create_link(&(struct uprobe_multi_attr){
		.prog_fd	= prog_fd,
		.attach_type	= attach_type,
		.path		= (uintptr_t)path,
		.offsets	= (uintptr_t)offsets,
		.cookies	= (uintptr_t)cookies,
		.count		= count,
		.flags		= flags,
		.pid		= pid,
	});
}

int bpflink_usdt_multi(int prog_fd, const char *path, const unsigned long *offsets, const unsigned long *semaphores,
		       const uint64_t *cookies, unsigned count)
{
	return create_link(&(struct uprobe_multi_attr){
		.prog_fd	 = prog_fd,
		.attach_type	 = BPFLINK_UPROBE_MULTI,
		.path		 = (uintptr_t)path,
		.offsets	 = (uintptr_t)offsets,
		.ref_ctr_offsets = (uintptr_t)semaphores,
		.cookies	 = (uintptr_t)cookies,
		.count		 = count,
	});
}

int bpflink_iterate(int prog_fd, pid_t pid)
{
	union bpf_iter_link_info which = { .task.pid = pid };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &which, .iter_info_len = sizeof(which));
	__cleanup(close_fd) int link = bpf_link_create(prog_fd, 0, BPF_TRACE_ITER, pid ? &opts : NULL);
	__cleanup(close_fd) int iter = link < 0 ? -1 : bpf_iter_create(link);
	char none[64];
	ssize_t n;

	if (iter < 0)
		return -errno;
	do
		n = read(iter, none, sizeof(none));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	return n < 0 ? -errno : 0;
}

int bpflink_run(int prog_fd, void *ctx, size_t size)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = size ? ctx : NULL, .ctx_size_in = size);

	return bpf_prog_test_run_opts(prog_fd, &opts) ? -errno : (int)opts.retval;
}
