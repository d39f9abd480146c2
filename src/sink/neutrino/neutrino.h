/*
 * neutrino.h - the parts of the NEUTRINO sink: shared/formats/neutrino.md, section 8.
 *
 *	neutrino.c	the callbacks: which process, which call
 *	folder.c	the folder of a process and its name
 *	launch.c	launches: rows of launches.bin, a bin each, their lines in event.log
 *	kernel.c	kernel/INDEX_SHA1 of each kernel
 *	image.c		module/SHA1.bin of each code image
 *	calls.c		all other calls: rows of mem.bin, lines in event.log
 *	waits.c		which launches a wait proves to be complete
 *	gpu.c		what CUPTI said of launches, copies and sets on the device
 *	table.c		the container: header, section, rows
 *	reader.c	probe.toml, read.py and their like, made from one table of fields
 */
#ifndef NEUTRINO_H
#define NEUTRINO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cuda.h"

struct about;
struct event;
struct nt_image;
struct out;

#define NT_BINS_MAX	10000u		/* result/SECONDS.bin of a process */
#define NT_KERNELS_MAX	10000u		/* kernel/INDEX_SHA1 of a process */
#define NT_ROW		64u		/* bytes of host_launch and of host_mem */
#define NT_GPU_ROW	48u		/* bytes of gpu_kernel */
#define NT_APPARENT_MAX	(64u << 20)	/* of a bin's section, most of it a hole; above that its units are hidden */

struct nt_section {
	uint32_t size, warp_div;	/* bytes of a unit, threads of a unit */
	uint64_t offset;
};

/* A container as it begins on disk, if it has two sections. Little-endian, as are the machines that we run on. */
struct nt_header {
	uint32_t grid[3], block[3], shared, maps;
	struct nt_section section[2];	/* host_launch or host_mem, gpu_kernel */
};

#define NT_HEADER(maps)	(offsetof(struct nt_header, section) + (maps) * sizeof(struct nt_section))	/* bytes */

struct nt_launch_row {
	uint64_t entry, ret, sync, func, stream, seq;
	uint32_t tid, result, flags, kernel;
};

struct nt_mem_row {
	uint64_t entry, ret, dst, src, bytes, stream;
	uint32_t kind, result, tid, flags;
};

struct nt_gpu_row {
	uint64_t start, end, queued, graph_node;
	uint32_t device, stream, correlation, regs;
};

_Static_assert(NT_HEADER(1) == 48 && NT_HEADER(2) == 64, "32 bytes, and 16 of each section");
_Static_assert(sizeof(struct nt_gpu_row) == NT_GPU_ROW, "no holes");
_Static_assert(sizeof(struct nt_launch_row) == NT_ROW && sizeof(struct nt_mem_row) == NT_ROW, "no holes");

/* ---- table.c ---- */

/* A file whose grid is a count of rows. */
struct nt_table {
	struct out *out;
	uint32_t    rows;
	uint32_t    head;		/* bytes before the first row */
	bool	    has_news;
};

/* @maps: how many it will have when it is sealed; until then it has one. */
int  nt_table_create(struct nt_table *t, int dirfd, const char *name, unsigned maps);
void nt_table_add(struct nt_table *t, const void *row);
void nt_table_patch(struct nt_table *t, uint32_t row, size_t at, uint64_t v);	/* 8 bytes, @at in the row */
int  nt_table_checkpoint(struct nt_table *t);
/* The second map behind the first: what @fd holds, @size bytes for each row. */
int  nt_table_add_map(struct nt_table *t, int fd, uint32_t size);
int  nt_table_seal(struct nt_table *t);

/* How the one record of a launch fits what is made for one per thread. */
struct nt_shape {
	uint64_t blocks;	/* UINT64_MAX: more than that */
	uint32_t warp_div, units;
	uint64_t host_bytes, gpu_bytes;	/* of each section; 0: there is none */
	uint64_t size;		/* of the file */
};

/* @has_gpu: with gpu_kernel. False: no bin can say it, nor any GPU run it. */
bool nt_shape(struct nt_shape *ret, const struct cuda_launch *l, bool has_gpu);

/* ---- waits.c ---- */

struct nt_stream;
struct nt_event;

/* Launches that have returned, in that order, and are not known to be complete. */
struct nt_waits {
	struct nt_stream *stream;
	size_t		  streams, stream_room;
	struct nt_event	  *event;	/* by handle; NULL: none was recorded */
	uint64_t	  order;	/* of the next launch that returns */
	size_t		  ranges;	/* of all streams */
	uint64_t	  context[2];	/* the first that were made, taken or set; the second: there are several */
	bool		  was_cut;	/* more than is remembered */
};

/* What a call would prove if it succeeds, judged when it begins. */
struct nt_claim {
	enum { NT_PROVES_NOTHING, NT_PROVES_STREAM, NT_PROVES_DEFAULT, NT_PROVES_CONTEXT } what;
	uint64_t stream;
	uint32_t tid;		/* of a thread's own stream; else 0 */
	uint64_t before;	/* only launches of an order below */
};

/* Is told each launch found complete, by its row. */
typedef int (*nt_complete_fn)(void *ctx, uint32_t row);

