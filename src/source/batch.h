/*
 * batch.h - sites of one file that get the same program, in as few links as the kernel allows.
 */
#ifndef BATCH_H
#define BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_program;
struct links;

struct batch {
	unsigned long *offset;		/* into the file */
	unsigned long *semaphore;	/* of a USDT probe: file offset of its counter; 0: none */
	uint64_t      *cookie;
	unsigned       count;
	pid_t	       pid;		/* of the one process that meets the probes, where multi links can; 0: all do */
	bool	       has_semaphores;
};

int  batch_create(struct batch *b, size_t room);
void batch_release(struct batch *b);
void batch_add(struct batch *b, unsigned long offset, uint64_t cookie);
void batch_add_usdt(struct batch *b, unsigned long site, unsigned long semaphore, uint64_t cookie);

/*
 * One link of BPFLINK_* @type and @flags for the file at @path; sites that the kernel refuses are found by halving,
 * left out, and added to @refused. Returns 0 or a negative errno.
 */
int  batch_attach_multi(struct links *links, struct bpf_program *prog, int type, unsigned flags, const char *path,
			const struct batch *b, unsigned *refused);
/* Without multi links: a perf event per site. */
int  batch_attach_singly(struct links *links, struct bpf_program *prog, bool at_return, const char *path,
			 const struct batch *b, unsigned *refused);

#endif
