/*
 * walk.bpf.h - one step of the way from a file up to the task's root.
 *
 * bpf_d_path() is not to be had in a tracepoint, so the walk is our own: from
 * the dentry to its parent, at a mount's root over to where it is mounted,
 * until the task's root. Names are written leaf first, each ended by a NUL;
 * user space turns them round.
 *
 * A name may be renamed while it is copied: short names are changed in place,
 * and what is read then can be torn. So each dentry's sequence count is read
 * before and after the copy, and the component done again when it moved.
 *
 * Each walk is a bpf_loop() callback whose state lies in a map: it is verified
 * once, whatever the depth. Nothing in it may count what makes no progress, or
 * the verifier does not come to an end.
 */
#ifndef WALK_BPF_H
#define WALK_BPF_H

#include "recorder.bpf.h"

#define NAME_ROOM	256	/* NAME_MAX and its NUL */
#define STEPS_MAX	2048	/* components and mounts crossed, retries included */

struct walk {
	__u64	dentry, mnt;		/* where it is */
	__u64	mnt_root;		/* of that mount */
	__u64	root_dentry, root_mnt;	/* where it ends */
	__u32	len;			/* bytes in use of the room */
	__u32	cut;			/* the path did not fit */
};

/* Paths are to be as @task sees them. */
static __always_inline void walk_root(struct walk *w, struct task_struct *task)
{
	w->root_dentry = (__u64)BPF_CORE_READ(task, fs, root.dentry);
	w->root_mnt = (__u64)BPF_CORE_READ(task, fs, root.mnt);
}

/* From @dentry on @mnt; names are written from @at of the room on. */
static __always_inline void walk_begin(struct walk *w, __u64 dentry, __u64 mnt, __u32 at)
{
	w->dentry = dentry;
	w->mnt = mnt;
	w->mnt_root = (__u64)BPF_CORE_READ((struct vfsmount *)mnt, mnt_root);
	w->len = at;
	w->cut = 0;
}

static __always_inline void walk_over_mount(struct walk *w, struct mount *mount, struct mount *up)
{
	w->dentry = (__u64)BPF_CORE_READ(mount, mnt_mountpoint);
	w->mnt = (__u64)up + bpf_core_field_offset(struct mount, mnt);
	w->mnt_root = (__u64)BPF_CORE_READ(up, mnt.mnt_root);
}

static __always_inline __u32 name_sequence(struct dentry *d)
{
	return BPF_CORE_READ(d, d_seq.seqcount.sequence);
}

#define DENTRY_BEGIN	64	/* bytes in which a dentry has what a step asks for, unless the kernel watches its locks */

struct dentry_facts {
	__u64	parent, name;
	__u32	seq;
};

/* All three with one read where that can be: each read costs as much as the step without it. */
static __always_inline void read_dentry(struct dentry_facts *f, struct dentry *d)
{
	const __u32 seq = bpf_core_field_offset(struct dentry, d_seq.seqcount.sequence);
	const __u32 parent = bpf_core_field_offset(struct dentry, d_parent);
	const __u32 name = bpf_core_field_offset(struct dentry, d_name.name);
	char begin[DENTRY_BEGIN];

	if (seq > DENTRY_BEGIN - 4 || parent > DENTRY_BEGIN - 8 || name > DENTRY_BEGIN - 8) {
		f->seq = name_sequence(d);
		f->parent = (__u64)BPF_CORE_READ(d, d_parent);
		f->name = (__u64)BPF_CORE_READ(d, d_name.name);
		return;
	}
	bpf_probe_read_kernel(begin, sizeof(begin), d);
	f->seq = *(__u32 *)(begin + seq);
	f->parent = *(__u64 *)(begin + parent);
	f->name = *(__u64 *)(begin + name);
}

/* One component, or one mount crossed. No name begins in @room at @max or behind. Returns 1 at the end of the walk. */
static __always_inline long walk_step(struct walk *w, char *room, const __u32 max)
{
	struct dentry *d = (void *)w->dentry;
	struct dentry_facts f;
	__u32 at;
	long n;

	if (w->dentry == w->root_dentry && w->mnt == w->root_mnt)
		return 1;
	if (w->dentry == w->mnt_root) {
		struct mount *mount = (void *)w->mnt - bpf_core_field_offset(struct mount, mnt);
		struct mount *up = BPF_CORE_READ(mount, mnt_parent);

		if (up == mount)
			return 1;
		walk_over_mount(w, mount, up);
		return 0;
	}
	read_dentry(&f, d);
	if (f.seq & 1)
		return 0;			/* being renamed now */
	if (f.parent == w->dentry)
		return 1;
	at = w->len;
	asm volatile("" : "+r"(at));		/* one register, which is checked and used */
	if (at >= max) {
		w->cut = 1;
		return 1;
	}
	n = bpf_probe_read_kernel_str(room + at, NAME_ROOM, (void *)f.name);
	if (name_sequence(d) != f.seq)
		return 0;
	if (n <= 0)
		return 1;
	w->len = at + n;
	w->dentry = f.parent;
	return 0;
}

#endif
