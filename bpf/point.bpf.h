/*
 * point.bpf.h - programs at the kernel's tracepoints, each in the two shapes that the kernel offers.
 *
 * AT_EXIT(NAME, task) { ... }, for one, makes of one body two programs: NAME, a typed tracepoint's, the fastest; and
 * NAME_perf, a perf event's. Only one is loaded (src/source/point.c). From 7.0 on the kernel may preempt the first in
 * the midst, and as long as it has not ended skips it for all others on that CPU; perf events still run with preemption
 * off, so there the second misses nothing, and memory of a CPU is nobody else's meanwhile.
 *
 * Programs at uprobes, UPROBE(NAME, ctx) { ... }, URETPROBE and UPROBE_SLEEPABLE, can be preempted, too, or wait, and then
 * another task runs them on that CPU. Since 6.13 the kernel gives what has frames of 64 bytes and more a stack of the CPU's
 * (a76ab5731e32, bpf_enable_priv_stack()), where the second would write over what the first has: records bore another task's
 * number. Not to what has a tail call, so all have one, which is never reached: the kernel sees it before it drops what is
 * not. tests/live/ownstack.py finds out of the machine code which programs have such a stack.
 *
 * With 0 from a perf event's program the kernel would keep the event from everybody's perf counters: it says 1.
 */
#ifndef POINT_BPF_H
#define POINT_BPF_H

#include "recorder.bpf.h"

/* Where a perf event's text lies, in the kernel; @place is its __data_loc field. */
static __always_inline __u64 text_of(void *ctx, __u32 place)
{
	return kernel_address(ctx) + (place & 0xffff);
}

static __always_inline struct pt_regs *own_regs(void)
{
	return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

extern const volatile bool never;		/* false, and known to be at the load */

static __always_inline void keep_own_stack(void)
{
	if (never)
		asm volatile("r2 = 0\n\tr3 = 0\n\tcall 12" ::: "r0", "r1", "r2", "r3", "r4", "r5", "memory");
}

#define AT_UPROBE(section, name, ctx)									\
static __always_inline int name##_met(struct pt_regs *ctx);						\
SEC(section)												\
int name(struct pt_regs *regs)										\
{													\
	keep_own_stack();										\
	return name##_met(regs);									\
}													\
static __always_inline int name##_met(struct pt_regs *ctx)

#define UPROBE(name, ctx)	AT_UPROBE("?uprobe", name, ctx)
#define URETPROBE(name, ctx)	AT_UPROBE("?uretprobe", name, ctx)
#define UPROBE_SLEEPABLE(name, ctx)	AT_UPROBE("?uprobe.s", name, ctx)

#define AT_SYS_ENTER(name, regs, nr)									\
static __always_inline int name##_met(void *ctx, struct pt_regs *regs, __u32 nr);			\
SEC("?tp_btf/sys_enter")										\
int BPF_PROG(name, struct pt_regs *regs, long id)							\
{													\
	return name##_met(ctx, regs, id);								\
}													\
SEC("?tracepoint/raw_syscalls/sys_enter")								\
int name##_perf(struct trace_event_raw_sys_enter *ctx)							\
{													\
	name##_met(ctx, own_regs(), ctx->id);								\
	return 1;											\
}													\
static __always_inline int name##_met(void *ctx, struct pt_regs *regs, __u32 nr)

#define AT_SYS_EXIT(name, regs, ret)									\
static __always_inline int name##_met(void *ctx, struct pt_regs *regs, long ret);			\
SEC("?tp_btf/sys_exit")											\
int BPF_PROG(name, struct pt_regs *regs, long ret)							\
{													\
	return name##_met(ctx, regs, ret);								\
}													\
SEC("?tracepoint/raw_syscalls/sys_exit")								\
int name##_perf(struct trace_event_raw_sys_exit *ctx)							\
{													\
	name##_met(ctx, own_regs(), ctx->ret);								\
	return 1;											\
}													\
static __always_inline int name##_met(void *ctx, struct pt_regs *regs, long ret)

/* @filename: its address in the kernel. */
#define AT_EXEC(name, task, old_tid, filename)								\
static __always_inline int name##_met(void *ctx, struct task_struct *task, pid_t old_tid, __u64 filename); \
SEC("?tp_btf/sched_process_exec")									\
int BPF_PROG(name, struct task_struct *task, pid_t old_tid, struct linux_binprm *bprm)			\
{													\
	return name##_met(ctx, task, old_tid, kernel_address(bprm->filename));				\
}													\
SEC("?tracepoint/sched/sched_process_exec")								\
int name##_perf(struct trace_event_raw_sched_process_exec *ctx)						\
{													\
	name##_met(ctx, bpf_get_current_task_btf(), ctx->old_pid, text_of(ctx, ctx->__data_loc_filename)); \
	return 1;											\
}													\
static __always_inline int name##_met(void *ctx, struct task_struct *task, pid_t old_tid, __u64 filename)

#define AT_EXIT(name, task)										\
static __always_inline int name##_met(void *ctx, struct task_struct *task);				\
SEC("?tp_btf/sched_process_exit")									\
int BPF_PROG(name, struct task_struct *task)								\
{													\
	return name##_met(ctx, task);									\
}													\
SEC("?tracepoint/sched/sched_process_exit")								\
int name##_perf(void *ctx)										\
{													\
	name##_met(ctx, bpf_get_current_task_btf());							\
	return 1;											\
}													\
static __always_inline int name##_met(void *ctx, struct task_struct *task)

/*
 * Programs that call task_work_add(). The typed ones have a section name of ours, so that the number of the kernel's function
 * is put into them as well (src/source/point.c).
 */
#define GIVES_WORK_AT_EXEC(name)									\
static __always_inline int name##_met(void);								\
SEC("?work/sched_process_exec")										\
int name(void *ctx)											\
{													\
	keep_own_stack();										\
	return name##_met();										\
}													\
SEC("?tracepoint/sched/sched_process_exec")								\
int name##_perf(void *ctx)										\
{													\
	keep_own_stack();										\
	name##_met();											\
	return 1;											\
}													\
static __always_inline int name##_met(void)

/*
 * A system call that may change mappings, of any task, has the lock of its memory map. At the end of system calls the program
 * would be met by each call of everybody, and by the kernel's own at each probed return; syscalls/sys_exit_mmap and its like
 * would be met by nothing else, but from 7.1 on the kernel may preempt what it runs there.
 */
#define GIVES_WORK_AT_MAP_CALL(name, regs, nr)								\
static __always_inline int name##_met(struct pt_regs *regs, __u32 nr);					\
static __always_inline int name##_changes(bool write, bool success)					\
{													\
	struct pt_regs *regs = write && success ? own_regs() : NULL;					\
													\
	return regs && is_map_call(syscall_nr(regs)) ? name##_met(regs, syscall_nr(regs)) : 0;		\
}													\
SEC("?work/mmap_lock_acquire_returned")									\
int BPF_PROG(name, struct mm_struct *mm, bool write, bool success)					\
{													\
	keep_own_stack();										\
	return name##_changes(write, success);								\
}													\
SEC("?tracepoint/mmap_lock/mmap_lock_acquire_returned")							\
int name##_perf(struct trace_event_raw_mmap_lock_acquire_returned *ctx)					\
{													\
	keep_own_stack();										\
	name##_changes(ctx->write, ctx->success);							\
	return 1;											\
}													\
static __always_inline int name##_met(struct pt_regs *regs, __u32 nr)

#endif
