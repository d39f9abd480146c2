/*
 * launch.c - a launch: its row from entry on, its bin and its lines when it has returned.
 *
 * Lines of one launch go out at once, so no other's stand between them: readers tell
 * by their order which bin is whose. What was captured into a graph did not run: it has a row that
 * says so, and no bin.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

#include "about.h"
#include "base.h"
#include "log.h"
#include "out.h"
#include "sink/neutrino/neutrino.h"

#define NO_KERNEL	0xffffffffu

/* When the disk gets full, the tables and the log have what all bins but the last ones say. */
#define BINS_AHEAD	64

static bool has_run(const struct cuda_launch *l)
{
	return !(l->flags & CUDA_LAUNCH_CAPTURED);
}

static struct nt_launch_row row_of(const struct cuda_call *call, const struct cuda_launch *l)
{
	return (struct nt_launch_row){
		.entry = call->entry, .ret = call->ret, .func = l->func, .stream = l->stream, .seq = l->seq,
		.tid = call->tid, .result = call->result, .flags = l->flags,
		.kernel = l->kernel ? l->kernel->index : NO_KERNEL,
	};
}

/* ---- bins ---- */

static void name_bin(char to[40], uint64_t us)
{
	snprintf(to, 40, "%lu.%06lu.bin", us / 1000000, us % 1000000);
}

static int write_at(int fd, const void *bytes, size_t len, uint64_t at)
{
	ssize_t n = pwrite(fd, bytes, len, at);

	if (n != (ssize_t)len)
		return n < 0 ? -errno : -ENOSPC;
	out_count(n);
	return 0;
}

/* The device's row is written when it is known before the launch has returned; else it comes later. */
static int write_whole(struct nt_process *p, int fd, const struct nt_header *h, const struct nt_launch_row *row,
		       const struct nt_bin *bin, uint64_t size)
{
	struct nt_gpu_row gpu;
	int err = write_at(fd, h, NT_HEADER(h->maps), 0);

	err = err ?: write_at(fd, row, sizeof(*row), h->section[0].offset);
	if (p->has_gpu && nt_gpu_read(p, bin->row, &gpu))
		err = err ?: write_at(fd, &gpu, sizeof(gpu), bin->gpu_at);
	return err ?: ftruncate(fd, size) ? -errno : 0;
}

/* It gets its name when it is whole. */
static int write_bin(struct nt_process *p, const struct cuda_call *call, const struct cuda_launch *l,
		     const struct nt_shape *shape, struct nt_bin *bin)
{
	static const char temp[] = ".bin.new";
	__cleanup(close_fd) int fd = -1;
	const unsigned maps = 1 + p->has_gpu;
	const struct nt_header h = {
		.grid = { l->grid[0], l->grid[1], l->grid[2] }, .block = { l->block[0], l->block[1], l->block[2] },
		.shared = l->shared, .maps = maps,
		.section = { { NT_ROW, shape->warp_div, NT_HEADER(maps) },
			     { NT_GPU_ROW, shape->warp_div, NT_HEADER(maps) + shape->host_bytes } },
	};
	const struct nt_launch_row row = row_of(call, l);
	struct stat st;
	char name[40];
	int err;

	fd = out_open_new(p->resultfd, temp);
	bin->gpu_at = h.section[1].offset;
	err = fd < 0 ? fd : write_whole(p, fd, &h, &row, bin, shape->size);
	if (!err && fstat(fd, &st))
		err = -errno;
	name_bin(name, bin->us);
	if (!err && renameat(p->resultfd, temp, p->resultfd, name))
		err = -errno;
	if (err)
		unlinkat(p->resultfd, temp, 0);
	else
		bin->ino = st.st_ino;
	return err;
}

struct nt_bin *nt_bin_of(const struct nt_process *p, uint32_t row)
{
	size_t low = 0, high = p->bins;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (p->bin[mid].row < row)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->bins && p->bin[low].row == row ? &p->bin[low] : NULL;
}

/*
 * Whoever owns the directory may have put another file there, or none: that is left alone. The number of a file that
 * is gone may be another's, so one that has a second name is not ours either.
 */
int nt_patch_bin(struct nt_process *p, const struct nt_bin *bin, uint64_t at, const void *bytes, size_t len)
{
	__cleanup(close_fd) int fd = -1;
	struct stat st;
	char name[40];

	name_bin(name, bin->us);
	fd = openat(p->resultfd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || st.st_dev != p->dev || st.st_ino != bin->ino || st.st_nlink != 1 ||
	    st.st_size < (off_t)(at + len))
		return 0;
	return pwrite(fd, bytes, len, at) < 0 ? -errno : 0;
}

int nt_complete(struct nt_process *p, uint32_t row, uint64_t time)
{
	const struct nt_bin *bin = nt_bin_of(p, row);

	nt_table_patch(&p->launches, row, offsetof(struct nt_launch_row, sync), time);
	if (!bin || !bin->ino)
		return 0;
	return nt_patch_bin(p, bin, NT_HEADER(1u + p->has_gpu) + offsetof(struct nt_launch_row, sync), &time, sizeof(time));
}

