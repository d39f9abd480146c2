/*
 * record.h - what the BPF programs write and user space reads.
 *
 * The only header both sides include. Every record begins with struct rec_hdr
 * and is a multiple of 8 bytes long. Each kind has one struct here and one row
 * in src/flow/record.c. Byte order is the machine's own.
 */
#ifndef RECORD_H
#define RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define REC_PATH_MAX	4096	/* bytes of one path, its NUL included */
#define REC_TEXT_MAX	8192	/* bytes of the texts of one syscall before its last one */
#define REC_COMM	16	/* TASK_COMM_LEN */

enum rec_kind {
	REC_NONE,
	REC_TASK_NEW,		/* struct rec_task_new */
	REC_TASK_EXEC,		/* struct rec_task_exec */
	REC_TASK_NAME,		/* struct rec_task_name */
	REC_TASK_EXIT,		/* struct rec_task_exit */
	REC_IMAGE,		/* struct rec_image */
	REC_SYS_ENTER,		/* struct rec_sys_enter */
	REC_SYS_EXIT,		/* struct rec_sys_exit */
	REC_FUNC_ENTRY,		/* struct rec_func */
	REC_FUNC_EXIT,		/* struct rec_func */
	REC_TASK_LOST,		/* struct rec_lost: of the task in the header */
	REC_LOST,		/* struct rec_lost: of the CPU in the header; made by the drain */
	REC_TASK_FOUND,		/* struct rec_task_found */
	REC_FUNC_ENTRY_ARGS,	/* struct rec_func_args: an entry, with arguments */
	REC_FUNC_EXIT_ARGS,	/* struct rec_func_args: an exit, with the result */
	REC_USDT,		/* struct rec_usdt */
	REC_EVENT,		/* struct rec_event */
	REC_CUDA_ENTRY,		/* struct rec_cuda_entry */
	REC_CUDA_EXIT,		/* struct rec_cuda_exit */
	REC_CUDA_TIMES,		/* struct rec_cuda_times */
	REC_FILE,		/* struct rec_file */
	REC_EXEC,		/* struct rec_exec */
	REC_EXEC_PIECE,		/* struct rec_exec_piece */
	REC_CALLERS,		/* struct rec_callers */
	REC_CUDA_IMAGE,		/* struct rec_cuda_image */
	REC_CUDA_IMAGE_FILE,	/* struct rec_cuda_image_file */
	REC_CUDA_RETURN,	/* struct rec_cuda_return: a REC_CUDA_EXIT of what gives nothing */
	REC_CUDA_LAUNCH,	/* struct rec_cuda_launch: a REC_CUDA_ENTRY of a launch, mostly */
	REC_CUDA_GIVEN,		/* struct rec_cuda_given */
	REC_MARK,		/* struct rec_mark */
	REC_KINDS
};

/* What loss is counted by. */
enum rec_class {
	CLASS_TASK,		/* task life and images, what a program was started with */
	CLASS_SYSCALL,		/* and what they did to files */
	CLASS_FUNCTION,		/* and USDT probes */
	CLASS_EVENT,		/* events of the kernel's own tracepoints, marks */
	CLASS_CUDA,		/* calls of the CUDA driver, and device times, each of a batch */
	REC_CLASSES
};

/* What found no space on a CPU, by class: only ever grows. Written by BPF, in memory that user space has mapped. */
struct tally {
	__u64	lost[REC_CLASSES];
	__u64	pad[8 - REC_CLASSES];	/* a cache line for each */
};

struct rec_hdr {
	__u64	time;		/* ns, CLOCK_MONOTONIC, read once the space was reserved */
	__u32	pid, tid;	/* as the initial PID namespace counts them */
	__u16	kind;		/* enum rec_kind */
	__u16	size;		/* bytes, this header included */
	__u16	cpu;
	__u16	flags;		/* REC_F_* */
};

