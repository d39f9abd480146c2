/*
 * funcargs.h - which arguments and results of a function are recorded. Shared with BPF.
 */
#ifndef FUNCARGS_H
#define FUNCARGS_H

#include "record.h"

#define ARGS_MAX	12	/* arguments of one function */
#define ARG_PLACES	64	/* places are below */

/* Bytes of a string that are shown at most, the last three as dots if it is not shorter: as uftrace cuts it. */
#define VALUE_STRING_MAX	98
#define VALUE_ROOM_STRING	104
#define VALUE_ROOM_NUMBER	8

/* What the program passes on to the reader of a value is in struct rec_value; here is where it is found. */
struct arg_form {
	__u8	index;		/* N of argN; 0: the result */
	__u8	place;		/* from 1 on: registers in the order of the calling convention, then words of the stack */
	__u8	format;		/* enum value_format */
	__u8	size;		/* bytes that are shown */
	__u32	at;		/* where its struct rec_value begins in rec_func_args.values */
};

/* One per function that an option names. */
struct func_args {
	__u32		count;		/* of arg[] */
	__u32		bytes;		/* of the values of an entry */
	__u32		result_bytes;	/* of the value of an exit; 0: none is recorded */
	__u32		pad;
	struct arg_form	result;
	struct arg_form	arg[ARGS_MAX];	/* in the order they are shown in */
};

#define VALUES_MAX	(ARGS_MAX * (sizeof(struct rec_value) + VALUE_ROOM_STRING))

#endif
