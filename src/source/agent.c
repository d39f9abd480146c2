/*
 * agent.c - the small process that writes into the memory of tasks at a gate, and stops those that are in the way.
 *
 * What it needs (the ring of requests, the slots, the iterator that counts the
 * tasks with a return probe open) is made before the fork, so that after it
 * nothing is allocated and nothing is opened. It becomes nobody's child and
 * leaves the session, so that no signal meant for recorder reaches it.
 *
 * One request is one wakeup, one read and one write (seat.c): the task waits about
 * ten microseconds. The agent runs ahead of ordinary tasks, since a waiting
 * task spins and the agent may need its CPU.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "agent.h"
#include "base.h"
#include "gate.h"
#include "kernel.h"
#include "log.h"
#include "process.h"
#include "recorder.skel.h"
#include "source/hold.h"
#include "source/links.h"
#include "source/seat.h"

#define LOOK_MS		1000	/* between looks at all slots, for a request that found no room in its ring */
#define LEAVE_MS	200	/* between counts of the tasks that need it, once recorder is gone */
#define HOLDS_MAX	1024	/* links it keeps that can be let go of before its end */
#define ANSWER_MS	100

struct agent {
	int	socket;
	int	pidfd;		/* -1: not known */
};

/* A message to the agent. */
struct word {
	uint64_t file;		/* 'l', 'f': a number for the file */
	uint64_t what;		/* 'l': a link comes with it; 'f': let go of that file's */
};

struct hold {
	uint64_t file;
	int	 fd;
};

/* The agent's own side. */
struct serving {
	struct hold	    hold[HOLDS_MAX];
	unsigned	    holds;
	struct gate_slot   *slot;	/* GATE_SLOTS, shared with BPF */
	struct ring_buffer *requests;
	volatile __u64	   *hijacked;	/* counted by a read of the iterator */
	struct holder	    holder;
	bool		    is_holding;
	int		    iterator;	/* link; -1: cannot count */
	int		    requests_fd;
	int		    socket;
	int		    recorder;	/* its pidfd; -1: not known */
	bool		    is_alone;	/* it has let go of all its links, or is dying and does */
};

static int serve(void *ctx, void *data, size_t len);

static void serving_close(struct serving *s)
{
	ring_buffer__free(s->requests);
	if (s->slot)
		munmap(s->slot, GATE_SLOTS * sizeof(*s->slot));
	close_fd(&s->iterator);
	close_fd(&s->recorder);
}

static int serving_open(struct serving *s, struct recorder_bpf *bpf)
{
	void *p;
	int err;

	*s = (struct serving){
		.iterator = -1, .socket = -1, .recorder = syscall(SYS_pidfd_open, getpid(), 0),
		.hijacked = &bpf->bss->gate_hijacked,
		.holder = {
			.exec_open = &bpf->data->gate_exec_open, .timeouts = &bpf->bss->gate_exec_timeouts,
			.server = process_own_in_proc(), .cpus = sysconf(_SC_NPROCESSORS_ONLN),
			.leaves_readers = !kernel_has(HAVE_FORCED_WRITES),
		},
	};
	s->requests_fd = bpf_map__fd(bpf->maps.gate_requests);
	p = mmap(NULL, GATE_SLOTS * sizeof(*s->slot), PROT_READ | PROT_WRITE, MAP_SHARED,
		 bpf_map__fd(bpf->maps.gate_slots), 0);
	if (p == MAP_FAILED)
		return -errno;
	s->slot = s->holder.slot = p;
	s->requests = ring_buffer__new(s->requests_fd, serve, s, NULL);
	if (!s->requests)
		return -errno;
	err = bpf_link_create(bpf_program__fd(bpf->progs.hijacked_tasks), 0, BPF_TRACE_ITER, NULL);
	if (err < 0)
		return err;
	s->iterator = err;
	return 0;
}

static void serve_slot(struct gate_slot *s)
{
	if (s->kind != GATE_WRITE || !gate_move(s, GATE_WAITING, GATE_SERVING))
		return;
	if (!gate_move(s, GATE_SERVING, seat_write(s) ? GATE_DONE : GATE_FAILED))
		gate_move(s, GATE_LEFT, GATE_FREE);
}

static int serve(void *ctx, void *data, size_t len)
{
	struct serving *s = ctx;
	__u32 at = *(__u32 *)data;

	if (len >= sizeof(at) && at < GATE_SLOTS)
		serve_slot(&s->slot[at]);
	s->is_holding = s->is_holding || at == GATE_SLOTS;
	return 0;
}

static void serve_all(struct serving *s)
{
	for (unsigned i = GATE_EXEC_SLOTS; i < GATE_SLOTS; i++)
		serve_slot(&s->slot[i]);
}

/* Of a process that was killed the kernel closes the links at its very end. */
static bool is_recorder_gone(const struct serving *s)
{
	struct pollfd end = { .fd = s->recorder, .events = POLLIN };

	return s->recorder < 0 ? s->is_alone : poll(&end, 1, 0) > 0;
}

/* Does any task have a return probe open? Yes, if that cannot be told. */
static bool is_needed(struct serving *s)
{
	int fd = s->iterator < 0 ? -1 : bpf_iter_create(s->iterator);
	char none[8];
	ssize_t n;

	if (fd < 0)
		return true;
	*s->hijacked = 0;
	do
		n = read(fd, none, sizeof(none));
	while (n > 0 || (n < 0 && errno == EAGAIN));
	close(fd);
	return n < 0 || *s->hijacked;
}