#define REC_F_CUT	1u	/* a text is not whole: it was longer than asked for, or could not be read to its end */
#define REC_F_COMPAT	2u	/* a 32-bit system call: nr counts in that ABI's table */
#define REC_F_BY_IP	8u	/* functions, not with arguments: a struct rec_func_at; which one is told by its ip */
#define REC_F_NO_EXIT	4u	/* an entry whose exit will not be seen: an unprobed return, rt_sigreturn */
#define REC_F_CALLED	16u	/* function entry: called, not jumped to, so a call open at the same place has been left */
#define REC_F_REPLACED	64u	/* task exit: of a leader, whose number a thread of its process goes on with, which execs */
#define REC_F_HELD	32u	/* an entry that was held back: the record's last 8 bytes are the time it began, not later than its own */

/* A task was made; the header names the task that made it. Comes before any record of the new task. */
struct rec_task_new {
	struct rec_hdr	hdr;
	__u32		new_pid, new_tid;
	char		comm[REC_COMM];
};

/* execve() has succeeded; the header names the task by its id after it (the leader's). */
struct rec_task_exec {
	struct rec_hdr	hdr;
	__u32		old_tid;	/* differs from hdr.tid when a thread that is not the leader execs */
	__u32		pad;
	__u64		stack;		/* top of the new stack: mm->start_stack */
	char		comm[REC_COMM];
	char		filename[];	/* what execve() was asked for, a script too; ends with a NUL. Older files end before it */
};

#define REC_EXEC_NAME	4096	/* bytes of it at most, the NUL included: PATH_MAX */

/*
 * A task that ran before the recording did, named by the header. The leader of its process comes first, then what
 * the process has mapped, then the other threads. Of the leader it may come twice.
 */
struct rec_task_found {
	struct rec_hdr	hdr;
	__u64		stack;		/* as rec_task_exec's; 0: of a leader that has exited */
	char		comm[REC_COMM];
	__u32		parent;		/* number of the process that it is a child of; older files end before it */
	__u32		pad;
};

struct rec_task_name {
	struct rec_hdr	hdr;
	char		comm[REC_COMM];
	__s32		oom_score_adj;	/* older files end before it */
	__u32		by_tid;		/* the thread that named it; 0: a file of an older recorder */
	char		old[REC_COMM];
};

struct rec_task_exit {
	struct rec_hdr	hdr;
	__u32		status;		/* of the thread, as wait(2) encodes it */
	__u32		group_status;	/* of the process, when this was its last thread; else 0 */
	__u32		last;		/* 1: no thread of the process is left */
	__s32		prio;		/* as the kernel has it, 120 for nice 0 */
};

/* How rec_image.addr finds the file in memory. */
enum image_at {
	IMAGE_PHDR,		/* the main program of an exec: addr is where its program headers lie, AT_PHDR */
	IMAGE_BASE,		/* its interpreter: addr is the load bias, AT_BASE */
	IMAGE_MAPPED,		/* mmap() with PROT_EXEC: addr, len and offset are those of that mapping */
};

/* A file with code has become part of a process. */
struct rec_image {
	struct rec_hdr	hdr;
	__u64		addr, len;	/* see enum image_at */
	__u64		offset;		/* bytes into the file */
	__u64		ino;
	__u32		dev;		/* as the kernel's dev_t: major << 20 | minor */
	__u32		gen;		/* inode generation: tells a reused inode number */
	__u16		at;		/* enum image_at */
	__u16		path_len;	/* bytes of path[] in use */
	__u32		pad;
	char		path[];		/* absolute, seen from the task's root: names leaf first, each ended by a NUL */
};

/*
 * One string or buffer a syscall argument points to. Several follow each
 * other, each begun at a multiple of 4 bytes.
 */
struct rec_text {
	__u8	arg;		/* which argument: 0..5 */
	__u8	flags;		/* TEXT_* */
	__u16	len;		/* bytes that follow; no NUL is counted */
	char	bytes[];
};

#define TEXT_CUT	1u	/* more was there than was taken */
#define TEXT_FAULT	2u	/* could not be read; len is 0 */

