/*
 * file.bpf.c - what system calls do to descriptors and names, and what programs are started with.
 *
 * All is told when the call is done: names are read then, since the kernel has just
 * read them and their pages are there; of a directory descriptor and the current directory
 * the path is walked at the same instant. One program serves all calls, told by a row
 * for each number where its arguments stand (fileplan.h).
 *
 * A record is put together in the CPU's scratch, which one task at a time may have: on a
 * kernel whose tracepoints can be preempted a second one there is counted as lost.
 */
#include "path.bpf.h"
#include "point.bpf.h"
#include "walk.bpf.h"
#include "fileplan.h"

#define AT_FDCWD	-100
#define AT_EMPTY_PATH	0x1000
#define O_CLOEXEC	02000000
#define F_DUPFD		0
#define F_DUPFD_CLOEXEC	1030
#define CLOSE_RANGE_CLOEXEC 4
#define CLONE_ARGS_SIGNAL 32	/* of exit_signal in struct clone_args */

#define NAME_MAX_READ	4096	/* PATH_MAX, which no name that a call was given passes */
#define FDS_BYTES	2048	/* of the bitmap of open descriptors: 16 384 of them */
#define PIECES_MAX	8192

const volatile struct file_plan file_plans[2 * SYS_MAX];	/* by number: of the machine's own calls, then of 32-bit ones */
const volatile bool file_env;		/* --env-vars */
const volatile bool file_fds;		/* --implicit-closes */

/* All three kinds of records end where text[] begins. */
struct file_scratch {
	struct scratch scratch;
	struct walk walk;
	__u32 end;		/* of text[] in use */
	__u64 arg[8];		/* [FILE_AT_CWD] and [FILE_AT_NONE] are 0 */
	__u64 args_at, left;	/* of an exec: where its strings are, how many bytes were not sent yet */
	union {
		struct rec_file file;
		struct {
			__u8 gap[sizeof(struct rec_file) - sizeof(struct rec_exec)];
			struct rec_exec exec;
		};
		struct {
			__u8 gap2[sizeof(struct rec_file) - sizeof(struct rec_exec_piece)];
			struct rec_exec_piece piece;
		};
	};
	char text[FILE_TEXT_MAX + NAME_MAX_READ + 64];
};

#define TEXT_END	(FILE_TEXT_MAX + NAME_MAX_READ + 32)	/* at most, once a text was added */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct file_scratch);
} file_scratches SEC(".maps");

static __always_inline struct file_scratch *file_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&file_scratches, &zero);
}

/* Ours until file_done(); NULL: another task has it, which has been counted. */
static __always_inline struct file_scratch *file_begin(struct task_state *t, __u32 class)
{
	struct file_scratch *s = scratch_claim(&file_scratches, 1);

	if (!s) {
		count_lost(t, class);
		return NULL;
	}
	s->end = 0;
	walk_root(&s->walk, bpf_get_current_task_btf());
	return s;
}

static __always_inline void file_done(struct file_scratch *s)
{
	scratch_leave(&s->scratch);
}

static __always_inline void fill_root(struct file_root *r)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct dentry *d = BPF_CORE_READ(task, fs, root.dentry);
	struct vfsmount *m = BPF_CORE_READ(task, fs, root.mnt);
	struct mount *mount = (void *)m - bpf_core_field_offset(struct mount, mnt);
	struct inode *inode = BPF_CORE_READ(d, d_inode);

	r->mnt_ns = BPF_CORE_READ(task, nsproxy, mnt_ns, ns.inum);
	r->mnt_id = BPF_CORE_READ(mount, mnt_id);
	r->ino = d == BPF_CORE_READ(m, mnt_root) ? 0 : BPF_CORE_READ(inode, i_ino);
}

/* ---- texts ---- */

/* A place for a text of kind @what; NULL: there is none, and what the record has is not whole. */
static __always_inline struct rec_text *text_begin(struct file_scratch *s, __u32 what)
{
	struct rec_text *x;
	__u32 at = s->end;

	asm volatile("" : "+r"(at));
	if (at >= FILE_TEXT_MAX)
		return NULL;
	x = (void *)(s->text + at);
	x->arg = what;
	x->flags = 0;
	x->len = 0;
	return x;
}

static __always_inline void text_end(struct file_scratch *s, struct rec_text *x, __u32 len)
{
	x->len = len;
	s->end = (s->end + sizeof(*x) + len + 3) & ~3u;
}

