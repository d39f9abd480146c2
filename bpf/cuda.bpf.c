/*
 * cuda.bpf.c - entry and return of the functions of the CUDA driver.
 *
 * One pair of records for all of them: the words of the call, then its result.
 * What the words mean is for user space to know; a function's plan says here
 * what is taken along with them, and where what it gives will be. Launches and
 * waits take nothing along: their program reserves and fills. Names and code
 * images may not be in memory yet: that program may sleep.
 */
#include "callring.bpf.h"
#include "cuda.h"
#include "cudagiven.bpf.h"
#include "cudaimage.bpf.h"
#include "function.h"
#include "returns.bpf.h"
#include "stack.bpf.h"
#include "user.bpf.h"
#include "point.bpf.h"

#define CUDA_OPEN	4	/* calls that give something, one within another, in a task */
#define CUDA_TEXT_MAX	(CUDA_TAKE_MAX + 2 * sizeof(struct rec_text) + 8)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CUDA_FUNCTIONS_MAX);
	__type(key, __u32);
	__type(value, struct cuda_plan);
} cuda_plans SEC(".maps");

/* Where an open call will put what it gives, and of an array how many. */
struct cuda_open {
	__u64	sp, at, count;
};

struct cuda_task {
	struct cuda_open      open[CUDA_OPEN];
	struct cuda_open      unseen;		/* with TASK_CUDA_GAVE: the call whose return is not probed */
	__u32		      unseen_func, pad;
	__u32		      next;		/* of open[], in turn */
	__u32		      len;		/* of what is taken along */
	struct rec_cuda_entry rec;
	char		      text[CUDA_TEXT_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct cuda_task);
} cuda_tasks SEC(".maps");

