/*
 * fault.bpf.c - page faults of recorded tasks, in their own code.
 */
#include "event.bpf.h"

SEC("?tp_btf/page_fault_user")
int BPF_PROG(page_fault, unsigned long address, struct pt_regs *regs, unsigned long error_code)
{
	struct event_page_fault *e;

	if (!is_recorded(bpf_get_current_task_btf()))
		return 0;
	e = event_begin(EVENT_PAGE_FAULT, sizeof(*e));
	if (!e)
		return 0;
	e->address = address;
	e->ip = PT_REGS_IP_CORE(regs);
	e->error_code = error_code;
	event_end(ctx, e);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
