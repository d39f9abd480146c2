/*
 * path.bpf.h - the path of a file, as the task sees it, and the record that tells of a mapped file.
 */
#ifndef PATH_BPF_H
#define PATH_BPF_H

#include "scratch.bpf.h"
#include "walk.bpf.h"

/* The record of a mapped file while it is put together. */
struct image_scratch {
	struct scratch scratch;
	struct rec_image rec;
	char	path[REC_PATH_MAX + NAME_ROOM];
	struct walk walk;
	__u64	inode;			/* of the file, the one that user space is told of */
};

/*
 * Everything about the file but addr, len, offset and at, once the walk's root is known. @file: the
 * kernel address of a struct file that the caller keeps alive. Returns the bytes of the record.
 */
int image_fill(struct image_scratch *s, __u64 file);

#define IMAGE_REC_MAX	(sizeof(struct rec_image) + REC_PATH_MAX + NAME_ROOM)

/*
 * Tell that @file is now mapped in the current task. @file is a kernel address
 * of a struct file that the caller's context keeps alive.
 */
int send_image(__u64 file, __u32 at, __u64 addr, __u64 len, __u64 offset);

/* The file mapped at @addr in the current task, sent as above; where that cannot be told, the one at @fd. */
#define NO_FD	(-1)
int send_image_at(__u64 addr, __u32 at, __u64 len, __u64 offset, __s32 fd);

/* The file of descriptor @fd, as a number; 0: none now. */
static __always_inline __u64 file_at_fd(__s32 fd)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	__u64 file = 0;

	if (fd < 0 || (__u32)fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), BPF_CORE_READ(table, fd) + fd);
	return file;
}

#define AT_PHDR		3
#define AT_BASE		7
#define AUXV_PAIRS	26	/* saved_auxv[] holds at least this many on every kernel we know */

/* AT_PHDR and AT_BASE as the kernel gave them to the image: where program and interpreter lie. */
static __always_inline void read_auxv(struct mm_struct *mm, __u64 *phdr, __u64 *base)
{
	__u64 pair[2];

	for (int i = 0; i < AUXV_PAIRS; i++) {
		if (bpf_probe_read_kernel(pair, sizeof(pair), &mm->saved_auxv[i * 2]) || !pair[0])
			break;
		if (pair[0] == AT_PHDR)
			*phdr = pair[1];
		if (pair[0] == AT_BASE)
			*base = pair[1];
	}
}

#endif
