/*
 * dwarf.h - DWARF while it is read: what dwarf.c and dwarftype.c share.
 */
#ifndef IMAGE_DWARF_H
#define IMAGE_DWARF_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "debug.h"
#include "image.h"

/* An enumeration of the unit that is being read. */
struct seen_enum {
	const void *at;		/* in memory; an offset may be of another file's */
	uint32_t    name;	/* text; 0: too long, or there were too many */
	uint32_t    bytes;
};

struct dwarf_reader {
	struct debug	 *debug;
	uint64_t	  load_addr;
	bool		  wants_lines;
	uint64_t	  spent;	/* entries looked at */
	int64_t		  until_ms;
	uint64_t	 *global;	/* addresses that have a global symbol, ascending */
	size_t		  global_count, global_room;
	/* of the unit */
	const char	 *folder;	/* where it was compiled, NULL: not told */
	const char	 *last_file;
	uint32_t	  last_text;
	int		  language;
	bool		  is_llvm;	/* not gcc: removes arguments without a word */
	struct seen_enum *seen;
	size_t		  seen_count, seen_room;
};

/* How a value is passed. */
enum passing {
	PASS_NOTHING,		/* void */
	PASS_WORDS,		/* in registers where there are enough of both kinds, else on the stack */
	PASS_STACK,		/* always on the stack */
	PASS_UNKNOWN,		/* not understood, so neither is what follows it */
};

struct value_type {
	enum passing how;
	uint8_t	     ints, vectors;	/* registers of each kind; scalars have one in all */
	bool	     is_wide;		/* on the stack it begins at a multiple of 16 bytes */
	uint64_t     bytes;
	char	     format[40];	/* behind "argN/": "i32"; of a floating-point number its bits; "": not shown */
	bool	     is_float;
	bool	     is_address;	/* of a C++ class that is not copied as bytes: its address is passed */
	bool	     takes_pointer;	/* of a result: the caller says where to, in a register ahead of all arguments */
};

bool dwarf_spend(struct dwarf_reader *r);	/* one entry more; false: no time is left */

/* @type NULL: void. */
void dwarf_type(struct dwarf_reader *r, Dwarf_Die *type, struct value_type *ret);
void dwarf_result(struct dwarf_reader *r, Dwarf_Die *type, struct value_type *ret);

bool dwarf_speaks_c(const struct dwarf_reader *r);

#endif
