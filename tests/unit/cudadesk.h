/*
 * cudadesk.h - a recording of CUDA calls made up for a test of the NEUTRINO sink, and its files looked at.
 */
#ifndef CUDADESK_H
#define CUDADESK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "about.h"
#include "cuda.h"
#include "sink.h"

extern const struct sink_ops sink_neutrino;
extern const struct cuda_function launch_kernel, wait_context, copy_down, copy_down_async;
extern struct cuda_kernel vadd;

#define NO_SUCH_PID	4194305u	/* above what a kernel gives */
#define START		1000000000ull
#define REALTIME	1700000000000000000ll	/* of START: Nov 14 22:13:20 UTC 2023 */
#define FOLDER		"Nov14_221320_4194305"

/* A recording being made up: the part of the tracker. */
struct desk {
	char		    dir[64];
	int		    dirfd;
	struct sink	   *sink;
	struct about	    about;
	struct cuda_process process;
	uint64_t	    now;
	char		   *text;	/* what was read last */
	size_t		    len;
};

/* neutrino.md section 8: host_launch. */
enum {
	ENTRY = 0, RETURN = 8, SYNC = 16, FUNC = 24, STREAM = 32, SEQ = 40,
	TID = 48, RESULT = 52, FLAGS = 56, KERNEL = 60
};

#define CALL(...)	((struct cuda_call){ __VA_ARGS__ })

void desk_set(struct desk *d);		/* with the sink open, in a directory of its own */
void desk_close(struct desk *d);	/* the sink */
void desk_clear(struct desk *d);

int  call_told(struct desk *d, struct cuda_call *c, uint16_t kind);
void call_begins(struct desk *d, struct cuda_call *c);
void call_ends(struct desk *d, struct cuda_call *c, uint64_t after, uint32_t result);	/* @after ns */
void call_made(struct desk *d, struct cuda_call *c);		/* begun, and returned 100 ns later with success */
uint64_t did(struct desk *d, struct cuda_call c);		/* the same of one without a launch; returns when it did */

struct cuda_launch launch_of(struct cuda_kernel *k, uint32_t blocks, uint32_t threads, uint64_t stream);
void launched(struct desk *d, uint64_t stream);			/* vadd, 4 blocks of 64 */

/* A file in a process's folder, NUL after it; its length in d->len. */
const char *read_in(struct desk *d, const char *folder, const char *name);
const char *read_file(struct desk *d, const char *name);	/* in FOLDER */
uint32_t rows_of(struct desk *d, const char *table);
uint64_t sync_of(struct desk *d, unsigned row);			/* host_launch.sync_ns */

static inline uint64_t word(const char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline uint32_t half(const char *at)
{
	return word(at);
}

#endif
