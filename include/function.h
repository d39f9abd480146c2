/*
 * function.h - the cookie a function probe carries. Shared with BPF.
 */
#ifndef FUNCTION_H
#define FUNCTION_H

#define COOKIE_FUNC	0xffffffffull	/* rec_func.func */
#define COOKIE_SP_SHIFT	32		/* bytes between the stack pointer at the site and at the function's start */
#define COOKIE_SP	0xffffffull
#define COOKIE_NO_EXIT	(1ull << 63)	/* the return is not probed */

#endif
