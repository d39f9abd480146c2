/*
 * scratch.bpf.h - memory of a CPU in which a record is put together, and which is nobody else's meanwhile.
 *
 * An interrupt or, where programs are preempted, another task may ask for it, too. So there are as many as may be at work at
 * a time, and each belongs to who has claimed it until that leaves it.
 */
#ifndef SCRATCH_BPF_H
#define SCRATCH_BPF_H

#include "recorder.bpf.h"

/* What the values of such a map begin with: a BPF_MAP_TYPE_PERCPU_ARRAY. */
struct scratch {
	__u64	busy;
};

/* One of the first @count; NULL: others have them all. */
static __always_inline void *scratch_claim(void *map, const __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		__u32 key = i;
		struct scratch *s = bpf_map_lookup_elem(map, &key);

		if (s && !__sync_lock_test_and_set(&s->busy, 1))
			return s;
	}
	return NULL;
}

static __always_inline void scratch_leave(struct scratch *s)
{
	__sync_lock_test_and_set(&s->busy, 0);
}

#endif
