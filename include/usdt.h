/*
 * usdt.h - a USDT probe: a nop that a program's author has put where something of interest happens, and a note in the
 * file that tells its place, its name and where its arguments are.
 *
 * The first part is shared with BPF.
 */
#ifndef USDT_H
#define USDT_H

#include "funcargs.h"
#include "record.h"

#define USDT_TEXT_MAX	128	/* bytes of the arguments as the note has them, for --list */
#define USDT_REGISTERS	32	/* a power of two; fewer are used on x86-64 */

/* Where an argument is. */
enum usdt_place {
	USDT_UNKNOWN,		/* a form that is not built here: shown as '?' */
	USDT_CONST,		/* @value itself */
	USDT_REGISTER,		/* register @base */
	USDT_MEMORY,		/* at @value + register @base + (register @index << @scale) */
};

#define USDT_HAS_BASE	1u
#define USDT_HAS_INDEX	2u
#define USDT_FROM_SITE	4u	/* the address of the probe is added to @value: of what the file names by a symbol */

/*
 * Registers are numbered as enum usdt_x86 says; those of arm64 as there, the stack
 * pointer is 31.
 */
struct usdt_arg {
	__s64	value;
	__u8	place;		/* enum usdt_place */
	__u8	flags;		/* USDT_* */
	__u8	base, index;
	__u8	scale;		/* 0 to 3 */
	__u8	shift;		/* bits of the register below the value: %ah */
	__u8	size;		/* bytes: 1, 2, 4 or 8 */
	__u8	format;		/* enum value_format */
	__u16	at;		/* where its struct rec_value begins in rec_usdt.values */
	__u16	pad[3];
};

enum usdt_x86 {
	X86_AX, X86_BX, X86_CX, X86_DX, X86_SI, X86_DI, X86_BP, X86_SP,
	X86_R8, X86_R9, X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
	X86_REGISTERS
};

/* What the BPF program does at a probe, by the probe's cookie. */
struct usdt_plan {
	char		name[USDT_NAME_MAX];	/* as rec_usdt.name */
	__u32		count;			/* of arg[] */
	__u32		bytes;			/* of their values */
	struct usdt_arg arg[ARGS_MAX];		/* STAP_PROBEV() takes no more than 12 */
};

_Static_assert(sizeof(struct usdt_arg) == 24, "no holes");

#ifndef __bpf__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USDT_PROBES_MAX	65536	/* of one file */

/* A probe of an image. */
struct usdt_probe {
	uint64_t	site;		/* file offset of the nop */
	uint64_t	semaphore;	/* file offset of the counter that tells the program that it is watched; 0: none */
	char		name[USDT_NAME_MAX];	/* "PROVIDER:NAME" */
	char		text[USDT_TEXT_MAX];	/* its arguments as the file has them, maybe cut */
	uint32_t	count, pad;
	struct usdt_arg arg[ARGS_MAX];
};

struct usdt_probes {
	struct usdt_probe *probe;	/* owned */
	size_t		   count, room;
	size_t		   malformed;	/* notes that were none, or not of a nop */
};

/* The address of the symbol @name, @len bytes of it. False: there is none. */
typedef bool (*usdt_symbol_fn)(void *ctx, const char *name, size_t len, uint64_t *ret);

/*
 * The arguments that @text names, as compilers for @machine (EM_*) write them: "-4@%edi 8@-16(%rbp)". @site: the
 * link-time address of the probe. Returns how many there are, ARGS_MAX at most.
 */
unsigned usdt_parse(struct usdt_arg arg[ARGS_MAX], const char *text, int machine, uint64_t site,
		    usdt_symbol_fn symbol, void *ctx);

/* ---- what --usdt asks for ---- */

struct usdt_pattern {
	char	*lib;		/* owned, as the other two; NULL: the program and all its libraries */
	char	*provider, *name;	/* globs */
	uint8_t	 format[ARGS_MAX];	/* enum value_format; VALUE_AUTO: as it comes */
	const char *text;	/* as it was typed, lent */
};

/*
 * From "[LIB:]PROVIDER:NAME[@argN/FMT,...]" or "*". Returns 0; -EINVAL, with in @why one line
 * that names what is wrong; or -ENOMEM. To be released after 0 only.
 */
int  usdt_pattern_parse(struct usdt_pattern *p, const char *text, char *why, size_t size);
void usdt_pattern_release(struct usdt_pattern *p);
bool usdt_pattern_matches(const struct usdt_pattern *p, const char *path, const struct usdt_probe *probe);

#endif

#endif