struct rec_sys_enter {
	struct rec_hdr	hdr;
	__u32		nr;		/* as <asm/unistd.h> numbers it, or the 32-bit ABI's with REC_F_COMPAT */
	__u32		text_len;	/* bytes of text[]: struct rec_text each: what the program gave */
	__u64		arg[6];
	char		text[];
};

struct rec_sys_exit {
	struct rec_hdr	hdr;
	__u32		nr;
	__u32		text_len;	/* bytes of text[]: struct rec_text each: what the kernel gave, and what could not be read before */
	__s64		ret;		/* >= 0, or a negative errno */
	char		text[];
};

/* Entry and exit of one call have the same sp: where its return address lies, or on arm64 what was there before. */
struct rec_func {
	struct rec_hdr	hdr;
	__u32		func;		/* index given when the probe was attached: struct image, first_func */
	__u32		commit;		/* in its ring: 1 + its number, written last (callring.h); else without meaning */
	__u64		sp;		/* user stack pointer at the function's first instruction */
};

/* Of a probe without a cookie (REC_F_BY_IP): func is not set. */
struct rec_func_at {
	struct rec_func	f;
	__u64		ip;		/* entry: address of the probed instruction; exit: not known, 0 */
};

/* Entries with REC_F_HELD, which have no texts. */
struct rec_func_held {
	struct rec_func	f;
	__u64		began;		/* as hdr.time */
};

struct rec_sys_held {
	struct rec_hdr	hdr;		/* this and what follows: as in struct rec_sys_enter */
	__u32		nr;
	__u32		text_len;	/* 0 */
	__u64		arg[6];
	__u64		began;
};

/* How an argument or a result is shown, as uftrace calls it. */
enum value_format {
	VALUE_AUTO,		/* d: decimal if it is small, else hexadecimal */
	VALUE_SIGNED,		/* i */
	VALUE_UNSIGNED,		/* u */
	VALUE_HEX,		/* x */
	VALUE_CHAR,		/* c */
	VALUE_POINTER,		/* p */
	VALUE_STRING,		/* s */
	VALUE_FLOAT,		/* f: of 4, 8 or, as x87 has it, 10 bytes */
	VALUE_STD_STRING,	/* S: a C++ std::string; recorded as a VALUE_STRING is */
	VALUE_STRUCT,		/* t: the bytes of a structure, then from the next multiple of 8 on its type's name */
	VALUE_ENUM,		/* e:NAME; which NAME, the debug information of the image tells */
	VALUE_FORMATS
};

/* One argument or result. The next begins @room bytes behind the start of bytes[]. */
struct rec_value {
	__u8	index;		/* N of argN or, VALUE_FLOAT, of fpargN; below 64; 0: the result */
	__u8	format;		/* enum value_format */
	__u8	size;		/* bytes of the value that are shown: 1, 2, 4 or 8, see enum value_format; strings: 8 */
	__u8	flags;		/* TEXT_FAULT: it could not be read; of a string the address is given as a number */
	__u16	len;		/* bytes in use: 8 for a number, 16 for a VALUE_FLOAT */
	__u16	room;		/* a multiple of 8 */
	char	bytes[];	/* a string has no NUL, a type's name has one */
};

/* A call of a function whose arguments or result an option names; all such of one function have the same forms. */
struct rec_func_args {
	struct rec_func	f;
	__u32		values_len;	/* bytes of values[] in use */
	__u32		pad;
	char		values[];	/* struct rec_value each, in the order they are shown in; none twice */
};

#define USDT_NAME_MAX	80	/* bytes of "PROVIDER:NAME", its NUL included */

/* A USDT probe was hit. */
struct rec_usdt {
	struct rec_hdr	hdr;
	__u64		sp;		/* user stack pointer there: below that of the function it is in, or the same */
	__u32		values_len;	/* bytes of values[] in use */
	__u32		pad;
	char		name[USDT_NAME_MAX];	/* "PROVIDER:NAME", with NULs behind it */
	char		values[];	/* as of struct rec_func_args; TEXT_FAULT: not known, or could not be read */
};

