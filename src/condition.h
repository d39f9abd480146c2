/*
 * condition.h - FUNC@if:argN==V: on which arguments it hangs whether a rule means a call, in uftrace's grammar.
 */
#ifndef CONDITION_H
#define CONDITION_H

#include <stddef.h>

#include "trigger.h"

#define CONDITION_WORD	"if:"	/* what one begins with */

/*
 * Read @item, "if:" included: argN, an operator, a number. The argument may have a format
 * and a size as -A has it, arg1/i32 or arg1/u8; without it, all of its register counts, as
 * in uftrace. Returns 0, or -EINVAL with in @why one line that names what is wrong.
 */
int condition_parse(struct func_cond *ret, const char *item, char *why, size_t size);

/*
 * Of @text, @len bytes, "FUNC@ITEM,...": if one of the items is a condition, in *@rest all
 * the others, owned by the caller; else NULL there. Returns as condition_parse() does, or -ENOMEM.
 */
int condition_split(struct func_cond *ret, char **rest, const char *text, size_t len, char *why, size_t size);

#endif
