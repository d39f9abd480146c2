/*
 * debug.h - what is known of the functions of an image beyond their names: arguments, result, source line.
 *
 * Specs are texts in uftrace's grammar, "arg1/i32,arg2/s,arg3/e:color", made from
 * DWARF in the image child (src/image/dwarf.c) or taken from a table of library
 * functions (src/libcalls.c). An argument whose form nobody here can tell is "?".
 */
#ifndef DEBUG_H
#define DEBUG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are places in debug.texts; 0 is the empty one. */
struct debug_func {
	uint64_t addr;			/* as func.addr */
	uint32_t args, result;		/* specs; 0: none */
	uint32_t file, line;		/* where it stands in the source; line 0: not known */
};

struct debug {
	struct debug_func *func;	/* by addr, ascending, once debug_sort() was called */
	size_t	  count, room;
	uint32_t *enumeration;		/* texts "color{RED=1,GREEN=2}" */
	size_t	  enum_count, enum_room;
	char	 *texts;
	size_t	  texts_len, texts_room;
	bool	  is_cut;		/* there was more than there was time for */
};

struct debug *debug_create(void);	/* NULL: no memory */
void debug_destroy(struct debug *d);

/* Bytes that would break a file of lines and words become '_'. 0: no memory, or @text is empty. */
uint32_t debug_text(struct debug *d, const char *text);
/* @path of a source file, from @folder on if that is not "": the text is @path alone. */
uint32_t debug_path(struct debug *d, const char *folder, const char *path);
int  debug_add(struct debug *d, const struct debug_func *f);
int  debug_add_enum(struct debug *d, const char *text);
void debug_sort(struct debug *d);	/* of several at one address those without arguments go */

static inline const char *debug_at(const struct debug *d, uint32_t text)
{
	return d->texts + text;
}

/* Of a text of debug_path(), the folder and the path. */
const char *debug_whole_path(const struct debug *d, uint32_t text);

bool debug_has_lines(const struct debug *d);	/* @d may be NULL */

const struct debug_func *debug_find(const struct debug *d, uint64_t addr);	/* @d may be NULL */

/* As one block of bytes, and back: -EBADMSG when it is not whole and sane. */
size_t debug_packed_len(const struct debug *d);
void   debug_pack(const struct debug *d, void *to);
int    debug_unpack(struct debug **ret, const void *data, size_t len);

#endif
