/*
 * syscall.bpf.c - any syscall's entry and exit, with the texts the syscall table asks for.
 *
 * What a program gives is read at entry, so it is what was given, whatever another
 * thread does to it meanwhile. Its page may not be there yet, and nothing can be paged in from a
 * tracepoint: what could not be read is read at exit, where the kernel has just read it itself.
 */
#include "callers.bpf.h"
#include "recorder.bpf.h"
#include "held.bpf.h"
#include "path.bpf.h"
#include "point.bpf.h"
#include "returns.bpf.h"
#include "trigger.h"

#define TEXT_ONE_MAX	4096	/* bytes of one text, its NUL included, at most: STRING_BYTES_MAX of config.h is less */
#define TEXT_ROOM	REC_TEXT_MAX
#define ALL_ARGS	0x3fu

const volatile struct sys_plan plans[SYS_MAX];
const volatile bool compat_wanted[SYS_MAX];
const volatile bool other_syscalls_wanted;
extern const volatile __u32 string_max;

/*
 * What the table says of syscall @nr; NULL: nothing, then it is recorded without
 * texts. The index has a register of its own, for the verifier.
 */
static __always_inline const volatile struct sys_plan *plan_of(__u32 nr, bool compat)
{
	__u64 i = nr;

	asm volatile("" : "+r"(i));
	if (compat || i >= SYS_MAX)
		return NULL;
	return &plans[i];
}

/* @plan: that of the call, NULL where it has none. */
static __always_inline bool is_wanted(const volatile struct sys_plan *plan, __u32 nr, bool compat)
{
	__u64 i = nr;

	if (plan)
		return plan->wanted;
	asm volatile("" : "+r"(i));
	return compat && i < SYS_MAX ? compat_wanted[i] : other_syscalls_wanted;
}

/* Texts follow the record at once, so the shorter exit record ends where the entry record does. */
struct text_scratch {
	__u64 arg[6];
	__u32 unread;		/* what could not be read, a bit for each argument */
	__u32 pad;
	union {
		struct rec_sys_enter enter;
		struct {
			__u8 gap[sizeof(struct rec_sys_enter) - sizeof(struct rec_sys_exit)];
			struct rec_sys_exit exit;
		};
	};
	char text[TEXT_ROOM + TEXT_ONE_MAX + 16];
};

/* One for entries and one for exits: where a program can be preempted the kernel lets nobody else run it meanwhile, but the other. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct text_scratch);
} text_scratches SEC(".maps");

static __always_inline struct text_scratch *text_scratch(bool is_exit)
{
	__u32 which = is_exit;

	return bpf_map_lookup_elem(&text_scratches, &which);
}

/* Bytes to take of a buffer of @len, and whether that cuts it. */
static __always_inline __u32 clamp_text(__u64 len, __u8 *flags)
{
	if ((__s64)len <= 0)
		return 0;
	if (len > string_max) {
		*flags = TEXT_CUT;
		return string_max;
	}
	return len;
}

static __always_inline long take_string(char *to, __u64 from, __u8 *flags)
{
	long n = bpf_probe_read_user_str(to, string_max + 2, (void *)from);

	if (n <= 0) {
		*flags = TEXT_FAULT;
		return 0;
	}
	n--;					/* its NUL */
	if (n > string_max) {
		n = string_max;
		*flags = TEXT_CUT;
	}
	return n;
}

static __always_inline long take_bytes(char *to, __u64 from, __u64 len, __u8 *flags)
{
	__u64 n = clamp_text(len, flags);

	asm volatile("" : "+r"(n));		/* one register, which is checked and used: 6.1 and 6.12 ask for that */
	if (n > TEXT_ONE_MAX)
		return 0;
	asm volatile("" : "+r"(n));
	if (n && bpf_probe_read_user(to, n, (void *)from)) {
		*flags = TEXT_FAULT;
		return 0;
	}
	return n;
}

static __always_inline bool is_given(__u8 how)
{
	return how == TAKE_STRING || how == TAKE_BUF;
}

/*
 * Append to the scratch, whose arg[] is filled, the text of argument @i at @off; returns the new end. This one and the
 * next are global functions of scalars: each is verified once, not on every way that leads there.
 */
