/*
 * compat.bpf.h - what differs between architectures and kernel releases, in one place.
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

/*
 * The time of an inode's last change. 13bc24457850 ("fs: rename i_ctime field to
 * __i_ctime"), 6.6; 3aa63a569c64 ("fs: switch timespec64 fields in inode to discrete
 * integers"), 6.11.
 */
#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push (__attribute__((preserve_access_index)), apply_to = record)
#endif
struct compat_time {
	long long tv_sec;
	long	  tv_nsec;
};

struct inode___first {
	struct compat_time i_ctime;
};

struct inode___underscored {
	struct compat_time __i_ctime;
};

struct inode___split {
	long long i_ctime_sec;
	__u32	  i_ctime_nsec;
};

/* Up to 6.15; from then on it lies behind the task: 55bc30f2e34d ("x86/fpu: Remove the thread::fpu pointer"), 6.16. */
struct compat_fpu {
	void *fpstate;
};

struct compat_thread {
	struct compat_fpu fpu;
};

struct task_struct___fpu {
	struct compat_thread thread;
};
#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#define CTIME_QUERIED	(1u << 31)	/* I_CTIME_QUERIED of i_ctime_nsec, 6.13 */

/* ns since 1970. */
#define INODE_CTIME(inode) ({										\
	struct inode___split *split_ = (void *)(inode);							\
	struct inode___underscored *underscored_ = (void *)(inode);					\
	struct inode___first *first_ = (void *)(inode);							\
	bpf_core_field_exists(split_->i_ctime_sec) ?							\
		BPF_CORE_READ(split_, i_ctime_sec) * 1000000000ull +						\
			(BPF_CORE_READ(split_, i_ctime_nsec) & ~CTIME_QUERIED) :					\
	bpf_core_field_exists(underscored_->__i_ctime) ?						\
		BPF_CORE_READ(underscored_, __i_ctime.tv_sec) * 1000000000ull + BPF_CORE_READ(underscored_, __i_ctime.tv_nsec) : \
		BPF_CORE_READ(first_, i_ctime.tv_sec) * 1000000000ull + BPF_CORE_READ(first_, i_ctime.tv_nsec);		\
})

#if defined(__TARGET_ARCH_x86)

#define TS_COMPAT_FLAG	2u	/* TS_COMPAT: arch/x86/include/asm/thread_info.h */

static __always_inline __u32 syscall_nr(struct pt_regs *regs)
{
	return regs->orig_ax;
}

/* The arguments lie in the registers still at exit, except after execve. */
static __always_inline void syscall_args(struct pt_regs *regs, __u64 arg[6])
{
	arg[0] = regs->di;
	arg[1] = regs->si;
	arg[2] = regs->dx;
	arg[3] = regs->r10;
	arg[4] = regs->r8;
	arg[5] = regs->r9;
}

/* The i386 ABI passes them elsewhere: ebx ecx edx esi edi ebp. */
static __always_inline void compat_args(struct pt_regs *regs, __u64 arg[6])
{
	arg[0] = (__u32)regs->bx;
	arg[1] = (__u32)regs->cx;
	arg[2] = (__u32)regs->dx;
	arg[3] = (__u32)regs->si;
	arg[4] = (__u32)regs->di;
	arg[5] = (__u32)regs->bp;
}

/* In a 32-bit call, also by int $0x80 from 64-bit code, where cs does not tell. */
static __always_inline bool in_compat_syscall(void)
{
	return bpf_get_current_task_btf()->thread_info.status & TS_COMPAT_FLAG;
}

/*
 * The kernel's own calls behind a probe: 335 uretprobe, 336 uprobe. They are
 * not the program's. At its exit the number of a uretprobe is -1.
 */
static __always_inline bool is_probe_syscall(__u32 nr)
{
	return nr == 335 || nr == 336 || nr == (__u32)-1;
}

static __always_inline __u64 user_sp(struct pt_regs *regs)
{
	return regs->sp;
}

