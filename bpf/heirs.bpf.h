/*
 * heirs.bpf.h - whose stack may hold a trampoline of our making: who is recorded, and who was forked by such a task.
 */
#ifndef HEIRS_BPF_H
#define HEIRS_BPF_H

#include "recorder.bpf.h"

/* A task that is not recorded, but was forked with the return probes of one that is. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} gate_heirs __weak SEC(".maps");

static __always_inline bool has_return_probes(struct task_struct *task)
{
	return BPF_CORE_READ(task, utask, return_instances) != NULL;
}

/* May a trampoline of our making lie on its stack? */
static __always_inline bool is_ours(struct task_struct *task)
{
	return known_task(task) || bpf_task_storage_get(&gate_heirs, task, NULL, 0);
}

#endif
