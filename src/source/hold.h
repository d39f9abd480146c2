/*
 * hold.h - tasks that wait at a gate are stopped where they would be in the way.
 *
 * A task at a gate waits in the kernel, ready to run. When more of them wait than there
 * are CPUs they take those from each other, on a kernel that does not preempt itself
 * always while they hold their memory map's lock; who sets probes in that memory wants
 * the lock for each, and one probe takes as long as a round of all of them. So then they
 * are stopped by ptrace(2) as soon as they leave the BPF program, ahead of any code of
 * theirs, and sleep without a lock until they were served. It is PTRACE_SEIZE: no signal
 * is sent, nobody who waits for the task sees that, and whoever holds it may be killed.
 */
#ifndef HOLD_H
#define HOLD_H

#include <stdbool.h>
#include <sys/types.h>

#include "gate.h"

struct held {
	pid_t tid;			/* 0: none is held at this slot */
};

struct holder {
	struct gate_slot *slot;		/* GATE_SLOTS, lent */
	volatile bool	 *exec_open;	/* BPF's gate_exec_open, lent */
	volatile __u64	 *timeouts;	/* BPF's gate_exec_timeouts, lent */
	pid_t		  server;	/* who serves GATE_EXEC; 0: /proc does not show it */
	long		  cpus;
	bool		  leaves_readers;	/* GATE_READ: the server traces them itself */
	unsigned	  turns;
	struct held	  held[GATE_EXEC_SLOTS];
};

/* Those who wait, looked at. Returns true as long as it is to be called again, in HOLD_TURN_MS. */
#define HOLD_TURN_MS	1
bool hold_turn(struct holder *h);

#endif
