/*
 * floor.bpf.c - the cheapest programs there can be at a probe: what recorder is measured against.
 *
 * The empty ones do nothing. The full ones write records of the size that a whole recording needs, with a clock, into
 * a ring that is drained without wakeups, and do nothing else: no filter, no tables.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "GPL";

/* The registers a system call's arguments lie in; the rest of the kernel's struct is not needed to find them. */
struct pt_regs {
	unsigned long di, si, dx, r10, r8, r9, orig_ax, ax;
} __attribute__((preserve_access_index));

struct call_in { __u64 time, id, nr, arg[5]; };		/* 64 bytes */
struct call_out { __u64 time, id, nr, ret; };		/* 32 bytes */
struct function { __u64 time, what; };			/* 16 bytes */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 20);
} ring SEC(".maps");

__u64 lost;

SEC("tp_btf/sys_enter")
int empty_sys_enter(void *ctx)
{
	return 0;
}

SEC("tp_btf/sys_exit")
int empty_sys_exit(void *ctx)
{
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(full_sys_enter, struct pt_regs *regs, long nr)
{
	struct call_in *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->time = bpf_ktime_get_ns();
	r->id = bpf_get_current_pid_tgid();
	r->nr = nr;
	r->arg[0] = regs->di;
	r->arg[1] = regs->si;
	r->arg[2] = regs->dx;
	r->arg[3] = regs->r10;
	r->arg[4] = regs->r8;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(full_sys_exit, struct pt_regs *regs, long ret)
{
	struct call_out *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->time = bpf_ktime_get_ns();
	r->id = bpf_get_current_pid_tgid();
	r->nr = regs->orig_ax;
	r->ret = ret;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* Entry and return both; the loader makes them session programs, which libbpf 1.1 has no section name for. */
SEC("uprobe")
int empty_session(void *ctx)
{
	return 0;
}

SEC("uprobe")
int full_session(void *ctx)
{
	struct function *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	r->time = bpf_ktime_get_ns();
	r->what = bpf_get_current_pid_tgid();
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}
