/*
 * libcalls.h - functions of libc, POSIX threads and the like: arguments and results, where no debug information tells.
 */
#ifndef LIBCALLS_H
#define LIBCALLS_H

#include <stddef.h>

struct image;

struct libcall {
	const char *name, *args, *result;	/* specs as struct debug has them */
};

extern const struct libcall libcalls[];		/* ascending by name */
extern const size_t libcall_count;

/* To @img->debug: calls of such functions, or the functions themselves in a C library. */
void libcalls_add(struct image *img);

#endif
