/*
 * process.h - processes by the numbers they have in our own PID namespace.
 *
 * /proc need not be mounted for that namespace: then it calls them otherwise, or
 * calls another process by the same number.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What we are called in /proc; 0: it is not there, or does not show us. */
pid_t process_own_in_proc(void);

/* Does /proc count as we do? False also when it is not there. */
bool process_proc_is_ours(void);

/* What the process at @pidfd is called in /proc; 0: it is gone, or not shown there. */
pid_t process_in_proc(int pidfd);

/*
 * The folder of @pid, or of the process at @pidfd, in /proc, O_PATH; of another thread when the first has ended before
 * the rest. It stays that process's, whoever has the number later. Negative errno.
 */
int process_open(pid_t pid);
int process_folder(int pidfd);

/* A thread of process @pid that has not ended, itself if possible; 0: there is none, or it is the kernel's. As /proc counts. */
pid_t process_with_program(pid_t pid);

/* Process @pid, as /proc counts, is there, but may not be looked at by who we are. */
bool process_is_barred(pid_t pid);

/* The process that thread @tid is of, both as /proc counts; 0: there is no such thread. */
pid_t process_of_thread(pid_t tid);

/* The parent of @pid, both as /proc counts; 0: unknown. */
pid_t process_parent(pid_t pid);

/* @pid, as /proc counts, is neither stopped by a signal nor being killed, as far as is known. */
bool process_is_at_work(pid_t pid);

/* Our PID namespace, as the kernel numbers it. 0: /proc is not there. */
uint32_t process_namespace(void);

/* A helper of recorder's, perhaps no child of it. Neither it, nor its children, nor ours are recorded by number. */
void process_own(pid_t pid);
bool process_is_ours(pid_t pid);

/* In a helper, just forked: close all descriptors but @keep, @count of them, which is sorted; -1 among them is none. */
void process_keep_only(int *keep, size_t count);

#endif
