/*
 * calls.h - syscalls as functions of a module that does not exist: the parts behind uf_calls_*().
 *
 *	args.c		how a call is shown: its payload, and which slot has the spec for it
 *	values.c	the values of an argument that have names
 *	usdt.c		USDT probes, which have slots too
 *	cuda.c		calls of the CUDA driver, which have a module of their own
 *	slots.c		the slots, and the files that tell a reader of them
 *
 * uftrace shows a function's arguments as the module's .dbg file says: a spec
 * per address, so one name may stand at many addresses with a spec each. A call
 * is put at the address whose spec fits the way it is to be shown: with three
 * arguments or four, AT_FDCWD or 5, a string or the address of one that could
 * not be read, a number or an errno. Such an address is called a slot; slots
 * are made when first needed.
 */
#ifndef CALLS_H
#define CALLS_H

#include "sink/uftrace/uftrace.h"
#include "syscall/syscall.h"

#define RESULT		6	/* stands behind the arguments */

/* How an argument or result is written. Its spec is in slots.c. */
enum format { F_NONE, F_DEC, F_HEX, F_STRING, F_NAMED, F_ERRNO, FORMATS };

/* A value that was seen, and how it is written. */
struct seen {
	uint64_t key;		/* the value and what its text depends on */
	bool	 is_used;
	uint8_t	 format;
	int64_t	 value;		/* as it is written */
	char	*text;		/* F_STRING: NULL is shown as NULL */
};

struct named {
	int32_t value;		/* the true one, if no other name has it and it fits */
	char   *text;
};

/* What was seen of one argument of one call. */
struct column {
	struct seen  *seen;	/* open addressing; a power of two */
	size_t	      seen_room, seen_count;
	struct named *named;	/* enumerators */
	size_t	      named_count, named_room;
	int32_t	      next_value;	/* for a name that cannot have its true value */
};

struct column *column_create(void);		/* NULL: no memory */
void column_destroy(struct column *col);

/* What is remembered under @key; NULL: nothing. */
const struct seen *column_find(const struct column *col, uint64_t key);

/* Remember how @value is written whose text is @text; that may be changed. NULL: no memory. */
const struct seen *column_add(struct column *col, uint64_t key, uint64_t value, char *text);

/* A syscall. */
struct info {
	const struct sysdef *def;
	unsigned       index;
	uint8_t	       args;
	uint8_t	       show[RESULT + 1];	/* enum show */
	struct column *column[RESULT + 1];	/* NULL: not needed so far */
	unsigned       slots;			/* made so far */
	uint64_t       last_key;		/* of the call before, and its slot */
	uint32_t       last_slot;
};

/* A slot's key: which call, how each of its arguments and its result is written. Of another function: its name, its spec. */
struct slot {
	uint64_t	   key;
	const struct info *info;	/* NULL: a function */
	char		  *name;	/* of a function */
	char		  *spec;	/* of its arguments; NULL: none */
	const char	  *result;	/* the same of its result; lent, lives for ever */
};

struct uf_calls {
	const struct about *about;
	const struct uf_unreal *where;
	struct column *dims;			/* grids and blocks: cuda.c; NULL: none yet */
	struct info *info;			/* by syscall_index() */
	struct info *by_nr[2][SYS_MAX];		/* [is_compat]: the same, asked for often */
	struct slot *slot;			/* slot n is slot[n - 1] */
	size_t	     slot_count, slot_room;
	uint32_t    *hash;			/* slots by key, open addressing; 0: none */
	size_t	     hash_size;
	size_t	     funcs;
	bool	     errno_seen[4096];
	bool	     has_new_slots, has_new_names;
};

/* How a call and its result are written, and which it is. Never 0. */
static inline uint64_t slot_key(const struct info *info, bool is_compat, const uint8_t format[RESULT + 1])
{
	uint64_t key = 0;

	for (unsigned i = 0; i <= RESULT; i++)
		key = key << 3 | format[i];
	return 1ull << 62 | (uint64_t)info->index << 22 | (uint64_t)is_compat << 21 | key;
}

static inline enum format slot_format(const struct slot *slot, unsigned i)
{
	return slot->key >> 3 * (RESULT - i) & 7;
}

static inline bool slot_is_compat(const struct slot *slot)
{
	return slot->key >> 21 & 1;
}

static inline size_t hash_key(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> 32;	/* Fibonacci hashing: keys differ in few bits */
}

uint32_t slot_find(const struct uf_calls *c, uint64_t key);	/* 0: none */
uint32_t slot_add(struct uf_calls *c, const struct slot *slot);	/* 0: no memory */
bool	 slot_may_be_added(const struct uf_calls *c, const struct info *info);
uint64_t slot_addr(const struct uf_calls *c, uint32_t slot);

/* The address of a function @name with arguments as @spec says, and @result, a constant; NULL: with none. 0: no memory, or too many. */
uint64_t slot_of_function(struct uf_calls *c, const char *name, const char *spec, const char *result);

#endif
