/*
 * grace.c - a rest from return probes, while somebody waits for all of them: bpf/grace.bpf.c.
 *
 * Calls that begin meanwhile are recorded without their returns. The kernel needs 0.1 s of it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/timerfd.h>

#include "base.h"
#include "bpflink.h"
#include "clock.h"
#include "config.h"
#include "grace.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/rows.h"

#define LOOK_NS		(NSEC_PER_SEC / 2)
#define REST_LOOK_NS	(NSEC_PER_SEC / 50)
#define REST_NS		(NSEC_PER_SEC / 2)	/* at most; then it is not us who is waited for */
#define GP_RUNS		3ul			/* RCU_SEQ_STATE_MASK: what of grace_seq is not the grace period's number */

static struct {
	struct recorder_bpf *bpf;
	int	 timer;
	uint64_t seq;			/* when it was looked at last */
	uint64_t vain;			/* that did not move in a whole rest */
	uint64_t rest_began;		/* 0: there is none */
	uint64_t rested;		/* ns */
	unsigned rests;
} grace = { .timer = -1 };

static int grace_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bpf_program__set_autoload(bpf->progs.grace_look,
				  wants_returns(cfg) && cfg->returns != RETURNS_NEVER && kernel_has(HAVE_UPROBE_SESSION));
	return 0;
}

static bool look(uint64_t *seq)
{
	if (bpflink_run(bpf_program__fd(grace.bpf->progs.grace_look), NULL, 0))
		return false;
	*seq = grace.bpf->bss->grace_seq;
	return true;
}

static void every(uint64_t ns)
{
	struct timespec t = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };

	timerfd_settime(grace.timer, 0, &(struct itimerspec){ t, t }, NULL);
}

static int grace_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	(void)cfg;
	if (!bpf_program__autoload(bpf->progs.grace_look))
		return 0;
	grace.bpf = bpf;
	if (!look(&grace.seq)) {
		detail("who takes uprobes away may have to wait for us: the kernel does not say whether somebody does");
		return 0;
	}
	grace.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (grace.timer < 0)
		return fail(-errno, "cannot make a timer");
	every(LOOK_NS);
	return 0;
}

int grace_fd(void)
{
	return grace.timer;
}

static void set_rest(bool is_on)
{
	grace.bpf->bss->returns_rest = is_on;
	__atomic_fetch_add(&grace.bpf->data->returns_epoch, 1, __ATOMIC_SEQ_CST);
	every(is_on ? REST_LOOK_NS : LOOK_NS);
}

static void begin_rest(void)
{
	grace.rest_began = clock_now();
	grace.rests++;
	set_rest(true);
}

static void end_rest(void)
{
	grace.rested += clock_now() - grace.rest_began;
	grace.rest_began = 0;
	set_rest(false);
}

void grace_turn(void)
{
	uint64_t before = grace.seq, times;
	bool is_stuck;

	if (read(grace.timer, &times, sizeof(times)) != sizeof(times))
		return;
	is_stuck = look(&grace.seq) && grace.seq & GP_RUNS && (grace.seq | GP_RUNS) == (before | GP_RUNS);
	if (!grace.rest_began) {
		if (is_stuck && grace.seq != grace.vain)
			begin_rest();
	} else if (!is_stuck) {
		end_rest();
	} else if (clock_now() - grace.rest_began > REST_NS) {
		grace.vain = grace.seq;
		end_rest();
	}
}

static void grace_detach(void)
{
	if (grace.rest_began)
		end_rest();
	close_fd(&grace.timer);
}

static void grace_summary(void)
{
	if (grace.rests)
		say("returns were left out %u time%s, %.1f s in all: somebody took probes away, and the kernel waited for ours",
		    grace.rests, grace.rests == 1 ? "" : "s", grace.rested / 1e9);
}

const struct source_ops source_grace = {
	.name	 = "grace",
	.plan	 = grace_plan,
	.attach	 = grace_attach,
	.detach	 = grace_detach,
	.summary = grace_summary,
};
