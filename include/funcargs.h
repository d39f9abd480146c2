/*
 * funcargs.h - which arguments and results of a function are recorded. Shared with BPF.
 */
#ifndef FUNCARGS_H
#define FUNCARGS_H

#include "record.h"

#define ARGS_MAX	12	/* arguments of one function */
#define ARG_PLACES	64	/* N of argN is below, and so are places in registers and on the stack */

/* Bytes of a string that are shown at most, the last three as dots if it is not shorter: as uftrace cuts it. */
#define VALUE_STRING_MAX	98
#define VALUE_ROOM_STRING	104
#define VALUE_ROOM_NUMBER	8
#define VALUE_ROOM_FLOAT	16
#define VALUE_STRUCT_MAX	64
#define TYPE_NAME_MAX		32	/* its NUL included */

/*
 * Where a value is found: from 1 on registers in the order of the calling convention, then
 * words of the stack; and these.
 */
#define PLACE_VECTOR	128	/* + N: vector register N */
#define PLACE_VECTORS	16

/* What the program passes on to the reader of a value is in struct rec_value; here is where it is found. */
struct arg_form {
	__u8	index;		/* as rec_value.index */
	__u8	place;
	__u8	second;		/* of a structure in two registers: the other one; 0: in one, or on the stack */
	__u8	format;		/* enum value_format */
	__u8	size;		/* as rec_value.size; of a structure, how many bytes it has */
	__u8	flags;		/* FORM_* */
	__u16	at;		/* where its struct rec_value begins in rec_func_args.values */
	__u32	type;		/* argtype_of() its name; 0: none */
};

#define FORM_LIBCXX	1u	/* a std::string of libc++, not of libstdc++ */

/* One per function that an option names. */
struct func_args {
	__u16		count;		/* of arg[] */
	__u16		vectors;	/* VECTORS_*: vector or x87 registers are asked for */
	__u32		bytes;		/* of the values of an entry */
	__u32		result_bytes;	/* of the value of an exit; 0: none is recorded */
	struct arg_form	result;
	struct arg_form	arg[ARGS_MAX];	/* in the order they are shown in */
};

#define VECTORS_ENTRY	1u
#define VECTORS_EXIT	2u

#define VALUES_MAX	(ARGS_MAX * (sizeof(struct rec_value) + VALUE_ROOM_STRING))

#endif