/* Of older recordings it is shorter: rec_lost_count(). */
struct rec_lost {
	struct rec_hdr	hdr;
	__u64		count[REC_CLASSES];	/* since the last such record of this task or CPU */
};

#define REC_LOST_LEAST	(sizeof(struct rec_hdr) + 3 * sizeof(__u64))	/* bytes, as long as there were three classes */

static inline __u64 rec_lost_count(const struct rec_lost *r, unsigned int class)
{
	return r->hdr.size >= sizeof(r->hdr) + (class + 1) * sizeof(r->count[0]) ? r->count[class] : 0;
}

/* The kernel's own tracepoints that have a program of their own; the rows are in src/kevent.c. */
enum kernel_event {
	EVENT_SCHED_SWITCH,	/* struct event_sched_switch */
	EVENT_SCHED_WAKEUP,	/* struct event_sched_wakeup */
	EVENT_SCHED_WAKEUP_NEW,	/* the same */
	EVENT_SCHED_MIGRATE,	/* struct event_sched_migrate */
	EVENT_SIGNAL_GENERATE,	/* struct event_signal_generate */
	EVENT_SIGNAL_DELIVER,	/* struct event_signal_deliver */
	EVENT_PAGE_FAULT,	/* struct event_page_fault */
	EVENT_TRACEPOINT,	/* from here on those that were asked for by name, in the order of about.h */
};

#define TRACEPOINTS_MAX	1024u	/* of those by name */

/*
 * A tracepoint of the kernel was hit by the task in the header, which may be one that is not recorded: an event is
 * recorded when either who caused it or whom it is about is. What follows is laid out as the kernel lays the event out
 * behind the 8 bytes that all its events begin with; places within it (__data_loc) count from the first of these 8.
 */
struct rec_event {
	struct rec_hdr	hdr;
	__u32		event;		/* enum kernel_event */
	__u32		len;		/* bytes of field[] in use */
	char		field[];
};

enum mark {
	MARK_OFF,		/* functions are not recorded from here on */
	MARK_ON,		/* they are */
	MARK_FINISH,		/* the recording ends */
	MARK_USER,		/* that the user has set */
	MARKS
};

/*
 * What shall be found again. A trigger's: the header names the task that made the call, which is of its process alone.
 * A signal's: the header names recorder, and it is of all.
 */
struct rec_mark {
	struct rec_hdr	hdr;
	__u32		mark;		/* enum mark */
	__u32		signal;		/* to recorder; 0: a trigger's */
	__u32		func;		/* whose trigger it is; else without meaning */
	__u32		number;		/* MARK_USER: 1, 2, ...; else 0 */
	char		comm[REC_COMM];	/* of the task in the header, which may be one that is not recorded */
};

#define CALLERS_KERNEL_MAX	64u
#define CALLERS_USER_MAX	127u

/*
 * Who called when the event before this record happened on this CPU, to the task in the header (of an event, who caused
 * it), which may be one that is not recorded. Innermost first: where it was, then return addresses.
 */
struct rec_callers {
	struct rec_hdr	hdr;
	__u32		kernel, user;	/* how many of ip[]: the kernel's, then the program's */
	__u64		ip[];
};

struct event_sched_switch {
	char	prev_comm[REC_COMM];
	__s32	prev_pid, prev_prio;
	__s64	prev_state;		/* 0: runnable; 0x100: and pushed aside; else one bit of TASK_REPORT, or 0x80: idle */
	char	next_comm[REC_COMM];
	__s32	next_pid, next_prio;
};

struct event_sched_wakeup {
	char	comm[REC_COMM];
	__s32	pid, prio, target_cpu, pad;
};

struct event_sched_migrate {
	char	comm[REC_COMM];
	__s32	pid, prio, orig_cpu, dest_cpu;
};