void nt_waits_release(struct nt_waits *w);	/* and is empty from then on */
void nt_waits_claim(const struct nt_waits *w, const struct cuda_call *call, struct nt_claim *ret);
int  nt_waits_launched(struct nt_waits *w, const struct cuda_launch *l, uint32_t tid, uint32_t row);
/* @call has returned with success. */
int  nt_waits_returned(struct nt_waits *w, const struct cuda_call *call, const struct nt_claim *claim,
		       nt_complete_fn fn, void *ctx);

/* ---- a process ---- */

/* A call whose exit is still to come. */
struct nt_open {
	const struct cuda_call *call;
	struct nt_claim claim;
	uint32_t row;		/* of its first launch */
};

/* To find again, and be sure of, a bin whose launch is found complete. */
struct nt_bin {
	uint32_t row;
	uint64_t us;		/* its name */
	ino_t	 ino;		/* 0: not written */
	uint64_t gpu_at;	/* where its gpu_kernel is */
};

struct nt_process {
	const struct about *about;
	uint32_t pid;			/* as the recording counts */
	uint32_t execs;
	int	 dirfd, resultfd;
	dev_t	 dev;
	struct out *log;
	struct nt_table launches, mem;
	uint64_t first;			/* time of its first call: 0 of the bins' names */
	uint64_t next_us;		/* the earliest that the next bin may be named */
	struct nt_bin  *bin;		/* by row */
	size_t		bins, bin_room;
	bool		bins_were_capped;
	uint32_t	bins_written;
	struct nt_open *open;
	size_t		opens, open_room;
	unsigned	slot;		/* of the sink, in what belongs to a process */
	struct nt_image *images;	/* all there ever were */
	uint8_t	       *kernel;		/* by index: 1: it has its folder */
	size_t		kernel_room;
	unsigned	kernels;
	struct nt_waits waits;
	bool	 has_gpu;		/* bins have gpu_kernel */
	int	 gpufd;			/* of it: a row for each launch, of a file without a name */
	struct nt_process *next;
};

/* ---- folder.c ---- */

/* Its folder in @dirfd and what is in it from the start; @time: of the call that is its first. */
int  nt_process_create(struct nt_process **ret, int dirfd, unsigned slot, const struct about *about,
		       const struct cuda_process *of, uint64_t time);
int  nt_process_checkpoint(struct nt_process *p);
int  nt_process_seal(struct nt_process *p);
void nt_process_destroy(struct nt_process *p);

/* A whole small file. */
int  nt_file(int dirfd, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* @text without what could end a line of event.log or be taken for a tag; with @is_word no spaces, too. free() it. */
char *nt_escaped(const char *text, bool is_word);

/* ---- launch.c ---- */

int nt_launch_entry(struct nt_process *p, const struct cuda_call *call, struct nt_open *o);
int nt_launch_exit(struct nt_process *p, const struct cuda_call *call, const struct nt_open *o);
int nt_complete(struct nt_process *p, uint32_t row, uint64_t time);	/* the launch of @row, as seen at @time */

struct nt_bin *nt_bin_of(const struct nt_process *p, uint32_t row);	/* NULL: it has none */
int nt_patch_bin(struct nt_process *p, const struct nt_bin *bin, uint64_t at, const void *bytes, size_t len);

/* ---- kernel.c ---- */

#define NT_SHA1_HEX	40
void nt_sha1(const void *bytes, size_t len, char to[NT_SHA1_HEX + 1]);
int  nt_note_kernel(struct nt_process *p, const struct cuda_kernel *k);	/* it is launched: its first launch makes its folder */

/* ---- image.c ---- */

/* What an image says of a kernel. */
struct nt_code {
	uint64_t name;		/* a hash of it */
	uint32_t params;
};

#define NT_IMAGE_SAID	256
int  nt_image_record(struct nt_process *p, const struct event *ev);	/* REC_CUDA_IMAGE, REC_CUDA_IMAGE_FILE */
void nt_image_tell(struct nt_process *p, const struct cuda_call *call);	/* in event.log, when the call that loads it has ended */
bool nt_image_kernel(const struct nt_process *p, const struct cuda_kernel *k, struct nt_code *ret);	/* false: nothing is known */
/* original.bin in the folder @dirfd of the kernel; @to: what there is to say of that. */
void nt_image_link(struct nt_process *p, const struct cuda_kernel *k, int dirfd, char to[NT_IMAGE_SAID]);
void nt_images_free(struct nt_process *p);

/* ---- gpu.c ---- */

int  nt_gpu_create(struct nt_process *p);
int  nt_gpu_time(struct nt_process *p, const struct cuda_device_time *d);
bool nt_gpu_read(const struct nt_process *p, uint32_t row, struct nt_gpu_row *ret);	/* false: nothing is known (yet) */

/* ---- calls.c ---- */

#define NT_RESULT_MAX	16
const char *nt_result(uint32_t result, char to[NT_RESULT_MAX]);		/* "unseen" without one */
const char *nt_api(const struct cuda_call *call, char to[CUDA_SYMBOL_MAX]);
int nt_call_exit(struct nt_process *p, const struct cuda_call *call);

/* ---- reader.c ---- */

int nt_write_readers(int dirfd, bool has_gpu);

#endif
