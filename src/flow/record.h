/*
 * record.h - the record table: one row per kind.
 */
#ifndef FLOW_RECORD_H
#define FLOW_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../include/record.h"

#define LOST_MAX	(1ull << 40)	/* more records than can be lost; sinks write lines in proportion */

struct record_kind {
	const char *name;
	uint16_t    size;	/* of its struct: no record of this kind is smaller */
	uint16_t    class;	/* enum rec_class: what its loss is counted under */
};

extern const struct record_kind record_kinds[REC_KINDS];

/* When the call began whose entry @rec is, a sane record: its time, or earlier for one that was held back. */
uint64_t record_began(const struct rec_hdr *rec);

/* Is @rec, of which @room bytes can be read, whole: a known kind, of a sane size, its texts inside it? */
bool record_is_sane(const struct rec_hdr *rec, size_t room);

#endif
