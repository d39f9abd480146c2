/*
 * stacks.c - who called: the kernel's own event for its stack, and one of ours for the program's, whose functions have
 * names there, as readers know those of one address space only.
 */
#include "base.h"
#include "event.h"
#include "image.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"
#include "task.h"

#define STACK_FIXED	16	/* of the kernel's: its count, then addresses */
#define CALLERS_FIXED	24
#define TRACING_MAX	8u	/* frames of what stands between */
#define FRAME_MAX	512	/* bytes of one function's name */

/* What stands between the event and what the kernel did: BPF and the tracepoint. */
static bool is_tracing(const char *name)
{
	static const char *const begins[] = {
		"bpf_", "__bpf_", "___bpf_", "__traceiter_", "trace_call_bpf", "perf_trace_", "perf_call_bpf",
		"__do_trace_", "trace_event_raw_", "arch_stack_walk", "get_perf_callchain", "perf_callchain",
	};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* The program itself, which comes first, has a name only while it is loaded. */
static uint32_t count_tracing(const struct td_kallsyms *k, const struct rec_callers *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < MIN(r->kernel, TRACING_MAX); i++)
		if (is_tracing(td_kallsyms_name(k, r->ip[i])))
			n = i + 1;
	return n < r->kernel ? n : 0;
}

uint16_t td_kernel_stack(struct td_payload *p, struct td_kallsyms *k, const struct about *about,
			 const struct rec_callers *r)
{
	uint32_t from;

	if (!r->kernel)
		return 0;
	td_kallsyms_read(k, about);
	from = count_tracing(k, r);
	td_begin(p, TD_KERNEL_STACK, r->hdr.tid, STACK_FIXED + (r->kernel - from) * sizeof(uint64_t));
	td_u32(p, 8, r->kernel - from);
	for (uint32_t i = from; i < r->kernel; i++) {
		td_kallsyms_need(k, r->ip[i]);
		td_u64(p, STACK_FIXED + (i - from) * sizeof(uint64_t), r->ip[i]);
	}
	return TD_KERNEL_STACK;
}

static const char *file_name(const struct frame *f)
{
	const char *slash = strrchr(f->map->path, '/');

	return slash ? slash + 1 : f->map->path;
}

/* As flame graphs want it: no blanks that part, no semicolons within. Returns its length. */
static size_t frame_text(const struct frame *f, char text[FRAME_MAX])
{
	int n;

	if (f->func)
		n = snprintf(text, FRAME_MAX, "%s", func_plain(f->func));
	else if (f->map)
		n = snprintf(text, FRAME_MAX, "%s+0x%lx", file_name(f), f->offset);
	else
		n = snprintf(text, FRAME_MAX, "0x%lx", f->ip);
	n = MIN(n, FRAME_MAX - 1);
	for (int i = 0; i < n; i++)
		if (text[i] == ';' || (uint8_t)text[i] < ' ' || text[i] == 0x7f)
			text[i] = text[i] == ';' ? ':' : '?';
	return n;
}

/*
 * The outermost first; where there is no room for all, or was none to record all, these are left out. Returns where it
 * begins in @text, @room long.
 */
static size_t fold(const struct frame *frame, uint32_t count, char *text, size_t room)
{
	static const char cut[] = "...;";
	bool is_cut = count == CALLERS_USER_MAX;
	size_t at = room;

	for (uint32_t i = 0; i < count; i++) {
		char name[FRAME_MAX];
		size_t len = frame_text(&frame[i], name), gap = i > 0;

		is_cut |= len + gap + strlen(cut) > at;
		if (len + gap + strlen(cut) > at)
			break;
		at -= len + gap;
		memcpy(text + at, name, len);
		if (gap)
			text[at + len] = ';';
	}
	if (!is_cut)
		return at;
	at -= strlen(cut);
	memcpy(text + at, cut, strlen(cut));
	return at;
}

uint16_t td_callers(struct td_payload *p, const struct rec_callers *r, const struct frame *frame)
{
	uint32_t ips = r->user * sizeof(uint64_t);
	char text[TD_PAYLOAD_MAX];
	size_t room = sizeof(text) - CALLERS_FIXED - ips - 1, at;

	if (!r->user)
		return 0;
	td_begin(p, TD_CALLERS, r->hdr.tid, CALLERS_FIXED + ips);
	td_u32(p, 8, r->hdr.pid);
	td_u32(p, 12, r->user);
	td_u32(p, 20, ips << 16 | CALLERS_FIXED);
	for (uint32_t i = 0; i < r->user; i++)
		td_u64(p, CALLERS_FIXED + i * sizeof(uint64_t), frame[i].ip);
	at = fold(frame, r->user, text, room);
	td_text(p, 16, text + at, room - at, TD_ALL);
	return TD_CALLERS;
}
