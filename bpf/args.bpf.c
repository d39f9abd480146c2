/*
 * args.bpf.c - entry and return of those functions whose arguments or results are asked for.
 *
 * They have programs and records of their own, so that all other functions cost
 * what they did. A value is put where the function's plan says, in memory of the
 * task's own: the programs may be preempted, and sleep.
 */
#include "recorder.bpf.h"
#include "filter.bpf.h"
#include "funcargs.h"
#include "function.bpf.h"
#include "point.bpf.h"
#include "heldvalues.bpf.h"
#include "returns.bpf.h"
#include "stack.bpf.h"
#include "trigger.bpf.h"
#include "user.bpf.h"
#include "vector.bpf.h"

const volatile bool args_filtered;	/* calls are asked about: filter.bpf.h */
const volatile bool args_may_fault;	/* the programs are sleepable: what is not in memory yet is fetched */

/* By rec_func.func; an entry is there before its probe is. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, __u32);
	__type(value, struct func_args);
} args_of_func SEC(".maps");

/* By arg_form.type. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, char[TYPE_NAME_MAX]);
} arg_types SEC(".maps");

struct call_values {
	__u64			reg[ARG_REGISTERS];
	struct vectors		vectors;
	__u64			sp;		/* of the task, as it was at the function's first instruction */
	__u64			string[3];	/* a std::string */
	__u64			high;		/* of a value in two registers: the second */
	__u64			from;		/* of one that is in memory: where; else 0 */
	struct rec_func_args	rec;
	char			values[VALUES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call_values);
} values_of_task SEC(".maps");

static __always_inline void put_number(struct rec_value *x, __u64 value)
{
	*(__u64 *)x->bytes = value;
	x->len = sizeof(value);
}

static __always_inline void put_unread(struct rec_value *x, __u64 addr)
{
	x->flags = TEXT_FAULT;
	put_number(x, addr);
}

static __noinline int put_string(struct rec_value *x, __u64 addr)
{
	long n;

	if (!x)
		return 0;
	x->room = VALUE_ROOM_STRING;
	n = read_string(x->bytes, addr);
	if (n > 0)
		x->len = n - 1;			/* without its NUL */
	else
		put_unread(x, addr);
	return 0;
}

/*
 * Of libstdc++: where the text is, its length. Of libc++: the length doubled in one byte and the text; or, if
 * that byte is odd, the memory it has, its length, where the text is.
 */
static __noinline int put_std_string(struct call_values *v, struct rec_value *x, __u64 addr, bool is_libcxx)
{
	__u64 text, len;

	if (!v || !x)
		return 0;
	x->room = VALUE_ROOM_STRING;
	if (!addr || read_bytes(v->string, sizeof(v->string), addr)) {
		put_unread(x, addr);
		return 0;
	}
	text = is_libcxx ? v->string[2] : v->string[0];
	len = v->string[1];
	if (is_libcxx && !(v->string[0] & 1)) {
		text = addr + 1;
		len = (v->string[0] & 0xff) >> 1;
	}
	if (len > VALUE_STRING_MAX + 1)
		len = VALUE_STRING_MAX + 1;	/* tells that it is cut */
	asm volatile("" : "+r"(len));
	if (len <= VALUE_STRING_MAX + 1 && !read_bytes(x->bytes, len, text))
		x->len = len;
	else
		put_unread(x, text);
	return 0;
}

/* @sp: as it was at the function's first instruction. */
static __always_inline __u64 stack_word(__u32 place, __u64 sp)
{
	return sp + STACK_ARGS + 8 * (place - 1 - ARG_REGISTERS);
}

static __always_inline __u64 value_at(const struct call_values *v, __u32 place)
{
	__u64 word = 0;

	if (place >= PLACE_VECTOR)
		return v->vectors.xmm[place & (VECTOR_REGISTERS - 1)][0];
	if (place - 1 < ARG_REGISTERS)
		return v->reg[place - 1];
	bpf_probe_read_user(&word, sizeof(word), (void *)stack_word(place, v->sp));
	return word;
}

/* A result has place 0. */
static __always_inline bool is_on_stack(__u32 place)
{
	return place < PLACE_VECTOR && place > ARG_REGISTERS;
}

static __noinline int put_name(struct rec_value *x, __u32 type, __u32 at)
{
	const char *name = bpf_map_lookup_elem(&arg_types, &type);

	if (!x || at > VALUE_STRUCT_MAX)
		return 0;
	__builtin_memset(x->bytes + at, 0, TYPE_NAME_MAX);
	if (name)
		__builtin_memcpy(x->bytes + at, name, TYPE_NAME_MAX);
	return 0;
}