static __always_inline struct cuda_task *cuda_task(struct task_struct *task)
{
	return bpf_task_storage_get(&cuda_tasks, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* The words that registers hold, then those of the stack. */
static __always_inline void read_words(struct rec_cuda_entry *r, struct pt_regs *ctx, __u64 sp, __u32 words)
{
	__builtin_memset(r->arg, 0, sizeof(r->arg));
	function_args(ctx, r->arg);
	if (words > ARG_REGISTERS)
		bpf_probe_read_user(&r->arg[ARG_REGISTERS], (CUDA_WORDS - ARG_REGISTERS) * sizeof(r->arg[0]),
				    (void *)(sp + STACK_ARGS));
}

/* What is at arg[@n], for the verifier: a number below CUDA_WORDS, whatever the plan says. */
static __always_inline __u64 word(const struct rec_cuda_entry *r, __u32 n)
{
	asm volatile("" : "+r"(n));
	return n < CUDA_WORDS ? r->arg[n] : 0;
}

static __noinline int remember_out(struct cuda_task *c, __u64 sp, __u64 at, __u64 count)
{
	struct cuda_open *o;

	if (!c)
		return 0;
	o = &c->open[c->next++ % CUDA_OPEN];
	o->sp = sp;
	o->at = at;
	o->count = count;
	return 0;
}

/* Where the call of @func at @sp was to put what it gives; 0: not known. An array is told here, if it has @succeeded. */
static __noinline __u64 take_out(struct cuda_task *c, __u32 func, __u64 sp, bool succeeded)
{
	if (!c)
		return 0;
	for (int i = 0; i < CUDA_OPEN; i++)
		if (c->open[i].sp == sp && c->open[i].at) {
			__u64 at = c->open[i].at;

			if (succeeded)
				send_given(func, sp, at, c->open[i].count);
			c->open[i].at = 0;
			return at;
		}
	return 0;
}

/* What a call has given whose return is not probed: it is there where that returns, or by the time the task makes its next. */
static __noinline int tell_given(struct task_state *t, __u32 result)
{
	struct cuda_task *c = cuda_task(bpf_get_current_task_btf());
	struct rec_cuda_exit *r;

	if (!t)
		return 0;
	t->flags &= ~TASK_CUDA_GAVE;
	if (c && !result)
		send_given(c->unseen_func, c->unseen.sp, c->unseen.at, c->unseen.count);
	r = c ? rec_begin(t, CLASS_CUDA, REC_CUDA_EXIT, sizeof(*r)) : NULL;
	if (!r)
		return 0;
	r->func = c->unseen_func;
	r->result = result;
	r->sp = c->unseen.sp;
	if ((result && result != CUDA_NO_RESULT) || bpf_probe_read_user(&r->out, sizeof(r->out), (void *)c->unseen.at))
		r->out = 0;
	rec_end(r);
	return 0;
}

static __always_inline void keep_unseen(struct task_state *t, struct cuda_task *c, __u32 func, __u64 sp, __u64 at,
					__u64 count)
{
	c->unseen_func = func;
	c->unseen.sp = sp;
	c->unseen.at = at;
	c->unseen.count = count;
	t->flags |= TASK_CUDA_GAVE;
}

/* ---- what is taken along: pieces one behind the other, each a struct rec_text ---- */

static __always_inline struct rec_text *piece_at(struct cuda_task *c, __u32 arg)
{
	__u32 at = c->len;
	struct rec_text *x;

	asm volatile("" : "+r"(at));
	if (at > 2 * sizeof(*x) + CUDA_IMAGE_HEAD)	/* a second piece is behind a short first one */
		return NULL;
	x = (void *)(c->text + at);
	x->arg = arg;
	x->flags = 0;
	x->len = 0;
	return x;
}

static __always_inline void piece_end(struct cuda_task *c, const struct rec_text *x)
{
	c->len += (sizeof(*x) + x->len + 3) & ~3u;
}

#define PIECE_MAX	(CUDA_TAKE_MAX - 256)	/* bytes of one; behind a short first one there is room for it, too */

/* Names of templates are long. */
static __noinline int take_string(struct cuda_task *c, __u64 from, __u32 arg)
{
	struct rec_text *x = c ? piece_at(c, arg) : NULL;
	long n;

	if (!x)
		return 0;
	n = read_text(x->bytes, PIECE_MAX, from);
	if (n <= 0)
		x->flags = TEXT_FAULT;
	else
		x->len = n - 1;
	if (n == PIECE_MAX)
		x->flags = TEXT_CUT;
	piece_end(c, x);
	return 0;
}

static __noinline int take_bytes(struct cuda_task *c, __u64 from, __u32 size, __u32 arg)
{
	struct rec_text *x = c ? piece_at(c, arg) : NULL;

	if (!x)
		return 0;
	asm volatile("" : "+r"(size));
	if (size > PIECE_MAX || !from || read_bytes(x->bytes, size, from))
		x->flags = TEXT_FAULT;
	else
		x->len = size;
	piece_end(c, x);
	return 0;
}

static __noinline int take_image(struct cuda_task *c, __u64 from, __u32 arg)
{
	__u64 data = 0;
	__u32 magic = 0;

	take_bytes(c, from, CUDA_IMAGE_HEAD, arg);
	if (!c || bpf_probe_read_user(&magic, sizeof(magic), (void *)from) || magic != WRAPPER_MAGIC)
		return 0;
	if (bpf_probe_read_user(&data, sizeof(data), (void *)(from + 8)))
		return 0;
	return take_bytes(c, data, CUDA_IMAGE_HEAD, arg);
}

#define CONFIG_BYTES	56	/* CUlaunchConfig: its attributes are pointed to at 40, their number is at 48 */
#define ATTRIBUTE_BYTES	72

static __noinline int take_config(struct cuda_task *c, __u64 from, __u32 arg)
{
	__u64 attributes = 0;
	__u32 count = 0;

	take_bytes(c, from, CONFIG_BYTES, arg);
	if (!c || bpf_probe_read_user(&attributes, sizeof(attributes), (void *)(from + 40)) ||
	    bpf_probe_read_user(&count, sizeof(count), (void *)(from + 48)) || !count)
		return 0;
	if (count > CUDA_ATTRIBUTES)
		count = CUDA_ATTRIBUTES;
	return take_bytes(c, attributes, count * ATTRIBUTE_BYTES, arg);
}

static __noinline int take_along(struct cuda_task *c, const struct cuda_plan *p)
{
	__u32 count = 1;
	__u64 from;

	if (!c || !p)
		return 0;
	from = word(&c->rec, p->take_arg);
	switch (p->take) {
	case CUDA_TAKE_STRING:
		return take_string(c, from, p->take_arg);
	case CUDA_TAKE_BYTES:
		if (p->take_count)
			count = word(&c->rec, p->take_count - 1);
		if (count * p->take_bytes > PIECE_MAX || count > PIECE_MAX)
			count = p->take_bytes ? PIECE_MAX / p->take_bytes : 0;
		return count ? take_bytes(c, from, count * p->take_bytes, p->take_arg) : 0;
	case CUDA_TAKE_IMAGE:
		return take_image(c, from, p->take_arg);
	case CUDA_TAKE_CONFIG:
		return take_config(c, from, p->take_arg);
	default:
		return 0;
	}
}

/* ---- the two ends ---- */

static __noinline int enter(struct task_state *t, struct pt_regs *ctx, __u32 func, __u16 flags, __u64 sp)
{
	const struct cuda_plan *p = bpf_map_lookup_elem(&cuda_plans, &func);
	struct rec_cuda_entry *r;

	if (!t || !p)
		return 1;
	if (t->flags & TASK_CUDA_GAVE)
		tell_given(t, CUDA_NO_RESULT);
	r = rec_begin(t, CLASS_CUDA, REC_CUDA_ENTRY, sizeof(*r));
	if (!r)
		return 1;
	r->hdr.flags = flags;
	r->func = func;
	r->text_len = 0;
	r->sp = sp;
	read_words(r, ctx, sp, p->words);
	rec_end(r);
	return 0;
}

/* A launch with its first words in registers and on the stack: no plan is asked. What does not fit goes the other way. */
static __always_inline int enter_launch(struct task_state *t, struct pt_regs *ctx, __u32 func, __u16 flags, __u64 sp)
{
	__u64 w[CUDA_LAUNCH_WORDS];

	function_args(ctx, w);
	bpf_probe_read_user(&w[ARG_REGISTERS], sizeof(w) - ARG_REGISTERS * sizeof(w[0]), (void *)(sp + STACK_ARGS));
	if ((__u32)(w[2] | w[3] | w[4] | w[5] | w[6]) >> 16)
		return enter(t, ctx, func, flags, sp);
	if (t->flags & TASK_CUDA_GAVE)
		tell_given(t, CUDA_NO_RESULT);
	if (t->flags & TASK_HAS_LOST)
		report_lost(t);
	if (launch_record(bpf_get_current_task_btf(), flags, func, sp, w))
		return 0;
	count_lost(t, CLASS_CUDA);
	return 1;
}

static __noinline int enter_with(struct task_state *t, struct pt_regs *ctx, __u32 func, __u16 flags, __u64 sp)
{
	struct cuda_task *c = cuda_task(bpf_get_current_task_btf());
	const struct cuda_plan *p = bpf_map_lookup_elem(&cuda_plans, &func);
	bool is_lost;
	__u64 count;

	if (!t || !p || !c) {
		if (t)
			count_lost(t, CLASS_CUDA);
		return 1;
	}
	if (t->flags & TASK_CUDA_GAVE)
		tell_given(t, CUDA_NO_RESULT);
	read_words(&c->rec, ctx, sp, p->words);
	count = p->out_count ? word(&c->rec, p->out_count - 1) : 0;
	if (p->out && flags & REC_F_NO_EXIT)
		keep_unseen(t, c, func, sp, word(&c->rec, p->out - 1), count);
	else if (p->out)
		remember_out(c, sp, word(&c->rec, p->out - 1), count);
	c->len = 0;
	take_along(c, p);
	c->rec.func = func;
	c->rec.text_len = c->len;
	c->rec.sp = sp;
	is_lost = !rec_send(t, CLASS_CUDA, REC_CUDA_ENTRY, flags, &c->rec.hdr, sizeof(c->rec) + c->len,
			    sizeof(c->rec) + sizeof(c->text));
	if (cuda_images_wanted && p->take == CUDA_TAKE_IMAGE)
		send_code_image(func, sp, word(&c->rec, p->take_arg));
	return is_lost;
}

static __noinline int cuda_lost(void)
{
	struct task_state *t = my_task();

	if (t)
		count_lost(t, CLASS_CUDA);
	return 0;
}

static __noinline int leave(struct task_state *t, struct pt_regs *ctx, __u32 func)
{
	const struct cuda_plan *p = bpf_map_lookup_elem(&cuda_plans, &func);
	__u64 sp = user_sp(ctx) - RETURN_POPS, out = 0, at;
	__u32 result = function_result(ctx);
	struct rec_cuda_exit *r;

	if (!t || !p)
		return 0;
	if (p->out) {
		at = take_out(cuda_task(bpf_get_current_task_btf()), func, sp, !result);
		if (at && !result)
			bpf_probe_read_user(&out, sizeof(out), (void *)at);
	}
	r = rec_begin(t, CLASS_CUDA, REC_CUDA_EXIT, sizeof(*r));
	if (!r)
		return 0;
	r->func = func;
	r->result = result;
	r->sp = sp;
	r->out = out;
	rec_end(r);
	return 0;
}

/* Of what gives nothing. What is probed at its return was recorded at its entry: nobody need be asked again. */
static __always_inline int leave_plain(struct pt_regs *ctx, __u32 func)
{
	__u32 result = function_result(ctx);

	if (!recording)
		return 0;
	if (result >> CUDA_RETURN_SHIFT) {
		struct task_state *t = my_task();

		return t ? leave(t, ctx, func) : 0;
	}
	func = result << CUDA_RETURN_SHIFT | (func & CUDA_RETURN_FUNC);
	if (!call_record(bpf_get_current_task_btf(), REC_CUDA_RETURN, 0, func, user_sp(ctx) - RETURN_POPS))
		cuda_lost();
	return 0;
}

typedef int enter_fn(struct task_state *t, struct pt_regs *ctx, __u32 func, __u16 flags, __u64 sp);

/* As function_session: of an entry that was lost the return is not probed, so it is lost too. */
static __always_inline int session(struct pt_regs *ctx, enter_fn *fn)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 func = bpf_get_attach_cookie(ctx);
	struct task_state *t = state_of(task);
	__u64 sp = user_sp(ctx);
	bool returns;
	__u16 flags;

	if (!t)
		return 1;
	if (is_return(ctx))		/* of what gives something */
		return leave(t, ctx, func);
	returns = returns_probed(t, task) && is_home(t, task, sp);
	flags = returns ? entry_flags(task, ctx, sp) : REC_F_NO_EXIT;
	if (!fn(t, ctx, func, flags, sp))
		return !returns;
	if (!(flags & REC_F_NO_EXIT))
		count_lost(t, CLASS_CUDA);
	return 1;
}

/* What takes nothing along and gives nothing. */
UPROBE(cuda_session, ctx)
{
	return is_return(ctx) ? leave_plain(ctx, bpf_get_attach_cookie(ctx)) : session(ctx, enter);
}

/* What is told what to launch by words of its own: cuLaunchKernel(), cuLaunchCooperativeKernel(). */
UPROBE(cuda_launch, ctx)
{
	return is_return(ctx) ? leave_plain(ctx, bpf_get_attach_cookie(ctx)) : session(ctx, enter_launch);
}

UPROBE(cuda_session_with, ctx)
{
	return session(ctx, enter_with);
}

static __always_inline int entry(struct pt_regs *ctx, enter_fn *fn)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	__u64 sp = user_sp(ctx), cookie = bpf_get_attach_cookie(ctx);

	if (t)
		fn(t, ctx, cookie, cookie & COOKIE_NO_EXIT ? REC_F_NO_EXIT : entry_flags(task, ctx, sp), sp);
	return 0;
}

UPROBE(cuda_entry, ctx)
{
	return entry(ctx, enter);
}

UPROBE(cuda_entry_with, ctx)
{
	return entry(ctx, enter_with);
}

URETPROBE(cuda_exit, ctx)
{
	struct task_state *t = my_task();

	return t ? leave(t, ctx, bpf_get_attach_cookie(ctx)) : 0;
}

/* A return instruction of a function that gives something: what it gave is there, where its return is not probed. */
UPROBE(cuda_ret, ctx)
{
	struct task_state *t = my_task();
	struct cuda_task *c;

	if (!t || !(t->flags & TASK_CUDA_GAVE))
		return 0;
	c = cuda_task(bpf_get_current_task_btf());
	if (c && c->unseen.sp == user_sp(ctx))
		tell_given(t, function_result(ctx));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
