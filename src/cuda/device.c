/*
 * device.c - calls wait for their number, times for their call.
 *
 * A call's number comes after it has begun, often long after it has returned, and a kernel's time may come before the
 * number of its call does. All that waits is bounded: the oldest is given up.
 *
 * The kernels of a graph have one number. Their nodes are numbered as they were made, which is the order that
 * the graph's launches are known in: when as many have come as there are launches, each is that of its place. Their
 * shapes have to agree, else none is taken to be known.
 */
#include "base.h"
#include "cuda/device.h"
#include "cuda/handles.h"
#include "gputime.h"

#define CALLS_MAX	65536u	/* of a thread, without a number */
#define NUMBERS_MAX	65536u	/* of a process, a power of two */
#define EARLY_MAX	262144u	/* times of a process without a call */

struct awaited {
	uint64_t	    seq;
	struct cuda_kernel *kernel;
	uint32_t	    grid[3], block[3];
};

/* A call that puts the device to work. */
struct work {
	uint64_t	  entry;
	uint64_t	  stream;
	uint32_t	  tid;
	size_t		  launches;
	struct awaited	 *launch;	/* owned */
	struct cuda_time *time;		/* owned: kernels of a group, until all have come */
	size_t		  times;
	bool		  is_told;	/* they had come */
};

struct slot {
	uint64_t     entry, ret;	/* ret 0: not seen (yet) */
	struct work *work;		/* owned; NULL: it has its number, or has put nothing to work */
};

/* The calls of a thread, in order; those before head are gone. */
struct lane {
	uint32_t     tid;
	struct slot *slot;
	size_t	     head, count, room;
};

struct early {
	struct cuda_time time;
	struct early	*next;
};

struct cuda_device {
	struct handles	       lanes;		/* by thread: struct lane */
	struct handles	       numbered;	/* struct work */
	uint32_t	      *number;		/* the last NUMBERS_MAX of them, in a ring */
	uint64_t	       numbers;
	struct handles	       early;		/* struct early, by number, the latest first */
	size_t		       early_count;
	struct gputime_counts *counts;
};

int device_create(struct cuda_device **ret, struct gputime_counts *counts)
{
	struct cuda_device *d = calloc(1, sizeof(*d));

	if (d)
		d->number = calloc(NUMBERS_MAX, sizeof(*d->number));
	if (!d || !d->number) {
		free(d);
		return -ENOMEM;
	}
	d->counts = counts;
	*ret = d;
	return 0;
}

static void work_free(void *work)
{
	struct work *w = work;

	if (!w)
		return;
	free(w->launch);
	free(w->time);
	free(w);
}

static void lane_free(void *lane)
{
	struct lane *l = lane;

	for (size_t i = l->head; i < l->count; i++)
		work_free(l->slot[i].work);
	free(l->slot);
	free(l);
}

static void early_free(void *early)
{
	struct early *e = early;

	while (e)
		free(({ struct early *this = e; e = e->next; this; }));
}

void device_destroy(struct cuda_device *d)
{
	if (!d)
		return;
	handles_clear(&d->lanes, lane_free);
	handles_clear(&d->numbered, work_free);
	handles_clear(&d->early, early_free);
	free(d->number);
	free(d);
}

/* ---- calls ---- */

static bool puts_to_work(const struct cuda_call *c)
{
	switch (c->fn->does) {
	case CUDA_DOES_LAUNCH: case CUDA_DOES_LAUNCH_EX: case CUDA_DOES_LAUNCH_MULTI: case CUDA_DOES_LAUNCH_GRID:
	case CUDA_DOES_GRAPH_LAUNCH:
		return true;
	case CUDA_DOES_MEMORY:
		return (c->memory >= CUDA_MEM_HTOD && c->memory <= CUDA_MEM_SET) || c->memory >= CUDA_MEM_PEER;
	default:
		return false;
	}
}

static struct work *work_of(const struct cuda_call *c)
{
	struct work *w = calloc(1, sizeof(*w));

	if (w && c->launches)
		w->launch = calloc(c->launches, sizeof(*w->launch));
	if (!w || (c->launches && !w->launch)) {
		free(w);
		return NULL;
	}
	w->entry = c->entry;
	w->stream = c->stream;
	w->tid = c->tid;
	w->launches = c->launches;
	for (size_t i = 0; i < c->launches; i++) {
		struct awaited *a = &w->launch[i];

		*a = (struct awaited){ .seq = c->launch[i].seq, .kernel = c->launch[i].kernel };
		memcpy(a->grid, c->launch[i].grid, sizeof(a->grid));
		memcpy(a->block, c->launch[i].block, sizeof(a->block));
	}
	return w;
}

static struct lane *lane_of(struct cuda_device *d, uint32_t tid)
{
	struct lane *l = handles_get(&d->lanes, tid) ?: calloc(1, sizeof(*l));

