/*
 * chosen.h - what --functions asks for: which files, which of their functions.
 *
 * Without a pattern that is all a program has itself, and its stubs that call
 * libraries. A stub is left out where a pattern means the function behind it.
 */
#ifndef CHOSEN_H
#define CHOSEN_H

#include <stdbool.h>

struct config;
struct func;
struct image;

/* May any function of the library at @path be asked for? */
bool chosen_library(const struct config *cfg, const char *path);

/* Is @f of @img asked for? @is_named: by more than '*', so also where its probe is dear. */
bool chosen_function(const struct config *cfg, const struct image *img, const struct func *f, bool *is_named);

#endif