__noinline int take_text(__u32 off, __u32 i, __u32 how, __s64 ret, bool is_exit)
{
	struct text_scratch *s = text_scratch(is_exit);
	struct rec_text *x;
	__u8 flags = 0;
	__u64 ptr;
	long n;

	if (!s || off >= TEXT_ROOM || i > 5)
		return off;
	x = (void *)(s->text + off);
	ptr = s->arg[i];
	if (how == TAKE_STRING)
		n = take_string(x->bytes, ptr, &flags);
	else if (how == TAKE_BUF)
		n = take_bytes(x->bytes, ptr, i < 5 ? s->arg[i + 1] : 0, &flags);
	else if (how == TAKE_BUF_RET)
		n = take_bytes(x->bytes, ptr, ret, &flags);
	else
		n = ret ? 0 : take_bytes(x->bytes, ptr, 8, &flags);
	if (flags & TEXT_FAULT)
		s->unread |= 1u << i;
	x->arg = i;
	x->flags = flags;
	x->len = n;
	off += sizeof(*x) + n;
	return (off + 3) & ~3u;
}

/*
 * Put the texts plan @nr asks for behind the record in the scratch, whose
 * arg[] the caller has filled: what is given, of the arguments in @given, and at exit what
 * is got. Returns the bytes used.
 */
__noinline int take_texts(__u32 nr, __s64 ret, __u32 given, bool is_exit)
{
	const volatile struct sys_plan *plan = plan_of(nr, false);
	struct text_scratch *s = text_scratch(is_exit);
	__u32 off = 0;

	if (!s || !plan)
		return 0;
	s->unread = 0;
	for (int i = 0; i < 6; i++) {
		__u8 how = plan->take[i];
		bool wanted = is_given(how) ? given >> i & 1 : is_exit;

		if (how && wanted && s->arg[i])
			off = take_text(off, i, how, ret, is_exit);
	}
	if (off > TEXT_ROOM + TEXT_ONE_MAX)
		return 0;
	*(__u64 *)(s->text + off) = 0;		/* the last word: no byte leaves that was not written */
	return off;
}

static __always_inline struct text_scratch *texts(struct pt_regs *regs, __u32 nr, __s64 ret, __u32 given, bool is_exit,
						   __u32 *len)
{
	struct text_scratch *s = text_scratch(is_exit);
	__u32 n;

	if (!s)
		return NULL;
	syscall_args(regs, s->arg);
	n = take_texts(nr, ret, given, is_exit);
	if (n > TEXT_ROOM + TEXT_ONE_MAX)
		return NULL;
	*len = n;
	return s;
}

static __always_inline bool enter_with_text(struct task_state *t, struct pt_regs *regs, __u32 nr)
{
	struct text_scratch *s;
	__u32 len = 0;

	s = texts(regs, nr, 0, ALL_ARGS, false, &len);
	if (!s)
		return false;
	t->texts_unread = s->unread;
	s->enter.nr = nr;
	s->enter.text_len = len;
	__builtin_memcpy(s->enter.arg, s->arg, sizeof(s->arg));
	return rec_send(t, CLASS_SYSCALL, REC_SYS_ENTER, 0, &s->enter.hdr, sizeof(s->enter) + len,
			sizeof(s->enter) + sizeof(s->text));
}

static __always_inline int exit_with_text(struct task_state *t, struct pt_regs *regs, __u32 nr, __s64 ret)
{
	struct text_scratch *s;
	__u32 len = 0;

	s = texts(regs, nr, ret, t->texts_unread, true, &len);
	if (!s)
		return 0;
	s->exit.nr = nr;
	s->exit.text_len = len;
	s->exit.ret = ret;
	rec_send(t, CLASS_SYSCALL, REC_SYS_EXIT, 0, &s->exit.hdr, sizeof(s->exit) + len,
		 sizeof(s->exit) + sizeof(s->text));
	return 0;
}

/* Our own child, until its exec: nothing but that exec is the program's. */
static __always_inline bool is_before_exec(struct task_state *t, __u32 nr)
{
	if (!(t->flags & TASK_ARMED))
		return false;
	if (nr != NR_EXECVE && nr != NR_EXECVEAT)
		return true;
	t->flags &= ~TASK_ARMED;
	return false;
}

/* Remembered until its return tells how long it took; its texts are read then. Of rt_sigreturn() no return is told. */
static __always_inline int hold_syscall(struct task_state *t, struct task_struct *task, struct pt_regs *regs, __u32 nr, bool compat)
{
	struct held_calls *h;

	if (!compat && nr == NR_RT_SIGRETURN)
		return 0;
	h = room_make(&held_calls, &held_calls_blank, task);
	if (!h) {
		count_lost(t, CLASS_SYSCALL);
		return 0;
	}
	if (compat)
		compat_args(regs, h->syscall.arg);
	else
		syscall_args(regs, h->syscall.arg);
	h->syscall.nr = nr;
	h->syscall.flags = compat ? REC_F_COMPAT : 0;
	h->syscall.is_told = false;
	t->texts_unread = ALL_ARGS;
	h->syscall.began = bpf_ktime_get_ns();
	return 0;
}

