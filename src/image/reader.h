/*
 * reader.h - an image while it is read: what the parsers of this folder share.
 *
 * Addresses here are link-time addresses; image.h's are relative to the load
 * address. Order of work: image.c opens the file, symbols.c and ehframe.c find
 * functions, plt.c stubs, names.c says which names need care and returns.c whose
 * code does, sites*.c chooses where each is probed, image.c makes the result.
 */
#ifndef IMAGE_READER_H
#define IMAGE_READER_H

#include "elf.h"
#include "image.h"

#define BUILD_ID_MAX	20	/* bytes; SHA-1, what every linker makes unless told otherwise */
#define FUNCTIONS_MAX	4000000u	/* symbols of one file that are looked at; Chrome has 700 000 */

/* A segment with code, copied. */
struct code {
	struct piece piece;
	uint64_t     offset;	/* in the file */
	uint8_t	    *target;	/* a bit per byte: a direct branch leads there; owned */
};

/* A part of the code that functions may lie in: a section, or a whole segment where there are no sections. */
struct span {
	uint64_t addr, len;
	bool	 is_plt;
};

/* A place the dynamic linker fills in with a function's address. */
struct slot {
	uint64_t addr;
	uint64_t resolver;	/* R_*_IRELATIVE: what computes the address; else 0 */
	uint32_t name;		/* in names */
};

struct found {
	uint64_t addr, size;
	uint64_t site, nop5_site, entry_site;	/* link-time addresses; 0: none */
	uint32_t name;				/* in names */
	uint32_t sp_offset, entry_sp_offset;
	uint8_t	 site_class;			/* enum site_class */
	uint16_t flags;				/* FUNC_* */
	uint8_t	 rank;				/* among names of one address the lowest wins */
	uint8_t	 entry_flags;			/* FUNC_* that hold at entry_site */
	uint64_t seen;				/* the last instruction a site may be at */
	bool	 is_scanned;			/* its branches are marked */
	bool	 is_part;			/* the cold half of another function: no function at all */
};

struct reader {
	struct elf    elf;
	struct image_files files;	/* lent */
	uint32_t      link_crc;		/* of the whole file that image.debug_link names */
	struct image *img;		/* half made */
	struct code  *code;
	struct span  *span;		/* by address */
	struct slot  *slot;		/* by address */
	struct found *found;
	bool	      is_library;	/* has a SONAME */
	bool	      is_static;	/* needs no library and no dynamic linker, and is none */
	bool	      translates_itself;	/* it reads code of its own in order to run it elsewhere */
	bool	      has_imports;	/* what it lacks must be found elsewhere, whatever names a library or not */
	bool	      facts_only;	/* IMAGE_FACTS, IMAGE_DRIVER */
	bool	      names_only;	/* IMAGE_NAMES */
	bool	      wants_sites;	/* with neither IMAGE_FACTS nor IMAGE_NAMES */
	unsigned      hints;		/* HINT_* of its symbols */
	size_t	      code_count, span_count, slot_count, found_count;
	size_t	      span_room, slot_room, found_room;
	char	     *names;		/* NUL-ended, one after the other; the first is "" */
	size_t	      names_len, names_room;
};

/* What symbols tell of how the file unwinds. */
#define HINT_UNWINDER	1u	/* it defines an unwinder's entry point */
#define HINT_UNWINDS	2u	/* it imports one */
#define HINT_FRAMES	4u	/* it imports dl_iterate_phdr(), as unwinders do, and others */
#define HINT_OBJECTS	8u	/* it imports _dl_find_object(): nothing but an unwinder does */

/* Adds @name, cleaned of control bytes and of a version (memcpy@@GLIBC_2.14); 0 when there is no memory. */
int  reader_name(struct reader *r, const char *name, uint32_t *ret);
int  reader_found(struct reader *r, struct found **ret);	/* one more, all zeroes */
const struct span *reader_span(const struct reader *r, uint64_t addr);
const struct slot *reader_slot(const struct reader *r, uint64_t addr);
struct code *reader_code(const struct reader *r, uint64_t addr);

/* What the dynamic linker is told, by tag; tags above DT_JMPREL are not needed. */
struct dynamic {
	uint64_t value[DT_JMPREL + 1];
};

int dynamic_read(const struct elf *e, struct dynamic *d);	/* -ENOENT: a static program */
/* By PT_DYNAMIC, for files without section headers. Free both pieces, error or not. */
int dynamic_symbols(const struct elf *e, struct piece *syms, struct piece *strings);

/* Functions of the table @sec of @e, and, with or without them, what its names tell of the image. */
int symbols_table(struct reader *r, const struct elf *e, const Elf64_Shdr *sec, bool functions);
/* What .gnu_debuglink tells: the debug file's name, and the sum of it. */
void debug_link(struct reader *r);
/* The file at reader.files.debug, its sections, after facts_read(). -ENOENT: there is none, or it is no debug file of this one. */
int debug_open(struct reader *r, struct elf *e);
int debug_read(struct reader *r);		/* symbols that were taken out of the file; image.is_stripped says if there are any */
int symbols_read(struct reader *r);		/* functions, and what imports and names tell of the image */
int ehframe_read(struct reader *r);		/* functions and sizes that symbols do not tell; after symbols_sort() */
int gopcln_read(struct reader *r);		/* functions of a Go program that has no symbols */
int symbols_sort(struct reader *r);		/* by address, one of each */
int slots_read(struct reader *r);		/* before plt_read() and sites_choose() */
int plt_read(struct reader *r);
int returns_read(struct reader *r);		/* FUNC_ENTRY_ONLY of what their code tells, image.switches_stacks */
int sites_choose(struct reader *r);		/* found[] sorted by then */
int sites_start(struct reader *r);		/* their first instructions, whatever those cost; symbols sorted by then */

/* The functions that DWARF tells of; dwarf.c. -ENOENT: it has none. @common: a file that dwz(1) moved parts to; -1: none. */
int dwarf_read(struct debug **ret, const struct elf *e, int common, uint64_t load_addr, bool wants_lines);
/* What .gnu_debugaltlink of @e tells: image.common_link and its build-id. Whether the file at reader.files.common is that. */
bool common_read(struct reader *r, const struct elf *e);

int facts_read(struct reader *r);		/* build-id, debug link, interpreter, Go */
void notes_read(struct image *img, const struct piece *p);	/* build-id, Go */
int usdt_read(struct reader *r);			/* image.usdt */
int walker_read(struct reader *r);		/* image.walker; after symbols_read() */

/* The plain name (func.plain) of @mangled, cut to @room; returns its length, 0: it has none. */
size_t name_plain(const char *mangled, char *to, size_t room);

/* FUNC_* of a function for its name; @is_go: names of Go's runtime count too. */
unsigned name_flags(const char *name, bool is_go);
bool name_unwinds(const char *name);		/* an unwinder, or what calls one */
bool name_switches_stacks(const char *name);
bool name_is_guarded(const char *name);		/* guards or gates may stand at it: kept in IMAGE_FACTS */
bool name_is_cuda(const char *name);		/* of the CUDA driver: so is this */
unsigned name_hint(const char *name, bool is_import);	/* HINT_* */

/* One PLT stub: bytes in, the slot it jumps through out. 0: no stub begins here; else its length. */
unsigned plt_stub_x86(const uint8_t *code, size_t len, uint64_t addr, uint64_t *slot);
unsigned plt_stub_arm64(const uint8_t *code, size_t len, uint64_t addr, uint64_t *slot);

#endif
