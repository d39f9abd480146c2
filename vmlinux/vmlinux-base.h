/*
 * vmlinux-base.h - what every vmlinux.h stands on: the BPF interface of <linux/bpf.h>, and the types our programs
 * only pass on.
 */
#define bpf_task_work bpf_task_work_of_header	/* the newest headers have it */
#include <linux/bpf.h>
#undef bpf_task_work

typedef _Bool bool;
enum { false, true };

struct linux_binprm;

/* By its name the kernel knows what to keep there: since 6.18. */
struct bpf_task_work {
	__u64 opaque;
};
