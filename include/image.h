/*
 * image.h - an executable file: its functions, and where each can be probed.
 *
 * image_read() interprets the bytes of a file a target controls, so it runs in
 * the image child (src/image/child.c): no privileges, no network, limited
 * memory and time. Its result comes back over a pipe and is checked as it is
 * unpacked. An image never changes after that: the control thread makes it and
 * attaches its probes, then gives it to the writer thread, which owns it.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "usdt.h"

struct debug;

/* What a probe at the site costs: notes in src/image/sites.c, section numbers of probe-costs.md. */
enum site_class {
	SITE_NOP5,		/* rewritten to a call where the kernel can; only when fork is safe there */
	SITE_CHEAP,		/* emulated by the kernel: push, nop, jmp, jcc, call */
	SITE_DEAR,		/* single-stepped: about ten times a cheap one */
	SITE_REFUSED,		/* the kernel refuses it, or it cannot be decoded: never probed */
	SITE_CLASSES
};

/* Why a function is treated as it is; more than one may hold. */
#define FUNC_PLT	1u	/* a stub that calls a library's function: uftrace's type P */
#define FUNC_MOVED	2u	/* the site is not the first instruction, entry and exit are still right */
#define FUNC_ENTRY_ONLY	4u	/* its return must not be probed: setjmp(), and all of a file that is_go or switches_stacks */
#define FUNC_NEVER	8u	/* must not be probed at all: _start and its like, or shows nothing of the program: frame_dummy */
#define FUNC_TINY	16u	/* dear, and a body so small that a probe costs far more than it shows */
#define FUNC_LOADS	32u	/* the site lies after instructions that touch memory */
#define FUNC_RESOLVER	128u	/* of an IFUNC: its name is that of what it leads to, so it is FUNC_NEVER too */
#define FUNC_START_REFUSED 256u	/* the kernel refuses the first instruction: what needs that site is not probed */
#define FUNC_ARGS_GONE	64u	/* the site lies after an argument register was overwritten */

struct func {
	uint64_t    addr;	/* link-time address minus that of the lowest PT_LOAD's page: uftrace's relative address */
	uint64_t    size;	/* bytes; 0: unknown */
	uint64_t    site;	/* file offset of the probe: the best one that is not a nop5 */
	uint64_t    nop5_site;	/* file offset of a nop5 the kernel can rewrite, SITE_NOP5, where one begins the function; 0: none */
	uint64_t    entry_site;	/* file offset of a cheap site that is right for entry only, where site is dear; 0: none */
	uint32_t    sp_offset;	/* bytes pushed between the function's start and the site; not 0 only with FUNC_ENTRY_ONLY */
	uint32_t    entry_sp_offset;	/* the same for entry_site */
	uint8_t	    site_class;	/* enum site_class of site; never SITE_NOP5 */
	uint16_t    flags;	/* FUNC_* */
	const char *name;	/* mangled, as the symbol table has it, no version, no byte below '!'; PLT: the library
				 * function's; none known: "sub_" and addr in hex; owned by the image */
	const char *plain;	/* as its source has it, without arguments, for C++ and Rust; else NULL; may have spaces */
};

/* What options call it. */
static inline const char *func_plain(const struct func *f)
{
	return f->plain ?: f->name;
}

/* What of a file looks at the return addresses on a stack, and so must not meet those of return probes. */
enum walker {
	WALKER_NONE,		/* nothing; what it throws with is another file's */
	WALKER_NAMED,		/* an unwinder, its entry points told by symbols: it can be guarded (source/unwind.c) */
	WALKER_NAMELESS,	/* an unwinder without them: linked statically, then stripped */
	WALKER_RUNTIME,		/* a run time with frame tables of its own: Go, OCaml, V8 ... */
	WALKERS
};

