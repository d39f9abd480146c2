/*
 * debugfile.h - where the symbols and the debug information of a stripped file may lie: gdb's places.
 */
#ifndef DEBUGFILE_H
#define DEBUGFILE_H

#include "image.h"

#define DEBUGFILE_PLACES	4
#define DEBUGFILE_COMMON_PLACES	2

/* The @n-th place for what is known as @path; NULL: the file does not tell it, or no memory. */
char *debugfile_place(const struct image *img, const char *path, unsigned n);

/* As many for the file of @img's common_link; @beside: the path of the file that tells of it. */
char *debugfile_common_place(const struct image *img, const char *beside, unsigned n);

/*
 * Open it, or another file, as the process sees it whose folder in /proc is @proc: that may have planted anything
 * there, so nothing but a regular file is opened, and whether it is the right one is the image child's to see.
 */
int   debugfile_open(int proc, const char *place);

/*
 * Have the image child read @files, and once more with the file of common_link where that lies there: else the image has
 * common_link, and lacks what is in it. @beside: the path of the one that has the DWARF.
 */
int   debugfile_read_whole(struct image_child *child, struct image **ret, const struct image_files *files, const char *beside,
			   int proc, enum image_depth depth);

/*
 * Have the image child read @fd, the file of @img that is known as @path, with the first debug file of it that has
 * what @depth asks for. -ENOENT: there is none; else why one that is there could not be read.
 */
int   debugfile_read(struct image_child *child, struct image **ret, const struct image *img, const char *path, int proc,
		     int fd, enum image_depth depth);

#endif
