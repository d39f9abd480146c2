/*
 * rings.h - the BPF ring buffers that the programs write into, one per CPU; one recording's at a time.
 */
#ifndef RINGS_H
#define RINGS_H

#include <stddef.h>

struct recorder_bpf;

/* After the load: each of @bytes, put into the array the programs look in. They are given back after a failure, too. */
int  rings_make(const struct recorder_bpf *bpf, unsigned cpus, size_t bytes);
void rings_release(void);

/* One descriptor per CPU, lent until they are released; NULL: there are none. */
const int *rings_fds(void);

#endif
