/*
 * target.h - who is recorded although recorder did not start it: processes and threads that run already.
 *
 * Belongs to the control thread. Order: target_create() before anything is loaded, so
 * that a wrong number is said at once; target_plan() before the load; target_begin()
 * when all else is attached and the threads that write run. Targets are held by pidfd:
 * a number that is given away again is never taken for them.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>

struct config;
struct images;
struct recorder_bpf;
struct target;

/* Those that @cfg names; its --tree ones with all their descendants. -ESRCH or another errno, having said why. */
int  target_create(struct target **ret, const struct config *cfg);
void target_destroy(struct target *t);

void target_plan(const struct target *t, struct recorder_bpf *bpf);

/* Analyse and probe the programs they run; without BPF programs only choose (--dry-run). */
int  target_probe(struct target *t, struct images *im);

/* Probe their programs, tell the writer of them, and record them from now on. @bpf and @im are kept. */
int  target_begin(struct target *t, struct recorder_bpf *bpf, struct images *im);

/* Readable when one has ended, or has come into a cgroup; lent. */
int  target_fd(const struct target *t);
/* Forget those that have ended, record those that have come. @done: none is left, and none will come. */
int  target_serve(struct target *t, bool *done);
/* Are there cgroups, into which somebody may come? */
bool target_awaits(const struct target *t);

size_t	    target_count(const struct target *t);
const char *target_exe(const struct target *t);	/* path of the program of the first, as /proc tells it; lent */

#endif
