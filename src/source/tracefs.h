/*
 * tracefs.h - many uprobes behind one event of tracefs: for kernels without multi links (before 6.6).
 *
 * Single perf uprobes take a tenth of a second each to let go; one event with
 * many probes takes as long as one of them. What is lost: the probes carry no
 * cookie, so a program tells them apart by its instruction pointer.
 */
#ifndef TRACEFS_H
#define TRACEFS_H

#include <stdbool.h>

/*
 * Run the program @prog_fd (of type kprobe) at @count places of the file @path,
 * at the returns of the functions that begin there if @at_return. @path has no
 * spaces: /proc/self/fd/N. Returns the fd whose closing ends it, or a negative errno.
 */
int  tracefs_attach(int prog_fd, bool at_return, const char *path, const unsigned long *offset, unsigned count);
void tracefs_release(void);	/* the events of all that was closed; also what a killed recorder left behind */

#endif
