/*
 * pages.c - a CPU's events into sub-buffers, as the kernel's ring buffer has them.
 *
 * A page: u64 time of its first event, u64 with the bytes of its events and what was lost before them, the
 * events, and the number that was lost. An event: 5 bits of type, 27 bits of ns since the one before,
 * data; what is longer than that ago has a TIME_EXTEND before it.
 * A loss is told on a page's first event, so it begins a page. Pages reach the spool file whole;
 * compressed, ten to a chunk: u32 compressed bytes, u32 bytes, data.
 */
#include "base.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"

#define PAGE_HEAD	16
#define LOST_BEFORE	(1ull << 31)
#define LOST_COUNTED	(1ull << 30)
#define COUNT_BYTES	8
#define WORD		4
#define DATA_MAX	28u		/* words of data that the type itself tells */
#define TIME_EXTEND	30
#define DELTA_BITS	27
#define CHUNK_PAGES	10

struct td_lane {
	const struct td_codec *codec;
	struct out *out;
	struct td_stat stat;
	int	  (*describe)(void *ctx);	/* NULL: nobody has to */
	void	   *ctx;
	uint64_t    last;		/* time of the latest event */
	uint64_t    lost;		/* before the page that is open, or the next one */
	uint32_t    used;		/* bytes of the page's events; 0: none is open */
	uint32_t    pages;		/* in the chunk that is gathered */
	uint8_t	   *packed;		/* room for one, compressed */
	size_t	    packed_room;
	uint8_t	    chunk[CHUNK_PAGES * TD_PAGE];	/* its pages, and the one that is open */
};

DEFINE_CLEANUP(td_lane_destroy, struct td_lane *)

void td_lane_set_hooks(struct td_lane *l, int (*describe)(void *ctx), void (*is_full)(void *ctx), void *ctx)
{
	l->describe = describe;
	l->ctx = ctx;
	out_set_aside(l->out, sizeof(l->chunk) + TD_PAGE, is_full, ctx);
}

int td_lane_create(struct td_lane **ret, int spoolfd, unsigned cpu, const struct td_codec *codec)
{
	__cleanup(td_lane_destroyp) struct td_lane *l = calloc(1, sizeof(*l));
	char name[32];
	int err;

	if (!l)
		return -ENOMEM;
	l->codec = codec;
	if (codec->bound) {
		l->packed_room = 2 * WORD + codec->bound(sizeof(l->chunk));
		l->packed = malloc(l->packed_room);
		if (!l->packed)
			return -ENOMEM;
	}
	snprintf(name, sizeof(name), "cpu%u", cpu);
	err = out_create(&l->out, spoolfd, name);
	if (!err)
		*ret = TAKE(l);
	return err;
}

void td_lane_destroy(struct td_lane *l)
{
	if (!l)
		return;
	out_destroy(l->out);
	free(l->packed);
	free(l);
}

const struct td_stat *td_lane_stat(const struct td_lane *l)
{
	return &l->stat;
}

uint64_t td_lane_bytes(const struct td_lane *l)
{
	return out_tell(l->out);
}

static void put_u32(uint8_t *to, uint32_t v)
{
	memcpy(to, &v, sizeof(v));
}

static void put_u64(uint8_t *to, uint64_t v)
{
	memcpy(to, &v, sizeof(v));
}

/* The chunk's whole pages to the file. */
static int write_chunk(struct td_lane *l)
{
	size_t len = (size_t)l->pages * TD_PAGE, n;
	int err = len && l->describe ? l->describe(l->ctx) : 0;

	l->pages = 0;			/* also of one that has no place: there is room for the next */
	if (err || !len)
		return err;
	if (!l->codec->pack) {
		out_bytes(l->out, l->chunk, len);
	} else {
		n = l->codec->pack(l->packed + 2 * WORD, l->packed_room - 2 * WORD, l->chunk, len);
		if (!n)
			return -ENOMEM;
		put_u32(l->packed, n);
		put_u32(l->packed + WORD, len);
		out_bytes(l->out, l->packed, 2 * WORD + n);
	}
	return out_error(l->out);
}

static uint8_t *open_page(struct td_lane *l)
{
	return l->chunk + (size_t)l->pages * TD_PAGE;
}

static int close_page(struct td_lane *l)
{
	uint8_t *page = open_page(l);
	uint64_t commit = l->used;

	if (!l->used)
		return 0;
	if (l->lost) {
		commit |= LOST_BEFORE | LOST_COUNTED;
		put_u64(page + PAGE_HEAD + l->used, l->lost);
	}
	put_u64(page + 8, commit);
	l->used = 0;
	l->lost = 0;
	l->pages++;
	return l->pages == CHUNK_PAGES ? write_chunk(l) : 0;
}

static uint32_t room_of_page(const struct td_lane *l)
{
	return TD_PAGE - PAGE_HEAD - (l->lost ? COUNT_BYTES : 0);
}

static uint32_t put_event(uint8_t *to, uint64_t delta, const struct td_payload *p)
{
	uint32_t padded = ROUND_UP(p->len, WORD), at = 0;
	bool is_short = padded && padded <= DATA_MAX * WORD;

	if (delta >> DELTA_BITS) {
		put_u32(to, (uint32_t)(delta & ((1u << DELTA_BITS) - 1)) << 5 | TIME_EXTEND);
		put_u32(to + WORD, delta >> DELTA_BITS);
		at = 2 * WORD;
		delta = 0;
	}
	put_u32(to + at, (uint32_t)delta << 5 | (is_short ? padded / WORD : 0));
	at += WORD;
	if (!is_short) {
		put_u32(to + at, padded + WORD);
		at += WORD;
	}
	memcpy(to + at, p->bytes, p->len);
	memset(to + at + p->len, 0, padded - p->len);
	return at + padded;
}

static uint32_t event_size(uint64_t delta, const struct td_payload *p)
{
	uint32_t padded = ROUND_UP(p->len, WORD);

	return (delta >> DELTA_BITS ? 2 * WORD : 0) + WORD + (padded && padded <= DATA_MAX * WORD ? 0 : WORD) + padded;
}

int td_lane_add(struct td_lane *l, uint64_t time, const struct td_payload *p)
{
	uint64_t delta;
	int err = 0;

	time = MAX(time, l->last);
	delta = l->used ? time - l->last : 0;
	if (l->used && event_size(delta, p) > room_of_page(l) - l->used)
		err = close_page(l);
	if (err)
		return err;
	if (!l->used) {
		memset(open_page(l), 0, TD_PAGE);
		put_u64(open_page(l), time);
		delta = 0;
	}
	l->used += put_event(open_page(l) + PAGE_HEAD + l->used, delta, p);
	l->last = l->stat.last = time;
	if (!l->stat.entries++)
		l->stat.first = time;
	return 0;
}

int td_lane_lost(struct td_lane *l, uint64_t count)
{
	int err = close_page(l);

	l->lost += count;
	l->stat.lost += count;
	return err;
}

int td_lane_flush(struct td_lane *l)
{
	int err = close_page(l);

	err = err ?: write_chunk(l);
	return err ?: out_flush(l->out);
}
