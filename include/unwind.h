/*
 * unwind.h - may returns be probed in a file whose stack frames an unwinder may walk over?
 */
#ifndef UNWIND_H
#define UNWIND_H

#include <stdbool.h>

struct image;

/* On this kernel, in any file: else no return is probed at all, since any program may call backtrace() or pthread_exit(). */
bool unwind_possible(void);

/* In this file: not if it brings an unwinder of its own that has no symbols to find it by. */
bool unwind_is_safe(const struct image *img);

/*
 * Readable when the process has ended that serves unwinders, and has those sleep who wait at the gate; -1: there is none.
 * Lent.
 */
int unwind_agent_fd(void);

#endif