static __always_inline void put_missing(struct rec_value *x)
{
	x->flags = TEXT_FAULT;
	__sync_fetch_and_add(&vectors_missed, 1);
}

static __always_inline bool is_in_vectors(const struct arg_form *form)
{
	return form->place >= PLACE_VECTOR || form->second >= PLACE_VECTOR;
}

static __noinline int put_struct(struct call_values *v, struct rec_value *x, const struct arg_form *form, __u64 low)
{
	__u32 size = form->size, at = (size + 7) & ~7u;
	__u64 *words = (void *)x->bytes;

	x->room = x->len = at + TYPE_NAME_MAX;
	words[0] = low;
	words[1] = v->high;
	if (v->from) {
		asm volatile("" : "+r"(size));
		if (size > VALUE_STRUCT_MAX || read_bytes(x->bytes, size, v->from))
			x->flags = TEXT_FAULT;
	} else if (is_in_vectors(form) && !(v->vectors.have & VECTORS_SSE)) {
		words[0] = words[1] = 0;
		put_missing(x);
	}
	put_name(x, form->type, at);
	return 0;
}

static __noinline int put_float(struct call_values *v, struct rec_value *x, const struct arg_form *form)
{
	bool is_long = form->size == 10, is_missing;
	__u64 *words = (void *)x->bytes;

	x->room = x->len = VALUE_ROOM_FLOAT;
	words[1] = 0;
	if (is_on_stack(form->place)) {
		is_missing = read_bytes(words, is_long ? 16 : 8, stack_word(form->place, v->sp));
	} else if (is_long) {
		words[0] = v->vectors.st[0];
		words[1] = v->vectors.st[1];
		is_missing = !(v->vectors.have & VECTORS_X87);
	} else {
		words[0] = v->vectors.xmm[form->place & (VECTOR_REGISTERS - 1)][0];
		is_missing = !(v->vectors.have & VECTORS_SSE);
	}
	if (is_missing)
		put_missing(x);
	return 0;
}

static __noinline int put_value(struct call_values *v, const struct arg_form *form, __u64 value)
{
	__u32 at = form->at;
	struct rec_value *x;

	if (at > VALUES_MAX - sizeof(*x) - VALUE_ROOM_STRING)
		return 0;
	x = (void *)(v->values + at);
	x->index = form->index;
	x->format = form->format;
	x->size = form->size;
	x->flags = 0;
	switch (form->format) {
	case VALUE_STRING:
		return put_string(x, value);
	case VALUE_STD_STRING:
		return put_std_string(v, x, value, form->flags & FORM_LIBCXX);
	case VALUE_STRUCT:
		return put_struct(v, x, form, value);
	case VALUE_FLOAT:
		return put_float(v, x, form);
	default:
		x->room = VALUE_ROOM_NUMBER;
		put_number(x, value);
		return 0;
	}
}

static __noinline int put_arg(struct call_values *v, const struct arg_form *form)
{
	v->from = is_on_stack(form->place) ? stack_word(form->place, v->sp) : 0;
	v->high = form->second ? value_at(v, form->second) : 0;
	return put_value(v, form, value_at(v, form->place));
}

static __noinline int put_args(struct call_values *v, const struct func_args *args)
{
	for (__u32 i = 0; i < ARGS_MAX && i < args->count; i++)
		put_arg(v, &args->arg[i]);
	return 0;
}

