/*
 * path.bpf.c - walks from a file up to the task's root, and sends the record of a mapped file.
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
 * The walk is a bpf_loop() callback whose state lies in a map: it is verified
 * once, whatever the depth. Nothing in it may count what makes no progress, or
 * the verifier does not come to an end.
 */
#include "path.bpf.h"
#include "returns.bpf.h"

static const char cuda_driver[] = "libcuda.so";	/* how the names begin that it has, whatever its version */

#define STEPS_MAX	2048	/* components and mounts crossed, retries included */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct image_scratch);
} image_scratches SEC(".maps");

static __always_inline __u32 name_sequence(struct dentry *d)
{
	return BPF_CORE_READ(d, d_seq.seqcount.sequence);
}

/* One component, or one mount crossed. Returns 1 at the end of the walk. */
static long walk_up(__u32 step, struct image_scratch **scratch)
{
	struct image_scratch *s = *scratch;
	struct dentry *d = (void *)s->dentry, *parent;
	struct vfsmount *m = (void *)s->mnt;
	const unsigned char *name;
	__u32 seq, at;
	long n;

	if (s->dentry == s->root_dentry && s->mnt == s->root_mnt)
		return 1;
	if (d == BPF_CORE_READ(m, mnt_root)) {
		struct mount *mount = (void *)m - bpf_core_field_offset(struct mount, mnt);
		struct mount *up = BPF_CORE_READ(mount, mnt_parent);

		if (up == mount)
			return 1;
		s->dentry = (__u64)BPF_CORE_READ(mount, mnt_mountpoint);
		s->mnt = (__u64)up + bpf_core_field_offset(struct mount, mnt);
		return 0;
	}
	seq = name_sequence(d);
	if (seq & 1)
		return 0;			/* being renamed now */
	parent = BPF_CORE_READ(d, d_parent);
	if (parent == d)
		return 1;
	at = s->len;
	if (at >= REC_PATH_MAX) {
		s->cut = 1;
		return 1;
	}
	name = BPF_CORE_READ(d, d_name.name);
	n = bpf_probe_read_kernel_str(s->path + (at & (REC_PATH_MAX - 1)), NAME_ROOM, name);
	if (name_sequence(d) != seq)
		return 0;
	if (n <= 0)
		return 1;
	s->len = at + n;
	s->dentry = (__u64)parent;
	return 0;
}

static __always_inline void begin_walk(struct image_scratch *s, struct file *f)
{
	struct inode *inode = BPF_CORE_READ(f, f_inode);

	s->rec.ino = BPF_CORE_READ(inode, i_ino);
	s->rec.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	s->rec.gen = BPF_CORE_READ(inode, i_generation);
	s->dentry = (__u64)BPF_CORE_READ(f, f_path.dentry);
	s->mnt = (__u64)BPF_CORE_READ(f, f_path.mnt);
	s->len = 0;
	s->cut = 0;
}

__noinline int image_fill(struct image_scratch *s, __u64 file)
{
	__u32 n;

	if (!s)
		return 0;
	begin_walk(s, (void *)file);
	bpf_loop(STEPS_MAX, walk_up, &s, 0);
	s->rec.pad = 0;
	n = s->len;
	if (n > REC_PATH_MAX + NAME_ROOM - 8)
		n = REC_PATH_MAX + NAME_ROOM - 8;
	s->rec.path_len = n;
	for (int i = 0; i < 8; i++)		/* the last word: no byte leaves that was not written */
		s->path[n + i] = 0;
	return sizeof(s->rec) + n;
}

__noinline int send_image(__u64 file, __u32 at, __u64 addr, __u64 len, __u64 offset)
{
	struct task_state *t = my_task();
	struct image_scratch *s;
	struct inode *inode;
	__u32 zero = 0, size;

	s = bpf_map_lookup_elem(&image_scratches, &zero);
	if (!t || !s || !file)
		return 0;
	image_root(s, bpf_get_current_task_btf());
	size = image_fill(s, file);
	if (cuda_wanted && !bpf_strncmp(s->path, sizeof(cuda_driver) - 1, cuda_driver))
		returns_want();
	inode = BPF_CORE_READ((struct file *)file, f_inode);
	returns_map(s->rec.ino, s->rec.dev, s->rec.gen, BPF_CORE_READ(inode, i_size), INODE_CTIME(BPF_CORE_READ, inode));
	s->rec.addr = addr;
	s->rec.len = len;
	s->rec.offset = offset;
	s->rec.at = at;
	rec_send(t, CLASS_TASK, REC_IMAGE, 0, &s->rec.hdr, size, IMAGE_REC_MAX);
	return 0;
}

static long note_file(struct task_struct *task, struct vm_area_struct *vma, __u64 *file)
{
	BPF_CORE_READ_INTO(file, vma, vm_file);	/* read, not loaded: a number, as a global function takes it */
	return 0;
}

__noinline int send_image_at(__u64 addr, __u32 at, __u64 len, __u64 offset)
{
	__u64 file = 0;

	bpf_find_vma(bpf_get_current_task_btf(), addr, note_file, &file, 0);
	return send_image(file, at, addr, len, offset);
}

char LICENSE[] SEC("license") = "GPL";