struct event_signal_generate {
	__s32	sig, error, code;	/* as in siginfo_t */
	char	comm[REC_COMM];		/* of whom it is for, as pid */
	__s32	pid;
	__s32	group;			/* 1: for the process, 0: for the thread */
	__s32	result;			/* 0: delivered, 1: ignored, 2: already pending, 3, 4: lost */
};

struct event_signal_deliver {
	__s32	sig, error, code, pad;
	__u64	handler, flags;		/* struct sigaction's */
};

struct event_page_fault {
	__u64	address, ip, error_code;
};

#define CUDA_NO_RESULT	0xffffffffu	/* the return was not seen */
#define CUDA_WORDS	11	/* arguments of cuLaunchKernel(), which has most */

/* A function of the CUDA driver was called. Entry and exit have the same sp, as those of struct rec_func. */
struct rec_cuda_entry {
	struct rec_hdr	hdr;
	__u32		func;		/* 2 * row of cuda_functions[], + 1 of its twin: cuda.h */
	__u32		text_len;	/* bytes of text[] in use: struct rec_text each: what a pointer led to, cuda_plan.take */
	__u64		sp;
	__u64		arg[CUDA_WORDS];	/* as passed; what the function has not is 0, upper bits of narrow ones are junk */
	char		text[];
};

struct rec_cuda_exit {
	struct rec_hdr	hdr;
	__u32		func;
	__u32		result;		/* CUresult; CUDA_NO_RESULT: the return was not seen, out was read at the task's next call */
	__u64		sp;
	__u64		out;		/* 8 bytes where cuda_plan.out pointed to; 0: none, or the call failed */
};

#define CUDA_IMAGE_PIECE	4096u		/* bytes of one piece */
#define CUDA_IMAGE_MAX		(1u << 20)	/* bytes of a code image that are taken along */

enum cuda_image_end {
	CUDA_IMAGE_MORE,		/* another piece follows */
	CUDA_IMAGE_WHOLE,		/* that was all of it */
	CUDA_IMAGE_BROKEN,		/* what follows could not be read */
	CUDA_IMAGE_LONG,		/* there is more than CUDA_IMAGE_MAX */
	CUDA_IMAGE_ENDS
};

/*
 * A piece of the code image that the task's open call of @func was given, in their order. Where a wrapper was given, of
 * what that leads to.
 */
struct rec_cuda_image {
	struct rec_hdr	hdr;
	__u32		func;		/* as rec_cuda_entry's */
	__u16		len;		/* bytes[] in use */
	__u16		end;		/* enum cuda_image_end */
	__u64		sp;		/* likewise */
	__u64		at;		/* of the image, where these belong */
	char		bytes[];
};

/* In place of pieces: a longer one lies in a file that the process has mapped. */
struct rec_cuda_image_file {
	struct rec_hdr	hdr;
	__u32		func;
	__u32		magic;		/* of the file system: statfs(2) */
	__u64		sp;
	__u64		len;		/* of the image, as its head tells */
	__u64		offset;		/* in the file */
	__u64		ino;
	__u64		start, end;	/* of the mapping */
};

/* The same of a call that gives nothing, by the ring of function records: laid out as struct rec_func. */
struct rec_cuda_return {
	struct rec_hdr	hdr;
	__u32		func;		/* and in the upper half the CUresult; one that needs more goes as a REC_CUDA_EXIT */
	__u32		commit;		/* as rec_func.commit */
	__u64		sp;
};

#define CUDA_RETURN_FUNC	0xffffu
#define CUDA_RETURN_SHIFT	16	/* of the CUresult */

/* The second slot of a launch: the first 9 words, of which a launch is told. */
struct launch_words {
	__u64	kernel;
	__u32	grid_x;
	__u16	grid_y, grid_z;
	__u16	block[3];
	__u16	pad;
	__u32	shared;
	__u32	commit;			/* as rec_func.commit, written before that of the first slot */
	__u64	stream;
};

/* By the ring of function records, in two slots of it; what is larger than its field goes as a REC_CUDA_ENTRY. */
struct rec_cuda_launch {
	struct rec_hdr	   hdr;
	__u32		   func;
	__u32		   commit;
	__u64		   sp;
	struct launch_words   words;
};

