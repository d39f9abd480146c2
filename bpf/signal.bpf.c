/*
 * signal.bpf.c - signals sent by recorded tasks or to them, and what they get.
 */
#include "event.bpf.h"

#define SEND_SIG_NOINFO	0ul		/* as the next two, of <linux/sched/signal.h> and <asm-generic/siginfo.h> */
#define SEND_SIG_PRIV	1ul
#define SI_KERNEL	0x80

/* As TP_STORE_SIGINFO of <trace/events/signal.h> does. */
static __always_inline void take_info(struct kernel_siginfo *info, __s32 *error, __s32 *code)
{
	bool is_real = (unsigned long)info > SEND_SIG_PRIV;

	*error = is_real ? BPF_CORE_READ(info, si_errno) : 0;
	*code = is_real ? BPF_CORE_READ(info, si_code) : (unsigned long)info == SEND_SIG_PRIV ? SI_KERNEL : 0;
}

SEC("?tp_btf/signal_generate")
int BPF_PROG(signal_sent, int sig, struct kernel_siginfo *info, struct task_struct *task, int group, int result)
{
	struct event_signal_generate *e;

	if (!concerns(bpf_get_current_task_btf(), task))
		return 0;
	e = event_begin(EVENT_SIGNAL_GENERATE, sizeof(*e));
	if (!e)
		return 0;
	e->sig = sig;
	take_info(info, &e->error, &e->code);
	__builtin_memcpy(e->comm, task->comm, sizeof(e->comm));
	e->pid = task->pid;
	e->group = group;
	e->result = result;
	event_end(ctx, e);
	return 0;
}

SEC("?tp_btf/signal_deliver")
int BPF_PROG(signal_got, int sig, struct kernel_siginfo *info, struct k_sigaction *ka)
{
	struct event_signal_deliver *e;

	if (!is_recorded(bpf_get_current_task_btf()))
		return 0;
	e = event_begin(EVENT_SIGNAL_DELIVER, sizeof(*e));
	if (!e)
		return 0;
	e->sig = sig;
	take_info(info, &e->error, &e->code);
	e->pad = 0;
	e->handler = (__u64)BPF_CORE_READ(ka, sa.sa_handler);
	e->flags = BPF_CORE_READ(ka, sa.sa_flags);
	event_end(ctx, e);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
