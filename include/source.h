/*
 * source.h - a kind of probe: what it captures, how it attaches.
 *
 * Sources are called from the control thread. They know the BPF object and the
 * kernel's ways, and nothing of formats.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct config;
struct image;
struct probed;
struct recorder_bpf;

#define OWNERS_MAX	8	/* processes that have probes of their own */

struct source_ops {
	const char *name;

	/* Before the load: switch programs on, fill rodata. Returns 0 or a negative errno, having said why; as do the others. */
	int  (*plan)(struct recorder_bpf *bpf, const struct config *cfg);
	int  (*attach)(struct recorder_bpf *bpf, const struct config *cfg);
	/* The first task is about to be recorded. */
	void (*begin)(struct recorder_bpf *bpf);
	/* A new executable file appeared: attach there. @fd is the file, lent; @bpf NULL: only choose (--dry-run). */
	int  (*image)(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd);
	/*
	 * A file with code that a recorded process has mapped or is about to: @img holds its facts, or more. Returns
	 * > 0 when returns must not be probed in a process that has it.
	 */
	int  (*mapped)(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd);
	/* All that was to be attached there is: who maps it from now on need not wait. @may: ... have its returns probed. */
	void (*known)(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, bool may);
	/* @file, if it is probed for some processes alone (image.owner), is mapped by another one too: @pid. */
	int  (*owner)(struct recorder_bpf *bpf, const struct config *cfg, const struct probed *file, pid_t pid);
	/* All that is probed for some processes alone is to be probed for everybody, from now on. */
	int  (*share)(struct recorder_bpf *bpf, const struct config *cfg);
	/* @file was written to: let go of what is attached there, and remember nothing of it. */
	void (*forget)(const struct probed *file);
	/* Files were forgotten: attach again where attach() did by itself. */
	int  (*again)(struct recorder_bpf *bpf, const struct config *cfg);
	/* Recording has stopped, tasks go on: send what was held back, before the rings are read the last time. */
	void (*stop)(struct recorder_bpf *bpf);
	void (*detach)(void);
	void (*summary)(void);		/* says its lines of the summary */
};

extern const struct source_ops *const sources[];	/* src/source/sources.c; ends in NULL */

#endif
