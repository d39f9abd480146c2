/*
 * trigger.bpf.c - triggers of functions and their conditions, and which processes are switched off by them.
 *
 * Switched off, no function's entry is recorded; what was open then still ends
 * where it returns. A new process is as its parent, after exec it begins anew.
 */
#include "point.bpf.h"
#include "trigger.bpf.h"

const volatile bool has_triggers;
const volatile bool has_switches;
const volatile bool starts_off;		/* --disable */
volatile __u32 all_switched;		/* by a signal, enum switched_all: those that no trigger has switched since */

/* By rec_func.func; an entry is there before its probe is. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, __u32);
	__type(value, struct func_trigger);
} trigger_of_func SEC(".maps");

/* By process: is it off? Only those that a trigger has switched. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, __u32);
} switched SEC(".maps");

/* The function that ended the recording. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} trigger_finished SEC(".maps");

static __always_inline __u32 my_process(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

static __always_inline bool cond_holds(const struct func_cond *c, const struct call_args *args)
{
	__u64 arg, shift = c->bits ? 64 - c->bits : 0;
	bool is_less;

	if (!c->arg)
		return true;
	arg = args->reg[(c->arg - 1) & (COND_ARGS - 1)];
	if (!c->bits && (__s64)c->value < 0 && !(arg >> 32))
		shift = 32;
	arg <<= shift & 63;
	arg = c->is_unsigned ? arg >> (shift & 63) : (__u64)((__s64)arg >> (shift & 63));
	is_less = c->is_unsigned ? arg < c->value : (__s64)arg < (__s64)c->value;
	return c->holds & (arg == c->value ? COND_EQUAL : is_less ? COND_LESS : COND_MORE);
}

__noinline __u64 trigger_settle(__u64 cookie, const struct call_args *args)
{
	__u32 func = cookie & COOKIE_FUNC, actions = 0;
	const struct func_trigger *g = bpf_map_lookup_elem(&trigger_of_func, &func);
	__u64 says = 0, depth = 0;

	for (__u32 i = 0; g && args && i < CASES_MAX && i < g->count; i++) {
		const struct func_case *c = &g->of[i & (CASES_MAX - 1)];

		if (!cond_holds(&c->cond, args))
			continue;
		if (c->says & (COOKIE_IN | COOKIE_OUT))
			says &= ~(COOKIE_IN | COOKIE_OUT);
		if (c->actions & (TRIGGER_ON | TRIGGER_OFF))
			actions &= ~(TRIGGER_ON | TRIGGER_OFF);
		if (c->actions & TRIGGER_DEPTH)
			depth = c->depth;
		says |= c->says;
		actions |= c->actions;
	}
	if (says & COOKIE_CALLER)
		says &= ~COOKIE_HIDE;		/* uftrace's way */
	cookie &= ~(COOKIE_SP << COOKIE_SP_SHIFT);
	return cookie | says | (__u64)(actions & 0xff) << COOKIE_ACTIONS_SHIFT | (depth & 0xff) << COOKIE_DEPTH_SHIFT;
}

/* Loss of it is counted by CPU: the task at hand may be recorder. */
static __always_inline void set_mark(__u32 mark, __u32 signal, __u32 func, __u32 number)
{
	struct rec_mark *r = rec_begin_of(bpf_get_current_pid_tgid(), NULL, CLASS_EVENT, REC_MARK, sizeof(*r));

	if (!r)
		return;
	r->mark = mark;
	r->signal = signal;
	r->func = func;
	r->number = number;
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	rec_end(r);
}

/* Run by recorder. */
SEC("?syscall")
int mark_by_signal(struct signal_mark *m)
{
	set_mark(m->mark, m->signal, 0, m->number);
	return 0;
}

__noinline int trigger_switch(__u64 cookie)
{
	__u32 process = my_process(), actions = trigger_actions(cookie), off;

	if (!(actions & (TRIGGER_ON | TRIGGER_OFF)))
		return 0;
	off = !(actions & TRIGGER_ON);
	if (off != trigger_is_off())
		set_mark(off ? MARK_OFF : MARK_ON, 0, cookie & COOKIE_FUNC, 0);
	bpf_map_update_elem(&switched, &process, &off, BPF_ANY);
	return 0;
}

__noinline int trigger_is_off(void)
{
	__u32 process = my_process(), *off = bpf_map_lookup_elem(&switched, &process);

	if (off)
		return *off;
	return all_switched ? all_switched == SWITCHED_OFF : starts_off;
}

__noinline int trigger_finish(__u64 cookie)
{
	__u32 func = cookie & COOKIE_FUNC;

	if (!(trigger_actions(cookie) & TRIGGER_FINISH) || !recording)
		return 0;
	set_mark(MARK_FINISH, 0, func, 0);
	recording = false;
	bpf_ringbuf_output(&trigger_finished, &func, sizeof(func), BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* ---- task life ---- */

/* The current process has made the process, or thread, of @new. */
__noinline int trigger_forked(__u32 new)
{
	__u32 process = my_process(), *off = bpf_map_lookup_elem(&switched, &process);

	if (off && new != process)
		bpf_map_update_elem(&switched, &new, off, BPF_ANY);
	return 0;
}

AT_EXEC(trigger_exec, task, old_tid, filename)
{
	__u32 process = my_process();

	bpf_map_delete_elem(&switched, &process);
	return 0;
}

AT_EXIT(trigger_exit, task)
{
	__u32 process = task->tgid;

	if (!BPF_CORE_READ(task, signal, live.counter))
		bpf_map_delete_elem(&switched, &process);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
