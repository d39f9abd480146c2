/*
 * usdt.bpf.c - USDT probes: one record for each hit, with the arguments where the note said they are.
 *
 * As in args.bpf.c values are put together in memory of the task's own: the program
 * may be preempted, and sleep.
 */
#include "recorder.bpf.h"
#include "trigger.h"
#include "usdt.h"
#include "user.bpf.h"
#include "point.bpf.h"

/* By the probe's cookie; an entry is there before its probe is. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 17);
	__type(key, __u32);
	__type(value, struct usdt_plan);
} usdt_plans SEC(".maps");

struct usdt_hit {
	__u64		reg[USDT_REGISTERS];
	__u64		site;		/* the address of the probe */
	__u64		word;		/* of memory */
	struct rec_usdt rec;
	char		values[VALUES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct usdt_hit);
} usdt_of_task SEC(".maps");

static __always_inline __u64 register_of(const struct usdt_hit *h, __u8 number)
{
	return h->reg[number & (USDT_REGISTERS - 1)];
}

static __always_inline __u64 address_of(const struct usdt_hit *h, const struct usdt_arg *a)
{
	__u64 addr = a->value;

	if (a->flags & USDT_FROM_SITE)
		addr += h->site;
	if (a->flags & USDT_HAS_BASE)
		addr += register_of(h, a->base);
	if (a->flags & USDT_HAS_INDEX)
		addr += register_of(h, a->index) << (a->scale & 3);
	return addr;
}

/* What the argument is, into h->word. False: it could not be told. */
static __noinline int find_value(struct usdt_hit *h, const struct usdt_arg *a)
{
	__u32 size = a->size;

	if (!h || !a)
		return 0;
	switch (a->place) {
	case USDT_CONST:
		h->word = a->value + (a->flags & USDT_FROM_SITE ? h->site : 0);
		return 1;
	case USDT_REGISTER:
		h->word = register_of(h, a->base) >> (a->shift & 63);
		return 1;
	case USDT_MEMORY:
		h->word = 0;
		asm volatile("" : "+r"(size));
		return size <= sizeof(h->word) && !read_bytes(&h->word, size, address_of(h, a));
	default:
		return 0;
	}
}

static __noinline int put_arg(struct usdt_hit *h, const struct usdt_arg *a, __u32 index)
{
	__u32 at = a->at;
	struct rec_value *x;
	long n = 0;

	if (!h || at > VALUES_MAX - sizeof(*x) - VALUE_ROOM_STRING)
		return 0;
	x = (void *)(h->values + at);
	x->index = index;
	x->format = a->format;
	x->size = a->size;
	x->room = a->format == VALUE_STRING ? VALUE_ROOM_STRING :
		  a->format == VALUE_FLOAT ? VALUE_ROOM_FLOAT : VALUE_ROOM_NUMBER;
	x->len = a->format == VALUE_FLOAT ? VALUE_ROOM_FLOAT : VALUE_ROOM_NUMBER;
	x->flags = find_value(h, a) ? 0 : TEXT_FAULT;
	if (x->flags) {
		h->word = 0;
		if (a->format == VALUE_STRING)
			x->format = VALUE_HEX;	/* not even where it would be */
	} else if (a->format == VALUE_STRING) {
		n = read_string(x->bytes, h->word);
	}
	if (n > 0) {
		x->len = n - 1;
		return 0;
	}
	if (a->format == VALUE_STRING)
		x->flags = TEXT_FAULT;
	((__u64 *)x->bytes)[0] = h->word;
	if (a->format == VALUE_FLOAT)
		((__u64 *)x->bytes)[1] = 0;
	return 0;
}

UPROBE(usdt_hit, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	__u32 id = bpf_get_attach_cookie(ctx), bytes;
	const struct usdt_plan *plan;
	struct usdt_hit *h;

	if (!t || (signals_pause && events_switched == SWITCHED_OFF))
		return 0;
	h = bpf_task_storage_get(&usdt_of_task, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	plan = bpf_map_lookup_elem(&usdt_plans, &id);
	if (!h || !plan) {
		count_lost(t, CLASS_FUNCTION);
		return 0;
	}
	h->site = user_ip(ctx);
	all_registers(ctx, h->reg);
	for (__u32 i = 0; i < ARGS_MAX && i < plan->count; i++)
		put_arg(h, &plan->arg[i], i + 1);
	bytes = plan->bytes;
	h->rec.sp = user_sp(ctx);
	h->rec.values_len = bytes;
	__builtin_memcpy(h->rec.name, plan->name, sizeof(h->rec.name));
	rec_send(t, CLASS_FUNCTION, REC_USDT, 0, &h->rec.hdr, sizeof(h->rec) + bytes, sizeof(h->rec) + sizeof(h->values));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
