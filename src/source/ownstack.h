/*
 * ownstack.h - does a BPF program keep its variables on the stack of the task that runs it?
 *
 * A program in which a task may be made to wait has to: bpf/gate.bpf.c says
 * why. How much stack the compiler has used is asked of the verifier.
 */
#ifndef OWNSTACK_H
#define OWNSTACK_H

#include <stdbool.h>

struct bpf_program;

void ownstack_ask(struct bpf_program *prog);		/* before the load */
bool ownstack_has(const struct bpf_program *prog);	/* after it; false too when it was not asked or cannot be told */

#endif
