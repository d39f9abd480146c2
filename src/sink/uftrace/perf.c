/*
 * perf.c - perf-cpu0.dat: when tasks were on a CPU, as perf records that a reader shows as linux:schedule.
 *
 * A reader merges the files of all CPUs by time, so one is enough; its records are in order. It pairs a task's leaving
 * its CPU with its coming back: a coming back without the other before it is left out, and so is what happens after a
 * task's end.
 * That a task was pushed aside is not told: dump --chrome of the reader takes that for an end without a beginning.
 */
#include "base.h"
#include "out.h"
#include "sink/uftrace/uftrace.h"

#define PERF_RECORD_SWITCH	14		/* <linux/perf_event.h>; with sample_id_all, PERF_SAMPLE_TID and _TIME */
#define MISC_SWITCH_OUT		(1u << 13)

struct perf_switch {
	uint32_t type;
	uint16_t misc, size;
	uint32_t pid, tid;
	uint64_t time;
};

static int put(struct uf_perf *p, struct uf_task *u, uint64_t time, bool is_out)
{
	struct perf_switch r = {
		PERF_RECORD_SWITCH, is_out ? MISC_SWITCH_OUT : 0, sizeof(r), u->pid, u->tid, time,
	};
	int err = p->out ? 0 : out_create(&p->out, p->dirfd, "perf-cpu0.dat");

	if (err)
		return err;
	out_bytes(p->out, &r, sizeof(r));
	u->is_off_cpu = is_out;
	return out_error(p->out);
}

int uf_perf_switch(struct uf_perf *p, struct uf_task *prev, struct uf_task *next, uint64_t time)
{
	int err = 0;

	if (prev && prev->is_alive && !prev->is_off_cpu)
		err = put(p, prev, time, true);
	if (next && next->is_alive && next->is_off_cpu)
		err = err ?: put(p, next, time, false);
	return err;
}
