/*
 * known.h - the images that have come so far: by the number of a function, and by what is mapped.
 */
#ifndef FLOW_KNOWN_H
#define FLOW_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image;
struct map;

struct known_images {
	struct image **image;		/* owned; by first_func, ascending */
	size_t	       count, room;
};

int  known_add(struct known_images *k, struct image *img);	/* takes @img, error or not */
void known_free(struct known_images *k);
const struct image *known_by_func(const struct known_images *k, uint32_t id);	/* rec_func.func; NULL: of none */
const struct image *known_of_map(const struct known_images *k, const struct map *m);	/* NULL: not known yet, or never */
bool known_is_of(const struct image *img, const struct map *m);

#endif
