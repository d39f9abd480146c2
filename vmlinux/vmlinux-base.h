/*
 * vmlinux-base.h - what every vmlinux.h stands on: the BPF interface of <linux/bpf.h>, and the types our programs
 * only pass on.
 */
#include <linux/bpf.h>

typedef _Bool bool;
enum { false, true };

struct linux_binprm;
