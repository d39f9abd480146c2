/*
 * list.c - functions as --list shows them. Names and paths are whatever the file's maker wanted: a terminal obeys none.
 */
#include "base.h"
#include "image.h"
#include "log.h"
#include "sitecost.h"
#include "source/list.h"

#define ROW	"%16s %8s %-15s %-9s %5s %s%s"

static const char *const classes[SITE_CLASSES] = {
	[SITE_NOP5] = "nop5", [SITE_CHEAP] = "cheap", [SITE_DEAR] = "single-stepped", [SITE_REFUSED] = "refused",
};

void list_image(const struct image *img)
{
	__cleanup(free_ptr) char *path = log_escaped(img->path);

	printf("# functions of %s\n"
	       "# ns: added to a call by its probes, before anything is recorded: what was measured once, on Linux 6.18 in an\n"
	       "# x86-64 virtual machine; it varies with the machine\n"
	       ROW "\n", path ?: "", "# address", "size", "site", "return", "ns", "name", "");
}

void list_function(const struct image *img, const struct func *f, uint8_t class, bool at_return, const char *left_out)
{
	__cleanup(free_ptr) char *name = log_escaped(func_plain(f));
	bool is_never = f->flags & FUNC_NEVER;
	unsigned ns = is_never ? 0 : site_cost(class, at_return);
	const char *site = is_never ? "never" : classes[class];
	char addr[20], size[20], cost[12] = "-";

	snprintf(addr, sizeof(addr), "%lx", img->load_addr + f->addr);
	snprintf(size, sizeof(size), "%lu", f->size);
	if (ns)
		snprintf(cost, sizeof(cost), "%u", ns);
	printf(ROW, addr, size, site, left_out ? "-" : at_return ? "probed" : "inferred", cost, name ?: "",
	       f->flags & FUNC_PLT ? "@PLT" : "");
	if (left_out)
		printf("  (left out: %s)", left_out);
	putchar('\n');
}