/* A result of more than two words is where the caller wanted it, which is the result that comes in a register. */
static __always_inline void put_result(struct call_values *v, const struct func_args *args, struct pt_regs *ctx,
				       __u64 value)
{
	if (args->vectors & VECTORS_EXIT)
		read_vectors(&v->vectors, v->sp);
	v->from = args->result.size > 16 ? value : 0;
	v->high = args->result.size > 8 ? function_result_high(ctx) : 0;
	put_value(v, &args->result, value);
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

static __noinline bool args_entry_record(struct task_state *t, struct pt_regs *ctx, __u64 sp, __u64 cookie, __u16 flags)
{
	struct call_values *v = bpf_task_storage_get(&values_of_task, bpf_get_current_task_btf(), NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 func = cookie & COOKIE_FUNC;
	const struct func_args *args = bpf_map_lookup_elem(&args_of_func, &func);

	if (!v || !args) {
		count_lost(t, CLASS_FUNCTION);
		return false;
	}
	function_args(ctx, v->reg);
	v->sp = sp;
	if (args->vectors & VECTORS_ENTRY)
		read_vectors(&v->vectors, sp);
	put_args(v, args);
	return send_values(t, v, REC_FUNC_ENTRY_ARGS, flags, func, sp, args->bytes);
}

/* As settled_cookie(), with the registers in the task's scratch. */
static __always_inline __u64 args_settled(struct task_struct *task, struct pt_regs *ctx, __u64 cookie)
{
	struct call_values *v;

	if (!has_triggers || !(cookie & COOKIE_TRIGGER))
		return cookie;
	v = bpf_task_storage_get(&values_of_task, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!v)
		return cookie;
	function_args(ctx, v->reg);
	return trigger_settle(cookie, (const struct call_args *)v->reg);
}

/* Of a call that filters are asked about. Returns enum filter_verdict. */
static __noinline int args_judge(struct pt_regs *ctx, struct task_struct *task, __u64 sp, __u64 cookie, __u32 flags)
{
	return filter_enter(sp, args_settled(task, ctx, cookie), flags);
}

/* It was recorded. */
static __noinline int args_finish(struct pt_regs *ctx, struct task_struct *task, __u64 cookie)
{
	cookie = args_settled(task, ctx, cookie);
	if (trigger_actions(cookie))
		trigger_finish(cookie);
	return 0;
}

/* The call, recorded if it is to be. Returns enum filter_verdict, FILTER_SKIP also when it was lost; *@lost then. */
static __always_inline int args_event(struct task_state *t, struct task_struct *task, struct pt_regs *ctx,
				      __u64 sp, __u64 cookie, __u16 flags, __u32 home, bool *lost)
{
	int verdict = args_filtered ? args_judge(ctx, task, sp, cookie, flags | home) : FILTER_SHOW;

	*lost = verdict == FILTER_SHOW && !args_entry_record(t, ctx, sp, cookie, flags);
	if (args_filtered && has_triggers && verdict == FILTER_SHOW)
		args_finish(ctx, task, cookie);
	return *lost ? FILTER_SKIP : verdict;
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
	v->sp = sp;
	if (args->result_bytes)
		put_result(v, args, ctx, value);
	send_values(t, v, REC_FUNC_EXIT_ARGS, 0, func, sp, args->result_bytes);
	return 0;
}

/* A session's two ends, each with a frame of its own, as above. */
static __noinline int session_return(struct pt_regs *ctx, struct task_struct *task, struct task_state *t, __u64 cookie)
{
	if (args_filtered && !was_shown(cookie, filter_leave(user_sp(ctx) - RETURN_POPS, cookie, FILTER_HOME)))
		return 0;
	return args_exit_record(t, task, ctx, cookie);
}

/* As function_session: of an entry that was lost the return is not probed, so it is lost too. */
static __noinline int session_entry(struct pt_regs *ctx, struct task_struct *task, struct task_state *t, __u64 cookie)
{
	__u64 sp = user_sp(ctx);
	bool returns = returns_probed(t, task) && is_home(t, task, sp), lost;
	__u16 flags;
	int verdict;

	sp = entry_sp(sp, cookie);
	flags = call_flags(task, ctx, sp, cookie, returns);
	verdict = args_event(t, task, ctx, sp, cookie, flags, returns ? FILTER_HOME : 0, &lost);
	if (lost)
		return_lost(t, flags);
	return verdict == FILTER_SKIP || !returns;
}

UPROBE(args_session, ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);

	if (!t)
		return 1;
	return is_return(ctx) ? session_return(ctx, task, t, cookie) : session_entry(ctx, task, t, cookie);
}

UPROBE(args_entry, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = user_sp(ctx);
	bool lost;

	if (!t || is_told(t, cookie, sp))
		return 0;
	sp = entry_sp(sp, cookie);
	args_event(t, task, ctx, sp, cookie, call_flags(task, ctx, sp, cookie, true), 0, &lost);
	return 0;
}

URETPROBE(args_exit, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	__u64 cookie = bpf_get_attach_cookie(ctx);

	if (t && (!args_filtered || filter_leave(user_sp(ctx) - RETURN_POPS, cookie, 0)))
		args_exit_record(t, task, ctx, cookie);
	return 0;
}

/* ---- with --time-filter and --caller-filter: the call is held, and what its arguments are now ---- */

/* Of a call that is not held yet: so its time begins when they have been read. Returns how many bytes; -1: none. */
static __noinline int timed_read(struct pt_regs *ctx, __u64 sp, __u64 cookie)
{
	struct call_values *v = bpf_task_storage_get(&values_of_task, bpf_get_current_task_btf(), NULL,
						     BPF_LOCAL_STORAGE_GET_F_CREATE);
	__u32 func = cookie & COOKIE_FUNC;
	const struct func_args *args = bpf_map_lookup_elem(&args_of_func, &func);

	if (!v || !args)
		return -1;
	function_args(ctx, v->reg);
	v->sp = sp;
	if (args->vectors & VECTORS_ENTRY)
		read_vectors(&v->vectors, sp);
	put_args(v, args);
	return args->bytes;
}

/* In the store, as those of @call, the innermost that @h holds. False: there is no room. */
static __noinline bool timed_keep(struct held_calls *h, struct held *call, __u64 bytes)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct held_values *to = room_make(&held_values, &held_values_blank, task);
	struct call_values *v = bpf_task_storage_get(&values_of_task, task, NULL, 0);
	__u64 at = call->flags >> HELD_END_SHIFT, end = at + bytes / 8;

	if (!to || !v || words_between(values_end(h, h->told), at) + bytes / 8 >= HELD_WORDS)
		return false;
	asm volatile("" : "+r"(bytes), "+r"(at));
	if (bytes > VALUES_MAX || at >= HELD_WORDS)
		return false;
	bpf_probe_read_kernel(to->bytes + 8 * at, bytes, v->values);
	end = end >= HELD_WORDS ? end - HELD_WORDS : end;
	call->flags = (call->flags & ((1u << HELD_END_SHIFT) - 1)) | HELD_VALUES | end << HELD_END_SHIFT;
	return true;
}

