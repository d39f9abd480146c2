/*
 * point.h - programs at the kernel's tracepoints, in the shape that misses nothing here.
 *
 * A program of bpf/point.bpf.h has two: NAME for a typed tracepoint, NAME_perf for a perf event. What is said of NAME is
 * done with the one that suits this kernel.
 */
#ifndef POINT_H
#define POINT_H

#include <stdbool.h>
#include <stdint.h>

struct bpf_link;
struct bpf_program;
struct links;
struct recorder_bpf;

/* Once, before the object is opened. */
int  point_prepare(void);
/* Are they those of perf events? */
bool point_by_events(void);
/* Before the load: is @prog wanted? */
void point_load(struct recorder_bpf *bpf, struct bpf_program *prog, bool is_wanted);
struct bpf_link *point_link(struct recorder_bpf *bpf, struct bpf_program *prog);	/* NULL: errno tells why */
/* Attach it, if it was wanted, and keep the link. Says why it failed. */
int  point_attach(struct links *l, struct recorder_bpf *bpf, struct bpf_program *prog);
/* To the perf event of the tracepoint that tracefs calls @id. NULL: errno tells why. */
struct bpf_link *point_link_event(struct bpf_program *prog, unsigned id, uint64_t cookie);

#endif