struct image {
	uint64_t     ino;
	uint32_t     dev;		/* as rec_image.dev */
	uint32_t     gen;		/* as rec_image.gen */
	uint64_t     since;		/* ns: what was mapped earlier was another content of the file; 0: none was seen */
	uint64_t     file_size, file_ctime;	/* bytes, ns: as they were when it was analysed; not packed */
	char	    *path;		/* as the target sees it */
	char	     build_id[41];	/* hex; "" when it has none, or one longer than 20 bytes */
	uint64_t     load_addr;		/* p_vaddr of the lowest PT_LOAD, rounded down to a page */
	uint64_t     load_size;		/* bytes from there to the end of the highest PT_LOAD */
	uint64_t     phdr_addr;		/* link-time address of the program headers */
	uint64_t     text_offset;	/* file offset and link-time address of the executable PT_LOAD */
	uint64_t     text_addr;
	uint64_t     unwind_site;	/* file offset of the ELF entry point (the dynamic linker's gate); 0: none */
	uint32_t     first_func;	/* rec_func.func of func[0]; set when attached */
	bool	     is_library;	/* probed for being mapped, not run; not packed */
	pid_t	     owner;		/* the one process that meets the probes of its functions, which have none at their returns; 0: all do; not packed */
	bool	     is_go;		/* no return may be probed */
	bool	     is_pie;
	bool	     has_unwinder;	/* defines or imports _Unwind_*, or what calls it (C++ throw, pthread_exit, backtrace) */
	bool	     switches_stacks;	/* defines or imports swapcontext() and its like: returns come out of order */
	uint8_t	     walker;		/* enum walker */
	bool	     is_stripped;	/* no .symtab, nor a debug file's: names from .dynsym, the rest from .eh_frame */
	char	    *debug_link;	/* file name of its debug file, of .gnu_debuglink; NULL: none told; not packed */
	char	    *common_link;	/* where parts of debug are that were not read (dwz), of .gnu_debugaltlink; NULL: none; not packed */
	char	     common_id[41];	/* build-id of what lies there; not packed */
	char	    *interp;		/* PT_INTERP; NULL: static */
	char	    *needed;		/* the libraries it names (DT_NEEDED), a colon between them; NULL: none */
	struct func *func;		/* by addr, ascending */
	size_t	     func_count;
	unsigned     go_minor;		/* of the Go version, for messages; 0: unknown */
	uint32_t     no_plt_calls;	/* call instructions that reach a library without a stub (-fno-plt, Rust): not seen */
	struct usdt_probes usdt;
	struct debug *debug;		/* owned; NULL: nobody asked, or there is nothing (debug.h) */
	char	    *names;		/* what func[].name point into, each ended by a NUL; owned */
	size_t	     names_len;
	bool	     has_plain;		/* behind each of names that begins with _Z or _R stands its plain one, "" for none */
};

/* The plain name behind @name, which is one of @img's names; NULL: none. */
const char *image_plain(const struct image *img, const char *name);

/* Why image_read() may say no, besides errnos of reading: -ENOEXEC no ELF of this machine, -EBADMSG a malformed one. */
#define NEEDED_MAX	4096	/* bytes of image.needed; what is more is not told */
enum image_depth {
	IMAGE_FUNCTIONS,	/* all, with their sites */
	IMAGE_FACTS,		/* what it is; of its functions those that guards, gates and cuda.h name, without sites */
	IMAGE_DRIVER,		/* the same of a CUDA driver, whose functions have sites: their first instructions */
	IMAGE_NAMES,		/* all functions that have a name, and parts of functions, without sites */
	IMAGE_DEBUG,		/* only image.debug, without source lines; -ENOENT: there is no DWARF */
	IMAGE_DEBUG_LINES,	/* with them, which takes longer */
};
int  image_read(struct image **ret, int fd, enum image_depth depth);
/*
 * The same, with what the file has not itself from another, if that is its debug file: symbols, else is_stripped holds; DWARF,
 * else -ENOENT.
 */
struct image_files {
	int fd;		/* lent, as the others */
	int debug;	/* what may be its debug file; -1: none */
	int common;	/* what may be the file of image.common_link; -1: none */
};
int  image_read_with(struct image **ret, const struct image_files *files, enum image_depth depth);
void image_destroy(struct image *img);

/* A copy whose only owner is the caller; used to hand an image to another thread or file. */
int  image_pack(const struct image *img, void **ret, size_t *len);
int  image_unpack(struct image **ret, const void *data, size_t len);	/* -EBADMSG when @data is not whole and sane */

/* The place in the file of the first instruction of @f, which is one of @img's. */
uint64_t image_offset(const struct image *img, const struct func *f);

/* The function that @addr (relative, as func.addr) lies in, or NULL. */
const struct func *image_func_at(const struct image *img, uint64_t addr);

/*
 * The image child. Start it before any BPF object or target is opened: what it
 * is forked from it remembers. One serves a whole recording; a file that kills it is named and left out.
 */
struct image_child;
int  image_child_start(struct image_child **ret);
void image_child_stop(struct image_child *c);
/* @fd is lent. -ETIMEDOUT, -EPIPE: the file made the child fail; the next call starts a new one. */
int  image_child_read(struct image_child *c, struct image **ret, int fd, enum image_depth depth);
/* As image_read_with(). */
int  image_child_read_with(struct image_child *c, struct image **ret, const struct image_files *files, enum image_depth depth);

#endif
