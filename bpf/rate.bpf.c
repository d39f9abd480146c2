/*
 * rate.bpf.c - a second at a time, each function has so many calls that are recorded.
 *
 * Its second begins with the first call after the last one's end. What comes when
 * they are used up is shed until it ends, on all CPUs: so a function that is called
 * seldom is whole, and of a hot one each second has a beginning without gaps.
 */
#include "rate.bpf.h"
#include "rate.h"

#define SECOND	1000000000

const volatile __u32 rate_max;

/* By rec_func.func; an entry is there before its probe is. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, __u32);
	__type(value, struct func_rate);
} rate_of_func SEC(".maps");

__noinline int rate_sheds(__u32 func)
{
	struct func_rate *r = bpf_map_lookup_elem(&rate_of_func, &func);
	__u64 now, began;

	if (!r)
		return 0;
	now = bpf_ktime_get_ns();
	began = r->began;
	/* Another CPU may have read its clock later and been here before. */
	if ((__s64)(now - began) >= SECOND && __sync_val_compare_and_swap(&r->began, began, now) == began)
		r->calls = 0;
	if (__sync_fetch_and_add(&r->calls, 1) < rate_max)
		return 0;
	__sync_fetch_and_add(&r->shed, 1);
	return 1;
}

char LICENSE[] SEC("license") = "GPL";