#define CUDA_LAUNCH_WORDS	9	/* function, grid, block, shared bytes, stream */

#define CUDA_GIVEN_MAX	512u	/* handles of one record */

/* An array of handles that the task's open call of @func gave, or a piece of it, in their order: before its exit. */
struct rec_cuda_given {
	struct rec_hdr	hdr;
	__u32		func;		/* as rec_cuda_entry's */
	__u32		count;		/* of handle[] */
	__u64		sp;		/* likewise */
	__u64		at;		/* of the array, where the first of these is */
	__u64		total;		/* in the array */
	__u64		handle[];
};

#define CUDA_TIMES_MAX	64	/* of a batch */

/* What an entry of a batch is: --gpu-times, src/inject/cupti.c. */
enum cuda_time_kind {
	CUDA_TIME_NONE,
	CUDA_TIME_CALL,		/* a call of the driver: its number, its thread, when it began and ended */
	CUDA_TIME_KERNEL,	/* on the device: these three */
	CUDA_TIME_COPY,
	CUDA_TIME_SET,
	CUDA_TIME_STATE,	/* of the library: what, enum cuda_time_state */
	CUDA_TIME_KINDS
};

enum cuda_time_state {
	CUDA_TIMES_READY,	/* comes before all others of a process */
	CUDA_TIMES_NO_CUPTI,	/* there is no library of it that could be loaded */
	CUDA_TIMES_BUSY,	/* somebody else has it: correlation is its result */
	CUDA_TIMES_FAILED,	/* it refused: the same */
	CUDA_TIMES_DROPPED,	/* it had no memory for records: bytes is how many */
};

/* Times are ns of CLOCK_MONOTONIC, 0: not known. */
struct cuda_time {
	__u64	start, end;
	__u64	queued;
	__u64	graph_node;	/* of a graph's node: grows in the order they were made; else 0 */
	__u64	bytes;		/* copies and sets */
	__u32	correlation;	/* the number of the call it comes from, in the process */
	__u32	tid;		/* CUDA_TIME_CALL: as the process itself counts */
	__u32	device, context, stream;	/* as CUPTI numbers them */
	__u32	regs;		/* kernels: registers of a thread */
	__u32	grid[3], block[3];	/* kernels */
	__u16	kind;		/* enum cuda_time_kind */
	__u16	what;		/* enum cuda_time_state; of copies CUPTI's kind of copy */
	__u32	pad;
};

struct rec_cuda_times {
	struct rec_hdr	 hdr;
	__u32		 count;
	__u32		 pad;
	struct cuda_time time[];
};

/* What a system call did to a descriptor or a name: told when it is done. In brackets: the texts that come with it. */
enum file_op {
	FILE_NONE,
	FILE_OPEN,		/* ret: the descriptor; arg: flags, mode as passed, creat() as open() has it [PATH NAME BASE] */
	FILE_CLOSE,		/* arg: the descriptor; only when it succeeded, as all that say nothing else */
	FILE_CLOSE_RANGE,	/* arg: first, last, flags [FDS: without CLOSE_RANGE_CLOEXEC] */
	FILE_PIPE,		/* arg: both ends, flags */
	FILE_DUP,		/* ret: the new one; arg: the old one, flags: O_CLOEXEC or 0, 1 of dup2() and dup3(); not dup2(x, x) */
	FILE_RENAME,		/* ret; arg: flags, 1 of renameat2(); failed ones too [NAME BASE NAME2 BASE2] */
	FILE_LINK,		/* ret; arg: flags, 1 of linkat(); failed ones too [NAME BASE NAME2 BASE2, PATH: of AT_EMPTY_PATH] */
	FILE_SYMLINK,		/* [NAME: what it says, NAME2 BASE2: the link] */
	FILE_MOUNT,		/* ret; arg: flags; failed ones too [NAME NAME2 BASE2 TYPE; NAME, TYPE: not when NULL] */
	FILE_UMOUNT,		/* ret; arg: flags; failed ones too [NAME2 BASE2] */
	FILE_CLONE,		/* arg: flags with the exit signal in the low byte; comes right before its REC_TASK_NEW; ret < 0: failed */
	FILE_RING,		/* ret: the descriptor of an io_uring: what goes through it makes no system calls, and no records */
	FILE_OPS
};

