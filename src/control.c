/*
 * control.c - one epoll loop; a row of handlers.
 */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "base.h"
#include "clock.h"
#include "config.h"
#include "control.h"
#include "flow/writer.h"
#include "gate.h"
#include "grace.h"
#include "images.h"
#include "kernel.h"
#include "launch.h"
#include "log.h"
#include "out.h"
#include "process.h"
#include "source/triggers.h"
#include "target.h"
#include "trigger.h"
#include "unwind.h"

#define STATUS_NS	(NSEC_PER_SEC / 2)

struct loop {
	const struct control_args *args;
	uint64_t begin, last_time, last_events;
	double	 last_cpu;
	int	 epoll;
	bool	 done, ended;
};

static double own_cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* "412k", "1.8M": three digits and a unit. */
static const char *shortly(double n, char text[16])
{
	static const char unit[] = " kMGTP";
	int i = 0;

	for (; n >= 999.5 && unit[i + 1]; i++)
		n /= 1000;
	snprintf(text, 16, i && n < 10 ? "%.1f%.*s" : "%.0f%.*s", n, i > 0, unit + i);
	return text;
}

static void show_status(struct loop *l)
{
	uint64_t now = clock_now(), seconds = (now - l->begin) / NSEC_PER_SEC;
	double span = (now - l->last_time) / 1e9, cpu = own_cpu();
	char rate[16], bytes[16], lost[16];
	struct writer_progress p;

	writer_progress(l->args->writer, &p);
	status_line("rec %02lu:%02lu  %s ev/s  %sB  %lu tasks  lost %s  cost %.1f%%", seconds / 60, seconds % 60,
		    shortly((p.events - l->last_events) / span, rate), shortly(out_total(), bytes), p.tasks,
		    shortly(p.lost, lost), (cpu - l->last_cpu) / span * 100);
	l->last_time = now;
	l->last_events = p.events;
	l->last_cpu = cpu;
}

static int on_timer(struct loop *l, int fd)
{
	uint64_t times;

	if (read(fd, &times, sizeof(times)) == sizeof(times))
		show_status(l);
	return 0;
}

/* --signal: what a SIGUSR1 or SIGUSR2 does. */
static void obey(struct loop *l, int sig, unsigned actions)
{
	trigger_by_signal(sig, actions);
	if (!(actions & TRIGGER_FINISH))
		return;
	say("finished by SIG%s", sigabbrev_np(sig));
	l->done = true;
}

static void obey_asked(struct loop *l)
{
	unsigned asked = launch_asked(l->args->launch);

	if (asked & 1u << SIGUSR1)
		obey(l, SIGUSR1, l->args->cfg->on_usr1);
	if (asked & 1u << SIGUSR2)
		obey(l, SIGUSR2, l->args->cfg->on_usr2);
}

static int on_signal(struct loop *l, int fd)
{
	(void)fd;
	switch (launch_on_signal(l->args->launch)) {
	case LAUNCH_RUNNING:
		break;
	case LAUNCH_EXITED:
		l->ended = true;
		l->done = true;
		break;
	case LAUNCH_DETACH:
	case LAUNCH_HURRY:
		l->done = true;
		break;
	}
	obey_asked(l);
	return 0;
}

static int on_target(struct loop *l, int fd)
{
	(void)fd;
	return target_serve(l->args->target, &l->done);
}

static int on_time_up(struct loop *l, int fd)
{
	(void)fd;
	l->done = true;
	return 0;
}

static int on_finish(struct loop *l, int fd)
{
	(void)fd;
	trigger_say();
	l->done = true;
	return 0;
}

/* A task waits at its first instruction: probe the file it runs. */
static int probe_exe(struct images *images, const struct gate_notice *n, int proc)
{
	struct image_id id = {
		.ino = n->file.ino, .dev = n->file.dev, .gen = n->file.gen, .size = n->file.size, .ctime = n->file.ctime,
	};

	return images_add_exe(images, n->pid, proc, &id);
}

