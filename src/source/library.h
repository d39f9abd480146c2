/*
 * library.h - libraries of this machine itself, which its loader would take: where they are, and where a symbol is in one.
 *
 * They are trusted as this machine's are; a target's own files are for the image child.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <elf.h>
#include <stdint.h>

/* @fd is lent. What it returns ends the walk, unless 0. */
typedef int (*library_fn)(void *ctx, int fd, const char *path);

/* Call @fn for the file @name in every folder of the loader that has one: the same file may come by two paths. */
int library_each(const char *name, library_fn fn, void *ctx);

/* Call @fn for each function the library at @fd defines, with its file offset. -EBADMSG: not a library. */
typedef void (*library_symbol_fn)(void *ctx, const char *name, uint64_t offset, uint64_t size);
int library_symbols(int fd, library_symbol_fn fn, void *ctx);

/* Call @fn for each library that the one at @fd needs (DT_NEEDED). Returns 0. */
typedef void (*library_name_fn)(void *ctx, const char *name);
int library_needs(int fd, library_name_fn fn, void *ctx);

/* File offset of the function @name. -ENOENT: it defines none. */
int library_symbol(int fd, const char *name, uint64_t *offset);

#endif
