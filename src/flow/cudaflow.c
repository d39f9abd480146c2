/*
 * cudaflow.c - calls of the CUDA driver: brought to their processes, and told.
 */
#include "base.h"
#include "cuda/device.h"
#include "cuda/process.h"
#include "event.h"
#include "flow/calls.h"
#include "flow/cudaflow.h"
#include "flow/segment.h"
#include "flow/tracker.h"
#include "image.h"

/* ---- times of the device ---- */

static int tell_device(void *ctx, const struct cuda_device_time *d)
{
	struct calls *c = ((struct cuda_flow *)ctx)->calls;
	struct event ev = { .time = c->time, .began = c->time, .kind = REC_CUDA_TIMES, .device = d };

	c->counts->events++;
	return segment_event(c->segment, &ev);
}

static int device_ends(struct cuda_flow *f, struct cuda_process *p)
{
	int err = p->device ? device_finish(p, tell_device, f) : 0;

	device_destroy(TAKE(p->device));
	return err;
}

static int on_state(struct cuda_flow *f, struct cuda_process *p, const struct cuda_time *t)
{
	struct gputime_counts *n = &f->calls->counts->gpu;

	switch (t->what) {
	case CUDA_TIMES_READY:
		n->ready++;
		return p->device ? 0 : device_create(&p->device, n);
	case CUDA_TIMES_NO_CUPTI:
		n->no_cupti++;
		return 0;
	case CUDA_TIMES_BUSY:
		n->busy++;
		return 0;
	case CUDA_TIMES_FAILED:
		n->failed++;
		n->error = t->correlation;
		return 0;
	case CUDA_TIMES_DROPPED:
		n->dropped += t->bytes;
		return 0;
	default:
		return 0;
	}
}

/* A thread of CUPTI's brings them, whatever it is in the middle of. */
int cuda_flow_times(struct cuda_flow *f, struct cuda_process *p, const struct rec_hdr *rec)
{
	const struct rec_cuda_times *r = (const void *)rec;
	int err = 0;

	for (uint32_t i = 0; i < r->count && !err; i++) {
		if (r->time[i].kind == CUDA_TIME_STATE)
			err = on_state(f, p, &r->time[i]);
		else if (p->device)
			err = device_time(p, &r->time[i], tell_device, f);
	}
	return err;
}

/* ---- calls ---- */

/* What has been left ends first: what it did counts for this one. */
int cuda_flow_entry(struct cuda_flow *f, struct cuda_process *p, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_cuda_entry *r = (const void *)rec;
	struct call call = { .kind = REC_CUDA_ENTRY, .id = r->func, .sp = r->sp, .flags = rec->flags };
	int err = calls_pass(f->calls, t, rec, r->sp);

	err = err ?: cuda_call_enter(&call.cuda, p, r);
	f->calls->counts->cuda++;
	return err ?: calls_enter(f->calls, t, rec, &call);
}

/*
 * cuGetProcAddress() was asked for a function that is recorded. What it gave is exported and so probed, as far as is
 * known of drivers; else calls of it are not seen, which is counted.
 */
static void check_given(struct cuda_flow *f, const struct session *s, const struct cuda_call *c, uint64_t addr)
{
	char newer[CUDA_SYMBOL_MAX];

	snprintf(newer, sizeof(newer), "%s_v2", c->name ?: "");
	if (!addr || !c->name || (cuda_find(c->name) < 0 && cuda_find(newer) < 0))
		return;
	for (const struct map *m = s->map; m < s->map + s->map_count; m++) {
		const struct func *fn = m->image && addr - m->start < m->end - m->start ? image_func_at(m->image, addr - m->start) : NULL;

		if (fn && m->start + fn->addr == addr && cuda_find(fn->name) >= 0)
			return;
	}
	f->calls->counts->cuda_unseen++;
}

int cuda_flow_exit(struct cuda_flow *f, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_cuda_exit *r = (const void *)rec;
	struct cuda_call *gave = r->result == CUDA_NO_RESULT ? TAKE(t->gave) : NULL;
	bool is_it = gave && gave->func == r->func;
	int err = is_it ? cuda_call_leave(gave, r) : 0;

	if (is_it)
		check_given(f, t->session, gave, gave->fn->does == CUDA_DOES_RESOLVE ? r->out : 0);
	cuda_call_free(gave);
	if (err || is_it)
		return err;
	if (t->depth && t->call[t->depth - 1].cuda && t->call[t->depth - 1].cuda->fn->does == CUDA_DOES_RESOLVE)
		check_given(f, t->session, t->call[t->depth - 1].cuda, r->out);
	return calls_exit_function(f->calls, t, rec, REC_CUDA_ENTRY, r->func, r->sp);
}

/* It comes right behind the entry of its call; where that was lost, nobody knows whose it is. */
int cuda_flow_image(struct cuda_flow *f, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_cuda_image *r = (const void *)rec;	/* of both kinds, as far as func */
	uint64_t sp = rec->kind == REC_CUDA_IMAGE ? r->sp : ((const struct rec_cuda_image_file *)rec)->sp;
	struct calls *c = f->calls;
	const struct call *call = t->depth ? &t->call[t->depth - 1] : NULL;
	struct event ev = { .rec = rec, .task = t, .time = c->time, .began = c->time, .kind = rec->kind, .call = call };

	if (!call || !call->cuda || !call->cuda->module || call->id != r->func || call->sp != sp)
		return 0;
	ev.depth = t->depth;
	c->counts->events++;
	return segment_event(c->segment, &ev);
}

/* What a call gives it has given in its innermost frame, whatever that has called may still look open. */
int cuda_flow_given(struct task *t, const struct rec_hdr *rec)
{
	const struct rec_cuda_given *r = (const void *)rec;

	for (size_t n = t->depth; n; n--) {
		const struct call *call = &t->call[n - 1];

		if (call->cuda && call->id == r->func && call->sp == r->sp)
			return cuda_call_given(call->cuda, r);
	}
	return 0;
}

/* ---- processes ---- */

int cuda_flow_exec(struct cuda_flow *f, uint32_t pid)
{
	struct cuda_process *p = cuda_process_find(f->of, pid);
	int err = p ? device_ends(f, p) : 0;

	if (p)
		cuda_process_exec(p);
	return err;
}

static int process_ends(struct cuda_flow *f, struct cuda_process *p)
{
	int err = device_ends(f, p) ?: segment_cuda_end(f->calls->segment, p);

	cuda_process_drop(f->of, p);
	return err;
}

int cuda_flow_end(struct cuda_flow *f, uint32_t pid)
{
	struct cuda_process *p = cuda_process_find(f->of, pid);

	return p ? process_ends(f, p) : 0;
}

int cuda_flow_finish(struct cuda_flow *f)
{
	int err = 0;

	while (!err && cuda_process_any(f->of))
		err = process_ends(f, cuda_process_any(f->of));
	return err;
}