/* Returns 0 when its return is wanted. */
static __always_inline int timed_hold(struct pt_regs *ctx, __u64 sp, __u64 cookie, __u32 flags)
{
	int bytes = timed_read(ctx, sp, cookie);
	struct held_calls *h;
	struct held *call;

	if (held_enter(sp, cookie, flags, true))
		return 1;
	h = room_of(&held_calls, bpf_get_current_task_btf());
	if (!h || !h->count || !bytes)
		return 0;
	call = held_at(h, h->count - 1);
	if (bytes < 0 || !timed_keep(h, call, bytes))
		call->flags |= HELD_UNKEPT;
	return 0;
}

/* Returns 0 when its return is wanted. */
static __always_inline int timed_event(struct task_struct *task, struct pt_regs *ctx, __u64 site_sp, __u64 cookie,
				       bool returns, __u32 home)
{
	__u64 sp = entry_sp(site_sp, cookie);
	__u32 flags = call_flags(task, ctx, sp, cookie, returns) | home;
	int verdict, none;

	cookie = args_settled(task, ctx, cookie);
	verdict = args_filtered ? filter_enter(sp, cookie, flags) : FILTER_SHOW;
	if (verdict != FILTER_SHOW) {
		held_enter(sp, cookie, flags, false);
		return verdict != FILTER_WATCH;
	}
	none = timed_hold(ctx, sp, cookie, flags);
	if (trigger_actions(cookie))
		trigger_finish(cookie);
	return none;
}

static __always_inline int timed_return(struct task_state *t, struct task_struct *task, struct pt_regs *ctx,
					__u64 cookie, __u32 flags)
{
	__u64 sp = user_sp(ctx) - RETURN_POPS;

	if (args_filtered)
		filter_leave(sp, cookie, flags);
	return held_leave(sp, cookie, flags | HELD_RESULT) ? args_exit_record(t, task, ctx, cookie) : 0;
}

static __noinline int timed_session_return(struct pt_regs *ctx, struct task_struct *task, struct task_state *t,
					   __u64 cookie)
{
	return timed_return(t, task, ctx, cookie, FILTER_HOME);
}

static __noinline int timed_session_entry(struct pt_regs *ctx, struct task_struct *task, struct task_state *t,
					  __u64 cookie)
{
	__u64 sp = user_sp(ctx);
	bool returns = returns_probed(t, task) && is_home(t, task, sp);

	return timed_event(task, ctx, sp, cookie, returns, returns ? FILTER_HOME : 0) || !returns;
}

UPROBE(timed_session, ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);

	if (!t)
		return 1;
	return is_return(ctx) ? timed_session_return(ctx, task, t, cookie) : timed_session_entry(ctx, task, t, cookie);
}

UPROBE(timed_entry, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 cookie = bpf_get_attach_cookie(ctx), sp = user_sp(ctx);
	struct task_state *t = state_of(task);

	if (t && !is_told(t, cookie, sp))
		timed_event(task, ctx, sp, cookie, true, 0);
	return 0;
}

URETPROBE(timed_exit, ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);

	return t ? timed_return(t, task, ctx, bpf_get_attach_cookie(ctx), 0) : 0;
}

char LICENSE[] SEC("license") = "GPL";
