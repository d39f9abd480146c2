/*
 * hold.c - tasks that wait at a gate are stopped where they would be in the way.
 *
 * From before a task is seized until the slot says GATE_HELD it waits in the BPF program, so
 * it is that task which is seized, and it is in no system call that this could interrupt.
 * If the holder dies the kernel lets its tracees run on.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base.h"
#include "clock.h"
#include "hold.h"
#include "process.h"

#define LONG_NS		50000000ull	/* who waits longer is held, even if no CPU is wanted */
#define UNHELD_NS	100000000ull	/* who cannot be held and is in the way waits no longer */
#define SERVER_TURNS	50		/* between looks whether the server is at work */

#define SEIZE_US	10000

static sigjmp_buf seized_too_long;

static void on_alarm(int sig)
{
	(void)sig;
	siglongjmp(seized_too_long, 1);
}

/*
 * PTRACE_SEIZE waits while another thread of the process execs. That one waits until all others have ended, and one of
 * them that is held has not until we have asked for it. So it may take SEIZE_US, then we ask whether it was done after
 * all. SIGALRM comes at no other time.
 */
static bool seize(pid_t tid)
{
	const struct itimerval soon = { .it_value.tv_usec = SEIZE_US }, never = {};
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	signal(SIGALRM, on_alarm);
	if (!sigsetjmp(seized_too_long, 1)) {
		setitimer(ITIMER_REAL, &soon, NULL);
		sigprocmask(SIG_UNBLOCK, &alarm, NULL);
		ptrace(PTRACE_SEIZE, tid, 0, 0);
		setitimer(ITIMER_REAL, &never, NULL);
		sigprocmask(SIG_BLOCK, &alarm, NULL);
	}
	return !ptrace(PTRACE_INTERRUPT, tid, 0, 0) || errno != ESRCH;	/* it may have ended meanwhile */
}

/*
 * A tracee of somebody else's cannot be held, and nobody where the system lets nobody
 * trace: it goes on waiting as it does, or, where it is in the way for long, unserved.
 */
static void hold(struct gate_slot *s, struct held *t, bool may_give_up)
{
	pid_t tid = s->tid;

	if (!gate_move(s, GATE_WAITING, GATE_SERVING))
		return;
	if ((pid_t)s->tid != tid || !seize(tid)) {
		if (!gate_move(s, GATE_SERVING, may_give_up ? GATE_GIVEN_UP : GATE_WAITING))
			gate_move(s, GATE_LEFT, GATE_FREE);
		return;
	}
	*t = (struct held){ .tid = tid };
	if (!gate_move(s, GATE_SERVING, GATE_HELD))	/* it waits no longer: it is let go when it has stopped */
		gate_move(s, GATE_LEFT, GATE_FREE);
}

/* Let it run on, with the signal that it stopped for, if that was one. False: it has not stopped yet. */
static bool let_go(struct held *t)
{
	int status = 0;
	pid_t got = waitpid(t->tid, &status, __WALL | WNOHANG);

	if (!got)
		return false;
	if (got != t->tid || !WIFSTOPPED(status))
		return true;
	return !ptrace(PTRACE_DETACH, t->tid, 0, status >> 16 ? 0 : WSTOPSIG(status));	/* killed just now, its end is still ours */
}

/* Its parent is told of that when the holder was. */
static bool has_ended(const struct held *t)
{
	siginfo_t info = {};

	if (waitid(P_PID, t->tid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL))
		return true;
	if (!info.si_pid || info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		return false;
	waitpid(t->tid, NULL, __WALL | WNOHANG);
	return true;
}

static void look_after(const struct holder *h, struct gate_slot *s, struct held *t, uint64_t now)
{
	if ((!*h->exec_open || now > s->until + GATE_SERVE_NS) && gate_move(s, GATE_HELD, GATE_LET_GO))
		__atomic_fetch_add(h->timeouts, 1, __ATOMIC_RELAXED);
	if (gate_state(s) == GATE_HELD ? !has_ended(t) : !let_go(t))
		return;
	t->tid = 0;
	if (!gate_move(s, GATE_LET_GO, GATE_FREE))
		gate_move(s, GATE_HELD, GATE_FREE);
}

static uint64_t has_waited(const struct gate_slot *s, uint64_t now)
{
	return now - (s->until - GATE_EXEC_NS);
}

static bool is_to_be_held(const struct holder *h, const struct gate_slot *s)
{
	return *h->exec_open && gate_state(s) == GATE_WAITING && s->count != GATE_EXEC_HOOK &&
	       !(h->leaves_readers && s->count == GATE_READ);
}

static long count_waiting(const struct holder *h)
{
	long n = 0;

	for (unsigned i = 0; i < GATE_EXEC_SLOTS; i++)
		n += h->held[i].tid || gate_state(&h->slot[i]) == GATE_WAITING;
	return n;
}

static bool holds_any(const struct holder *h)
{
	for (unsigned i = 0; i < GATE_EXEC_SLOTS; i++)
		if (h->held[i].tid)
			return true;
	return false;
}

bool hold_turn(struct holder *h)
{
	uint64_t now = clock_now();
	long waiting = count_waiting(h);
	bool in_the_way = waiting >= h->cpus;

	if (waiting && ++h->turns % SERVER_TURNS == 0 && h->server && !process_is_at_work(h->server))
		*h->exec_open = false;
	for (unsigned i = 0; i < GATE_EXEC_SLOTS && waiting; i++) {
		struct gate_slot *s = &h->slot[i];

		if (h->held[i].tid)
			look_after(h, s, &h->held[i], now);
		else if (is_to_be_held(h, s) && (in_the_way || has_waited(s, now) > LONG_NS))
			hold(s, &h->held[i], in_the_way && has_waited(s, now) > UNHELD_NS);
	}
	return holds_any(h) || (waiting && *h->exec_open);
}
