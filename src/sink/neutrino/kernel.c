/*
 * kernel.c - kernel/INDEX_SHA1 of each kernel that was launched: its name, and what its code image says of it.
 */
#include <fcntl.h>

#include "base.h"
#include "log.h"
#include "out.h"
#include "sink/neutrino/neutrino.h"

/* Of libiberty.a, which has no header of it everywhere. */
void *sha1_buffer(const char *data, size_t len, void *to);

void nt_sha1(const void *bytes, size_t len, char to[NT_SHA1_HEX + 1])
{
	uint8_t sum[NT_SHA1_HEX / 2];

	sha1_buffer(bytes, len, sum);
	for (size_t i = 0; i < sizeof(sum); i++)
		sprintf(to + 2 * i, "%02x", sum[i]);
}

static const char *how_named(const struct cuda_kernel *k)
{
	return k->is_guessed ? "found in a less certain way than by the call that gave the handle" :
	       k->is_named ? "told by the call that gave the handle" : "never told: made of the handle";
}

/* Number of parameters, and of the maps in its launches' bins, with the bytes of each, per warp. */
static int write_info(int dirfd, const struct nt_process *p, const char *name, unsigned params)
{
	if (p->has_gpu)
		return nt_file(dirfd, "kernel.info", "%s\n%u\n2\n1,%u\n1,%u\n", name, params, NT_ROW, NT_GPU_ROW);
	return nt_file(dirfd, "kernel.info", "%s\n%u\n1\n1,%u\n", name, params, NT_ROW);
}

static int fill_folder(struct nt_process *p, int dirfd, const struct cuda_kernel *k)
{
	__cleanup(free_ptr) char *name = log_escaped(k->name);
	struct nt_code code = {};
	bool is_known = nt_image_kernel(p, k, &code);
	char image[NT_IMAGE_SAID], facts[96] = "not known, so kernel.info has 0";
	int err;

	if (!name)
		return -ENOMEM;
	nt_image_link(p, k, dirfd, image);
	if (is_known)
		snprintf(facts, sizeof(facts), "%u, as the image says", code.params);
	err = write_info(dirfd, p, name, code.params);
	return err ?: nt_file(dirfd, "process.log",
			      "kernel %u, first launched by the handle 0x%lx\n"
			      "name: %s\n"
			      "number of parameters: %s\n"
			      "image: %s\n", k->index, k->handle, how_named(k), facts, image);
}

static int make_folder(struct nt_process *p, const struct cuda_kernel *k)
{
	__cleanup(close_fd) int parent = openat(p->dirfd, "kernel", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	__cleanup(close_fd) int fd = -1;
	char sum[NT_SHA1_HEX + 1], name[64];

	if (parent < 0)
		return -errno;
	nt_sha1(k->name, strlen(k->name), sum);
	snprintf(name, sizeof(name), "%u_%s", k->index, sum);
	fd = out_open_new_dir(parent, name);
	return fd < 0 ? fd : fill_folder(p, fd, k);
}

int nt_note_kernel(struct nt_process *p, const struct cuda_kernel *k)
{
	if (!k || p->kernels > NT_KERNELS_MAX)
		return 0;
	while (k->index >= p->kernel_room) {
		size_t was = p->kernel_room;

		if (grow(&p->kernel, &p->kernel_room, was, sizeof(*p->kernel)))
			return -ENOMEM;
		memset(p->kernel + was, 0, p->kernel_room - was);
	}
	if (p->kernel[k->index])
		return 0;
	p->kernel[k->index] = 1;
	if (p->kernels++ < NT_KERNELS_MAX)
		return make_folder(p, k);
	warn("format 'neutrino': process %u has more than %u kernels: the others have no folder", p->pid, NT_KERNELS_MAX);
	out_printf(p->log, "[recorder] kernels-capped at index %u\n", k->index);
	return 0;
}
