/*
 * regular.h - files that are named by others, opened only once it is known that they are files.
 */
#ifndef REGULAR_H
#define REGULAR_H

/*
 * What @at (O_PATH) is, opened for reading: to open a FIFO would wait or let another go on, and a device may do anything.
 * -EINVAL: it is not a regular file; or another negative errno.
 */
int regular_open(int at);

#endif