	if (!l || l->tid == tid)
		return l;
	l->tid = tid;
	if (!handles_put(&d->lanes, tid, l))
		return l;
	free(l);
	return NULL;
}

static void drop_first(struct lane *l)
{
	work_free(l->slot[l->head++].work);
}

/* What has its number makes room, and what is too old. */
static void make_room(struct lane *l)
{
	while (l->head < l->count && (l->count - l->head >= CALLS_MAX || (!l->slot[l->head].work && l->count - l->head > 1)))
		drop_first(l);
	if (l->head < l->count / 2 || l->count < l->room)
		return;
	memmove(l->slot, l->slot + l->head, (l->count - l->head) * sizeof(*l->slot));
	l->count -= l->head;
	l->head = 0;
}

int device_called(struct cuda_device *d, const struct cuda_call *c)
{
	struct lane *l;
	struct work *w;

	if (!puts_to_work(c))
		return 0;
	l = lane_of(d, c->tid);
	if (!l)
		return -ENOMEM;
	make_room(l);
	if (grow(&l->slot, &l->room, l->count, sizeof(*l->slot)))
		return -ENOMEM;
	w = c->is_captured ? NULL : work_of(c);		/* it stands there so that its number is not another's */
	if (!w && !c->is_captured)
		return -ENOMEM;
	l->slot[l->count++] = (struct slot){ .entry = c->entry, .work = w };
	return 0;
}