/* struct rec_text, arg, of what follows. A path that was walked has its names leaf first, each ended by a NUL. */
enum file_text {
	FILE_TEXT_PATH,		/* walked: of the descriptor, relative to the task's root, as d_path() has it; or an object */
	FILE_TEXT_NAME,		/* as passed, without its NUL */
	FILE_TEXT_BASE,		/* walked: what NAME is relative to; none when NAME begins with '/' */
	FILE_TEXT_NAME2,
	FILE_TEXT_BASE2,
	FILE_TEXT_TYPE,		/* as passed */
	FILE_TEXT_INTERP,	/* REC_EXEC: as NAME */
	FILE_TEXT_FDS,		/* descriptors that are open: a bit for each, little endian words of 64 */
	FILE_TEXTS
};

/* Further flags of a text. CUT of a walk: names at the root's end are missing; FAULT: it could not be walked. */
#define TEXT_DELETED	4u	/* a walk: the file has no name any more, the walk is what it was */
#define TEXT_OBJECT	8u	/* instead of a walk: struct file_object */
#define TEXT_OUTSIDE	16u	/* a walk: it did not come to the task's root, but to that of a mount above or beside it */

/* What has no path: a pipe, a socket, an anonymous inode, a namespace. */
struct file_object {
	__u64	ino;
	__u32	magic;		/* of its filesystem: linux/magic.h */
	__u32	pad;
	char	name[];		/* of its dentry; no NUL */
};

/* Which root directory a task has: of two tasks equal when it is the same. All 0: not told, of FILE_OPEN to FILE_DUP and FILE_CLONE. */
struct file_root {
	__u64	ino;		/* of the directory; 0: the root of its mount */
	__u32	mnt_ns;		/* inode number of the mount namespace */
	__s32	mnt_id;		/* as /proc/PID/mountinfo has it */
};

#define FILE_TEXT_MAX	(24u * 1024)	/* bytes of text[] below: behind it no text begins, and no name of a walk */

struct rec_file {
	struct rec_hdr	 hdr;
	__u16		 op;		/* enum file_op */
	__u16		 text_len;	/* bytes of text[] in use: struct rec_text each, arg: enum file_text */
	__s32		 ret;		/* what the call returned */
	__u64		 arg[3];	/* see enum file_op; what is not named there is 0 */
	struct file_root root;
	char		 text[];
};

/* What a program was started with; comes after the REC_TASK_EXEC, before anything else of the task but images. */
struct rec_exec {
	struct rec_hdr	 hdr;
	__u32		 text_len;	/* as above: NAME INTERP: as the kernel has them, BASE: the cwd, BASE2: of /dev/fd/N, PATH: of what runs, FDS */
	__u32		 pad;
	__u64		 args, env;	/* bytes of each, a NUL behind every string; env 0: not asked for */
	struct file_root root;
	char		 text[];
};

#define EXEC_BYTES_MAX	(64ull << 20)	/* of each: the kernel takes 6 MiB of both */
#define EXEC_PIECE_MAX	(16u * 1024)

/* The next bytes of the arguments, or after them of the environment, of the REC_EXEC before. In order. */
struct rec_exec_piece {
	struct rec_hdr	hdr;
	__u64		at;		/* of args and env together, where these belong */
	__u32		len;		/* bytes[] in use */
	__u32		pad;
	char		bytes[];
};

