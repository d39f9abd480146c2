/*
 * returns.bpf.h - may the current task's returns be probed? Decided for a process by the files it has mapped.
 */
#ifndef RETURNS_BPF_H
#define RETURNS_BPF_H

#include "recorder.bpf.h"
#include "gate.h"

extern const volatile __u32 returns_when;	/* enum returns_when */

/*
 * Set before the load: the user whose processes the agent may write to, RETURNS_ANYBODY: all of them. Who throws with a return
 * probe open has to be written to.
 */
extern const volatile __u32 returns_user;

/* Set before the load: a CUDA driver that is mapped is to be looked at. */
extern const volatile bool cuda_wanted;

/* Moves on when the answer of any process has changed. */
extern volatile __u64 returns_epoch;

#define PROT_WRITE	2
#define PROT_EXEC	4
#define MAP_PRIVATE	2
#define MAP_ANONYMOUS	0x20
#define MAP_DENYWRITE	0x800

/* What a system call gave that has failed. */
static __always_inline bool is_error(__s64 ret)
{
	return (__u64)ret >= -4095ull;
}

/* Does an mmap() of these arguments map a file with code? */
static __always_inline bool maps_code(const __u64 arg[6])
{
	return arg[2] & PROT_EXEC && !(arg[3] & MAP_ANONYMOUS);
}

/*
 * Does it map one to be read, and are breakpoints planted there? Not into what others see, nor what can be written. With the
 * flag that says nothing to the kernel glibc's dynamic linker maps what it puts code over, and we what we look for breakpoints in.
 */
static __always_inline bool maps_text(const __u64 arg[6])
{
	return (arg[3] & (MAP_PRIVATE | MAP_ANONYMOUS | MAP_DENYWRITE)) == MAP_PRIVATE && !(arg[2] & (PROT_WRITE | PROT_EXEC));
}

/* The current task's process has exec'd a file; what it has mapped follows. */
int returns_exec(void);
/* It has mapped a file with code, told as struct gate_file tells it. */
int returns_map(__u64 ino, __u32 dev, __u32 gen, __u64 size, __u64 ctime);
/* It has mapped one that could not be told. */
int returns_map_unseen(void);
/* Nothing more is mapped for now: what is known decides. */
enum returns_known {
	RETURNS_MAY,
	RETURNS_MAY_NOT,
	RETURNS_ASK,		/* something was not looked at yet */
};
int returns_known(void);
/* Is something mapped that was not looked at yet, whatever is known of the rest? */
int returns_unlooked(void);
/* What is about to be told by returns_map() is wanted for more than returns. */
int returns_want(void);
/* Was there something such that was not looked at yet? */
int returns_wanted(void);
/* How often something was mapped, to be given back with the answer. */
int returns_mapped(void);
/* Whoever was asked has answered, if @is_answered; nothing new was mapped since returns_mapped() said @mapped. */
int returns_answer(bool is_answered, bool may, __u32 mapped);
/* The same of process @pid. */
int returns_tell(__u32 pid, bool may, __u32 mapped);
/* The process @pid was found running: nothing of what it has mapped was looked at. */
int returns_found(__u32 pid);
/* All that it had mapped was looked at since. Returns 1 if that settles it, 0 if more was mapped meanwhile. */
int returns_settle(__u32 pid, bool may);
/* The process @child has the current one's files mapped. */
int returns_fork(__u32 child);
/* The current process's last task ends. */
int returns_exit(void);
int returns_refresh(struct task_state *t);

/*
 * A tracee of somebody else's gets no return probe: each is a system call that its
 * tracer would see, and strace does not know its number.
 */
static __always_inline bool returns_probed(struct task_state *t, struct task_struct *task)
{
	if (t->returns_epoch != returns_epoch)
		returns_refresh(t);
	return t->returns_probed && !task->ptrace;
}

#endif