/* The last that began not after @time; NULL: none that is remembered. */
static struct slot *slot_at(const struct lane *l, uint64_t time)
{
	size_t low = l->head, high = l->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (l->slot[mid].entry <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low > l->head ? &l->slot[low - 1] : NULL;
}

void device_returned(struct cuda_device *d, const struct cuda_call *c)
{
	const struct lane *l = puts_to_work(c) ? handles_get(&d->lanes, c->tid) : NULL;
	struct slot *s = l ? slot_at(l, c->entry) : NULL;

	if (s && s->entry == c->entry)
		s->ret = c->ret;
}

/* ---- times ---- */

static bool is_kernel(const struct cuda_time *t)
{
	return t->kind == CUDA_TIME_KERNEL;
}

/* @w NULL: its call is not known; @a NULL: nor its launch. */
static int tell(struct cuda_process *p, const struct cuda_time *t, const struct work *w, const struct awaited *a,
		device_fn fn, void *ctx)
{
	struct gputime_counts *n = p->device->counts;
	struct cuda_device_time told = {
		.process = p, .time = t, .seq = a ? a->seq : CUDA_NO_SEQ, .kernel = a ? a->kernel : NULL,
		.entry = w ? w->entry : 0, .tid = w ? w->tid : 0, .stream = w ? w->stream : 0,
	};

	n->kernels += is_kernel(t);
	n->copies += !is_kernel(t);
	n->matched += is_kernel(t) && a;
	n->matched_copies += !is_kernel(t) && w;
	return fn(ctx, &told);
}

static bool is_like(const struct cuda_time *t, const struct awaited *a)
{
	return !memcmp(t->grid, a->grid, sizeof(a->grid)) && !memcmp(t->block, a->block, sizeof(a->block));
}

static int by_node(const void *a, const void *b)
{
	const struct cuda_time *x = a, *y = b;

	if (x->graph_node != y->graph_node)
		return x->graph_node < y->graph_node ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

static int tell_group(struct cuda_process *p, struct work *w, device_fn fn, void *ctx)
{
	bool are_like = w->times == w->launches;
	int err = 0;

	qsort(w->time, w->times, sizeof(*w->time), by_node);
	for (size_t i = 0; i < w->times && are_like; i++)
		are_like = is_like(&w->time[i], &w->launch[i]);
	if (!are_like && w->times == w->launches)
		p->device->counts->unlike += w->times;
	for (size_t i = 0; i < w->times && !err; i++)
		err = tell(p, &w->time[i], w, are_like ? &w->launch[i] : NULL, fn, ctx);
	w->times = 0;
	w->is_told = true;
	return err;
}

static int add_to_group(struct cuda_process *p, struct work *w, const struct cuda_time *t, device_fn fn, void *ctx)
{
	if (!w->time)
		w->time = calloc(w->launches, sizeof(*w->time));
	if (!w->time)
		return -ENOMEM;
	w->time[w->times++] = *t;
	return w->times == w->launches ? tell_group(p, w, fn, ctx) : 0;
}

static int tell_one(struct cuda_process *p, struct work *w, const struct cuda_time *t, device_fn fn, void *ctx)
{
	bool is_its = is_kernel(t) && w->launches == 1 && !w->is_told;

	if (is_kernel(t) && w->launches > 1 && !w->is_told)
		return add_to_group(p, w, t, fn, ctx);
	if (is_its && !is_like(t, w->launch)) {
		p->device->counts->unlike++;
		is_its = false;
	}
	w->is_told |= is_its;
	return tell(p, t, w, is_its ? w->launch : NULL, fn, ctx);
}

/* ---- numbers ---- */

static struct slot *slot_of(const struct lane *l, uint64_t time)
{
	struct slot *s = l ? slot_at(l, time) : NULL;

	return s && s->work && (!s->ret || time <= s->ret) ? s : NULL;
}

/* Of the thread that made it; where that is counted otherwise (a PID namespace), of the only one that was in a call. */
static struct work *find_call(struct cuda_device *d, const struct cuda_time *t)
{
	struct slot *found = slot_of(handles_get(&d->lanes, t->tid), t->start);
	unsigned n = 0;

	for (size_t i = 0; !handles_get(&d->lanes, t->tid) && i < d->lanes.room; i++) {
		struct slot *s = d->lanes.place[i].number ? slot_of(d->lanes.place[i].is, t->start) : NULL;

		n += s != NULL;
		found = s ?: found;
	}
	return found && n <= 1 ? TAKE(found->work) : NULL;
}

static int remember(struct cuda_process *p, uint32_t number, struct work *w, device_fn fn, void *ctx)
{
	struct cuda_device *d = p->device;
	uint32_t *at = &d->number[d->numbers++ & (NUMBERS_MAX - 1)];
	struct work *old = handles_take(&d->numbered, *at);
	int err = old && old->times ? tell_group(p, old, fn, ctx) : 0;

	work_free(old);
	*at = number;
	if (handles_put(&d->numbered, number, w)) {
		work_free(w);
		return -ENOMEM;
	}
	return err;
}

/* The latest was first. */
static struct early *in_order(struct early *e)
{
	struct early *first = NULL;

	while (e) {
		struct early *next = e->next;

		e->next = first;
		first = e;
		e = next;
	}
	return first;
}

/* Takes @e. @w NULL: its call will not be known any more. */
static int tell_early(struct cuda_process *p, struct work *w, struct early *e, device_fn fn, void *ctx)
{
	struct early *first = in_order(e);
	int err = 0;

	for (e = first; e && !err; e = e->next) {
		p->device->early_count--;
		err = w ? tell_one(p, w, &e->time, fn, ctx) : tell(p, &e->time, NULL, NULL, fn, ctx);
	}
	early_free(first);
	return err;
}

static int on_call(struct cuda_process *p, const struct cuda_time *t, device_fn fn, void *ctx)
{
	struct cuda_device *d = p->device;
	struct work *w = t->correlation ? find_call(d, t) : NULL;
	int err = w ? remember(p, t->correlation, w, fn, ctx) : 0;

	if (!w || err)
		return err;
	return tell_early(p, w, handles_take(&d->early, t->correlation), fn, ctx);
}

static int tell_all_early(struct cuda_process *p, device_fn fn, void *ctx)
{
	struct cuda_device *d = p->device;
	int err = 0;

	for (size_t i = 0; i < d->early.room && !err; i++)
		err = tell_early(p, NULL, TAKE(d->early.place[i].is), fn, ctx);
	handles_clear(&d->early, early_free);
	d->early_count = 0;
	return err;
}

static int wait_for_call(struct cuda_process *p, const struct cuda_time *t, device_fn fn, void *ctx)
{
	struct cuda_device *d = p->device;
	int err = d->early_count >= EARLY_MAX ? tell_all_early(p, fn, ctx) : 0;
	struct early *e = err ? NULL : malloc(sizeof(*e));

	if (!e)
		return err ?: -ENOMEM;
	*e = (struct early){ *t, handles_get(&d->early, t->correlation) };
	if (handles_put(&d->early, t->correlation, e)) {
		free(e);
		return -ENOMEM;
	}
	d->early_count++;
	return 0;
}

int device_time(struct cuda_process *p, const struct cuda_time *t, device_fn fn, void *ctx)
{
	struct work *w;

	if (t->kind == CUDA_TIME_CALL)
		return on_call(p, t, fn, ctx);
	if (t->kind != CUDA_TIME_KERNEL && t->kind != CUDA_TIME_COPY && t->kind != CUDA_TIME_SET)
		return 0;			/* of a later recorder */
	if (!t->start || t->end < t->start) {
		p->device->counts->untimed++;
		return 0;
	}
	if (!t->correlation)
		return tell(p, t, NULL, NULL, fn, ctx);
	w = handles_get(&p->device->numbered, t->correlation);
	return w ? tell_one(p, w, t, fn, ctx) : wait_for_call(p, t, fn, ctx);
}

int device_finish(struct cuda_process *p, device_fn fn, void *ctx)
{
	struct cuda_device *d = p->device;
	int err = 0;

	for (size_t i = 0; i < d->numbered.room && !err; i++) {
		struct work *w = d->numbered.place[i].is;

		if (w && w->times)
			err = tell_group(p, w, fn, ctx);
	}
	return err ?: tell_all_early(p, fn, ctx);
}
