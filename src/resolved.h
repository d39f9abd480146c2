/*
 * resolved.h - which code the IFUNC functions of the C library stand for on this machine.
 */
#ifndef RESOLVED_H
#define RESOLVED_H

struct image;

/*
 * Where @img is a library that recorder itself has mapped, by build-id: give functions
 * that export no name that of the IFUNC which leads to them. Of several the first by address.
 */
void resolved_name(struct image *img);

#endif
