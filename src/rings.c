/*
 * rings.c - made here, since their number and size are the machine's and the user's.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base.h"
#include "log.h"
#include "recorder.skel.h"
#include "rings.h"

static struct {
	int	*fd;
	unsigned count;		/* made so far */
} rings;

int rings_make(const struct recorder_bpf *bpf, unsigned cpus, size_t bytes)
{
	rings.fd = calloc(cpus, sizeof(*rings.fd));
	if (!rings.fd)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, bytes, NULL);

		if (fd < 0)
			return fail(-errno, "cannot make a ring of %zu bytes for CPU %u", bytes, cpu);
		rings.fd[rings.count++] = fd;
		if (bpf_map_update_elem(bpf_map__fd(bpf->maps.rings), &cpu, &fd, 0))
			return fail(-errno, "cannot use the ring of CPU %u", cpu);
	}
	return 0;
}

void rings_release(void)
{
	while (rings.count)
		close(rings.fd[--rings.count]);
	free(TAKE(rings.fd));
}

const int *rings_fds(void)
{
	return rings.fd;
}
