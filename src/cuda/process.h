/*
 * process.h - the processes that call the driver, and what each has been told by it.
 *
 * Belongs to the tracker.
 */
#ifndef CUDA_PROCESS_H
#define CUDA_PROCESS_H

#include "cuda.h"

struct cuda_processes;

int  cuda_processes_create(struct cuda_processes **ret);
void cuda_processes_destroy(struct cuda_processes *all);

struct cuda_process *cuda_process_find(const struct cuda_processes *all, uint32_t pid);	/* NULL: it has made no call */
/* @start: as cuda_process.start. NULL: no memory. */
struct cuda_process *cuda_process_make(struct cuda_processes *all, uint32_t pid, uint64_t start);
void cuda_process_exec(struct cuda_process *p);		/* none of its handles mean anything any more */
/* The sinks have been told. */
void cuda_process_drop(struct cuda_processes *all, struct cuda_process *p);
struct cuda_process *cuda_process_any(const struct cuda_processes *all);	/* one that is left; NULL: none */

/* A call begins; @ret is owned by the caller. Returns 0 or -ENOMEM. */
int  cuda_call_enter(struct cuda_call **ret, struct cuda_process *p, const struct rec_cuda_entry *r);
/* It ends; @r NULL: unseen. What it did to the process takes effect. */
int  cuda_call_leave(struct cuda_call *c, const struct rec_cuda_exit *r);
/* Before it ends: an array that it gives, or a piece of it. Returns 0 or -ENOMEM. */
int  cuda_call_given(struct cuda_call *c, const struct rec_cuda_given *r);
void cuda_call_free(struct cuda_call *c);

#endif
