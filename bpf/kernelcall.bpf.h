/*
 * kernelcall.bpf.h - the kernel's functions that programs call by a mark in place of their number: include/kernelcall.h.
 */
#ifndef KERNELCALL_BPF_H
#define KERNELCALL_BPF_H

#include "kernelcall.h"
#include "recorder.bpf.h"

/* An asm operand: enum kernel_call. */
#define CALL_KERNEL(operand)	".byte 0x85, 0x20, 0, 0\n\t.long " operand "\n\t"

/* Held until it is released; NULL: there is none, or no longer. */
static __always_inline struct task_struct *task_from_pid(__s32 pid)
{
	struct task_struct *task;

	asm volatile("r1 = %1\n\t" CALL_KERNEL("%2") "%0 = r0"
		     : "=r"(task) : "r"(pid), "i"(KERNEL_TASK_FROM_PID) : "r0", "r1", "r2", "r3", "r4", "r5", "memory");
	return task;
}

static __always_inline void task_release(struct task_struct *task)
{
	asm volatile("r1 = %0\n\t" CALL_KERNEL("%1")
		     :: "r"(task), "i"(KERNEL_TASK_RELEASE) : "r0", "r1", "r2", "r3", "r4", "r5", "memory");
}

/* Of the map that holds @work, after which the kernel gives the key and the value. */
typedef int (*task_work_fn)(void *map, __u32 *key, void *value);

/*
 * Have @fn run in @task, which may sleep there, before it goes back to its program. @work: a struct bpf_task_work in a
 * value of @map. 0, or a negative errno: -EBUSY while @work is in use.
 */
static __always_inline long task_work_add(struct task_struct *task, void *work, void *map, task_work_fn fn)
{
	long err;

	asm volatile("r1 = %1\n\tr2 = %2\n\tr3 = %3\n\tr4 = %4\n\tr5 = 0\n\t" CALL_KERNEL("%5") "%0 = r0"
		     : "=r"(err) : "r"(task), "r"(work), "r"(map), "r"(fn), "i"(KERNEL_TASK_WORK)
		     : "r0", "r1", "r2", "r3", "r4", "r5", "memory");
	return err;
}

#endif
