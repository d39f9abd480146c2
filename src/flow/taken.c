/*
 * taken.c - copy first, then look: what is looked at stays as it is.
 */
#include "base.h"
#include "callring.h"
#include "flow/record.h"
#include "flow/round.h"
#include "flow/taken.h"
#include "record.h"

/* What kind it was may be what is garbled: then it counts as one of a task's life, which is missed most. */
static void count_left_out(struct tally *tally, const struct rec_hdr *rec, size_t len)
{
	bool has_kind = len >= sizeof(*rec) && rec->kind && rec->kind < REC_KINDS;

	tally->lost[has_kind ? record_kinds[rec->kind].class : CLASS_TASK]++;
}

void taken_unfinished(const void *data, size_t len, struct tally *unfinished)
{
	struct rec_hdr rec = {};

	memcpy(&rec, data, MIN(len, sizeof(rec)));
	count_left_out(unfinished, &rec, len);
}

int taken_sample(struct chunk *c, const void *data, size_t len, struct tally *garbled)
{
	struct rec_hdr *rec;

	if (len < sizeof(*rec) || len > UINT16_MAX) {
		count_left_out(garbled, NULL, 0);
		return 0;
	}
	rec = chunk_add(c, len);
	if (!rec)
		return -ENOMEM;
	memcpy(rec, data, len);
	if (rec->size != len || !record_is_sane(rec, len)) {
		count_left_out(garbled, rec, len);
		chunk_cut(c, len, 1);
		return 0;
	}
	chunk_note(c, rec->time);
	return 0;
}

/* Of nearly all records this tells that they are sane. */
static inline bool is_plain(const struct rec_func *r)
{
	return r->hdr.size == sizeof(*r) && (r->hdr.kind == REC_FUNC_ENTRY || r->hdr.kind == REC_FUNC_EXIT) &&
	       !(r->hdr.flags & REC_F_HELD);
}

/* Records that were copied from a ring, up to where it is being written. */
struct copied {
	uint32_t slots;			/* of the ring */
	uint32_t records, kept;		/* slots that the records fill */
};

/*
 * Copy the records from slot @at on that are whole, of @most slots. One that is not is being written: those behind
 * it wait, or it is passed over. The second slot of a record is whole when the first is; where that was left out it is
 * left out, too. A launch of which neither is written counts as two.
 */
static struct copied copy_whole(struct chunk *c, struct rec_func *to, const struct rec_func *slot, uint64_t mask,
				uint64_t at, uint32_t most, struct tally *garbled, struct tally *unfinished)
{
	struct copied n = {};

	while (n.slots < most) {
		const struct rec_func *r = &slot[(at + n.slots) & mask];
		uint32_t number = at + n.slots, commit = __atomic_load_n(&r->commit, __ATOMIC_ACQUIRE);
		struct rec_func *copy = &to[n.kept];
		uint32_t slots = 1;

		if (commit == CALLS_SECOND(number)) {
			n.slots++;
			continue;
		}
		if (commit != CALLS_WHOLE(number)) {
			if (!unfinished)
				break;
			unfinished->lost[CLASS_FUNCTION]++;
			n.slots++;
			continue;
		}
		*copy = *r;
		if (copy->hdr.size > sizeof(*copy) && n.slots + 1 < most) {
			copy[1] = slot[(at + n.slots + 1) & mask];
			slots = 2;
		}
		n.slots += slots;
		if (!is_plain(copy) && (copy->hdr.size != slots * sizeof(*copy) ||
					!record_is_sane(&copy->hdr, slots * sizeof(*copy)))) {
			count_left_out(garbled, &copy->hdr, sizeof(*copy));
			continue;
		}
		chunk_note(c, copy->hdr.time);
		n.kept += slots;
		n.records++;
	}
	return n;
}

void taken_calls(struct chunk *c, struct calls_head *ring, uint32_t slots, struct tally *garbled, struct tally *unfinished)
{
	const struct rec_func *slot = (const void *)(ring + 1);
	uint64_t at = ring->tail, end = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	uint32_t most = MIN(end - at, slots);
	struct rec_func *to = chunk_add_many(c, most * sizeof(*to), most);
	struct copied n;

	if (!to)
		return;				/* no memory now: they stay in their ring */
	n = copy_whole(c, to, slot, slots - 1, at, most, garbled, unfinished);
	chunk_cut(c, (most - n.kept) * sizeof(*to), most - n.records);
	__atomic_store_n(&ring->tail, at + n.slots, __ATOMIC_RELEASE);
}
