/*
 * ringrest.h - what is left in a BPF ring buffer at the end: the records behind one that is still being written.
 *
 * libbpf takes the records in their order, up to the first that is not whole.
 */
#ifndef RINGREST_H
#define RINGREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mapped as the kernel shows it to readers, Documentation/bpf/ringbuf.rst. */
struct ringrest {
	const uint64_t *taken;		/* bytes that were taken, ever */
	const uint64_t *begun;		/* bytes that records have been begun in, ever */
	const char     *data;		/* twice in a row, so that no record ends at an end */
	size_t		bytes;		/* of data, once: a power of two */
};

/* One record, @len bytes. @is_whole: it is written; else @data is what there is of it yet. */
typedef int ringrest_fn(void *ctx, const void *data, size_t len, bool is_whole);

/* @fd: the map, @bytes large. Closed after a failure, too. */
int  ringrest_open(struct ringrest *r, int fd, size_t bytes);
void ringrest_close(struct ringrest *r);

bool ringrest_is_empty(const struct ringrest *r);

/* All that are left, in their order; they stay where they are. A negative answer of @fn ends it, and is returned. */
int  ringrest_each(const struct ringrest *r, ringrest_fn *fn, void *ctx);

#endif
