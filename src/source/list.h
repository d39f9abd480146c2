/*
 * list.h - --list: a line on stdout for each function.
 */
#ifndef LIST_H
#define LIST_H

#include <stdbool.h>
#include <stdint.h>

struct func;
struct image;

void list_image(const struct image *img);	/* the head, before its functions */

/*
 * @class: enum site_class of the site chosen for @f, a function of @img; @at_return: its return is probed
 * too, in processes where returns are. @left_out: why it is not probed at all; NULL: it is.
 */
void list_function(const struct image *img, const struct func *f, uint8_t class, bool at_return, const char *left_out);

#endif
