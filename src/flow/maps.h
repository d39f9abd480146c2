/*
 * maps.h - where files lie in a session's memory.
 */
#ifndef MAPS_H
#define MAPS_H

#include "task.h"

struct frame;
struct symbols;

/* Where the file begins in memory, from what the record said and, once it is known, the file's own layout. */
void map_place(struct map *m);

/*
 * The program's frames of @r in @frame, as many as it has. @s: what was mapped, NULL: not known. @symbols, which may be
 * NULL, has the functions of files that are not probed.
 */
void frames_find(struct frame *frame, const struct rec_callers *r, const struct session *s, struct symbols *symbols);

#endif