/* Links that name a process whose first thread has ended are met by nobody in what it maps from then on. */
static int share_of_leaderless(struct images *images, pid_t pid)
{
	return process_with_program(pid) == pid ? 0 : images_share(images);
}

static int probe_waiting(void *ctx, const struct gate_notice *n, int proc, const char *path)
{
	struct images *images = ((struct loop *)ctx)->args->images;

	switch (n->what) {
	case GATE_FORK:
		return images_share(images);
	case GATE_EXEC_CALL:
	case GATE_EXEC_HOOK:
		return images_share(images) ?: images_add_path(images, proc, path);
	case GATE_EXECED:
		return images_share(images) ?: probe_exe(images, n, proc);
	case GATE_MAPPED:
		return share_of_leaderless(images, n->pid) ?: images_look(images, n->pid, proc);
	}
	return 0;
}

static int on_gate(struct loop *l, int fd)
{
	int err = gate_serve(probe_waiting, l);

	(void)fd;
	images_let_exec();
	return err;
}

static int on_rewritten(struct loop *l, int fd)
{
	int err = images_drop_rewritten(l->args->images);

	return err ?: on_gate(l, fd);
}

/* Who waits would take the CPUs from whom he waits for, on and on: nobody does from here on. */
static int on_agent_gone(struct loop *l, int fd)
{
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
	warn("recorder-agent was killed: programs that start from here on run before they are probed%s",
	     kernel_has(HAVE_WRITE_USER) ? "" : ", and an exception may end one");
	gate_shut();
	return 0;
}

static int on_grace(struct loop *l, int fd)
{
	(void)l, (void)fd;
	grace_turn();
	return 0;
}

/* What the loop waits for. */
struct watch {
	int   fd;
	int (*ready)(struct loop *l, int fd);
};

/* Every @ns, or only once. -1: there is none. */
static int make_timer(uint64_t ns, bool again)
{
	struct timespec t = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
	struct itimerspec every = { .it_interval = again ? t : (struct timespec){}, .it_value = t };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0)
		timerfd_settime(fd, 0, &every, NULL);
	return fd;
}

static int watch_all(int epoll, struct watch *watch, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &watch[i] };

		if (watch[i].fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, watch[i].fd, &ev))
			return -errno;
	}
	return 0;
}

/*
 * A task at a gate waits by giving way, again and again; while one does, we are to
 * have the CPU at once. Our threads and the command were started before and keep theirs.
 */
static void take_precedence(void)
{
	if (setpriority(PRIO_PROCESS, 0, -20))
		detail("cannot run ahead of waiting tasks: %s", strerror(errno));
}

int control_run(const struct control_args *args, bool *ended)
{
	struct loop l = { .args = args, .begin = clock_now(), .last_time = clock_now() };
	__cleanup(close_fd) int timer = args->cfg->status ? make_timer(STATUS_NS, true) : -1;
	__cleanup(close_fd) int time_up = args->cfg->duration_ns ? make_timer(args->cfg->duration_ns, false) : -1;
	__cleanup(close_fd) int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct watch watch[] = {
		{ launch_signal_fd(args->launch), on_signal },
		{ timer, on_timer },
		{ time_up, on_time_up },
		{ args->target ? target_fd(args->target) : -1, on_target },
		{ trigger_fd(), on_finish },
		{ gate_fd(), on_gate },
		{ images_rewritten_fd(), on_rewritten },
		{ unwind_agent_fd(), on_agent_gone },
		{ grace_fd(), on_grace },
	};
	int err = epoll < 0 ? -errno : watch_all(epoll, watch, ARRAY_SIZE(watch));

	l.epoll = epoll;
	take_precedence();
	while (!l.done && !err) {
		struct epoll_event ev;
		int n = epoll_wait(epoll, &ev, 1, -1);

		if (n < 0 && errno != EINTR)
			err = -errno;
		else if (n > 0)
			err = ((struct watch *)ev.data.ptr)->ready(&l, ((struct watch *)ev.data.ptr)->fd);
	}
	status_line(NULL);
	*ended = l.ended;
	return err;
}
