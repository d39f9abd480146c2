/*
 * triggers.c - what bpf/trigger.bpf.c is told, and hears of it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base.h"
#include "bpflink.h"
#include "clock.h"
#include "config.h"
#include "filter.h"
#include "funcargs.h"
#include "image.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/point.h"
#include "source/rows.h"
#include "source/triggers.h"
#include "trigger.h"

static struct links links;
static struct ring_buffer *finished;

/* Functions that end the recording, by number. */
static struct {
	struct ender {
		uint32_t func;
		char	*name;
	}     *ender;
	size_t count, room;
} enders;

/* Whether and for how long signals have switched calls and events off. */
static struct {
	struct recorder_bpf *bpf;	/* lent */
	bool	 is_off;
	unsigned times;
	uint64_t since, ns;
} paused;

/* Marks that signals set. */
static struct {
	struct recorder_bpf *bpf;	/* lent; NULL: none can */
	unsigned set;			/* MARK_USER */
} marks;

static unsigned signal_actions(const struct config *cfg)
{
	return cfg->on_usr1 | cfg->on_usr2;
}

static bool has_switches(const struct config *cfg)
{
	return cfg->disabled || (signal_actions(cfg) | filter_actions(cfg->filter)) & (TRIGGER_ON | TRIGGER_OFF);
}

static int trigger_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bool filters = filter_in_kernel(cfg);
	bool named = filters || filter_holds(cfg) || wants_values(cfg);		/* filter.bpf.c names the maps */

	bpf_map__set_autocreate(bpf->maps.trigger_of_func, named);
	bpf_map__set_autocreate(bpf->maps.switched, named);
	bpf_map__set_autocreate(bpf->maps.trigger_finished, named);
	if (cfg->disabled && !((filter_actions(cfg->filter) | signal_actions(cfg)) & TRIGGER_ON))
		warn("--disable: no function is recorded, as no -T FUNC@trace_on switches recording on");
	bpf->rodata->has_triggers = filters && (filter_actions(cfg->filter) || filter_has_conditions(cfg->filter));
	bpf->rodata->has_switches = filters && has_switches(cfg);
	bpf->rodata->starts_off = cfg->disabled;
	bpf->rodata->signals_pause = signal_actions(cfg) & (TRIGGER_ON | TRIGGER_OFF);
	bpf_program__set_autoload(bpf->progs.mark_by_signal, signal_actions(cfg));
	point_load(bpf, bpf->progs.trigger_fork, filters && has_switches(cfg));
	point_load(bpf, bpf->progs.trigger_exec, filters && has_switches(cfg));
	point_load(bpf, bpf->progs.trigger_exit, filters && has_switches(cfg));
	return 0;
}

static int on_finished(void *ctx, void *data, size_t size)
{
	(void)ctx;
	for (size_t i = 0; size >= sizeof(uint32_t) && i < enders.count; i++)
		if (enders.ender[i].func == *(const uint32_t *)data)
			say("finished by %s()", enders.ender[i].name);
	return 0;
}

static void set_mark(enum mark mark, int sig)
{
	struct signal_mark m = { mark, sig, mark == MARK_USER ? ++marks.set : 0 };

	if (!marks.bpf)
		return;
	if (bpflink_run(bpf_program__fd(marks.bpf->progs.mark_by_signal), &m, sizeof(m)) < 0)
		warn("what SIG%s did is not marked in the recording", sigabbrev_np(sig));
	else if (mark == MARK_USER)
		say("mark %u by SIG%s", m.number, sigabbrev_np(sig));
}

/* What triggers have switched before is forgotten: the signal is the latest word. */
static void switch_all(bool off)
{
	int fd = paused.bpf ? bpf_map__fd(paused.bpf->maps.switched) : -1;
	uint32_t process;

	if (!paused.bpf)
		return;
	paused.bpf->bss->events_switched = off ? SWITCHED_OFF : SWITCHED_ON;
	paused.bpf->bss->all_switched = off ? SWITCHED_OFF : SWITCHED_ON;
	while (fd >= 0 && !bpf_map_get_next_key(fd, NULL, &process) && !bpf_map_delete_elem(fd, &process))
		;
	say("functions, system calls and USDT probes are %s", off ? "not recorded from here on" : "recorded from here on");
	if (off && !paused.is_off) {
		paused.since = clock_now();
		paused.times++;
	} else if (!off && paused.is_off) {
		paused.ns += clock_now() - paused.since;
	}
	paused.is_off = off;
}

