/*
 * gpu.c - what CUPTI said of a launch on the device: gpu_kernel of its bin, of launches.bin, and a line.
 *
 * It comes when the lines of the launch have long been written, so it has one of its own. In launches.bin
 * the second map stands behind the rows of the first: until those are all there its rows
 * are kept in a file without a name.
 */
#include <fcntl.h>

#include "base.h"
#include "out.h"
#include "sink/neutrino/neutrino.h"

int nt_gpu_create(struct nt_process *p)
{
	static const char temp[] = ".gpu_kernel.new";

	p->gpufd = openat(p->resultfd, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (p->gpufd < 0)
		return -errno;
	return unlinkat(p->resultfd, temp, 0) ? -errno : 0;
}

bool nt_gpu_read(const struct nt_process *p, uint32_t row, struct nt_gpu_row *ret)
{
	return pread(p->gpufd, ret, sizeof(*ret), (uint64_t)row * sizeof(*ret)) == sizeof(*ret) && ret->correlation;
}

static int launch_ran(struct nt_process *p, uint32_t row, const struct cuda_time *t)
{
	const struct nt_bin *bin = nt_bin_of(p, row);
	const struct nt_gpu_row gpu = {
		.start = t->start, .end = t->end, .queued = t->queued, .graph_node = t->graph_node,
		.device = t->device, .stream = t->stream, .correlation = t->correlation, .regs = t->regs,
	};

	if (pwrite(p->gpufd, &gpu, sizeof(gpu), (uint64_t)row * sizeof(gpu)) != sizeof(gpu))
		return errno ? -errno : -ENOSPC;
	return bin && bin->ino ? nt_patch_bin(p, bin, bin->gpu_at, &gpu, sizeof(gpu)) : 0;
}

static const char *const name_of[CUDA_TIME_KINDS] = {
	[CUDA_TIME_KERNEL] = "kernel", [CUDA_TIME_COPY] = "copy", [CUDA_TIME_SET] = "set",
};

int nt_gpu_time(struct nt_process *p, const struct cuda_device_time *d)
{
	const struct cuda_time *t = d->time;
	char call[64] = "unseen", bytes[40] = "";
	int err = 0;

	if (!p->has_gpu)
		return 0;
	if (d->seq != CUDA_NO_SEQ)
		snprintf(call, sizeof(call), "seq %lu", d->seq);
	else if (d->entry)
		snprintf(call, sizeof(call), "call %lu of %u", d->entry, d->tid);
	if (t->kind != CUDA_TIME_KERNEL)
		snprintf(bytes, sizeof(bytes), " bytesize %llu", t->bytes);
	out_printf(p->log, "[recorder] gpu %s %s start %llu end %llu device %u stream %u%s\n", name_of[t->kind], call,
		   t->start, t->end, t->device, t->stream, bytes);
	if (d->seq < p->launches.rows)
		err = launch_ran(p, d->seq, t);
	return err ?: out_error(p->log);
}
