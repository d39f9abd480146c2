/*
 * filter.bpf.h - is a call to be recorded, by --filter, --notrace and --depth?
 */
#ifndef FILTER_BPF_H
#define FILTER_BPF_H

#include "recorder.bpf.h"
#include "function.h"
#include "room.bpf.h"

enum filter_verdict {
	FILTER_SKIP,		/* not recorded, and its return is of no interest */
	FILTER_WATCH,		/* not recorded, but its return is to be told by filter_leave() */
	FILTER_SHOW,		/* recorded, its return too */
};

#define NEAR_BYTES	(256u << 10)	/* as in calls.c: further apart is another stack, unless both are home */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FILTERED_COUNTS);
	__type(key, __u32);
	__type(value, __u64);
} filtered_calls __weak SEC(".maps");

static __always_inline void count_filtered(__u32 what, __u64 n)
{
	__u64 *sum = bpf_map_lookup_elem(&filtered_calls, &what);

	if (sum && n)
		__sync_fetch_and_add(sum, n);
}

#define FILTER_HOME	0x10000u	/* beside REC_F_*: the call runs on the task's home stack: stack.bpf.h */

/* Are the places @a and @b of a task on one stack? With the flags of the calls there. */
static __always_inline bool is_one_stack(__u64 a, __u32 a_flags, __u64 b, __u32 b_flags)
{
	if (a_flags & b_flags & FILTER_HOME)
		return true;
	return (a > b ? a - b : b - a) < NEAR_BYTES;
}

struct frame {
	__u64	sp;		/* of the call that made it */
	__u32	func;		/* rec_func.func */
	__u16	level;		/* recorded calls that are open, with it; counted with --max-stack only */
	__u8	depth;		/* left for what it calls */
	__u8	flags;		/* FRAME_* */
};

struct frames {
	struct room  room;
	__u64	     count;
	struct frame frame[FILTER_FRAMES];
};

ROOMS(filter_frames, struct frames);

/*
 * The current task calls the function of @cookie (function.h), its return address at @sp. @flags: those
 * of its record, and FILTER_HOME. Returns enum filter_verdict.
 */
int filter_enter(__u64 sp, __u64 cookie, __u32 flags);

/*
 * It returns from there. Returns 1 when the call was recorded. With COOKIE_TRIGGER that is known, else it is
 * as far as what is known of its callers tells: for kernels where returns are probed whatever filter_enter() said.
 */
int filter_leave(__u64 sp, __u64 cookie, __u32 flags);

/* Where only the returns of wanted calls are probed: was it recorded, @leave being filter_leave()'s answer? */
static __always_inline bool was_shown(__u64 cookie, bool leave)
{
	return cookie & COOKIE_TRIGGER ? leave : !(cookie & (COOKIE_OUT | COOKIE_HIDE));
}

#endif