static __always_inline __u64 user_ip(struct pt_regs *regs)
{
	return regs->ip;
}

#define RETURN_POPS	8	/* the return address, gone from the stack after the return */

/* At the entry of a function whose return address lies at @sp; 0 when it cannot be read. */
static __always_inline __u64 return_address(struct pt_regs *regs, __u64 sp)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)sp);
	return word;
}

#define ARG_REGISTERS	6
#define STACK_ARGS	8	/* from the return address to the first argument on the stack */

/* At the entry of a function: what its arguments come in, by the System V ABI. */
static __always_inline void function_args(struct pt_regs *regs, __u64 arg[ARG_REGISTERS])
{
	arg[0] = regs->di;
	arg[1] = regs->si;
	arg[2] = regs->dx;
	arg[3] = regs->cx;
	arg[4] = regs->r8;
	arg[5] = regs->r9;
}

static __always_inline __u64 function_result(struct pt_regs *regs)
{
	return regs->ax;
}

/* The second word of a result that has two. */
static __always_inline __u64 function_result_high(struct pt_regs *regs)
{
	return regs->dx;
}

/* In the order of enum usdt_x86. */
static __always_inline void all_registers(struct pt_regs *regs, __u64 *reg)
{
	reg[0] = regs->ax;
	reg[1] = regs->bx;
	reg[2] = regs->cx;
	reg[3] = regs->dx;
	reg[4] = regs->si;
	reg[5] = regs->di;
	reg[6] = regs->bp;
	reg[7] = regs->sp;
	reg[8] = regs->r8;
	reg[9] = regs->r9;
	reg[10] = regs->r10;
	reg[11] = regs->r11;
	reg[12] = regs->r12;
	reg[13] = regs->r13;
	reg[14] = regs->r14;
	reg[15] = regs->r15;
}

/* By prctl(PR_SET_NAME) or an exec. */
static __always_inline bool names_itself(__u32 nr, bool compat)
{
	return compat ? nr == 172 || nr == 11 || nr == 358 : nr == 157 || nr == 59 || nr == 322;
}

#define NR_EXECVE	59
#define NR_EXECVEAT	322
#define NR_MMAP		9
#define NR_MPROTECT	10
#define NR_MUNMAP	11
#define NR_MREMAP	25
#define NR_MADVISE	28
#define NR32_MUNMAP	91
#define NR32_MPROTECT	125
#define NR32_MREMAP	163
#define NR32_MMAP2	192
#define NR32_MADVISE	219
#define NR_RT_SIGRETURN	15

#elif defined(__TARGET_ARCH_arm64)

#define TIF_32BIT_FLAG	(1ul << 22)	/* arch/arm64/include/asm/thread_info.h */

static __always_inline __u32 syscall_nr(struct pt_regs *regs)
{
	return regs->syscallno;
}

/* x0 holds the result at exit; what it was is kept beside. */
static __always_inline void syscall_args(struct pt_regs *regs, __u64 arg[6])
{
	arg[0] = regs->orig_x0;
	arg[1] = regs->user_regs.regs[1];
	arg[2] = regs->user_regs.regs[2];
	arg[3] = regs->user_regs.regs[3];
	arg[4] = regs->user_regs.regs[4];
	arg[5] = regs->user_regs.regs[5];
}

static __always_inline void compat_args(struct pt_regs *regs, __u64 arg[6])
{
	syscall_args(regs, arg);
}

static __always_inline bool in_compat_syscall(void)
{
	return bpf_get_current_task_btf()->thread_info.flags & TIF_32BIT_FLAG;
}

static __always_inline bool is_probe_syscall(__u32 nr)
{
	return false;
}

static __always_inline __u64 user_sp(struct pt_regs *regs)
{
	return regs->user_regs.sp;
}

static __always_inline __u64 user_ip(struct pt_regs *regs)
{
	return regs->user_regs.pc;
}

#define RETURN_POPS	0	/* it comes in a register */

static __always_inline __u64 return_address(struct pt_regs *regs, __u64 sp)
{
	return regs->user_regs.regs[30];
}

