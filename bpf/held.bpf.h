/*
 * held.bpf.h - calls that are held back until it is known whether they are recorded: --time-filter, --caller-filter.
 */
#ifndef HELD_BPF_H
#define HELD_BPF_H

#include "recorder.bpf.h"
#include "function.h"

/* An open function. */
struct held {
	__u64	sp, began;
	__u32	func;
	__u32	flags;		/* REC_F_* of its entry, FILTER_HOME, HELD_MEANT */
};

/* The open system call: while it is open nothing else of its task can begin. */
struct held_syscall {
	__u64	began;		/* 0: none is */
	__u64	arg[6];
	__u32	nr;
	__u16	flags;		/* REC_F_* of its entry */
	bool	is_told;	/* it took long enough, its entry was sent: its exit is to be */
};

struct held_calls {
	__u64		    count;		/* open functions, outermost first */
	__u64		    told;		/* the outermost so many have been sent: who is sent has its callers sent */
	struct held_syscall syscall;
	struct held	    call[HELD_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct held_calls);
} held_calls __weak SEC(".maps");

extern const volatile bool calls_are_held;	/* the option is given */
extern const volatile bool syscalls_are_held;

#endif
