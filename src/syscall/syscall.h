/*
 * syscall.h - what is known of every system call: numbers, arguments, how they are shown.
 *
 * The knowledge is a table, one row per call (table.c). To add a call, add its
 * row. Everything here is computed from the rows: what BPF takes along from an
 * argument, the sets of --syscalls=SET, the text of arguments and results.
 *
 * All functions but syscall_plans() and syscall_set_parse() may be called from
 * any thread. Those that write text work as snprintf() does: they return the
 * length the text has, write no more than @size bytes, and end them with a NUL.
 */
#ifndef SYSCALL_H
#define SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

/* Whose numbers: the columns of the table. */
enum abi {
	ABI_X86_64,
	ABI_ARM64,
	ABI_I386,		/* 32-bit programs under x86-64 */
	ABI_ARM,		/* 32-bit programs under arm64: EABI */
	ABIS
};

#if defined(__aarch64__)
#define ABI_NATIVE	ABI_ARM64
#define ABI_COMPAT	ABI_ARM
#else
#define ABI_NATIVE	ABI_X86_64
#define ABI_COMPAT	ABI_I386
#endif

/* How an argument or result is to be shown. */
enum show {
	SHOW_DEC,		/* syscall_arg_value() as a signed number */
	SHOW_UDEC,		/* ... as an unsigned one */
	SHOW_HEX,		/* ... in hexadecimal: addresses */
	SHOW_OCT,		/* ... in octal: file modes */
	SHOW_NAMED,		/* few values, with names: syscall_arg_text() */
	SHOW_TEXT,		/* a string or buffer BPF took along: syscall_taken_text(), in quotes */
	SHOW_FDS,		/* two file descriptors BPF took along: syscall_taken_text() */
	SHOW_NEVER,		/* results only: the call does not come back */
};

struct name;

struct sysarg {
	const char	  *name;	/* as the kernel's own definition names it */
	const struct name *names;	/* the values that have names; or NULL */
	uint8_t		   kind;	/* enum arg_kind of args.h; 0: no argument */
};

struct sysdef {
	int32_t	      nr[ABIS];		/* -1: that ABI has no such call */
	const char   *name;
	uint16_t      classes;		/* T* of args.h: the sets it is in */
	struct sysarg arg[6];
	uint8_t	      ret;		/* enum ret_kind of args.h */
};

/*
 * The row of a number, as the machine's own ABI counts or, with @compat, its
 * 32-bit one. Never NULL: a number with no row gets one that is named
 * "syscall_N" and shows six hexadecimal arguments.
 */
const struct sysdef *syscall_def(uint32_t nr, bool compat);
const struct sysdef *syscall_def_abi(uint32_t nr, enum abi abi);	/* NULL: no row */
const struct sysdef *syscall_named(const char *name);			/* NULL: no row */

/*
 * Every row has an index, the nameless ones too: 0 .. syscall_count() - 1, the
 * same in every recording that this binary makes. Two rows may bear one name
 * ("clone", whose last arguments change places between architectures); they
 * then show their arguments the same way.
 */
unsigned	     syscall_count(void);
unsigned	     syscall_index(const struct sysdef *def);
const struct sysdef *syscall_at(unsigned index);

unsigned syscall_args(const struct sysdef *def);	/* how many it has: 0..6 */

/*
 * How many of them mean something in this call: open() without O_CREAT has no
 * mode, fcntl(F_GETFD) no third argument. At most syscall_args().
 */
unsigned syscall_args_used(const struct sysdef *def, const uint64_t *args);

/* Arguments. @value is the register as it was recorded. */
enum show	   syscall_arg_show(const struct sysdef *def, unsigned arg);
enum sys_take	   syscall_arg_take(const struct sysdef *def, unsigned arg);
bool		   syscall_arg_is_fd(const struct sysdef *def, unsigned arg);
/* What the kernel sees of the register: an int is cut to 32 bits and extended. */
uint64_t	   syscall_arg_value(const struct sysdef *def, unsigned arg, uint64_t value);

/*
 * An argument as text, of any kind: O_RDONLY|O_CLOEXEC, AT_FDCWD, SIGINT, 0644,
 * NULL, 0x7f0000001000, -1. @args are all six: some can only be read beside
 * another. What BPF took along is not asked; strings show their address.
 */
int syscall_arg_text(const struct sysdef *def, unsigned arg, uint64_t value, const uint64_t *args,
		     char *buf, size_t size);

/*
 * What BPF took along, as text without quotes: special characters escaped, "..."
 * at the end of one that is cut. A socket address reads 127.0.0.1:80, two file
 * descriptors [3, 4]. A text that could not be read is empty.
 */
int syscall_taken_text(const struct sysdef *def, const struct rec_text *text, char *buf, size_t size);

/* The texts behind a record, one by one: @last is NULL, then what was returned. NULL: no more. */
const struct rec_text *syscall_next_text(const char *texts, uint32_t text_len, const struct rec_text *last);

/*
 * An argument as a field of an event of tracefs: the type the kernel declares, more or less, a piece of the event's
 * print format, and the expressions it shows, each led by ", ". Returns -ENOSPC when one has no room.
 */
const char *syscall_arg_type(const struct sysdef *def, unsigned arg);
int syscall_arg_format(const struct sysdef *def, unsigned arg, char *fmt, size_t fmt_size,
		       char *expr, size_t expr_size);

/* Results: -ENOENT, 3, 0x7f0000001000. */
enum show   syscall_ret_show(const struct sysdef *def);
int	    syscall_ret_text(const struct sysdef *def, int64_t ret, char *buf, size_t size);
const char *errno_name(unsigned err);	/* 2: "ENOENT"; also the kernel's own: ERESTARTSYS; NULL: unknown */
const char *signal_name(unsigned sig);	/* 2: "SIGINT"; NULL: unknown */

/*
 * The whole call on one line: openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 3
 * @exit NULL: its end was not seen; the result is "?".
 */
int syscall_text(const struct rec_sys_enter *enter, const struct rec_sys_exit *exit, char *buf, size_t size);

/*
 * @len bytes of @text with everything a terminal or a reader would trip over
 * written as in C: \n, \t, \", \\, \0, octal for the rest. UTF-8 is not spared:
 * what is shown has one meaning. @is_cut adds "...".
 */
int text_escape(const void *text, size_t len, bool is_cut, char *buf, size_t size);

/*
 * Read a SET as strace's -e trace= takes it, into one bool per number of the
 * machine's own ABI. Words are parted by commas:
 *	openat		a name ("sys_openat" too)	?openat	  the same, no error if there is none
 *	%file		a class; see syscall_classes()	/^get	  names that match a POSIX extended expression
 *	all, none	all, none
 * and a leading '!' means all but these.
 *
 * Returns 0 or -EINVAL: then @bad_word is the word that is wrong and *@nearest
 * the name or class most like it, NULL if none is. -EINVAL with a *@nearest of
 * NULL and a word that begins with '/': not a regular expression.
 */
int syscall_set_parse(bool wanted[SYS_MAX], const char *set,
		      char *bad_word, size_t bad_size, const char **nearest);
int syscall_set_parse_abi(enum abi abi, bool wanted[SYS_MAX], const char *set,
			  char *bad_word, size_t bad_size, const char **nearest);

bool syscall_set_has_all(const char *set);	/* is one of its words "all"? Then it means calls without a row, too */

/* The classes, for --help: "%file %process ...". */
const char *syscall_classes(void);

/* What BPF is told of each call of the machine's own ABI. */
void syscall_plans(struct sys_plan plan[SYS_MAX], const bool wanted[SYS_MAX]);

#endif
