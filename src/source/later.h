/*
 * later.h - programs that are loaded when they are first needed, beside those that run already: into the same maps.
 */
#ifndef LATER_H
#define LATER_H

struct bpf_program;
struct recorder_bpf;

/*
 * The object once more, with the maps of @loaded, but for the constants in .rodata.later, and none of its programs; for the
 * caller to say which, then to load, and to destroy. NULL with errno.
 */
struct recorder_bpf *later_open(const struct recorder_bpf *loaded);

/* That program of it is to be loaded, for uprobes. */
void later_want(struct bpf_program *prog);

#endif
