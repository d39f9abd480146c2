/*
 * walked.h - paths as BPF walks them: names leaf first, each ended by a NUL.
 */
#ifndef WALKED_H
#define WALKED_H

#include <stddef.h>

/* "/a/b/c" and @behind from "c\0b\0a\0", "/" from nothing; to be freed. NULL: no memory. */
char *walked_path(const char *names, size_t len, const char *behind);

#endif