static __always_inline int no_text(struct file_scratch *s, struct rec_text *x)
{
	x->flags = TEXT_FAULT;
	text_end(s, x, 0);
	return 0;
}

/* A string of the program, or of the kernel. Returns its first byte. */
__noinline int file_string(__u64 from, __u32 what, bool is_user)
{
	struct file_scratch *s = file_scratch();
	struct rec_text *x = s ? text_begin(s, what) : NULL;
	long n;

	if (!x)
		return 0;
	n = is_user ? bpf_probe_read_user_str(x->bytes, NAME_MAX_READ, (void *)from) :
	    bpf_probe_read_kernel_str(x->bytes, NAME_MAX_READ, (void *)from);
	if (n <= 0)
		return no_text(s, x);
	text_end(s, x, n - 1);
	return x->bytes[0];
}

static long walk_file(__u32 step, struct file_scratch **scratch)
{
	struct file_scratch *s = *scratch;

	return walk_step(&s->walk, s->text, FILE_TEXT_MAX);
}

/* Has it no path, but a name of its own kind? */
static __always_inline bool is_object(struct dentry *d, __u64 mnt)
{
	if (!BPF_CORE_READ(d, d_op) || !BPF_CORE_READ(d, d_op, d_dname))
		return false;
	return BPF_CORE_READ(d, d_parent) != d || d != BPF_CORE_READ((struct vfsmount *)mnt, mnt_root);
}

static __always_inline int object_text(struct file_scratch *s, struct rec_text *x, struct dentry *d)
{
	struct inode *inode = BPF_CORE_READ(d, d_inode);
	struct file_object *o = (void *)x->bytes;
	long n;

	__builtin_memset(o, 0, sizeof(*o));
	o->ino = BPF_CORE_READ(inode, i_ino);
	o->magic = BPF_CORE_READ(inode, i_sb, s_magic);
	n = bpf_probe_read_kernel_str(o->name, NAME_ROOM, BPF_CORE_READ(d, d_name.name));
	x->flags = TEXT_OBJECT;
	text_end(s, x, sizeof(*o) + (n > 0 ? n - 1 : 0));
	return 0;
}

/* The path of @dentry on @mnt, to the root that the walk was given. */
__noinline int file_walk(__u64 dentry, __u64 mnt, __u32 what)
{
	struct file_scratch *s = file_scratch();
	struct rec_text *x = s ? text_begin(s, what) : NULL;
	struct dentry *d = (void *)dentry;
	__u32 begin;

	if (!x)
		return 0;
	if (!d)
		return no_text(s, x);
	if (is_object(d, mnt))
		return object_text(s, x, d);
	begin = s->end + sizeof(*x);
	walk_begin(&s->walk, dentry, mnt, begin);
	if (BPF_CORE_READ(d, d_parent) != d && !BPF_CORE_READ(d, d_hash.pprev))
		x->flags = TEXT_DELETED;
	bpf_loop(STEPS_MAX, walk_file, &s, 0);
	/* Steps run out at names that move all the time: then it ends above the root, and is told as cut. */
	if (s->walk.cut)
		x->flags |= TEXT_CUT;
	else if (s->walk.dentry != s->walk.root_dentry || s->walk.mnt != s->walk.root_mnt)
		x->flags |= TEXT_OUTSIDE;
	text_end(s, x, s->walk.len - begin);
	return 0;
}

static __noinline __u64 file_of(__s32 fd)
{
	return file_at_fd(fd);
}

static __always_inline void file_path(__u64 file, __u32 what)
{
	struct file *f = (void *)file;

	file_walk(f ? (__u64)BPF_CORE_READ(f, f_path.dentry) : 0, f ? (__u64)BPF_CORE_READ(f, f_path.mnt) : 0, what);
}

static __always_inline void cwd_path(__u32 what)
{
	struct task_struct *task = bpf_get_current_task_btf();

	file_walk((__u64)BPF_CORE_READ(task, fs, pwd.dentry), (__u64)BPF_CORE_READ(task, fs, pwd.mnt), what);
}

/* The name at argument @name, and what it is relative to. Returns its first byte. */
static __always_inline int name_text(struct file_scratch *s, __u32 name, __u32 base, __u32 what, __u32 what_base)
{
	__u64 from = s->arg[name & 7];
	__s32 dir = s->arg[base & 7];
	int first;

	if (name > 5 || !from)
		return 0;
	first = file_string(from, what, true);
	if (first == '/' || base == FILE_AT_NONE)
		return first;
	if (base == FILE_AT_CWD || dir == AT_FDCWD)
		cwd_path(what_base);
	else
		file_path(file_of(dir), what_base);
	return first;
}

