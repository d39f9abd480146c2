/*
 * debuginfo.h - what --auto-args and --srcline want to know of an image, put into it.
 */
#ifndef DEBUGINFO_H
#define DEBUGINFO_H

struct config;
struct image;
struct image_child;

/* @fd: the file with the debug information of @img, lent. What cannot be read is said, and left out. */
void debuginfo_read(struct image_child *child, const struct config *cfg, struct image *img, int fd);

#endif
