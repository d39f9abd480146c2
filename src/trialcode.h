/*
 * trialcode.h - what the files of trials share: programs of a few instructions written by hand, so that nothing has to be
 * compiled or relocated.
 */
#ifndef TRIALCODE_H
#define TRIALCODE_H

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <unistd.h>

#define MOV_IMM(to, n)		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (n) }
#define MOV_REG(to, from)	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) }
#define ADD_IMM(to, n)		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (to), .imm = (n) }
#define STORE_IMM(to, at, n)	{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = (to), .off = (at), .imm = (n) }
#define LOAD_MAP(to, fd)	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (to), \
				  .src_reg = BPF_PSEUDO_MAP_FD, .imm = (fd) }, {}
#define CALL(helper)		{ .code = BPF_JMP | BPF_CALL, .imm = (helper) }
#define EXIT			{ .code = BPF_JMP | BPF_EXIT }
#define CALL_KERNEL(id)		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_KFUNC_CALL, .imm = (id) }
#define SKIP_IF_0(reg, n)	{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = (reg), .off = (n) }

static inline int trial_load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t count,
			     struct bpf_prog_load_opts *opts)
{
	return bpf_prog_load(type, "trial", "GPL", insns, count, opts);
}

/* Of a trial that makes a file descriptor: did it? */
static inline bool trial_made(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What the kernel's types call what trials name; not positive: they do not have it. */
struct type_ids {
	int sys_enter, task_rename, exec_hook, preempt_count, storage_busy, storage_get_recur;
	int task_from_pid, task_release, task_work;	/* enum kernel_call */
};

/* Read once, which takes 20 ms. */
const struct type_ids *trials_types(void);

/* Does tracefs tell of all of them, and may we open them? */
bool trials_are_events(const char *const *event, size_t count);

#endif
