/*
 * agent.h - the small process that writes into the memory of tasks at a gate, and stops those that are in the way (hold.h).
 *
 * It is apart from recorder because it must be able to outlive it. A return
 * probe's trampoline stays on a task's stack until that function returns; if
 * recorder is killed, a task that throws through such a frame still has to be
 * served, or it dies. So the agent holds links that it is given, and leaves
 * only when recorder is gone, what lets go of its links for it (links.h) too, and
 * no task has a return probe open any more. It has nothing else of recorder's: no
 * files, no terminal, no session.
 */
#ifndef AGENT_H
#define AGENT_H

#include <stdbool.h>

struct agent;
struct probed;
struct recorder_bpf;

/* Start it, once @bpf is loaded. Best before threads are made and the command is launched. */
int  agent_start(struct agent **ret, struct recorder_bpf *bpf);

/* Readable once it has ended; -1: that is not known. Lent. */
int  agent_fd(const struct agent *a);

/* Keep @link_fd open as long as the agent lives; a copy goes over, the caller keeps his. @file: whose probes it holds. */
int  agent_hold(struct agent *a, int link_fd, const struct probed *file);

/* Close the copies of @file's links, before the caller closes his own: so the agent does not wait for their end. */
void agent_let_go(struct agent *a, const struct probed *file);

/* It may leave as soon as our process has ended and no task needs it. Frees @a. */
void agent_dismiss(struct agent *a);

#endif
