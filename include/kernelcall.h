/*
 * kernelcall.h - functions of the kernel (kfuncs) that BPF programs call, where the kernel has them.
 *
 * Declared as weak __ksym, one that the kernel lacks would be looked for in its modules by libbpf 1.1, which takes
 * CAP_SYS_ADMIN, and all programs' load would fail without. So programs bear these marks in place of its number
 * (bpf/kernelcall.bpf.h), and when one is loaded src/source/point.c puts in the number that the kernel's BTF has.
 */
#ifndef KERNELCALL_H
#define KERNELCALL_H

enum kernel_call {
	KERNEL_TASK_FROM_PID = -1,	/* bpf_task_from_pid(), since 6.2 */
	KERNEL_TASK_RELEASE  = -2,	/* bpf_task_release() */
	KERNEL_TASK_WORK     = -3,	/* bpf_task_work_schedule_resume(), since 6.18, there with _impl behind its name */
};

#endif