/* Was the entry sent of the system call that returns now? held.bpf.c has judged it. */
static __always_inline bool was_held_long(struct task_struct *task, __u32 nr)
{
	struct held_calls *h = room_of(&held_calls, task);

	if (!h || !h->syscall.is_told || h->syscall.nr != nr)
		return false;
	h->syscall.is_told = false;
	return true;
}

/* A system call is recorded whole or not at all: what counts is whether it was paused when it began. */
static __always_inline bool begins_paused(struct task_state *t)
{
	if (!signals_pause)
		return false;
	if (events_switched == SWITCHED_OFF) {
		t->flags &= ~TASK_ENTERED;
		return true;
	}
	t->flags |= TASK_ENTERED;
	return false;
}

static __always_inline bool began_paused(struct task_state *t)
{
	bool entered = t->flags & TASK_ENTERED;

	if (!signals_pause)
		return false;
	t->flags &= ~TASK_ENTERED;
	return events_switched != SWITCHED_NOT && !entered;
}

AT_SYS_ENTER(sys_enter, regs, nr)
{
	const volatile struct sys_plan *plan;
	struct rec_sys_enter *r;
	struct task_state *t;
	bool compat;

	if (is_probe_syscall(nr))
		return 0;
	t = my_task();
	if (!t || is_before_exec(t, nr) || begins_paused(t))
		return 0;
	compat = in_compat_syscall();
	plan = plan_of(nr, compat);
	if (!is_wanted(plan, nr, compat))
		return 0;
	if (syscalls_are_held)
		return hold_syscall(t, bpf_get_current_task_btf(), regs, nr, compat);
	t->texts_unread = 0;
	if (plan && plan->gives) {
		if (enter_with_text(t, regs, nr))
			send_callers(ctx, t, false, true);
		return 0;
	}
	r = rec_begin(t, CLASS_SYSCALL, REC_SYS_ENTER, sizeof(*r));
	if (!r)
		return 0;
	r->nr = nr;
	r->text_len = 0;
	if (compat) {
		r->hdr.flags = REC_F_COMPAT;
		compat_args(regs, r->arg);
	} else {
		if (nr == NR_RT_SIGRETURN)	/* its exit bears no number */
			r->hdr.flags = REC_F_NO_EXIT;
		syscall_args(regs, r->arg);
	}
	rec_end(r);
	send_callers(ctx, t, false, true);
	return 0;
}

/* A file with code mapped by the program, or for it by the dynamic linker. */
static __always_inline void note_mapping(struct pt_regs *regs, __s64 ret)
{
	__u64 arg[6];

	syscall_args(regs, arg);
	if (maps_code(arg) && !is_error(ret))
		send_image_at(ret, IMAGE_MAPPED, arg[1], arg[5], arg[4]);
}

/* Instead of sys_exit where no system call is recorded, but what is mapped must be seen, and maps_work() does not tell it. */
AT_SYS_EXIT(map_exit, regs, ret)
{
	struct task_state *t;

	if (syscall_nr(regs) != NR_MMAP || in_compat_syscall())
		return 0;
	t = my_task();
	if (t && !(t->flags & TASK_ARMED))
		note_mapping(regs, ret);
	return 0;
}

AT_SYS_EXIT(sys_exit, regs, ret)
{
	const volatile struct sys_plan *plan;
	struct rec_sys_exit *r;
	struct task_state *t;
	bool compat;
	__u32 nr;

	nr = syscall_nr(regs);
	if (is_probe_syscall(nr))
		return 0;
	t = my_task();
	if (!t || t->flags & TASK_ARMED)
		return 0;
	compat = in_compat_syscall();
	if (nr == NR_MMAP && !compat)
		note_mapping(regs, ret);
	if (began_paused(t))
		return 0;
	plan = plan_of(nr, compat);
	if (!is_wanted(plan, nr, compat))
		return 0;
	if (syscalls_are_held && !was_held_long(bpf_get_current_task_btf(), nr))
		return 0;
	if (plan && ((plan->gets && ret >= 0) || t->texts_unread) && !(plan->at_entry && ret == 0))
		return exit_with_text(t, regs, nr, ret);
	r = rec_begin(t, CLASS_SYSCALL, REC_SYS_EXIT, sizeof(*r));
	if (!r)
		return 0;
	r->nr = nr;
	r->text_len = 0;
	r->ret = ret;
	if (compat)
		r->hdr.flags = REC_F_COMPAT;
	rec_end(r);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
