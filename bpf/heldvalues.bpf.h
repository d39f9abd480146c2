/*
 * heldvalues.bpf.h - the arguments of calls that are held back: -A, -R and --auto-args with -t and -C.
 *
 * They are read when the call begins, for what they point to may have changed when it is told. A task has
 * one store for them, made when a call with arguments is first held. Values lie there in the order of the
 * calls, and what was told is needed no more: so the store is a ring, from where those of the outermost call
 * that is not told begin to where those of the innermost end. A call keeps where its own end (HELD_END of
 * its flags); they begin where those of its caller end.
 */
#ifndef HELDVALUES_BPF_H
#define HELDVALUES_BPF_H

#include "funcargs.h"
#include "held.bpf.h"

#define HELD_WORDS	3072u	/* of the store; struct held_values then fits into what the kernel allocates in one piece */

/* In held.flags, above those that are there anyway. */
#define HELD_VALUES	0x40000u	/* its values are in the store */
#define HELD_UNKEPT	0x80000u	/* they are not: it was full */
#define HELD_END_SHIFT	20		/* in words, below HELD_WORDS */

struct held_record {
	struct rec_func_args rec;
	char		     values[VALUES_MAX + sizeof(__u64)];	/* the time it began comes last */
};

struct held_values {
	struct room	   room;
	struct held_record told[2];	/* a record is put together here: by the task, and by who ends the recording */
	char		   bytes[8 * HELD_WORDS + VALUES_MAX];	/* those that begin before the ring's end go on behind it */
};

ROOMS(held_values, struct held_values);

extern const volatile bool values_are_held;	/* arguments are asked for, too */

static __always_inline struct held *held_at(struct held_calls *h, __u64 i)
{
	return &h->call[i & (HELD_MAX - 1)];
}

/* Where the values of the calls before @i end. */
static __always_inline __u32 values_end(struct held_calls *h, __u64 i)
{
	return i ? held_at(h, i - 1)->flags >> HELD_END_SHIFT : 0;
}

/* Words from @from to @to in the ring. */
static __always_inline __u32 words_between(__u32 from, __u32 to)
{
	return to >= from ? to - from : to + HELD_WORDS - from;
}

#endif
