/*
 * handles.c - a hash table with open addressing: handles are pointers, and numbered by nobody.
 */
#include "base.h"
#include "cuda/handles.h"

static size_t home_of(const struct handles *h, uint64_t number)
{
	return (number * 0x9e3779b97f4a7c15ull >> 32) & (h->room - 1);
}

/* Where @number is, or would be. */
static struct handle *find(const struct handles *h, uint64_t number)
{
	size_t at = home_of(h, number);

	while (h->place[at].number && h->place[at].number != number)
		at = (at + 1) & (h->room - 1);
	return &h->place[at];
}

void *handles_get(const struct handles *h, uint64_t number)
{
	return number && h->room ? find(h, number)->is : NULL;
}

static int widen(struct handles *h)
{
	struct handles more = { .room = h->room ? 2 * h->room : 64, .count = h->count };

	more.place = calloc(more.room, sizeof(*more.place));
	if (!more.place)
		return -ENOMEM;
	for (size_t i = 0; i < h->room; i++)
		if (h->place[i].number)
			*find(&more, h->place[i].number) = h->place[i];
	free(h->place);
	*h = more;
	return 0;
}

int handles_put(struct handles *h, uint64_t number, void *is)
{
	struct handle *p;

	if (!number)
		return 0;
	if (2 * (h->count + 1) > h->room && widen(h))
		return -ENOMEM;
	p = find(h, number);
	h->count += !p->number;
	*p = (struct handle){ number, is };
	return 0;
}

/* What stood behind the place that becomes free moves up, unless its home lies in between. */
static void close_gap(struct handles *h, size_t gap)
{
	for (size_t at = (gap + 1) & (h->room - 1); h->place[at].number; at = (at + 1) & (h->room - 1)) {
		size_t home = home_of(h, h->place[at].number);

		if (((at - home) & (h->room - 1)) < ((at - gap) & (h->room - 1)))
			continue;
		h->place[gap] = h->place[at];
		gap = at;
	}
	h->place[gap] = (struct handle){ 0, NULL };
}

void *handles_take(struct handles *h, uint64_t number)
{
	struct handle *p = number && h->room ? find(h, number) : NULL;
	void *is = p ? p->is : NULL;

	if (p && p->number) {
		h->count--;
		close_gap(h, p - h->place);
	}
	return is;
}

void handles_clear(struct handles *h, void (*fn)(void *is))
{
	for (size_t i = 0; i < h->room && fn; i++)
		if (h->place[i].is)
			fn(h->place[i].is);
	free(h->place);
	*h = (struct handles){};
}
