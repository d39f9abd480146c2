/*
 * kevents.c - events of the kernel's own tracepoints: their fields are recorded as the kernel lays them out, so they are
 * copied; and the formats of those that were asked for by name, as this kernel describes them.
 */
#include "about.h"
#include "base.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"

#define COMMON	8	/* bytes that td_begin() fills */

/* Where names of tasks lie in the fields of an event of ours: what would break a reader's line goes. */
static void clean_comms(struct td_payload *p, uint32_t event)
{
	static const struct {
		uint16_t at, next;	/* from the payload's start; 0: none */
	} comm[EVENT_TRACEPOINT] = {
#define AT(type, field)	(COMMON + offsetof(struct type, field))
		[EVENT_SCHED_SWITCH]	= { AT(event_sched_switch, prev_comm), AT(event_sched_switch, next_comm) },
		[EVENT_SCHED_WAKEUP]	= { AT(event_sched_wakeup, comm), 0 },
		[EVENT_SCHED_WAKEUP_NEW] = { AT(event_sched_wakeup, comm), 0 },
		[EVENT_SCHED_MIGRATE]	= { AT(event_sched_migrate, comm), 0 },
		[EVENT_SIGNAL_GENERATE] = { AT(event_signal_generate, comm), 0 },
	};
	char name[REC_COMM];

	if (event >= EVENT_TRACEPOINT)
		return;
	for (const uint16_t *at = &comm[event].at; at <= &comm[event].next && *at; at++) {
		memcpy(name, p->bytes + *at, sizeof(name));
		td_comm(p, *at, name);
	}
}

uint16_t td_kevent(struct td_payload *p, const struct rec_event *rec)
{
	uint16_t id = rec->event < EVENT_TRACEPOINT ? TD_EVENTS + rec->event :
						      TD_TRACEPOINTS + rec->event - EVENT_TRACEPOINT;
	uint32_t len = MIN(rec->len, TD_PAYLOAD_MAX - COMMON);

	td_begin(p, id, rec->hdr.tid, COMMON);
	td_bytes(p, COMMON, rec->field, len);
	p->len += len;
	clean_comms(p, rec->event);
	return id;
}

bool td_kevent_has_functions(const struct tracepoint *tp)
{
	const char *print = strstr(tp->format, "print fmt:");

	return print && (strstr(print, "%ps") || strstr(print, "%pS"));
}

/* Which fields these are the format tells in C alone: each word that is the address of a function is taken for one. */
void td_kevent_need(struct td_kallsyms *k, const struct about *about, const struct rec_event *rec)
{
	uint64_t word;

	td_kallsyms_read(k, about);
	for (uint32_t at = 0; at + sizeof(word) <= rec->len; at += sizeof(word)) {
		memcpy(&word, rec->field + at, sizeof(word));
		td_kallsyms_need(k, word);
	}
}

/* ---- formats ---- */

static bool is_used(const struct td_used *used, size_t which)
{
	return td_is_used(used, TD_TRACEPOINTS + which);
}

/* How many of those from @from on that occur are of its system; 0 when it is not the first of them. */
static uint32_t count_of_system(const struct tracepoints *tps, size_t from, const struct td_used *used)
{
	uint32_t n = 0;

	for (size_t i = 0; i < tps->count; i++) {
		if (!is_used(used, i) || strcmp(tps->tp[i].system, tps->tp[from].system))
			continue;
		if (i < from)
			return 0;
		n++;
	}
	return n;
}

static int write_format(struct out *o, const struct tracepoint *tp, unsigned id)
{
	struct out *text;
	int err = out_memory(&text);

	if (err)
		return err;
	out_printf(text, "name: %s\nID: %u\n%s", tp->name, id, tp->format);
	return td_put_text(o, text);
}

unsigned td_kevents_systems(const struct tracepoints *tps, const struct td_used *used)
{
	unsigned n = 0;

	for (size_t i = 0; i < tps->count; i++)
		n += is_used(used, i) && count_of_system(tps, i, used);
	return n;
}

int td_kevents_formats(struct out *o, const struct tracepoints *tps, const struct td_used *used)
{
	int err = 0;

	for (size_t i = 0; i < tps->count; i++) {
		uint32_t count = is_used(used, i) ? count_of_system(tps, i, used) : 0;

		if (!count)
			continue;
		out_bytes(o, tps->tp[i].system, strlen(tps->tp[i].system) + 1);
		out_u32(o, count);
		for (size_t k = i; k < tps->count && !err; k++)
			if (is_used(used, k) && !strcmp(tps->tp[k].system, tps->tp[i].system))
				err = write_format(o, &tps->tp[k], TD_TRACEPOINTS + k);
	}
	return err;
}
