/*
 * args.bpf.c - entry and return of those functions whose arguments or results are asked for.
 *
 * They have programs and records of their own, so that all other functions cost
 * what they did. A value is put where the function's plan says, in memory of the
 * task's own: the programs may be preempted, and sleep.
 */
#include "recorder.bpf.h"
#include "funcargs.h"
#include "function.h"
#include "returns.bpf.h"
#include "stack.bpf.h"

#define PAGE_BYTES	4096

const volatile bool args_may_fault;	/* the programs are sleepable: what is not in memory yet is fetched */

/* By rec_func.func; an entry is there before its probe is. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, __u32);
	__type(value, struct func_args);
} args_of_func SEC(".maps");

struct call_values {
	__u64			reg[ARG_REGISTERS];
	struct rec_func_args	rec;
	char			values[VALUES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_values);
} values_of_task SEC(".maps");

static __always_inline bool fetch_page(__u64 addr)
{
	char byte;

	return !bpf_copy_from_user(&byte, sizeof(byte), (void *)addr);
}

/* A string may begin in a page that is not in memory yet, or go on in one. */
static __always_inline long read_string(char *to, __u64 from)
{
	long n = bpf_probe_read_user_str(to, VALUE_STRING_MAX + 2, (void *)from);

	if (n > 0 || !args_may_fault || !from)
		return n;
	if (!fetch_page(from))
		return -1;
	n = bpf_probe_read_user_str(to, VALUE_STRING_MAX + 2, (void *)from);
	if (n > 0 || !fetch_page((from | (PAGE_BYTES - 1)) + 1))
		return n;
	return bpf_probe_read_user_str(to, VALUE_STRING_MAX + 2, (void *)from);
}

static __always_inline void put_number(struct rec_value *x, __u64 value)
{
	*(__u64 *)x->bytes = value;
	x->len = sizeof(value);
}

static __noinline int put_value(struct call_values *v, const struct arg_form *form, __u64 value)
{
	__u32 at = form->at;
	struct rec_value *x;
	long n;

	if (at > VALUES_MAX - sizeof(*x) - VALUE_ROOM_STRING)
		return 0;
	x = (void *)(v->values + at);
	x->index = form->index;
	x->format = form->format;
	x->size = form->size;
	x->flags = 0;
	x->room = VALUE_ROOM_NUMBER;
	if (form->format != VALUE_STRING) {
		put_number(x, value);
		return 0;
	}
	x->room = VALUE_ROOM_STRING;
	n = read_string(x->bytes, value);
	if (n > 0) {
		x->len = n - 1;			/* without its NUL */
		return 0;
	}
	x->flags = TEXT_FAULT;
	put_number(x, value);
	return 0;
}

/* @sp: as it was at the function's first instruction. */
static __always_inline __u64 value_at(const struct call_values *v, __u32 place, __u64 sp)
{
	__u64 word = 0;

	if (place - 1 < ARG_REGISTERS)
		return v->reg[place - 1];
	bpf_probe_read_user(&word, sizeof(word), (void *)(sp + STACK_ARGS + 8 * (place - 1 - ARG_REGISTERS)));
	return word;
}

static __noinline int put_args(struct call_values *v, const struct func_args *args, __u64 sp)
{
	for (__u32 i = 0; i < ARGS_MAX && i < args->count; i++)
		put_value(v, &args->arg[i], value_at(v, args->arg[i].place, sp));
	return 0;
}

static __always_inline bool send_values(struct task_state *t, struct call_values *v, __u16 kind, __u16 flags,
					__u32 func, __u64 sp, __u32 bytes)
{
	v->rec.f.func = func;
	v->rec.f.commit = 0;
	v->rec.f.sp = sp;
	v->rec.values_len = bytes;
	return rec_send(t, CLASS_FUNCTION, kind, flags, &v->rec.f.hdr, sizeof(v->rec) + bytes,
			sizeof(v->rec) + sizeof(v->values));
}

static __always_inline bool args_entry_record(struct task_state *t, struct task_struct *task, struct pt_regs *ctx,
					      __u64 site_sp, __u64 cookie, bool returns)
{
	__u64 sp = site_sp + (cookie >> COOKIE_SP_SHIFT & COOKIE_SP);
	__u16 flags = !returns || cookie & COOKIE_NO_EXIT ? REC_F_NO_EXIT : entry_flags(task, ctx, sp);
	struct call_values *v = bpf_task_storage_get(&values_of_task, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 func = cookie & COOKIE_FUNC;
	const struct func_args *args = bpf_map_lookup_elem(&args_of_func, &func);

	if (!v || !args) {
		count_lost(t, CLASS_FUNCTION);
		return false;
	}
	function_args(ctx, v->reg);
	put_args(v, args, sp);
	return send_values(t, v, REC_FUNC_ENTRY_ARGS, flags, func, sp, args->bytes);
}

static __always_inline int args_exit_record(struct task_state *t, struct task_struct *task, struct pt_regs *ctx,
					    __u64 cookie)
{
	__u64 sp = user_sp(ctx) - RETURN_POPS, value = function_result(ctx);
	struct call_values *v = bpf_task_storage_get(&values_of_task, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 func = cookie & COOKIE_FUNC;
	const struct func_args *args = bpf_map_lookup_elem(&args_of_func, &func);

	if (!v || !args) {
		count_lost(t, CLASS_FUNCTION);
		return 0;
	}
	if (args->result_bytes)
		put_value(v, &args->result, value);
	send_values(t, v, REC_FUNC_EXIT_ARGS, 0, func, sp, args->result_bytes);
	return 0;
}

/* As function_session: of an entry that was lost the return is not probed, so it is lost too. */
SEC("?uprobe")
int args_session(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = user_sp(ctx);
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	bool returns;

	if (!t)
		return 1;
	if (is_return(ctx))
		return args_exit_record(t, task, ctx, cookie);
	returns = returns_probed(t, task) && is_home(t, task, sp);
	if (args_entry_record(t, task, ctx, sp, cookie, returns))
		return !returns;
	if (returns)
		count_lost(t, CLASS_FUNCTION);
	return 1;
}

SEC("?uprobe")
int args_entry(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = user_sp(ctx);

	if (t)
		args_entry_record(t, task, ctx, sp, cookie, true);
	return 0;
}

SEC("?uretprobe")
int args_exit(struct pt_regs *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);

	if (t)
		args_exit_record(t, task, ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
