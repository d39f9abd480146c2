/*
 * filter.h - which functions are recorded: --hide, --filter, --notrace, --trigger, --loc-filter, and what --list shows.
 *
 * uftrace's meaning. Rules are FUNC[@LIB] patterns in the order given; of those of
 * --filter and --notrace that match a function the last one counts.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>

struct config;
struct filter;
struct func;
struct func_trigger;
struct image;

/* What the rules say of a function: bits. */
#define FILTER_HIDE	1u	/* not shown itself; what it calls is */
#define FILTER_IN	2u	/* it and what it calls are recorded, the rest is not */
#define FILTER_OUT	4u	/* neither it nor what it calls is recorded; together with FILTER_IN only with FILTER_IF */
#define FILTER_TRIGGER	8u	/* calls of it set something off: filter_trigger(), which has all that is said of it */
#define FILTER_CALLER	16u	/* it is recorded with those that called it, of its file nothing else */
#define FILTER_IF	32u	/* of the other bits some hold for some calls only; with FILTER_TRIGGER */
#define FILTER_AWAY	64u	/* --loc-filter takes it out: with FILTER_HIDE, and of the others -F and -N only */

int  filter_create(struct filter **ret);
void filter_destroy(struct filter *f);

/*
 * An option: @name as in the table of options, @word as typed, @value lent as long as the filter
 * lives; NULL: none was given. Returns 0 or -EINVAL, having said why.
 */
int  filter_option(struct filter *f, const char *name, const char *word, const char *value);

/* All options have been given: compile the patterns. Returns as filter_option() does. */
int  filter_finish(struct filter *f);

/* Is any rule given? */
bool filter_is_given(const struct filter *f);

/* FILTER_* of @fn, a function of @img; remembers which rules matched something. */
unsigned filter_of(struct filter *f, const struct image *img, const struct func *fn);

/* All that the rules say of calls of @fn, for FILTER_TRIGGER. Returns 0, or -E2BIG: they are too many. */
int filter_trigger(const struct filter *f, struct func_trigger *ret, const struct image *img, const struct func *fn);

/* TRIGGER_* of all rules. */
unsigned filter_actions(const struct filter *f);

/* Does any of the rules hang on arguments? */
bool filter_has_conditions(const struct filter *f);

/* Does it hang on where the source of a function is: --loc-filter? */
bool filter_has_places(const struct filter *f);

/* ... so that what is of no known place is left out? */
bool filter_names_places(const struct filter *f);

/* Does --filter mean a function of @img, be it one that a later --notrace takes back? Then the rest is not recorded. */
bool filter_selects(const struct filter *f, const struct image *img);

/* Must calls be asked about as they happen: is there more than what decides whether a function is probed? */
bool filter_in_kernel(const struct config *cfg);

/* Is it for more than how often they come, --rate-limit? */
bool filter_judges(const struct config *cfg);

/* Are calls held back until it is known whether they are recorded: --time-filter, --caller-filter? */
bool filter_holds(const struct config *cfg);

/* Does --caller-filter mean a function of @img? */
bool filter_wants_callers(const struct filter *f, const struct image *img);

/* Is --caller-filter given? System calls are not recorded then: none is such a function. */
bool filter_has_callers(const struct filter *f);

/*
 * Where filter_selects(): can only functions with FILTER_IN appear, and whether they do hangs on no other? So
 * with --depth 1, where what they call is cut off.
 */
bool filter_is_flat(const struct config *cfg);

/* Is it one of those that --list is to show? */
bool filter_lists(const struct filter *f, const struct image *img, const struct func *fn);

/* Warns of each rule that has matched no function. */
void filter_summary(const struct filter *f);

#endif
