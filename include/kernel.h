/*
 * kernel.h - what this kernel can do: one enum, one question.
 *
 * Each feature is found by trying it, once, when first asked for. A denied
 * feature (--no-feature NAME) answers no, so that every fallback can be tested
 * on any kernel. The rows, with what is lost without each, are in src/kernel.c.
 * To be asked from one thread; an answer takes less than a millisecond, but for
 * HAVE_TP_BTF and HAVE_TASK_STORAGE (reading the kernel's types, 20 ms) and
 * HAVE_NOP5_FORK_SAFE (a probe is placed in a helper process, 20 ms).
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kernelcall.h"

struct config;

enum kernel_feature {
	HAVE_BTF,		/* /sys/kernel/btf/vmlinux */
	HAVE_RINGBUF,		/* BPF ring buffer map */
	HAVE_TP_BTF,		/* typed raw tracepoints */
	HAVE_STEADY_TRACEPOINTS, /* programs of typed tracepoints are not preempted */
	HAVE_PERF_TRACEPOINTS,	/* programs of perf events may take their place: they find tasks, and tracefs tells the events */
	HAVE_TASK_STORAGE,	/* task-local storage in tp_btf and uprobe programs */
	HAVE_STORAGE_LOOKUPS,	/* which is found whoever else is looking for his own */
	HAVE_STORAGE_AT_FORKS,	/* which a task that is being made is always given */
	HAVE_BPF_LOOP,
	HAVE_UPROBE,		/* any uprobe at all (perf event link) */
	HAVE_UPROBE_MULTI,	/* many sites in one link, with cookies */
	HAVE_UPROBE_SESSION,	/* entry and return in one program */
	HAVE_PROCESS_LINKS,	/* a session link can be met by one process alone, all its threads */
	HAVE_UPROBE_TRACEFS,	/* many probes under one event of tracefs, the fallback of 6.1 */
	HAVE_UPROBE_SLEEPABLE,	/* sleepable uprobe programs with bpf_copy_from_user_task: gates and unwinding */
	HAVE_TASK_WORK,		/* a task can be given work for its way back to its program: there it waits, at no probe */
	HAVE_EXEC_HOOK,		/* a program of an LSM can have each exec wait */
	HAVE_WRITE_USER,	/* bpf_probe_write_user: not under lockdown */
	HAVE_WRITE_OTHERS,	/* process_vm_writev() into another user's process that is no descendant: Yama, SELinux, capabilities */
	HAVE_FORCED_WRITES,	/* /proc/PID/mem writes to memory that is only read, also without tracing its task */
	HAVE_FILE_LEASE,	/* who opens a file for writing can be made to wait */
	HAVE_PRIVATE_LIBRARIES,	/* copies of libraries can be mounted for the command alone */
	HAVE_NOP5_FORK_SAFE,	/* a nop5 site that was rewritten does not kill a forked child */
	HAVE_VECTOR_REGISTERS,	/* of the current task can be read once it has been off its CPU */
	KERNEL_FEATURES
};

bool kernel_has(enum kernel_feature f);
void kernel_deny(uint64_t mask);			/* 1ull << feature each; before the first question */
bool kernel_denies(enum kernel_feature f);
int  kernel_feature_by_name(const char *name);		/* enum kernel_feature, or -1 */
const char *kernel_feature_name(enum kernel_feature f);	/* as in --no-feature NAME */

/*
 * --doctor: a line per feature, and whether recording is possible. That is what
 * @load says, which has the kernel take all that a recording would give it: 0, or
 * a negative errno and in @why what failed. Returns the exit status.
 */
typedef int (*kernel_load_fn)(const struct config *cfg, char *why, size_t size);
int  kernel_doctor(FILE *to, kernel_load_fn load, const struct config *cfg);

/*
 * What keeps us from recording, as one line for the user (not root, no BTF,
 * lockdown ...), and what helps in *@hint, NULL if nothing does. NULL: nothing is
 * in the way. Cheap enough for every start.
 */
const char *kernel_obstacle(const char **hint);
/* The same when a load of the programs has failed: what is found by reading the kernel's types, too. */
const char *kernel_obstacle_to_load(void);

/* Has recorder the right to look into, and to write to, whatever user's process? */
bool kernel_may_trace_all(void);

/* Why there are none, where kernel_has(HAVE_UPROBE) says so. */
const char *kernel_no_uprobes(void);

/* Where tracefs is mounted, or NULL. */
const char *kernel_tracefs(void);
/* Its directory of events; where it is not mounted, in a mount of ours that nobody else sees. NULL: there is none. */
const char *kernel_events_dir(void);
/* The number by which a program calls it (a type of the kernel's BTF); not positive: this kernel does not have it. */
int kernel_call(enum kernel_call which);

#endif