/* What BPF takes along from a syscall argument. */
enum sys_take {
	TAKE_NONE,
	TAKE_STRING,		/* a NUL-ended string */
	TAKE_BUF,		/* bytes the program gives; how many, the next argument says */
	TAKE_BUF_RET,		/* bytes the kernel gave; how many, the return value says */
	TAKE_FDS,		/* two ints the kernel gave: pipe(2), socketpair(2); only when the call succeeded */
};

/* One per syscall number, made from src/syscall/table.c, read by bpf/syscall.bpf.c. */
struct sys_plan {
	__u8	take[6];	/* enum sys_take, per argument */
	__u8	at_entry;	/* 1: the call does not come back when it succeeds */
	__u8	wanted;		/* 0: not recorded (--syscalls=SET) */
	__u8	gives, gets;	/* 1: some of take[] is given by the program; by the kernel */
};

#define SYS_MAX		512	/* numbers above are recorded without texts */

/* What user space is told at once, through the notice ring. */
enum notice_kind {
	NOTICE_NONE,
	NOTICE_GATE,		/* a task waits at a gate slot: see bpf/gate.bpf.c */
};

_Static_assert(sizeof(struct rec_hdr) == 24, "rec_hdr is a protocol");
_Static_assert(sizeof(struct rec_image) == 72 && sizeof(struct rec_sys_enter) == 80, "no holes");
_Static_assert(sizeof(struct rec_sys_exit) == 40 && sizeof(struct rec_func) == 40, "no holes");
_Static_assert(sizeof(struct rec_func_held) == 48 && sizeof(struct rec_sys_held) == 88, "no holes");
_Static_assert(sizeof(struct rec_func_args) == 48 && sizeof(struct rec_value) == 8, "no holes");
_Static_assert(sizeof(struct rec_usdt) == 120, "no holes");
_Static_assert(sizeof(struct rec_event) == 32 && sizeof(struct event_sched_switch) == 56, "no holes");
_Static_assert(sizeof(struct event_signal_generate) == 40 && sizeof(struct event_signal_deliver) == 32, "no holes");
_Static_assert(sizeof(struct rec_callers) == 32, "no holes");
_Static_assert(sizeof(struct rec_cuda_entry) == 128 && sizeof(struct rec_cuda_exit) == 48, "no holes");
_Static_assert(sizeof(struct rec_cuda_return) == sizeof(struct rec_func) &&
	       __builtin_offsetof(struct rec_cuda_return, commit) == __builtin_offsetof(struct rec_func, commit), "a slot");
_Static_assert(sizeof(struct launch_words) == sizeof(struct rec_func) &&
	       sizeof(struct rec_cuda_launch) == 2 * sizeof(struct rec_func) &&
	       __builtin_offsetof(struct launch_words, commit) == __builtin_offsetof(struct rec_func, commit), "two slots");
_Static_assert(sizeof(struct cuda_time) == 96 && sizeof(struct rec_cuda_times) == 32, "no holes");
_Static_assert(sizeof(struct rec_file) == 72 && sizeof(struct rec_exec) == 64, "no holes");
_Static_assert(__builtin_offsetof(struct rec_cuda_entry, func) == 24 && __builtin_offsetof(struct rec_cuda_exit, func) == 24 &&
	       __builtin_offsetof(struct rec_cuda_launch, func) == 24 && __builtin_offsetof(struct rec_cuda_return, func) == 24 &&
	       __builtin_offsetof(struct rec_cuda_image, func) == 24 && __builtin_offsetof(struct rec_cuda_given, func) == 24 &&
	       __builtin_offsetof(struct rec_cuda_image_file, func) == 24, "all say first of which function they are");
_Static_assert(sizeof(struct rec_cuda_image) == 48 && sizeof(struct rec_cuda_image_file) == 80, "no holes");
_Static_assert(sizeof(struct rec_cuda_given) == 56, "no holes");
_Static_assert(sizeof(struct rec_exec_piece) == 40 && sizeof(struct file_object) == 16, "no holes");
_Static_assert(sizeof(struct rec_lost) % 8 == 0 && sizeof(struct rec_task_exec) % 8 == 0, "records stay aligned");

#endif
