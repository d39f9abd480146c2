/*
 * retsites.h - where a function returns: a probe there sees the return and leaves its address alone.
 */
#ifndef RETSITES_H
#define RETSITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The places of the return instructions in @len bytes of @code, which begin at @offset of a file, into @site; @room
 * of them at most. Returns how many. @whole: all of it was understood, so none is a part of another instruction.
 */
unsigned ret_sites(const uint8_t *code, size_t len, unsigned long offset, unsigned long *site, unsigned room, bool *whole);

#endif
