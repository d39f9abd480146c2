/*
 * argtype.h - names of types in argument specs (argN/tSIZE:NAME), each a number that BPF passes on.
 */
#ifndef ARGTYPE_H
#define ARGTYPE_H

#include <stddef.h>
#include <stdint.h>

/* The number of the type called @name, @len bytes, from 1 on; 0: no memory. A name that is too long is cut. */
uint32_t argtype_of(const char *name, size_t len);
const char *argtype_name(uint32_t type);	/* "": no such */

#endif