#define ARG_REGISTERS	8
#define STACK_ARGS	0

static __always_inline void function_args(struct pt_regs *regs, __u64 arg[ARG_REGISTERS])
{
	for (int i = 0; i < ARG_REGISTERS; i++)
		arg[i] = regs->user_regs.regs[i];
}

static __always_inline __u64 function_result(struct pt_regs *regs)
{
	return regs->user_regs.regs[0];
}

static __always_inline __u64 function_result_high(struct pt_regs *regs)
{
	return regs->user_regs.regs[1];
}

/* 31 is the stack pointer. */
static __always_inline void all_registers(struct pt_regs *regs, __u64 *reg)
{
	for (int i = 0; i < 31; i++)
		reg[i] = regs->user_regs.regs[i];
	reg[31] = regs->user_regs.sp;
}

static __always_inline bool names_itself(__u32 nr, bool compat)
{
	return compat ? nr == 172 || nr == 11 || nr == 387 : nr == 167 || nr == 221 || nr == 281;
}

#define NR_EXECVE	221
#define NR_EXECVEAT	281
#define NR_MUNMAP	215
#define NR_MREMAP	216
#define NR_MMAP		222
#define NR_MPROTECT	226
#define NR_MADVISE	233
#define NR32_MUNMAP	91
#define NR32_MPROTECT	125
#define NR32_MREMAP	163
#define NR32_MMAP2	192
#define NR32_MADVISE	220
#define NR_RT_SIGRETURN	139

#else
#error "no such architecture yet: add its registers here"
#endif

/* What a system call does to the mappings of its process. */
enum map_call {
	MAP_CALL_NONE,
	MAP_CALL_MAP,
	MAP_CALL_UNMAP,
	MAP_CALL_PROTECT,
	MAP_CALL_MOVE,
	MAP_CALL_ADVISE,
};

static __always_inline __u32 map_call_among(__u32 nr, __u32 map, __u32 unmap, __u32 protect, __u32 move, __u32 advise)
{
	return nr == map ? MAP_CALL_MAP : nr == unmap ? MAP_CALL_UNMAP : nr == protect ? MAP_CALL_PROTECT :
	       nr == move ? MAP_CALL_MOVE : nr == advise ? MAP_CALL_ADVISE : MAP_CALL_NONE;
}

static __always_inline __u32 map_call_of(__u32 nr)
{
	return map_call_among(nr, NR_MMAP, NR_MUNMAP, NR_MPROTECT, NR_MREMAP, NR_MADVISE);
}

/* mmap() itself, which takes its arguments in memory, is long out of use. */
static __always_inline __u32 map_call_of_32(__u32 nr)
{
	return map_call_among(nr, NR32_MMAP2, NR32_MUNMAP, NR32_MPROTECT, NR32_MREMAP, NR32_MADVISE);
}

/* Of 64-bit or 32-bit programs, who shall say? Soon told, for all other calls of everybody. */
static __always_inline bool is_map_call(__u32 nr)
{
	return map_call_of(nr) | map_call_of_32(nr);
}

/* enum map_call, and its arguments. */
static __always_inline __u32 map_call(struct pt_regs *regs, __u32 nr, __u64 arg[6])
{
	__u32 call = map_call_of(nr), call32 = map_call_of_32(nr);

	if (!(call | call32))
		return MAP_CALL_NONE;
	if (in_compat_syscall()) {
		call = call32;
		compat_args(regs, arg);
	} else {
		syscall_args(regs, arg);
	}
	return call;
}

/*
 * In a session program: not at the entry. There the task stands at the probed
 * address, wherever in the function that is and however the kernel got there;
 * after the return it stands in the caller. The kfunc that says so is not used:
 * its prototype differs between releases (7.0), and libbpf refuses the object
 * that has the other one.
 */
static __always_inline bool is_return(struct pt_regs *ctx)
{
	return user_ip(ctx) != bpf_get_func_ip(ctx);
}

#endif