/* The name of the next bin: its time, but later than the last one's. */
static int give_bin(struct nt_process *p, const struct cuda_call *call, const struct cuda_launch *l,
		    const struct nt_open *o)
{
	uint64_t us = call->entry > p->first ? (call->entry - p->first) / 1000 : 0;

	us = MAX(us, p->next_us);
	if (p->bins >= NT_BINS_MAX) {
		if (!p->bins_were_capped) {
			warn("format 'neutrino': process %u has %u result bins: later launches are in launches.bin only",
			     p->pid, NT_BINS_MAX);
			out_printf(p->log, "[recorder] bins-capped at seq %lu\n", l->seq);
		}
		p->bins_were_capped = true;
		return 0;
	}
	if (grow(&p->bin, &p->bin_room, p->bins, sizeof(*p->bin)))
		return -ENOMEM;
	p->bin[p->bins++] = (struct nt_bin){ .row = o->row + (l - call->launch), .us = us };
	p->next_us = us + 1;
	return 0;
}

/* ---- a call ---- */

int nt_launch_entry(struct nt_process *p, const struct cuda_call *call, struct nt_open *o)
{
	int err = 0;

	o->row = p->launches.rows;
	for (const struct cuda_launch *l = call->launch; l < call->launch + call->launches && !err; l++) {
		struct nt_launch_row row = row_of(call, l);

		nt_table_add(&p->launches, &row);
		err = nt_note_kernel(p, l->kernel);
		if (!err && has_run(l))
			err = give_bin(p, call, l, o);
	}
	return err ?: out_error(p->launches.out);
}

static void tell_captured(struct nt_process *p, const struct cuda_launch *l)
{
	__cleanup(free_ptr) char *name = nt_escaped(l->kernel ? l->kernel->name : "?", true);

	out_printf(p->log, "[recorder] captured %s grid %u %u %u block %u %u %u shared %u stream %lx: it did not run\n",
		   name ?: "?", l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
		   l->shared, l->stream);
}

static int length_of_end(char *to, size_t room, const struct cuda_call *call)
{
	if (call->result == CUDA_NO_RESULT)
		return snprintf(to, room, "[recorder] return-not-seen\n");
	return snprintf(to, room, "[exec] %s %u\n", call->result ? "failed" : "succeed", call->result);
}

#define MAP_LINE	"[exec] grid %lu warp  %u probe %u total %lu\n"

/* @bin NULL: it has none. */
static void tell(struct nt_process *p, const struct cuda_call *call, const struct cuda_launch *l,
		 const struct nt_shape *shape, const struct nt_bin *bin)
{
	uint64_t bytes = shape->host_bytes + shape->gpu_bytes;
	char text[1024], name[40], *end = text;

	end += sprintf(end, "[exec] funcmap-find 0x%lx fail\n[exec] %lu param \n"
		       "[exec] grid %u %u %u block %u %u %u shared %u\n",
		       l->func, call->entry + p->about->utc_offset, l->grid[0], l->grid[1], l->grid[2],
		       l->block[0], l->block[1], l->block[2], l->shared);
	if (bin)
		end += sprintf(end, MAP_LINE, shape->blocks, shape->units, NT_ROW, shape->host_bytes);
	if (bin && p->has_gpu)
		end += sprintf(end, MAP_LINE, shape->blocks, shape->units, NT_GPU_ROW, shape->gpu_bytes);
	if (bin)
		end += sprintf(end, "[exec] probe-mem %lu (bytes)\n", bytes);
	end += length_of_end(end, text + sizeof(text) - end, call);
	if (bin) {
		name_bin(name, bin->us);
		end += sprintf(end, "[exec] save result/%s size %lu\n", name, shape->size);
	}
	out_bytes(p->log, text, end - text);
}

static int end_launch(struct nt_process *p, const struct cuda_call *call, const struct cuda_launch *l, uint32_t row)
{
	struct nt_bin *bin = nt_bin_of(p, row);
	struct nt_shape shape = {};
	int err = 0;

	if (!nt_shape(&shape, l, p->has_gpu))
		bin = NULL;
	if (bin)
		err = write_bin(p, call, l, &shape, bin);
	if (err)
		return err;
	tell(p, call, l, &shape, bin);
	if (bin && ++p->bins_written % BINS_AHEAD == 0)
		err = nt_process_checkpoint(p);
	return err;
}

int nt_launch_exit(struct nt_process *p, const struct cuda_call *call, const struct nt_open *o)
{
	uint32_t row = o->row;
	int err = 0;

	for (const struct cuda_launch *l = call->launch; l < call->launch + call->launches && !err; l++, row++) {
		nt_table_patch(&p->launches, row, offsetof(struct nt_launch_row, ret), call->ret);
		nt_table_patch(&p->launches, row, offsetof(struct nt_launch_row, tid),
			       call->tid | (uint64_t)call->result << 32);
		if (!has_run(l)) {
			tell_captured(p, l);
			continue;
		}
		err = end_launch(p, call, l, row);
		if (!err && !call->result)
			err = nt_waits_launched(&p->waits, l, call->tid, row);
	}
	return err ?: out_error(p->log) ?: out_error(p->launches.out);
}
