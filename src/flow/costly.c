/*
 * costly.c - calls are counted by function, and the dearest named when the recording is over.
 */
#include "base.h"
#include "flow/costly.h"
#include "image.h"
#include "sitecost.h"

#define SHARE	10		/* of the run: what is less is not spoken of */

static bool make_room(struct costs *c, uint32_t id)
{
	size_t room = MAX((size_t)id + 1, c->room * 2);
	struct cost *more = realloc(c->func, room * sizeof(*more));

	if (!more)
		return false;
	memset(more + c->room, 0, (room - c->room) * sizeof(*more));
	c->func = more;
	c->room = room;
	return true;
}

void costs_add(struct costs *c, uint32_t id, const struct func *f, bool at_return)
{
	if (id >= c->room && !make_room(c, id))
		return;
	c->func[id].calls++;
	c->func[id].ns += site_cost(f->site_class, at_return);
}

void costs_free(struct costs *c)
{
	free(c->func);
	*c = (struct costs){ 0 };
}

void costly_take(struct costly *to, const struct func *f, const struct cost *cost)
{
	unsigned at = to->count;

	to->ns += cost->ns;
	if (at == COSTLY_TOP && cost->ns <= to->func[--at].cost.ns)
		return;
	for (; at && to->func[at - 1].cost.ns < cost->ns; at--)
		to->func[at] = to->func[at - 1];
	to->func[at] = (struct costly_func){ .cost = *cost, .is_small = f->flags & FUNC_TINY };
	snprintf(to->func[at].name, sizeof(to->func[at].name), "%s", func_plain(f));
	to->count = MIN(to->count + 1, (unsigned)COSTLY_TOP);
}

bool costly_text(const struct costly *c, uint64_t run_ns, char *to, size_t size)
{
	bool has_small = false;
	size_t len = 0;

	if (c->ns <= run_ns / SHARE)
		return false;
	len += snprintf(to, size, "probes cost some %.2f s of it, most:", c->ns / 1e9);
	for (unsigned i = 0; i < c->count && len < size; i++) {
		const struct costly_func *f = &c->func[i];

		has_small |= f->is_small;
		len += snprintf(to + len, size - len, "%s %s %.2f s (%lu calls)", i ? "," : "", f->name, f->cost.ns / 1e9,
				f->cost.calls);
	}
	if (len < size)
		snprintf(to + len, size - len, "; -H FUNC leaves one out%s",
			 has_small ? ", --no-dear those that are small and single-stepped" : "");
	return true;
}
