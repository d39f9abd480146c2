/*
 * child.h - the inside of the image child: for child.c, sandbox.c and tests.
 */
#ifndef IMAGE_CHILD_H
#define IMAGE_CHILD_H

#include "image.h"

/* As image_read_with(). Tests give one that crashes, hangs or tries what the sandbox forbids. */
typedef int (*image_reader)(struct image **ret, const struct image_files *files, enum image_depth depth);

int image_child_start_with(struct image_child **ret, image_reader read, unsigned timeout_ms);

/* Give up all that a reader of foreign files has no need of; nothing of it can be had back. */
int sandbox_leave_privileges(void);	/* user, groups, capabilities to gain, resources */
int sandbox_filter_syscalls(void);	/* any other than the few needed kills the process */

#endif
