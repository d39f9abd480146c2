/*
 * ownstack.h - does a BPF program keep its variables on the stack of the task that runs it?
 *
 * A program in which a task may be made to wait has to: bpf/gate.bpf.c says
 * why. How much stack the compiler has used is read from the instructions
 * that the kernel has: what its verifier says of it is prose, which changes.
 */
#ifndef OWNSTACK_H
#define OWNSTACK_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_insn;
struct bpf_program;

bool ownstack_has(const struct bpf_program *prog);	/* after the load; false too when it cannot be told */

/* Bytes of stack that function has which has the most, in @code as the kernel shows it; negative: cannot be told. */
int  ownstack_depth(const struct bpf_insn *code, size_t count);

#endif
