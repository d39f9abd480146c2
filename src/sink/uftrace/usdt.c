/*
 * usdt.c - a hit of a USDT probe: a function of our own module that is entered and left at one time.
 *
 * What follows its record has a length that the reader takes from the function's
 * spec. So a probe has as many functions of its name as its arguments have forms: one
 * that could not be read is shown as the character '?'.
 */
#include "base.h"
#include "sink/uftrace/calls.h"

#define SPEC_MAX	(ARGS_MAX * 16)

static bool is_unknown(const struct rec_value *v)
{
	return v->flags & TEXT_FAULT && v->format != VALUE_STRING;
}

/* Adds its part of the spec. */
static size_t put_spec(char *to, size_t room, const struct rec_value *v)
{
	unsigned bits = v->size * 8;

	if (is_unknown(v))
		return snprintf(to, room, "arg%u/c", v->index);
	switch (v->format) {
	case VALUE_STRING:
		return snprintf(to, room, "arg%u/s", v->index);
	case VALUE_FLOAT:
		return snprintf(to, room, "fparg%u/%u", v->index, bits);
	case VALUE_CHAR:
		return snprintf(to, room, "arg%u/c", v->index);
	case VALUE_SIGNED:
		return snprintf(to, room, "arg%u/i%u", v->index, bits);
	case VALUE_UNSIGNED:
		return snprintf(to, room, "arg%u/u%u", v->index, bits);
	default:
		return snprintf(to, room, "arg%u/x%u", v->index, bits);
	}
}

static uint8_t *put_value(uint8_t *at, const struct rec_value *v, unsigned *shown)
{
	if (!is_unknown(v))
		return uf_value_put(at, v, shown);
	memcpy(at, "?\0\0", 4);
	return at + 4;
}

void uf_calls_probe(struct uf_calls *c, const struct rec_usdt *rec, uint64_t *addr, uint8_t *payload, size_t *len)
{
	const char *at = rec->values, *end = at + rec->values_len;
	uint8_t *to = payload;
	char spec[SPEC_MAX] = "";
	size_t n = 0;
	unsigned shown = 0, count = 0;

	for (; at < end && count < ARGS_MAX; count++) {
		const struct rec_value *v = (const void *)at;

		n += count ? snprintf(spec + n, sizeof(spec) - n, ",") : 0;
		n += put_spec(spec + n, sizeof(spec) - n, v);
		to = put_value(to, v, &shown);
		at += sizeof(*v) + v->room;
	}
	*len = ROUND_UP((size_t)(to - payload), 8);
	memset(to, 0, *len - (to - payload));
	*addr = slot_of_function(c, rec->name, count ? spec : NULL, NULL);
	if (*addr)
		return;
	*len = 0;				/* where there is no room for its spec */
	*addr = uf_calls_named(c, rec->name);
}
