/*
 * cudagiven.bpf.h - an array of handles that a call of the CUDA driver has given, told in pieces when it returns.
 */
#ifndef CUDAGIVEN_BPF_H
#define CUDAGIVEN_BPF_H

#include "recorder.bpf.h"

#define GIVEN_PIECES	128	/* what an array has behind these is not told, and so none of it counts */

struct given {
	__u64	from;
	struct rec_cuda_given piece;
	__u64	handle[CUDA_GIVEN_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct given);
} cuda_given SEC(".maps");

static long send_given_piece(__u32 i, struct given **given)
{
	struct given *g = *given;
	struct task_state *t = my_task();
	__u64 left = g->piece.total - g->piece.at;
	__u32 n = left < CUDA_GIVEN_MAX ? left : CUDA_GIVEN_MAX;

	asm volatile("" : "+r"(n));
	if (!t || n > CUDA_GIVEN_MAX ||
	    bpf_probe_read_user(g->handle, n * sizeof(g->handle[0]), (void *)(g->from + g->piece.at * sizeof(g->handle[0]))))
		return 1;
	g->piece.count = n;
	rec_send(t, CLASS_CUDA, REC_CUDA_GIVEN, 0, &g->piece.hdr, sizeof(g->piece) + n * sizeof(g->handle[0]),
		 sizeof(g->piece) + sizeof(g->handle));
	g->piece.at += n;
	return g->piece.at >= g->piece.total;
}

/* The call of @func at @sp has put them at @from, and how many at @count. */
static __noinline int send_given(__u32 func, __u64 sp, __u64 from, __u64 count)
{
	struct given *g;

	if (!from || !count)
		return 0;
	g = bpf_task_storage_get(&cuda_given, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!g || bpf_probe_read_user(&g->piece.total, sizeof(g->piece.total), (void *)count) || !g->piece.total)
		return 0;
	g->from = from;
	g->piece.func = func;
	g->piece.sp = sp;
	g->piece.at = 0;
	bpf_loop(GIVEN_PIECES, send_given_piece, &g, 0);
	return 0;
}

#endif
