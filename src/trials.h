/*
 * trials.h - the trials behind kernel_has(): each tries one thing and says whether it went well.
 */
#ifndef TRIALS_H
#define TRIALS_H

#include <stdbool.h>

#include "kernelcall.h"

bool probe_btf(void);
bool probe_ringbuf(void);
bool probe_tp_btf(void);
bool probe_steady_tracepoints(void);
bool probe_perf_tracepoints(void);
bool probe_task_storage(void);
bool probe_storage_lookups(void);
bool probe_storage_at_forks(void);
bool probe_bpf_loop(void);
bool probe_uprobe(void);
bool probe_uprobe_multi(void);
bool probe_uprobe_session(void);
bool probe_process_links(void);
bool probe_uprobe_tracefs(void);
bool probe_uprobe_sleepable(void);
bool probe_task_work(void);
bool probe_exec_hook(void);
bool probe_write_user(void);
bool probe_write_others(void);
bool probe_forced_writes(void);
bool probe_file_lease(void);
bool probe_nop5_fork_safe(void);
bool probe_vector_registers(void);

const char *trials_tracefs(void);	/* where tracefs is mounted, or NULL */
const char *trials_events(void);	/* its directory of events, also where it is not mounted; or NULL */
int trials_kernel_call(enum kernel_call which);	/* its number for CALL instructions; not positive: there is none */

#endif
