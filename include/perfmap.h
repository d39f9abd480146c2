/*
 * perfmap.h - names of code that a program makes while it runs (node --perf-basic-prof), as it writes them for
 * perf: /tmp/perf-PID.map, of lines "START SIZE name", the first two in hex.
 *
 * The file belongs to the target, may hold anything, and grows. Of ranges that overlap the one that begins last counts,
 * of those that begin alike the one that was written last. Belongs to the writer thread.
 */
#ifndef PERFMAP_H
#define PERFMAP_H

#include <stdint.h>

struct func;
struct perfmaps;

int  perfmaps_create(struct perfmaps **ret);
void perfmaps_destroy(struct perfmaps *p);

/*
 * What process @pid, by its number in the initial namespace, calls the code at @ip; NULL: it has not told. Of the function
 * addr is where it lies in memory; it is lent until another process is asked about.
 */
const struct func *perfmaps_at(struct perfmaps *p, uint32_t pid, uint64_t ip);

#endif