static void hold(struct serving *s, uint64_t file, const struct msghdr *msg)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	if (!c || c->cmsg_type != SCM_RIGHTS || s->holds == HOLDS_MAX)
		return;			/* held all the same: by being open */
	s->hold[s->holds].file = file;
	memcpy(&s->hold[s->holds++].fd, CMSG_DATA(c), sizeof(int));
}

static void let_go(struct serving *s, uint64_t file)
{
	unsigned left = 0;

	for (unsigned i = 0; i < s->holds; i++)
		if (s->hold[i].file == file)
			close(s->hold[i].fd);
		else
			s->hold[left++] = s->hold[i];
	s->holds = left;
	send(s->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A link to hold, one to let go of, or the end of recorder and of what lets go of its links. */
static void hear(struct serving *s)
{
	union {
		struct cmsghdr h;
		char	       room[CMSG_SPACE(sizeof(int))];
	} control;
	struct word word;
	struct iovec iov = { &word, sizeof(word) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(s->socket, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(word)) {
		switch (word.what) {
		case 'l': hold(s, word.file, &msg); break;
		case 'f': let_go(s, word.file); break;
		}
	}
	if (n > 0)
		return;
	s->is_alone = true;
	*s->holder.exec_open = false;	/* nobody is left to serve those who wait at an exec */
}

static void serve_until_done(struct serving *s)
{
	struct pollfd fds[] = {
		{ .fd = ring_buffer__epoll_fd(s->requests), .events = POLLIN },
		{ .fd = s->socket, .events = POLLIN },
	};

	for (;;) {
		fds[1].revents = 0;
		poll(fds, s->is_alone ? 1 : 2, s->is_holding ? HOLD_TURN_MS : s->is_alone ? LEAVE_MS : LOOK_MS);
		ring_buffer__consume(s->requests);
		if (fds[1].revents)
			hear(s);
		if (s->is_holding) {
			s->is_holding = hold_turn(&s->holder);
			continue;
		}
		if (fds[0].revents)
			continue;
		serve_all(s);
		if (!is_recorder_gone(s))
			continue;
		*s->holder.exec_open = false;
		if (s->is_alone && !is_needed(s))
			return;
	}
}

/* Close all that is not ours: another process's pipes must see their end when recorder ends. */
static void close_others(struct serving *s)
{
	int keep[] = { 0, 1, 2, s->socket, s->requests_fd, s->iterator, s->recorder, ring_buffer__epoll_fd(s->requests) };
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	process_keep_only(keep, ARRAY_SIZE(keep));
}

/* A task that waits spins: run ahead of it, also where it is a real-time one, and be the last to be killed for memory. */
static void come_first(void)
{
	struct sched_param first = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "-1000", 5) < 0)
		detail("agent: cannot be kept from being killed for memory");
	close_fd(&fd);
	if (sched_setscheduler(0, SCHED_FIFO, &first))
		setpriority(PRIO_PROCESS, 0, -20);
}

static void agent_main(struct serving *s)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "recorder-agent");
	if (chdir("/"))
		_exit(1);
	come_first();
	close_others(s);
	serve_until_done(s);
	_exit(0);
}

int agent_start(struct agent **ret, struct recorder_bpf *bpf)
{
	struct agent *a = calloc(1, sizeof(*a));
	struct serving s;
	int pair[2], err;
	pid_t pid, own;

	if (!a)
		return -ENOMEM;
	err = serving_open(&s, bpf);
	if (!err && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		err = -errno;
	if (err) {
		serving_close(&s);
		free(a);
		return fail(err, "cannot start the agent that user functions need");
	}
	s.socket = pair[1];
	pid = fork();
	if (pid == 0) {
		own = fork();
		if (own == 0)
			agent_main(&s);
		_exit(send(s.socket, &own, sizeof(own), 0) != sizeof(own));
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	else
		err = -errno;
	a->pidfd = -1;
	if (recv(pair[0], &own, sizeof(own), MSG_DONTWAIT) == sizeof(own) && own > 0) {
		process_own(own);
		bpf->bss->agent_pid = own;
		a->pidfd = syscall(SYS_pidfd_open, own, 0);
	}
	serving_close(&s);
	close(pair[1]);
	a->socket = pair[0];
	links_witness(a->socket);
	*ret = a;
	return err;
}

int agent_fd(const struct agent *a)
{
	return a ? a->pidfd : -1;
}

int agent_hold(struct agent *a, int link_fd, const struct probed *file)
{
	union {
		struct cmsghdr h;
		char	       room[CMSG_SPACE(sizeof(int))];
	} control = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct word word = { (uintptr_t)file, 'l' };
	struct iovec iov = { &word, sizeof(word) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.h), &link_fd, sizeof(link_fd));
	return sendmsg(a->socket, &msg, MSG_NOSIGNAL) == sizeof(word) ? 0 : -errno;
}

void agent_let_go(struct agent *a, const struct probed *file)
{
	struct word word = { (uintptr_t)file, 'f' };
	struct pollfd answer = { .fd = a->socket, .events = POLLIN };
	char c;

	while (recv(a->socket, &c, 1, MSG_DONTWAIT) > 0)
		;			/* that came too late */
	if (send(a->socket, &word, sizeof(word), MSG_NOSIGNAL) != sizeof(word) ||
	    poll(&answer, 1, ANSWER_MS) <= 0 || recv(a->socket, &c, 1, MSG_DONTWAIT) != 1)
		detail("agent: does not answer; it may keep links of a file that was rewritten");
}

void agent_dismiss(struct agent *a)
{
	if (!a)
		return;
	close_fd(&a->pidfd);
	free(a);			/* the socket stays open: its end tells that all our links are gone */
}
