/*
 * cudaimage.bpf.h - the code image that a call of the CUDA driver is given.
 *
 * It is taken at the call, since a program may free it right behind that. How long it is its head tells; a text ends
 * with a NUL. Pieces are of one page each, so that what is behind its end is never touched. A long one that lies in
 * a file is left there: user space is told where.
 */
#ifndef CUDAIMAGE_BPF_H
#define CUDAIMAGE_BPF_H

#include "recorder.bpf.h"
#include "user.bpf.h"

#define WRAPPER_MAGIC	0x466243b1u	/* __fatBinC_Wrapper_t of fatbinary_section.h: magic, version, where the fatbin is */
#define FATBIN_MAGIC	0xba55ed50u
#define ELF_MAGIC	0x464c457fu
#define VM_SHARED	0x8u
#define PIECES_MAX	(CUDA_IMAGE_MAX / CUDA_IMAGE_PIECE + 2)

const volatile bool cuda_images_wanted;

struct code_image {
	__u64	from, len;		/* len 0: a text */
	struct rec_cuda_image_file file;
	struct rec_cuda_image piece;
	char	bytes[CUDA_IMAGE_PIECE];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct code_image);
} code_images SEC(".maps");

/* ---- its length ---- */

static __always_inline __u64 image_u64(__u64 at)
{
	__u64 v = 0;

	read_bytes(&v, sizeof(v), at);
	return v;
}

static __always_inline __u16 image_u16(__u64 at)
{
	__u16 v = 0;

	read_bytes(&v, sizeof(v), at);
	return v;
}

/* Up to where its section headers go, or its program headers. */
static __noinline __u64 elf_image_len(__u64 at)
{
	__u64 sections = image_u64(at + 40) + (__u32)image_u16(at + 58) * image_u16(at + 60);
	__u64 segments = image_u64(at + 32) + (__u32)image_u16(at + 54) * image_u16(at + 56);

	return sections > segments ? sections : segments;
}

static __always_inline bool is_printable(__u32 four)
{
	for (int i = 0; i < 32; i += 8) {
		__u8 c = four >> i;

		if (c != '\t' && c != '\n' && c != '\r' && (c < ' ' || c > '~'))
			return false;
	}
	return true;
}

/* False: what is at @at is nothing that is known. */
static __noinline int find_image(struct code_image *m, __u64 at)
{
	__u32 magic = 0;

	if (!m)
		return 0;
	if (read_bytes(&magic, sizeof(magic), at))
		return 0;
	if (magic == WRAPPER_MAGIC) {
		at = image_u64(at + 8);
		if (read_bytes(&magic, sizeof(magic), at))
			return 0;
	}
	m->from = at;
	if (magic == FATBIN_MAGIC)
		m->len = image_u64(at + 8) + image_u16(at + 6);
	else if (magic == ELF_MAGIC)
		m->len = elf_image_len(at);
	else
		m->len = 0;
	return m->len || is_printable(magic);
}

/* ---- pieces ---- */

/* A text goes to its NUL, which is left out. Returns how many of @room bytes there are; at the end @end says so. */
static __always_inline __u32 text_piece(char *to, __u32 room, __u64 from, __u16 *end)
{
	long n = bpf_probe_read_user_str(to, room, (void *)from);
	char last = 0;

	if (n <= 0) {
		*end = CUDA_IMAGE_BROKEN;
		return 0;
	}
	if (n == room)
		bpf_probe_read_user(&last, sizeof(last), (void *)(from + room - 1));
	if (!last) {
		*end = CUDA_IMAGE_WHOLE;
		return n - 1;
	}
	asm volatile("" : "+r"(room));
	if (room && room <= CUDA_IMAGE_PIECE)
		to[room - 1] = last;
	return room;
}

static __always_inline __u32 bytes_piece(struct code_image *m, __u32 room, __u64 from, __u16 *end)
{
	__u64 left = m->len - m->piece.at;

	if (left <= room) {
		room = left;
		*end = CUDA_IMAGE_WHOLE;
	}
	asm volatile("" : "+r"(room));
	if (room <= CUDA_IMAGE_PIECE && !bpf_probe_read_user(m->bytes, room, (void *)from))
		return room;
	*end = CUDA_IMAGE_BROKEN;
	return 0;
}

static long send_piece(__u32 i, struct code_image **image)
{
	struct code_image *m = *image;
	__u64 from = m->from + m->piece.at;
	__u32 room = PAGE_BYTES - (from & (PAGE_BYTES - 1)), n = 0;
	struct task_state *t = my_task();
	__u16 end = CUDA_IMAGE_MORE;

	if (!t)
		return 1;
	if (args_may_fault)
		fetch_page(from);
	if (m->len > CUDA_IMAGE_MAX || (!m->len && m->piece.at + room > CUDA_IMAGE_MAX))
		end = CUDA_IMAGE_LONG;
	else if (m->len)
		n = bytes_piece(m, room, from, &end);
	else
		n = text_piece(m->bytes, room, from, &end);
	m->piece.len = n;
	m->piece.end = end;
	rec_send(t, CLASS_CUDA, REC_CUDA_IMAGE, 0, &m->piece.hdr, sizeof(m->piece) + n, sizeof(m->piece) + sizeof(m->bytes));
	m->piece.at += n;
	return end != CUDA_IMAGE_MORE;
}

/* ---- where it lies ---- */

/* A private mapping that was written to has pages of its own: what is there need not be what the file has. */
static long note_image_file(struct task_struct *task, struct vm_area_struct *vma, struct code_image **image)
{
	struct code_image *m = *image;
	struct file *file = BPF_CORE_READ(vma, vm_file);
	struct inode *inode;

	if (!file || (!(BPF_CORE_READ(vma, vm_flags) & VM_SHARED) && BPF_CORE_READ(vma, anon_vma)))
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	m->file.start = BPF_CORE_READ(vma, vm_start);
	m->file.end = BPF_CORE_READ(vma, vm_end);
	m->file.offset = BPF_CORE_READ(vma, vm_pgoff) * PAGE_BYTES + (m->from - m->file.start);
	m->file.ino = BPF_CORE_READ(inode, i_ino);
	m->file.magic = BPF_CORE_READ(inode, i_sb, s_magic);
	return 0;
}

static __noinline int send_image_file(struct code_image *m)
{
	struct task_state *t = my_task();

	if (!m || !t)
		return 0;
	m->file.end = 0;
	bpf_find_vma(bpf_get_current_task_btf(), m->from, note_image_file, &m, 0);
	if (!m->file.end || m->file.end - m->from < m->len)
		return 0;
	m->file.len = m->len;
	m->file.func = m->piece.func;
	m->file.sp = m->piece.sp;
	rec_send(t, CLASS_CUDA, REC_CUDA_IMAGE_FILE, 0, &m->file.hdr, sizeof(m->file), sizeof(m->file));
	return 1;
}

/* What the call of @func at @sp was given, at @at. */
static __noinline int send_code_image(__u32 func, __u64 sp, __u64 at)
{
	struct code_image *m = bpf_task_storage_get(&code_images, bpf_get_current_task_btf(), NULL,
						    BPF_LOCAL_STORAGE_GET_F_CREATE);
	struct task_state *t = my_task();

	if (!m && t)
		count_lost(t, CLASS_CUDA);
	if (!m || !t || !find_image(m, at))
		return 0;
	m->piece.func = func;
	m->piece.sp = sp;
	m->piece.at = 0;
	if (m->len > CUDA_IMAGE_MAX && send_image_file(m))
		return 0;
	bpf_loop(PIECES_MAX, send_piece, &m, 0);
	return 0;
}

#endif