void trigger_by_signal(int sig, unsigned actions)
{
	bool off = actions & TRIGGER_OFF;

	if (actions & TRIGGER_MARK)
		set_mark(MARK_USER, sig);
	if (actions & (TRIGGER_ON | TRIGGER_OFF)) {
		set_mark(off ? MARK_OFF : MARK_ON, sig);
		switch_all(off);
	}
	if (actions & TRIGGER_FINISH)
		set_mark(MARK_FINISH, sig);
}

static void trigger_stop(struct recorder_bpf *bpf)
{
	(void)bpf;
	if (paused.is_off)
		paused.ns += clock_now() - paused.since;
	paused.is_off = false;
}

static void trigger_summary(void)
{
	if (paused.times)
		say("switched off by signals: %u time%s, %.1f s not recorded", paused.times,
		    paused.times == 1 ? "" : "s", paused.ns / 1e9);
}

static int trigger_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = 0;

	paused.bpf = has_switches(cfg) ? bpf : NULL;
	marks.bpf = signal_actions(cfg) ? bpf : NULL;
	if (!filter_in_kernel(cfg))
		return 0;
	if (has_switches(cfg)) {
		err = point_attach(&links, bpf, bpf->progs.trigger_fork);
		err = err ?: point_attach(&links, bpf, bpf->progs.trigger_exec);
		err = err ?: point_attach(&links, bpf, bpf->progs.trigger_exit);
	}
	if (err || !(filter_actions(cfg->filter) & TRIGGER_FINISH))
		return err;
	finished = ring_buffer__new(bpf_map__fd(bpf->maps.trigger_finished), on_finished, NULL, NULL);
	return finished ? 0 : fail(-errno, "cannot hear of functions that end the recording");
}

static void trigger_detach(void)
{
	links_release(&links);
	paused.bpf = marks.bpf = NULL;
	ring_buffer__free(TAKE(finished));
	for (size_t i = 0; i < enders.count; i++)
		free(enders.ender[i].name);
	free(enders.ender);
	memset(&enders, 0, sizeof(enders));
}

static int add_ender(uint32_t func, const char *name)
{
	struct ender e = { func, strdup(name) };

	if (!e.name || grow(&enders.ender, &enders.room, enders.count, sizeof(*enders.ender))) {
		free(e.name);
		return -ENOMEM;
	}
	enders.ender[enders.count++] = e;
	return 0;
}

/* Go passes arguments in registers of its own: what hangs on them is never met. */
static void spare_go(struct func_trigger *t, const struct func *f)
{
	for (unsigned i = 0; i < t->count; i++) {
		if (!t->of[i].cond.arg)
			continue;
		t->of[i].cond.holds = 0;
		warn("if:arg%u of %s(): Go passes arguments in a way of its own, so the condition is never met",
		     t->of[i].cond.arg, func_plain(f));
	}
}

int trigger_tell(struct recorder_bpf *bpf, const struct filter *filter, const struct image *img, const struct func *f)
{
	uint32_t func = img->first_func + (f - img->func);
	unsigned actions = 0;
	struct func_trigger t;
	int err;

	if (!bpf)
		return 0;
	err = filter_trigger(filter, &t, img, f);
	if (err)
		return fail(err, "more than %d rules with conditions mean %s()", CASES_MAX, func_plain(f));
	if (img->is_go)
		spare_go(&t, f);
	for (unsigned i = 0; i < t.count; i++)
		actions |= t.of[i].actions;
	err = bpf_map_update_elem(bpf_map__fd(bpf->maps.trigger_of_func), &func, &t, BPF_ANY);
	return err ?: actions & TRIGGER_FINISH ? add_ender(func, f->name) : 0;
}

int trigger_fd(void)
{
	return finished ? ring_buffer__epoll_fd(finished) : -1;
}

void trigger_say(void)
{
	ring_buffer__consume(finished);
}

const struct source_ops source_trigger = {
	.name	 = "trigger",
	.plan	 = trigger_plan,
	.attach	 = trigger_attach,
	.stop	 = trigger_stop,
	.detach	 = trigger_detach,
	.summary = trigger_summary,
};