/* Which descriptors are open now. */
static __always_inline void fds_text(struct file_scratch *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct rec_text *x = text_begin(s, FILE_TEXT_FDS);
	__u32 n;

	if (!x)
		return;
	n = BPF_CORE_READ(task, files, fdt, max_fds) / 8;
	asm volatile("" : "+r"(n));
	if (n > FDS_BYTES) {
		n = FDS_BYTES;
		x->flags = TEXT_CUT;
	}
	asm volatile("" : "+r"(n));
	if (n > FDS_BYTES || bpf_probe_read_kernel(x->bytes, n, BPF_CORE_READ(task, files, fdt, open_fds))) {
		x->flags = TEXT_FAULT;
		n = 0;
	}
	text_end(s, x, n);
}

/* Which calls have names that user space resolves: an open that has no path, since another thread has closed it, too. */
static __always_inline bool needs_root(struct file_scratch *s, __u32 op)
{
	const struct rec_text *first = (void *)s->text;

	return (op >= FILE_RENAME && op <= FILE_UMOUNT) || (op == FILE_OPEN && first->flags & TEXT_FAULT);
}

/* The record in @s, whose texts are all there. */
static __always_inline void send_file(struct task_state *t, struct file_scratch *s, __u32 op, __s32 ret)
{
	__u32 n = s->end;

	if (n > TEXT_END)
		n = TEXT_END;
	*(__u64 *)(s->text + n) = 0;		/* the last word: no byte leaves that was not written */
	s->file.op = op;
	s->file.text_len = n;
	s->file.ret = ret;
	__builtin_memset(&s->file.root, 0, sizeof(s->file.root));
	if (needs_root(s, op))
		fill_root(&s->file.root);
	rec_send(t, CLASS_SYSCALL, REC_FILE, 0, &s->file.hdr, sizeof(s->file) + n,
		 sizeof(s->file) + sizeof(s->text));
}

/* ---- system calls ---- */

static __always_inline const volatile struct file_plan *plan_of_file(__u32 nr, bool compat)
{
	__u32 i = nr + (compat ? SYS_MAX : 0);

	asm volatile("" : "+r"(i));
	return nr < SYS_MAX ? &file_plans[i & (2 * SYS_MAX - 1)] : NULL;
}

/* Arguments that are not simply passed on. False: the call is none of those that are told. */
static __always_inline bool fill_special(struct file_scratch *s, const volatile struct file_plan *p, long ret)
{
	struct rec_file *r = &s->file;
	__u64 how[2] = {};
	__s32 ends[2] = {};

	if (p->flags & FILE_FCNTL) {
		if (s->arg[1] != F_DUPFD && s->arg[1] != F_DUPFD_CLOEXEC)
			return false;
		r->arg[1] = s->arg[1] == F_DUPFD_CLOEXEC ? O_CLOEXEC : 0;
	}
	if (p->flags & FILE_SAME_IS_NO && (__s32)s->arg[0] == ret)
		return false;
	if (p->flags & FILE_HOW) {
		bpf_probe_read_user(how, sizeof(how), (void *)s->arg[2]);
		r->arg[0] = how[0];
		r->arg[1] = how[1];
	}
	if (p->op == FILE_PIPE) {
		bpf_probe_read_user(ends, sizeof(ends), (void *)s->arg[0]);
		r->arg[0] = (__s64)ends[0];
		r->arg[1] = (__s64)ends[1];
	}
	return true;
}

/* A global function of scalars: verified once. The arguments are in the scratch. */
__noinline int file_texts(__u32 nr, bool compat, __s32 ret)
{
	const volatile struct file_plan *p = plan_of_file(nr, compat);
	struct file_scratch *s = file_scratch();
	int is_named;

	if (!p || !s)
		return 0;
	if (p->op == FILE_OPEN)
		file_path(file_of(ret), FILE_TEXT_PATH);
	is_named = name_text(s, p->name, p->base, FILE_TEXT_NAME, FILE_TEXT_BASE);
	if (p->op == FILE_LINK && s->file.arg[0] & AT_EMPTY_PATH && !is_named)
		file_path(file_of(s->arg[0]), FILE_TEXT_PATH);
	name_text(s, p->name2, p->base2, FILE_TEXT_NAME2, FILE_TEXT_BASE2);
	name_text(s, p->type, FILE_AT_NONE, FILE_TEXT_TYPE, 0);
	if (p->op == FILE_CLOSE_RANGE && file_fds && !(s->file.arg[2] & CLOSE_RANGE_CLOEXEC))
		fds_text(s);
	return 0;
}

