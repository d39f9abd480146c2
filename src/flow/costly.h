/*
 * costly.h - which functions' probes cost most: part of the tracker.
 */
#ifndef COSTLY_H
#define COSTLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COSTLY_TOP	5

struct func;

/* Of one function: calls that were recorded, and what their probes took of the program, estimated (sitecost.h). */
struct cost {
	uint64_t calls, ns;
};

struct costs {
	struct cost *func;	/* by number (rec_func.func); owned */
	size_t	     room;
};

/* One more call of @f, which has the number @id. Without memory it is not counted. */
void costs_add(struct costs *c, uint32_t id, const struct func *f, bool at_return);
void costs_free(struct costs *c);

struct costly {
	uint64_t ns;		/* of all functions */
	unsigned count;
	struct costly_func {
		char	    name[64];	/* cut, where it is longer */
		struct cost cost;
		bool	    is_small;	/* --no-dear leaves it out */
	} func[COSTLY_TOP];	/* dearest first */
};

/* Once more of one function, before or after others: @to keeps those that cost most. */
void costly_take(struct costly *to, const struct func *f, const struct cost *cost);

/* Names them, cut to @size. False, and @to is as it was: all cost no more than a tenth of @run_ns. */
bool costly_text(const struct costly *c, uint64_t run_ns, char *to, size_t size);

#endif
