/*
 * symbols.h - the functions of files that are mapped, probed or not: what return addresses are called.
 *
 * A file is read when it is first asked for, by an image child of its own (image.h). Belongs to the writer thread.
 */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdint.h>

struct func;
struct image;
struct map;
struct symbols;

int  symbols_create(struct symbols **ret);
void symbols_destroy(struct symbols *s);

/* Start the child, which is done on first use otherwise: before any BPF object or target is opened. */
int  symbols_start(struct symbols *s);

/* Names and places of the functions of the file at @m, in process @pid if that is still there; NULL: it cannot be had. */
const struct image *symbols_of(struct symbols *s, uint32_t pid, const struct map *m);

/* What process @pid has made itself, as it tells (perfmap.h); NULL: it does not. Lent until another process is asked about. */
const struct func *symbols_made(struct symbols *s, uint32_t pid, uint64_t ip);

#endif
