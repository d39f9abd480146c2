/*
 * decode.h - the words of a call, and what was taken along with them, read as what they mean.
 */
#ifndef CUDA_DECODE_H
#define CUDA_DECODE_H

#include "cuda.h"

/* A kernel to be launched, as it is written in a call or a graph's node. */
struct cuda_dims {
	uint64_t func;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t shared;
	uint32_t flags;		/* CUDA_LAUNCH_* that the call itself tells */
	uint64_t stream;	/* CUDA_DOES_LAUNCH_MULTI and LAUNCH_EX: it is told there */
};

/* Fills in @c from @r, but for what the process has to be asked for: launch, is_captured. Returns 0 or -ENOMEM. */
int decode_call(struct cuda_call *c, const struct rec_cuda_entry *r);

/*
 * The kernels that @r launches, or describes for a graph's node, CUDA_LIST_MAX at most, into @d; returns how many.
 * Of CUDA_DOES_LAUNCH_GRID block and shared are not told.
 */
size_t decode_dims(struct cuda_dims d[CUDA_LIST_MAX], const struct rec_cuda_entry *r);

#endif
