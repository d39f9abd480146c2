/*
 * argspec.h - FUNC@argN/FMT,... and FUNC@retval/FMT: what -A and -R ask for, in uftrace's grammar.
 */
#ifndef ARGSPEC_H
#define ARGSPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "funcargs.h"

struct arg_rule;
struct func;
struct image;

/* What every -A and -R has said, in their order. */
struct argspecs {
	struct arg_rule *rule;
	size_t		 count, room;
};

/*
 * Add what @text says, the value of -R if @is_result, else of -A: several functions are
 * parted by ';'. Returns 0; -EINVAL, with in @why one line that names the part of @text
 * that is wrong; or -ENOMEM.
 */
int  argspecs_add(struct argspecs *s, const char *text, bool is_result, char *why, size_t size);
void argspecs_release(struct argspecs *s);

/*
 * What is asked for of @f, a function of @img. False: nothing. As uftrace has it: arguments
 * come in the order in which they were named; of two forms of one argument the later
 * counts, but one by the function's name goes before one by a pattern.
 */
bool argspecs_find(const struct argspecs *s, struct func_args *ret, const struct image *img, const struct func *f);

/* Does any of them ask for what is in vector or x87 registers? */
bool argspecs_have_vectors(const struct argspecs *s);

/*
 * The same of specs that debug information gave, "arg1/i32,arg2/s", or a table has. Of
 * arguments those ahead of the first that is not built here. False: nothing.
 */
bool argspec_forms(struct func_args *ret, const struct func *f, const char *args, const char *result);

#endif
