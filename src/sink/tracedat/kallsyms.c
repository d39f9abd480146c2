/*
 * kallsyms.c - names of the kernel's functions: of those that stacks have, and of what follows each, where it ends.
 *
 * A reader loads them all, so a file has only what it needs. They are this kernel's, as it lies in memory since it was
 * booted: a recording of another boot is given none.
 */
#include "about.h"
#include "base.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"

#define BOOT_MARGIN	(60 * (int64_t)NSEC_PER_SEC)
#define SYMBOL_MAX	(1u << 20)	/* bytes of a function: what lies further behind one belongs to something without a name */

DEFINE_CLEANUP(about_destroy, struct about *)

struct symbol {
	uint64_t addr;
	uint32_t line;		/* in text */
	bool	 is_needed;
	bool	 is_end;	/* of one that is: what is behind has no name, unless it is needed itself */
};

struct td_kallsyms {
	bool	       was_read;
	char	      *text;	/* of lines "ADDRESS TYPE NAME[\tMODULE]", each ended by a NUL */
	size_t	       len, room;
	struct symbol *symbol;	/* by address */
	size_t	       count, symbol_room;
};

int td_kallsyms_create(struct td_kallsyms **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

void td_kallsyms_destroy(struct td_kallsyms *k)
{
	if (!k)
		return;
	free(k->symbol);
	free(k->text);
	free(k);
}

/* Absolute ones are counters and places in the data of a CPU. */
static int add_line(struct td_kallsyms *k, const char *line)
{
	size_t len = strcspn(line, "\n");
	unsigned long long addr;
	char type;

	if (sscanf(line, "%llx %c", &addr, &type) != 2 || !addr || type == 'A' || type == 'a')
		return 0;
	if (grow(&k->symbol, &k->symbol_room, k->count, sizeof(*k->symbol)))
		return -ENOMEM;
	while (k->len + len + 1 > k->room)
		if (grow(&k->text, &k->room, k->room, 1))
			return -ENOMEM;
	k->symbol[k->count++] = (struct symbol){ .addr = addr, .line = k->len };
	memcpy(k->text + k->len, line, len);
	k->text[k->len + len] = '\0';
	k->len += len + 1;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr != y->addr ? (x->addr < y->addr ? -1 : 1) : x->line < y->line ? -1 : x->line > y->line;
}

/* Of several names of one address the first is kept. */
static void sort(struct td_kallsyms *k)
{
	size_t n = 0;

	if (!k->count)
		return;
	qsort(k->symbol, k->count, sizeof(*k->symbol), by_address);
	for (size_t i = 1; i < k->count; i++)
		if (k->symbol[i].addr != k->symbol[n].addr)
			k->symbol[++n] = k->symbol[i];
	k->count = n + 1;
}

/* Then CLOCK_MONOTONIC began when it does now; somebody may have set the clock since. */
static bool is_of_this_boot(const struct about *about)
{
	__cleanup(about_destroyp) struct about *now = NULL;

	if (about_create(&now, NULL, NULL) || strcmp(now->hostname ?: "", about->hostname ?: "") ||
	    strcmp(now->kernel ?: "", about->kernel ?: ""))
		return false;
	return llabs(now->utc_offset - about->utc_offset) < BOOT_MARGIN;
}

/* Whatever could not be read has no names. */
void td_kallsyms_read(struct td_kallsyms *k, const struct about *about)
{
	bool is_to_be_read = !k->was_read && is_of_this_boot(about);
	__cleanup(close_file) FILE *f = is_to_be_read ? fopen("/proc/kallsyms", "re") : NULL;
	__cleanup(free_ptr) char *line = NULL;
	size_t room = 0;

	k->was_read = true;
	while (f && getline(&line, &room, f) > 0 && !add_line(k, line))
		;
	if (f)
		sort(k);
}

/* Its index; -1: none. */
static ssize_t find(const struct td_kallsyms *k, uint64_t addr)
{
	size_t low = 0, high = k->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (k->symbol[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low && addr - k->symbol[low - 1].addr < SYMBOL_MAX ? (ssize_t)low - 1 : -1;
}

const char *td_kallsyms_name(const struct td_kallsyms *k, uint64_t addr)
{
	ssize_t i = find(k, addr);
	const char *line = i < 0 ? "" : k->text + k->symbol[i].line;

	return i < 0 ? "" : line + strcspn(line, " ") + strlen(" T ");
}

void td_kallsyms_need(struct td_kallsyms *k, uint64_t addr)
{
	ssize_t i = find(k, addr);

	if (i < 0)
		return;
	k->symbol[i].is_needed = true;
	if ((size_t)i + 1 < k->count)
		k->symbol[i + 1].is_end = true;
}

int td_kallsyms_write(struct out *o, const struct td_kallsyms *k)
{
	struct out *text;
	int err = out_memory(&text);

	if (err)
		return err;
	for (const struct symbol *s = k ? k->symbol : NULL; k && s < k->symbol + k->count; s++)
		if (s->is_needed)
			out_printf(text, "%s\n", k->text + s->line);
		else if (s->is_end)
			out_printf(text, "%lx t [unknown]\n", s->addr);
	out_u32(o, out_tell(text));
	out_bytes(o, out_data(text), out_tell(text));
	err = out_error(text) ?: out_error(o);
	out_destroy(text);
	return err;
}
