/*
 * taskstate.h - what BPF knows of a recorded task; its being there is what makes the task recorded.
 *
 * Shared with BPF: user space makes the first one, for the command.
 */
#ifndef TASKSTATE_H
#define TASKSTATE_H

#include "record.h"

#define TASK_ARMED	1u	/* our own child before its exec: recording begins at its next execve */
#define TASK_HAS_LOST	2u	/* some of lost[] is not zero */
#define TASK_ENTERED	4u	/* with signals_pause: the system call that it is in was recorded, or is held */

#define TASK_CUDA_GAVE	8u	/* a call of the CUDA driver whose return is not probed has given something: cuda.bpf.c */
#define TASK_UNSTARTED	16u	/* our own child until it has exec'd: who would serve it at a gate waits for that */

/* Is a task given its storage when it is made? */
enum storage_at_forks {
	STORAGE_GIVEN,
	STORAGE_MAY_BE_REFUSED,
	STORAGE_REFUSED,	/* always: in tests */
	STORAGE_HIDDEN,		/* what was given may not be found later: none is used, but for who was marked from user space */
};

/* --returns=WHEN */
enum returns_when {
	RETURNS_AUTO,		/* in processes whose stack walkers are all known */
	RETURNS_NEVER,
	RETURNS_ALWAYS,
};

#define RETURNS_ANYBODY	0xffffffffu	/* no user's number: uid -1 */

/* May the returns of a process be probed? */
struct process_state {
	__u32	returns_probed;
	__u32	is_forbidden;	/* a file that holds a walker nobody can guard is mapped, or it is not returns_user's */
	__u32	unknown;	/* files mapped since its exec, or the last time it was asked for, that nobody has looked at */
	__u32	mapped;		/* counts those */
	__u32	is_wanted;	/* one of them is to be looked at, whatever that means for returns: a CUDA driver */
	__u32	pad;
};

/* What a pass over all tasks does with those of the targets: bpf/target.bpf.c. In this order. */
enum target_step {
	TARGET_ANNOUNCE,	/* tell of each process */
	TARGET_MARK,		/* record each thread from now on */
	TARGET_ASK,		/* what is mapped is about to be looked at */
	TARGET_SETTLE,		/* it was: TARGET_RETURNS says with what result */
};

/* Flags of a target. */
#define TARGET_WHOLE	1u	/* all threads of the process, else those named */
#define TARGET_RETURNS	2u	/* its returns may be probed */
#define TARGET_KNOWN	4u	/* set by TARGET_ANNOUNCE: it is recorded already */

struct task_state {
	__u64	lost[REC_CLASSES];	/* records of it that found no space, since the last REC_TASK_LOST */
	__u32	flags;			/* TASK_* */
	__u32	texts_unread;		/* of the system call it is in: texts that were not in memory, a bit for each argument */
	__u32	tgid;			/* of one that has no storage, in the kernel's numbers: bpf/recorder.bpf.h */
	__u32	returns_probed;		/* as its process's when returns_epoch was BPF's */
	__u64	returns_epoch;
	__u64	hit_cookie, hit_sp;		/* of the last function that is probed by COOKIE_OWN or COOKIE_LATE */
	__u64	home, home_bytes;	/* the stack whose returns are probed: stack.bpf.h; 0 bytes: home is in it, or 0 */
};

#endif
