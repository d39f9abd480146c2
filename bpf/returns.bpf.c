/*
 * returns.bpf.c - which processes may have their returns probed.
 *
 * Only those in which every file with code is known to hold no stack walker, or
 * one that is guarded (bpf/unwind.bpf.c). User space says so file by
 * file, in returns_files. A process begins anew at each exec. What it maps is
 * seen here; a file that is not in the table takes the process's permission back
 * until the control thread, asked from the dynamic linker's _dl_debug_state()
 * (bpf/gate.bpf.c, maps_gate), has looked at it.
 *
 * The answer is the process's. Each task has a copy, good while the epoch has not
 * moved.
 */
#include "returns.bpf.h"

const volatile __u32 returns_when;
const volatile __u32 returns_user = RETURNS_ANYBODY;
const volatile bool cuda_wanted;
volatile __u64 returns_epoch = 1;
volatile bool returns_rest;		/* none is probed for now: src/source/grace.c */
volatile __u64 returns_unseen;		/* processes that ended, or exec'd, with files mapped that nobody has looked at */

/* Files with code that were looked at. The value: a process that maps it may have its returns probed. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 64 * 1024);
	__type(key, struct gate_file);
	__type(value, __u32);
} returns_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 256 * 1024);
	__type(key, __u32);			/* pid, as the initial PID namespace counts */
	__type(value, struct process_state);
} processes SEC(".maps");

static __always_inline __u32 my_pid(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

/* NULL: none of its returns are probed. */
static __always_inline struct process_state *process(__u32 pid)
{
	return bpf_map_lookup_elem(&processes, &pid);
}

static __always_inline struct process_state *my_process(void)
{
	return process(my_pid());
}

static __always_inline void decide(struct process_state *p, bool may)
{
	p->returns_probed = returns_when == RETURNS_ALWAYS || (returns_when == RETURNS_AUTO && may);
	__sync_fetch_and_add(&returns_epoch, 1);
}

__noinline int returns_refresh(struct task_state *t)
{
	__u64 epoch = returns_epoch;
	struct process_state *p = my_process();

	if (!t)
		return 0;
	t->returns_probed = p && p->returns_probed && !returns_rest;
	t->returns_epoch = epoch;
	return 0;
}

static __always_inline void count_unseen(void)
{
	struct process_state *p = my_process();

	if (p && p->unknown)
		__sync_fetch_and_add(&returns_unseen, 1);
}

/* Not where a set-uid program was run. */
static __always_inline bool is_of(__u32 user)
{
	const struct cred *cred = BPF_CORE_READ(bpf_get_current_task_btf(), cred);

	return BPF_CORE_READ(cred, uid.val) == user && BPF_CORE_READ(cred, euid.val) == user;
}

__noinline int returns_exec(void)
{
	struct process_state fresh = { .is_forbidden = returns_user != RETURNS_ANYBODY && !is_of(returns_user) }, *p;
	__u32 pid = my_pid();

	count_unseen();
	bpf_map_update_elem(&processes, &pid, &fresh, BPF_ANY);
	p = my_process();
	if (p)
		decide(p, false);
	return 0;
}

/* A file that was looked at and keeps return probes away, or one that was not. */
static __always_inline void note_mapped(struct process_state *p, bool is_known)
{
	if (is_known)
		p->is_forbidden = 1;
	else
		__sync_fetch_and_add(&p->unknown, 1);
	__sync_fetch_and_add(&p->mapped, 1);
	if (p->returns_probed)
		decide(p, false);
}

__noinline int returns_map(__u64 ino, __u32 dev, __u32 gen, __u64 size, __u64 ctime)
{
	struct gate_file file = { .ino = ino, .dev = dev, .gen = gen, .size = size, .ctime = ctime };
	struct process_state *p = my_process();
	__u32 *may;

	if (!p)
		return 0;
	may = bpf_map_lookup_elem(&returns_files, &file);
	if (may && *may)
		return 0;
	note_mapped(p, may != NULL);
	return 0;
}

__noinline int returns_map_unseen(void)
{
	struct process_state *p = my_process();

	if (!p)
		return 0;
	p->is_wanted = 1;
	note_mapped(p, false);
	return 0;
}

__noinline int returns_known(void)
{
	struct process_state *p = my_process();

	if (!p || p->is_forbidden)
		return RETURNS_MAY_NOT;
	if (p->unknown)
		return RETURNS_ASK;
	if (!p->returns_probed)
		decide(p, true);
	return RETURNS_MAY;
}

__noinline int returns_mapped(void)
{
	struct process_state *p = my_process();

	return p ? p->mapped : 0;
}

__noinline int returns_unlooked(void)
{
	struct process_state *p = my_process();

	return p && p->unknown;
}

__noinline int returns_want(void)
{
	struct process_state *p = my_process();

	if (p)
		p->is_wanted = 1;
	return 0;
}

__noinline int returns_wanted(void)
{
	struct process_state *p = my_process();

	return p && p->is_wanted && p->unknown;
}

static __always_inline void answer(struct process_state *p, bool is_answered, bool may, __u32 mapped)
{
	if (!may)
		p->is_forbidden = 1;
	if (is_answered && p->mapped == mapped)
		p->unknown = p->is_wanted = 0;
	decide(p, !p->is_forbidden && !p->unknown);
}

__noinline int returns_answer(bool is_answered, bool may, __u32 mapped)
{
	struct process_state *p = my_process();

	if (p)
		answer(p, is_answered, may, mapped);
	return 0;
}

__noinline int returns_tell(__u32 pid, bool may, __u32 mapped)
{
	struct process_state *p = process(pid);

	if (p)
		answer(p, true, may, mapped);
	return 0;
}

__noinline int returns_found(__u32 pid)
{
	struct process_state fresh = { .unknown = 1 };

	bpf_map_update_elem(&processes, &pid, &fresh, BPF_ANY);
	return 0;
}

__noinline int returns_settle(__u32 pid, bool may)
{
	struct process_state *p = process(pid);

	if (!p)
		return 1;
	answer(p, true, may, 0);
	return p->is_forbidden || !p->unknown;
}

__noinline int returns_fork(__u32 child)
{
	struct process_state *p = my_process();

	if (p)
		bpf_map_update_elem(&processes, &child, p, BPF_ANY);
	return 0;
}

__noinline int returns_exit(void)
{
	__u32 pid = my_pid();

	count_unseen();
	bpf_map_delete_elem(&processes, &pid);
	return 0;
}

/* As gate_know() in gate.bpf.c. */
SEC("?syscall")
int returns_know(struct gate_known *k)
{
	struct gate_file file = k->file;
	__u32 value = k->value;

	return bpf_map_update_elem(&returns_files, &file, &value, BPF_ANY);
}

char LICENSE[] SEC("license") = "GPL";
