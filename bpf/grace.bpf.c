/*
 * grace.bpf.c - does somebody wait for all open return probes?
 *
 * Since 6.13 (dd1a7567784e, "uprobes: SRCU-protect uretprobe lifetime") each open one holds an SRCU reader, which a
 * timer of its task ends after 100 ms; but the timer starts anew with each return probe the task meets. So while a busy
 * task is in main(), whoever takes any uprobe away waits: for us, and for as long as we record.
 */
#include "recorder.bpf.h"

#define EINVAL	22

#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
struct srcu_usage {
	unsigned long srcu_gp_seq;
};

struct srcu_struct {
	struct srcu_usage *srcu_sup;
};
#pragma clang attribute pop

static const char returns_srcu[] = "uretprobes_srcu";	/* of kernel/events/uprobes.c */

volatile __u64 grace_seq;
static __u64 grace_srcu;

/* The grace period that is running, or was the last: rcu_seq_state() of grace_seq. Negative: it cannot be told. */
SEC("?syscall")
int grace_look(void *ctx)
{
	struct srcu_usage *usage = NULL;

	if (!grace_srcu && bpf_kallsyms_lookup_name(returns_srcu, sizeof(returns_srcu), 0, (__u64 *)&grace_srcu))
		return -EINVAL;
	if (bpf_core_field_exists(usage->srcu_gp_seq))
		usage = BPF_CORE_READ((struct srcu_struct *)grace_srcu, srcu_sup);
	if (!usage)
		return -EINVAL;
	grace_seq = BPF_CORE_READ(usage, srcu_gp_seq);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
