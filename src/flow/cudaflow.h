/*
 * cudaflow.h - records of the CUDA driver's calls in, events of them out.
 *
 * Part of the tracker. What a call means to its process is src/cuda's to know.
 */
#ifndef CUDAFLOW_H
#define CUDAFLOW_H

#include <stdint.h>

struct calls;
struct cuda_process;
struct cuda_processes;
struct rec_hdr;
struct task;

struct cuda_flow {
	struct calls	      *calls;	/* lent: with the segment, the counts and the time */
	struct cuda_processes *of;	/* owned by the tracker */
};

/* A record of a process that makes calls, by its kind. Return 0 or a negative errno. */
int cuda_flow_entry(struct cuda_flow *f, struct cuda_process *p, struct task *t, const struct rec_hdr *rec);
int cuda_flow_exit(struct cuda_flow *f, struct task *t, const struct rec_hdr *rec);
int cuda_flow_image(struct cuda_flow *f, struct task *t, const struct rec_hdr *rec);
int  cuda_flow_given(struct task *t, const struct rec_hdr *rec);
int cuda_flow_times(struct cuda_flow *f, struct cuda_process *p, const struct rec_hdr *rec);

/* The process has exec'd; its last task has ended; all has. */
int cuda_flow_exec(struct cuda_flow *f, uint32_t pid);
int cuda_flow_end(struct cuda_flow *f, uint32_t pid);
int cuda_flow_finish(struct cuda_flow *f);

#endif
