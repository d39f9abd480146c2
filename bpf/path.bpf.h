/*
 * path.bpf.h - the path of a file, as the task sees it, and the record that tells of a mapped file.
 */
#ifndef PATH_BPF_H
#define PATH_BPF_H

#include "recorder.bpf.h"

/*
 * Tell that @file is now mapped in the current task. @file is a kernel address
 * of a struct file that the caller's context keeps alive.
 */
int send_image(__u64 file, __u32 at, __u64 addr, __u64 len, __u64 offset);

/* The file mapped at @addr in the current task, sent as above; nothing when there is none. */
int send_image_at(__u64 addr, __u32 at, __u64 len, __u64 offset);

#endif
