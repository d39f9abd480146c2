/*
 * ringrest.c - reads on where libbpf has to stop.
 */
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base.h"
#include "flow/ringrest.h"

#define HEADER_BYTES	8	/* BPF_RINGBUF_HDR_SZ: the length and two bits, then what is the kernel's own */

static size_t page(void)
{
	return sysconf(_SC_PAGESIZE);
}

int ringrest_open(struct ringrest *r, int fd, size_t bytes)
{
	void *taken = mmap(NULL, page(), PROT_READ, MAP_SHARED, fd, 0);
	char *rest = mmap(NULL, page() + 2 * bytes, PROT_READ, MAP_SHARED, fd, page());
	int err = errno;

	*r = (struct ringrest){ .bytes = bytes };
	if (taken != MAP_FAILED)
		r->taken = taken;
	if (rest != MAP_FAILED) {
		r->begun = (const void *)rest;
		r->data = rest + page();
	}
	if (!r->taken || !r->begun) {
		ringrest_close(r);
		return -err;
	}
	return 0;
}

void ringrest_close(struct ringrest *r)
{
	if (r->taken)
		munmap((void *)r->taken, page());
	if (r->begun)
		munmap((void *)r->begun, page() + 2 * r->bytes);
	*r = (struct ringrest){};
}

bool ringrest_is_empty(const struct ringrest *r)
{
	return *r->taken == __atomic_load_n(r->begun, __ATOMIC_ACQUIRE);
}

int ringrest_each(const struct ringrest *r, ringrest_fn *fn, void *ctx)
{
	uint64_t at = *r->taken, end = __atomic_load_n(r->begun, __ATOMIC_ACQUIRE);
	int err = 0;

	while (at < end && end - at <= r->bytes && !err) {
		const uint32_t *header = (const void *)(r->data + (at & (r->bytes - 1)));
		uint32_t said = __atomic_load_n(header, __ATOMIC_ACQUIRE);
		uint64_t len = said & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		at += (HEADER_BYTES + len + 7) & ~7ull;
		if (at > end)
			return -EBADMSG;
		if (!(said & BPF_RINGBUF_DISCARD_BIT))
			err = MIN(fn(ctx, (const char *)header + HEADER_BYTES, len, !(said & BPF_RINGBUF_BUSY_BIT)), 0);
	}
	return err;
}
