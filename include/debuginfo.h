/*
 * debuginfo.h - what --auto-args, --srcline and --loc-filter want to know of an image, put into it.
 */
#ifndef DEBUGINFO_H
#define DEBUGINFO_H

struct config;
struct image;
struct image_child;

/*
 * From the file of @img, open at @fd, or its debug file as the process sees it whose folder in /proc is @proc; both lent.
 * What cannot be read is said, and left out.
 */
void debuginfo_read(struct image_child *child, const struct config *cfg, struct image *img, int proc, int fd);

#endif