static __always_inline void tell_call(struct task_state *t, struct file_scratch *s, struct pt_regs *regs, __u32 nr,
				      bool compat, long ret, const volatile struct file_plan *p)
{
	if (compat)
		compat_args(regs, s->arg);
	else
		syscall_args(regs, s->arg);
	for (int i = 0; i < 3; i++)
		s->file.arg[i] = s->arg[p->arg[i] & 7];
	if (p->fixed)
		s->file.arg[p->op == FILE_OPEN ? 0 : p->op == FILE_DUP ? 2 : 1] = p->fixed;
	if (!fill_special(s, p, ret))
		return;
	file_texts(nr, compat, ret);
	send_file(t, s, p->op, ret);
}

static __always_inline void clone_flags(struct file_scratch *s, struct pt_regs *regs, bool compat,
					const volatile struct file_plan *p)
{
	__u64 arg[6], signal = 0;

	if (compat)
		compat_args(regs, arg);
	else
		syscall_args(regs, arg);
	s->file.arg[0] = arg[0];
	s->file.arg[1] = s->file.arg[2] = 0;
	if (p->flags & FILE_STRUCT) {
		bpf_probe_read_user(&s->file.arg[0], 8, (void *)arg[0]);
		bpf_probe_read_user(&signal, 8, (void *)arg[0] + CLONE_ARGS_SIGNAL);
		s->file.arg[0] |= signal;
	}
}

AT_SYS_EXIT(file_exit, regs, ret)
{
	const volatile struct file_plan *p;
	struct file_scratch *s;
	struct task_state *t;
	bool compat;
	__u32 nr;

	nr = syscall_nr(regs);
	compat = in_compat_syscall();
	p = plan_of_file(nr, compat);
	if (!p || !p->op || (ret < 0 && !(p->flags & FILE_FAILED_TOO)) || (p->op == FILE_CLONE && ret >= 0))
		return 0;
	t = my_task();
	if (!t || t->flags & TASK_ARMED)
		return 0;
	s = file_begin(t, CLASS_SYSCALL);
	if (!s)
		return 0;
	if (p->op == FILE_CLONE) {
		clone_flags(s, regs, compat, p);
		send_file(t, s, FILE_CLONE, ret);
	} else {
		tell_call(t, s, regs, nr, compat, ret, p);
	}
	file_done(s);
	return 0;
}

/* The current task has made a process, or a thread. Told if by clone() or clone3(), not by fork() or vfork(). */
__noinline int file_cloned(bool is_process)
{
	struct pt_regs *regs = own_regs();
	const volatile struct file_plan *p = plan_of_file(syscall_nr(regs), in_compat_syscall());
	struct file_scratch *s;
	struct task_state *t;

	if (!p || p->op != FILE_CLONE)
		return 0;
	t = my_task();
	if (!t || t->flags & TASK_ARMED || (!follow && is_process))
		return 0;
	s = file_begin(t, CLASS_SYSCALL);
	if (!s)
		return 0;
	clone_flags(s, regs, in_compat_syscall(), p);
	send_file(t, s, FILE_CLONE, 0);
	file_done(s);
	return 0;
}

/* ---- programs that start ---- */

/* The next piece of the strings. Returns 1 when there is none, or it could not be sent. */
static long send_piece(__u32 step, struct file_scratch **scratch)
{
	struct file_scratch *s = *scratch;
	struct task_state *t = my_task();
	__u64 n = s->left;

	if (!n || !t)
		return 1;
	asm volatile("" : "+r"(n));
	if (n > EXEC_PIECE_MAX)
		n = EXEC_PIECE_MAX;
	asm volatile("" : "+r"(n));
	if (n > EXEC_PIECE_MAX || bpf_probe_read_user(s->text, n, (void *)s->args_at)) {
		count_lost(t, CLASS_TASK);
		return 1;
	}
	s->piece.len = n;
	s->piece.pad = 0;
	*(__u64 *)(s->text + n) = 0;
	if (!rec_send(t, CLASS_TASK, REC_EXEC_PIECE, 0, &s->piece.hdr, sizeof(s->piece) + n,
		      sizeof(s->piece) + sizeof(s->text)))
		return 1;
	s->piece.at += n;
	s->args_at += n;
	s->left -= n;
	return 0;
}

