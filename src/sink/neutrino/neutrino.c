/*
 * neutrino.c - NEUTRINO trace folders: what a host sees, in the containers of a tool that records on the device.
 *
 * The map host_launch has a record for a launch. Nothing is said of the device but what CUPTI
 * has said, in a second map, gpu_kernel, when device times were asked for. A process has its folder from its first call on, over all its execs.
 */
#include <fcntl.h>

#include "base.h"
#include "event.h"
#include "log.h"
#include "out.h"
#include "sink.h"
#include "sink/neutrino/neutrino.h"

struct sink {
	struct sink_args   args;
	struct nt_process *first;	/* that have not ended */
	bool		   has_any;
	unsigned	   refused;	/* processes without a folder: recorder may open no more files */
};

static struct nt_process no_folder;	/* of those */

static int nt_open_sink(struct sink **ret, const struct sink_args *args)
{
	struct sink *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->args = *args;
	*ret = s;
	return 0;
}

#define FILES_SPARE	16	/* that a folder is made with, and that others need meanwhile */

/* Else what is half there would be left. */
static bool may_open_files(void)
{
	int fd[FILES_SPARE];
	unsigned n = 0;

	while (n < FILES_SPARE && (fd[n] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0)
		n++;
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
	return n == FILES_SPARE || (errno != EMFILE && errno != ENFILE);
}

static int refuse(struct sink *s, struct cuda_process *of, struct nt_process **ret)
{
	if (!s->refused++)
		warn("format 'neutrino': process %u has no folder, nor have some after it: recorder has as many files open as it may "
		     "(ulimit -n)", of->pid);
	of->slot[s->args.slot] = *ret = &no_folder;
	return 0;
}

static int process_of(struct sink *s, struct cuda_process *of, uint64_t time, struct nt_process **ret)
{
	struct nt_process *p = of->slot[s->args.slot];
	int err = 0;

	if (!p) {
		if (!may_open_files())
			return refuse(s, of, ret);
		err = nt_process_create(&p, s->args.dirfd, s->args.slot, s->args.about, of, time);
		if (err)
			return err;
		of->slot[s->args.slot] = p;
		p->next = s->first;
		s->first = p;
		s->has_any = true;
	}
	*ret = p;
	return 0;
}

/* No handle of the program before means anything from now on. */
static void note_exec(struct nt_process *p, uint32_t execs)
{
	if (p->execs == execs)
		return;
	p->execs = execs;
	nt_waits_release(&p->waits);
	p->opens = 0;
	out_printf(p->log, "[recorder] exec: handles and addresses are another program's from here on\n");
}

static struct nt_open *find_open(struct nt_process *p, const struct cuda_call *call)
{
	for (size_t i = p->opens; i-- > 0; )
		if (p->open[i].call == call)
			return &p->open[i];
	return NULL;
}

static int call_began(struct nt_process *p, const struct cuda_call *call)
{
	struct nt_open *o;

	if (grow(&p->open, &p->open_room, p->opens, sizeof(*p->open)))
		return -ENOMEM;
	o = &p->open[p->opens++];
	*o = (struct nt_open){ .call = call };
	nt_waits_claim(&p->waits, call, &o->claim);
	return nt_launch_entry(p, call, o);
}

struct completion {
	struct nt_process *p;
	uint64_t	   time;
};

static int on_complete(void *ctx, uint32_t row)
{
	const struct completion *c = ctx;

	return nt_complete(c->p, row, c->time);
}

static int call_ended(struct nt_process *p, const struct cuda_call *call)
{
	struct completion c = { .p = p, .time = call->ret };
	struct nt_open *o = find_open(p, call), open;
	int err;

	if (!o)
		return 0;
	open = *o;
	*o = p->open[--p->opens];
	err = nt_call_exit(p, call);
	err = err ?: nt_launch_exit(p, call, &open);
	if (!err && !call->result)
		err = nt_waits_returned(&p->waits, call, &open.claim, on_complete, &c);
	return err;
}

/* A process that has a time has made a call, or calls are not recorded. */
static int device_time(struct sink *s, const struct cuda_device_time *d)
{
	struct nt_process *p = d->process->slot[s->args.slot];

	return p && p != &no_folder ? nt_gpu_time(p, d) : 0;
}

static int nt_event(struct sink *s, const struct event *ev)
{
	const struct cuda_call *call = ev->call ? ev->call->cuda : NULL;
	struct nt_process *p;
	int err;

	if (ev->device)
		return device_time(s, ev->device);
	if (!call || !call->process || !call->fn)
		return 0;
	err = process_of(s, call->process, call->entry, &p);
	if (err || p == &no_folder)
		return err;
	if (ev->kind == REC_CUDA_IMAGE || ev->kind == REC_CUDA_IMAGE_FILE)
		return nt_image_record(p, ev);
	if (ev->kind == REC_CUDA_EXIT)
		return call_ended(p, call);
	note_exec(p, call->process->execs);
	err = call_began(p, call);
	if (err || !(ev->call->flags & REC_F_NO_EXIT) || call->fn->plan.out)
		return err;
	return call_ended(p, call);		/* nothing more will be known; of one that gives something, what that is may be */
}

/* Of which process is not known. */
static int nt_lost(struct sink *s, unsigned cpu, uint64_t time, const uint64_t *count)
{
	int err = 0;

	(void)time;
	for (struct nt_process *p = s->first; p && count[CLASS_CUDA]; p = p->next) {
		out_printf(p->log, "[recorder] lost %lu records of CUDA calls on CPU %u, of any process\n",
			   count[CLASS_CUDA], cpu);
		err = err ?: out_error(p->log);
	}
	return err;
}

/* @at: where it hangs in the list. */
static int end_process(struct nt_process **at)
{
	struct nt_process *p = *at;
	int err = nt_process_seal(p);

	*at = p->next;
	nt_process_destroy(p);
	return err;
}

static int nt_end_process(struct sink *s, struct cuda_process *of)
{
	struct nt_process *p = TAKE(of->slot[s->args.slot]), **at = &s->first;

	if (!p || p == &no_folder)
		return 0;
	while (*at != p)
		at = &(*at)->next;
	return end_process(at);
}

static int nt_checkpoint(struct sink *s)
{
	int err = 0;

	for (struct nt_process *p = s->first; p && !err; p = p->next)
		err = nt_process_checkpoint(p);
	return err;
}

static int nt_close(struct sink *s)
{
	int err = 0;

	while (s->first)
		err = end_process(&s->first) ?: err;
	if (s->refused > 1)
		warn("format 'neutrino': %u processes have no folder: recorder had as many files open as it may", s->refused);
	if (!s->has_any)
		warn("format 'neutrino' has nothing: no call of the CUDA driver was seen");
	free(s);
	return err;
}

const struct sink_ops sink_neutrino = {
	.name		= "neutrino",
	.doc		= "a NEUTRINO trace folder for each process that calls the CUDA driver",
	.path		= "trace",
	.open_with	= "cat %s/*/event.log",
	.wants		= SINK_WANTS(REC_CUDA_ENTRY) | SINK_WANTS(REC_CUDA_EXIT) | SINK_WANTS(REC_CUDA_TIMES) |
			  SINK_WANTS(REC_CUDA_IMAGE) | SINK_WANTS(REC_CUDA_IMAGE_FILE),
	.open		= nt_open_sink,
	.event		= nt_event,
	.lost		= nt_lost,
	.cuda_end	= nt_end_process,
	.checkpoint	= nt_checkpoint,
	.close		= nt_close,
};
