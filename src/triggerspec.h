/*
 * triggerspec.h - FUNC@ACTION,...: what -T asks for, in uftrace's grammar.
 */
#ifndef TRIGGERSPEC_H
#define TRIGGERSPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "trigger.h"

struct triggerspec {
	char	*func;			/* FUNC or FUNC@LIB; owned */
	bool	 in, out, hide;		/* filter, notrace, hide: as -F, -N and -H */
	unsigned actions;		/* TRIGGER_* */
	unsigned depth;
	struct func_cond cond;		/* when all of that holds */
};

/*
 * Read one, of @len bytes. Returns 0; -EINVAL, with in @why one line that names what is
 * wrong; or -ENOMEM.
 */
int triggerspec_parse(struct triggerspec *ret, const char *text, size_t len, char *why, size_t size);

#endif
