/*
 * path.bpf.c - sends the record of a mapped file.
 */
#include "path.bpf.h"
#include "returns.bpf.h"

static const char cuda_driver[] = "libcuda.so";	/* how the names begin that it has, whatever its version */

#define IMAGE_SCRATCHES	2	/* an exec and a system call send images: where one's program is preempted the other's may run */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, IMAGE_SCRATCHES);
	__type(key, __u32);
	__type(value, struct image_scratch);
} image_scratches SEC(".maps");

static long walk_up(__u32 step, struct image_scratch **scratch)
{
	struct image_scratch *s = *scratch;

	return walk_step(&s->walk, s->path, REC_PATH_MAX);
}

#define MNT_NS_INTERNAL	((__u64)-22)	/* ERR_PTR(-EINVAL): fs/mount.h */
#define SB_KERNMOUNT	(1ul << 22)

/*
 * Mapped from an overlayfs it is, since def3ae83da02 (6.8, "fs: store real path instead of fake path in backing file f_path"),
 * a file of one of the layers, on a mount that nobody sees, and the path that was opened lies behind it: struct backing_file,
 * for which by name libbpf would look in the modules of a kernel without it, and that takes CAP_SYS_ADMIN. A file in memory
 * (memfd_create()) lies on such a mount, too, of a file system of the kernel's own.
 */
static __always_inline bool is_layered(struct file *f)
{
	struct mount *mount = (void *)BPF_CORE_READ(f, f_path.mnt) - bpf_core_field_offset(struct mount, mnt);

	return (__u64)BPF_CORE_READ(mount, mnt_ns) == MNT_NS_INTERNAL && !(BPF_CORE_READ(f, f_inode, i_sb, s_flags) & SB_KERNMOUNT);
}

static __always_inline void begin_walk(struct image_scratch *s, struct file *f)
{
	const struct path *path = (void *)f + bpf_core_field_offset(struct file, f_path);
	struct inode *inode = BPF_CORE_READ(f, f_inode);

	if (is_layered(f)) {
		path = (void *)f + bpf_core_type_size(struct file);
		inode = BPF_CORE_READ(path, dentry, d_inode);
	}
	s->inode = (__u64)inode;
	s->rec.ino = BPF_CORE_READ(inode, i_ino);
	s->rec.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	s->rec.gen = BPF_CORE_READ(inode, i_generation);
	walk_begin(&s->walk, (__u64)BPF_CORE_READ(path, dentry), (__u64)BPF_CORE_READ(path, mnt), 0);
}

__noinline int image_fill(struct image_scratch *s, __u64 file)
{
	__u32 n;

	if (!s)
		return 0;
	begin_walk(s, (void *)file);
	bpf_loop(STEPS_MAX, walk_up, &s, 0);
	s->rec.pad = 0;
	n = s->walk.len;
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
	__u32 size;

	if (!t || !file)
		return 0;
	s = scratch_claim(&image_scratches, IMAGE_SCRATCHES);
	if (!s) {
		count_lost(t, CLASS_TASK);
		return returns_map_unseen();
	}
	walk_root(&s->walk, bpf_get_current_task_btf());
	size = image_fill(s, file);
	if (cuda_wanted && !bpf_strncmp(s->path, sizeof(cuda_driver) - 1, cuda_driver))
		returns_want();
	inode = (void *)s->inode;
	returns_map(s->rec.ino, s->rec.dev, s->rec.gen, BPF_CORE_READ(inode, i_size), INODE_CTIME(inode));
	s->rec.addr = addr;
	s->rec.len = len;
	s->rec.offset = offset;
	s->rec.at = at;
	rec_send(t, CLASS_TASK, REC_IMAGE, 0, &s->rec.hdr, size, IMAGE_REC_MAX);
	scratch_leave(&s->scratch);
	return 0;
}

#define SEE_TRIES	256	/* some 20 us */
#define EBUSY		16

struct seen {
	__u64	addr, file;
};

static long note_file(struct task_struct *task, struct vm_area_struct *vma, __u64 *file)
{
	BPF_CORE_READ_INTO(file, vma, vm_file);	/* read, not loaded: a number, as a global function takes it */
	return 0;
}

/* bpf_find_vma() only tries to get the memory map's lock, which whoever sets probes in there has now and then. */
static long see_file(__u32 try, struct seen **seen)
{
	__u64 file = 0;
	long err = bpf_find_vma(bpf_get_current_task_btf(), (*seen)->addr, note_file, &file, 0);

	(*seen)->file = file;
	return err != -EBUSY;
}

__noinline int send_image_at(__u64 addr, __u32 at, __u64 len, __u64 offset, __s32 fd)
{
	struct seen seen = { addr }, *s = &seen;

	bpf_loop(SEE_TRIES, see_file, &s, 0);
	if (!seen.file)
		seen.file = file_at_fd(fd);
	if (!seen.file)
		return returns_map_unseen();
	return send_image(seen.file, at, addr, len, offset);
}

char LICENSE[] SEC("license") = "GPL";
