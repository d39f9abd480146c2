/*
 * tracepoint.bpf.c - any tracepoint of the kernel, for the tasks that are recorded: what tracefs would have been given.
 *
 * One program for all, told apart by cookie. The kernel hands over the event as it lays it out, its first 8 bytes used
 * otherwise: the fixed fields, then texts, whose places and lengths some of the fields tell.
 */
#include "event.bpf.h"
#include "tracepoint.h"

#define EVENT_MAX	4000u		/* with its texts: it has to fit on a page of trace.dat */

/* By cookie. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);			/* set before the load */
	__type(key, __u32);
	__type(value, struct tracepoint_plan);
} tracepoint_plans SEC(".maps");

struct event_scratch {
	struct rec_event rec;
	char		 field[EVENT_MAX + 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct event_scratch);
} event_scratches SEC(".maps");

/* Where the event ends: behind its last text. All counts from behind the first 8 bytes, but for places. */
static __always_inline __u32 end_of(const struct tracepoint_plan *plan, const char *field)
{
	__u32 end = plan->bytes;

	for (int i = 0; i < TRACEPOINT_TEXTS; i++) {
		__u32 at = plan->text[i].at, place, stop;

		if (i >= plan->text_count || at > TRACEPOINT_BYTES_MAX - sizeof(place))
			break;
		place = *(__u32 *)(field + at);
		stop = (place & 0xffff) + (place >> 16) + plan->text[i].base - 8;
		if (stop > end && stop <= EVENT_MAX)
			end = stop;
	}
	return end;
}

static __always_inline void tell_hit(void *ctx)
{
	__u32 zero = 0, which = bpf_get_attach_cookie(ctx);
	struct tracepoint_plan *plan;
	struct event_scratch *s;
	__u64 fixed, end;

	if (!is_recorded(bpf_get_current_task_btf()))
		return;
	plan = bpf_map_lookup_elem(&tracepoint_plans, &which);
	s = bpf_map_lookup_elem(&event_scratches, &zero);
	if (!plan || !s)
		return;
	fixed = plan->bytes;
	asm volatile("" : "+r"(fixed));		/* one register, which is checked and used: 6.1 asks for that */
	if (fixed > TRACEPOINT_BYTES_MAX)
		return;
	asm volatile("" : "+r"(fixed));
	bpf_probe_read_kernel(s->field, fixed, ctx + 8);
	end = end_of(plan, s->field);
	asm volatile("" : "+r"(end));
	if (end > EVENT_MAX)
		return;
	asm volatile("" : "+r"(end));
	if (end > fixed)
		bpf_probe_read_kernel(s->field, end, ctx + 8);
	s->rec.event = EVENT_TRACEPOINT + which;
	s->rec.len = end;
	*(__u64 *)(s->field + end) = 0;			/* the last word: no byte leaves that was not written */
	if (rec_send_of(bpf_get_current_pid_tgid(), NULL, CLASS_EVENT, REC_EVENT, 0, &s->rec.hdr, sizeof(s->rec) + end,
			sizeof(*s)))
		send_callers(ctx, NULL, true, true);
}

/* 1: with 0 the kernel keeps the event from everybody's perf counters and samples, not only from ours. */
SEC("?tracepoint")
int tracepoint_hit(void *ctx)
{
	tell_hit(ctx);
	return 1;
}

char LICENSE[] SEC("license") = "GPL";