#define DEV_FD		"/dev/fd/"
#define FD_DIGITS	10

/* execveat() of a name relative to a descriptor: the kernel calls that /dev/fd/N/NAME. It may have been closed by now. */
__noinline int exec_base(__u64 filename)
{
	char name[32] = {}, digit;
	__u32 fd = 0;

	bpf_probe_read_kernel_str(name, sizeof(name), (void *)filename);
	if (bpf_strncmp(name, sizeof(DEV_FD) - 1, DEV_FD))
		return 0;
	for (int i = sizeof(DEV_FD) - 1; i < (int)sizeof(DEV_FD) - 1 + FD_DIGITS; i++) {
		digit = name[i];
		if (digit < '0' || digit > '9')
			break;
		fd = fd * 10 + digit - '0';
	}
	file_path(file_of(fd), FILE_TEXT_BASE2);
	return 0;
}

static __always_inline bool send_exec(struct task_state *t, struct file_scratch *s)
{
	__u32 n = s->end;

	if (n > TEXT_END)
		n = TEXT_END;
	*(__u64 *)(s->text + n) = 0;
	s->exec.text_len = n;
	s->exec.pad = 0;
	fill_root(&s->exec.root);
	return rec_send(t, CLASS_TASK, REC_EXEC, 0, &s->exec.hdr, sizeof(s->exec) + n,
			sizeof(s->exec) + sizeof(s->text));
}

/* Comes after task_exec(), which tells of the exec. @filename, @interp: their addresses in the kernel. */
static __always_inline int tell_start(struct task_struct *task, __u64 filename, __u64 interp)
{
	struct task_state *t = my_task();
	struct file_scratch *s = t ? file_begin(t, CLASS_TASK) : NULL;

	if (!s)
		return 0;
	file_string(filename, FILE_TEXT_NAME, false);
	file_string(interp, FILE_TEXT_INTERP, false);
	cwd_path(FILE_TEXT_BASE);
	exec_base(filename);
	file_path((__u64)BPF_CORE_READ(task, mm, exe_file), FILE_TEXT_PATH);
	if (file_fds)
		fds_text(s);
	s->args_at = BPF_CORE_READ(task, mm, arg_start);
	s->exec.args = BPF_CORE_READ(task, mm, arg_end) - s->args_at;
	s->exec.env = file_env ? BPF_CORE_READ(task, mm, env_end) - BPF_CORE_READ(task, mm, env_start) : 0;
	s->left = s->exec.args + s->exec.env;
	if (send_exec(t, s)) {
		s->piece.at = 0;
		bpf_loop(PIECES_MAX, send_piece, &s, 0);
	}
	file_done(s);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(file_exec, struct task_struct *task, pid_t old_tid, struct linux_binprm *bprm)
{
	return tell_start(task, kernel_address(bprm->filename), kernel_address(bprm->interp));
}

/*
 * An exec's perf event does not tell of the interpreter. What comes before it does, of whoever may be recorded by then. Not
 * as a perf event, which has both paths in 8 KiB: with long ones the kernel warns that its buffer is too small.
 */
struct exec_interp {
	char name[NAME_MAX_READ];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct exec_interp);
} exec_interps SEC(".maps");

SEC("?tp_btf/sched_prepare_exec")
int BPF_PROG(file_interp, struct task_struct *task, struct linux_binprm *bprm)
{
	struct exec_interp *i = recording ? bpf_task_storage_get(&exec_interps, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE) : NULL;

	if (i)
		bpf_probe_read_kernel_str(i->name, sizeof(i->name), bprm->interp);
	return 0;
}

SEC("?tracepoint/sched/sched_process_exec")
int file_exec_perf(struct trace_event_raw_sched_process_exec *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct exec_interp *i = bpf_task_storage_get(&exec_interps, task, NULL, 0);

	tell_start(task, text_of(ctx, ctx->__data_loc_filename), kernel_address(i));
	if (i)
		bpf_task_storage_delete(&exec_interps, task);
	return 1;
}

char LICENSE[] SEC("license") = "GPL";
