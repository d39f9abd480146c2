/*
 * vector.c - somebody on each CPU for whom a task gives way, so that the kernel saves its vector registers.
 *
 * A thread for each CPU, bound to it, waits until that CPU's ring is woken (bpf/vector.bpf.h) and then waits
 * again. Its priority is that of a real-time thread: whoever woke it is taken off the CPU at once. Where
 * that is not allowed it is an ordinary one, for which the task may not be taken off: then values are missing.
 */
#include <bpf/libbpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "argspec.h"
#include "base.h"
#include "config.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "rings.h"
#include "source.h"
#include "source/rows.h"

#define STACK_BYTES	(64u << 10)

struct waiter {
	pthread_t thread;
	int	  epoll;
};

static struct {
	const struct recorder_bpf *bpf;
	struct waiter *waiter;
	unsigned count;
	int	 stop;			/* an eventfd: readable when they are to end */
} vector = { .stop = -1 };

static int vector_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	if (!wants_values(cfg) || (!cfg->auto_args && !argspecs_have_vectors(&cfg->args)))
		return 0;
	vector.bpf = bpf;
	return 0;
}

/* To be woken is all: the wake-up has taken the CPU from who did it. */
static void *wait_always(void *arg)
{
	const struct waiter *w = arg;
	struct epoll_event ev;

	while (epoll_wait(w->epoll, &ev, 1, -1) != 1 || ev.data.fd != vector.stop)
		;
	return NULL;
}

static int watch(int epoll, int fd, unsigned how)
{
	struct epoll_event ev = { .events = EPOLLIN | how, .data.fd = fd };

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int start_thread(struct waiter *w, unsigned cpu)
{
	const struct sched_param first = { .sched_priority = 1 };
	sigset_t all, before;
	pthread_attr_t attr;
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int err;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), set);
	CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), set);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_attr_setaffinity_np(&attr, CPU_ALLOC_SIZE(cpu + 1), set);
	err = err ?: pthread_create(&w->thread, &attr, wait_always, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!err && pthread_setschedparam(w->thread, SCHED_FIFO, &first))
		detail("floating-point values: CPU %u has no real-time thread; some may be missing", cpu);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	return -err;
}

/* A CPU that cannot be had (offline, not ours) is left out: what runs there has no such values. */
static int start_waiter(unsigned cpu)
{
	struct waiter *w = &vector.waiter[vector.count];
	int err;

	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0)
		return -errno;
	err = watch(w->epoll, rings_fds()[cpu], EPOLLET) ?: watch(w->epoll, vector.stop, 0) ?: start_thread(w, cpu);
	if (err) {
		detail("floating-point values: none on CPU %u: %s", cpu, strerror(-err));
		close(w->epoll);
		return 0;
	}
	vector.count++;
	return 0;
}

static int vector_attach(struct recorder_bpf *bpf, const struct config *)
{
	unsigned cpus = libbpf_num_possible_cpus();
	int err = 0;

	if (!vector.bpf)
		return 0;
	if (!kernel_has(HAVE_VECTOR_REGISTERS)) {
		warn("floating-point arguments and results are shown as nan: this kernel does not let them be read");
		return 0;
	}
	vector.stop = eventfd(0, EFD_CLOEXEC);
	vector.waiter = calloc(cpus, sizeof(*vector.waiter));
	if (vector.stop < 0 || !vector.waiter)
		return fail(-errno, "cannot read floating-point values");
	for (unsigned cpu = 0; cpu < cpus && !err; cpu++)
		err = start_waiter(cpu);
	bpf->bss->vectors_served = !err && vector.count;
	return err ? fail(err, "cannot read floating-point values") : 0;
}

static void vector_detach(void)
{
	if (vector.stop >= 0)
		eventfd_write(vector.stop, 1);
	for (unsigned i = 0; i < vector.count; i++) {
		pthread_join(vector.waiter[i].thread, NULL);
		close(vector.waiter[i].epoll);
	}
	vector.count = 0;
	free(TAKE(vector.waiter));
	close_fd(&vector.stop);
	vector.stop = -1;
}

static void vector_summary(void)
{
	uint64_t missed = vector.bpf ? vector.bpf->bss->vectors_missed : 0;

	if (missed)
		say("floating-point values: %lu could not be read, they are shown as nan", missed);
}

const struct source_ops source_vector = {
	.name	 = "vector",
	.plan	 = vector_plan,
	.attach	 = vector_attach,
	.detach	 = vector_detach,
	.summary = vector_summary,
};
