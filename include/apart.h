/*
 * apart.h - recorder keeps away from the probes it sets in libraries.
 *
 * A probe stands in a file, in whoever maps it: recorder's own threads would pay a
 * trap at every call of the C library. So before libraries are probed it starts anew,
 * with the same pid, on copies of its libraries that only it has (memfd_create(2),
 * LD_PRELOAD). Its command sees nothing of that. That takes a start 17 ms of CPU, so nobody pays it who probes no library,
 * though his recorder pays for the probes that another sets there.
 */
#ifndef APART_H
#define APART_H

/* First in main(): when started anew, puts the environment back as it was, and closes what was inherited. */
void apart_arrive(void);

/* Starts anew with @argv, unless that was done. Comes back where it cannot be done: recording then costs more. */
void apart_go(char **argv);

#endif
