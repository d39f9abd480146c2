/*
 * batch.c - links for many sites.
 */
#include <bpf/libbpf.h>

#include "base.h"
#include "bpflink.h"
#include "log.h"
#include "source/batch.h"
#include "source/links.h"
#include "source/probed.h"

#ifndef ENOTSUPP
#define ENOTSUPP	524	/* the kernel's own number for a site it cannot emulate or step; not in <errno.h> */
#endif

int batch_create(struct batch *b, size_t room)
{
	room = room ?: 1;
	*b = (struct batch){
		calloc(room, sizeof(*b->offset)), calloc(room, sizeof(*b->semaphore)), calloc(room, sizeof(*b->cookie)), 0, 0, false,
	};
	return b->offset && b->semaphore && b->cookie ? 0 : -ENOMEM;
}

void batch_release(struct batch *b)
{
	free(b->offset);
	free(b->semaphore);
	free(b->cookie);
}

void batch_add_usdt(struct batch *b, unsigned long site, unsigned long semaphore, uint64_t cookie)
{
	b->offset[b->count] = site;
	b->semaphore[b->count] = semaphore;
	b->cookie[b->count++] = cookie;
	b->has_semaphores |= semaphore != 0;
}

void batch_add(struct batch *b, unsigned long offset, uint64_t cookie)
{
	batch_add_usdt(b, offset, 0, cookie);
}

static bool is_refused(int err)
{
	return err == -ENOTSUPP || err == -EOPNOTSUPP || err == -EINVAL;
}

static void refuse(const struct batch *b, unsigned i, int err, unsigned *refused)
{
	++*refused;
	detail("the kernel refuses the site at offset 0x%lx: %s", b->offset[i], strerror(-err));
}

static int link_multi(struct bpf_program *prog, int type, unsigned flags, const char *path, const struct batch *b)
{
	int fd = bpf_program__fd(prog);

	if (b->has_semaphores)
		return bpflink_usdt_multi(fd, path, b->offset, b->semaphore, b->cookie, b->count);
	return bpflink_uprobe_multi(fd, type, path, b->offset, b->cookie, b->count, flags, b->pid);
}

int batch_attach_multi(struct links *links, struct bpf_program *prog, int type, unsigned flags, const char *path,
		       const struct batch *b, unsigned *refused)
{
	struct batch half = *b;
	int fd, err;

	if (!b->count)
		return 0;
	fd = link_multi(prog, type, flags, path, b);
	if (fd >= 0)
		return links_keep_fd(links, fd, probed_at(path, b->offset, b->count));
	if (!is_refused(fd))
		return fd;
	if (b->count == 1) {
		refuse(b, 0, fd, refused);
		return 0;
	}
	half.count = b->count / 2;
	err = batch_attach_multi(links, prog, type, flags, path, &half, refused);
	half.offset += half.count;
	half.semaphore += half.count;
	half.cookie += half.count;
	half.count = b->count - half.count;
	return err ?: batch_attach_multi(links, prog, type, flags, path, &half, refused);
}

int batch_attach_singly(struct links *links, struct bpf_program *prog, bool at_return, const char *path,
			const struct batch *b, unsigned *refused)
{
	for (unsigned i = 0; i < b->count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = b->cookie[i], .ref_ctr_offset = b->semaphore[i],
			    .retprobe = at_return);
		struct bpf_link *link = bpf_program__attach_uprobe_opts(prog, -1, path, b->offset[i], &opts);
		int err = link ? links_keep(links, link, probed_at(path, &b->offset[i], 1)) : -errno;

		if (is_refused(err))
			refuse(b, i, err, refused);
		else if (err)
			return err;
	}
	return 0;
}
