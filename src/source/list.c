/*
 * list.c - functions as --list shows them.
 */
#include "base.h"
#include "image.h"
#include "source/list.h"

#define ROW	"%16s %8s %-15s %-9s %s%s"

static const char *const class_name[SITE_CLASSES] = {
	[SITE_NOP5] = "nop5", [SITE_CHEAP] = "cheap", [SITE_DEAR] = "single-stepped", [SITE_REFUSED] = "refused",
};

void list_image(const struct image *img)
{
	printf("# functions of %s\n" ROW "\n", img->path, "# address", "size", "site", "return", "name", "");
}

void list_function(const struct image *img, const struct func *f, uint8_t class, bool at_return, const char *left_out)
{
	const char *site = f->flags & FUNC_NEVER ? "never" : class_name[class];
	char addr[20], size[20];

	snprintf(addr, sizeof(addr), "%lx", img->load_addr + f->addr);
	snprintf(size, sizeof(size), "%lu", f->size);
	printf(ROW, addr, size, site, left_out ? "-" : at_return ? "probed" : "inferred", func_plain(f),
	       f->flags & FUNC_PLT ? "@PLT" : "");
	if (left_out)
		printf("  (left out: %s)", left_out);
	putchar('\n');
}
