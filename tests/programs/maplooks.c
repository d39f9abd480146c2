/*
 * maplooks.c - looks into a BPF map without end, as monitors do: meanwhile the kernel skips perf events' programs on that CPU,
 * for everybody, as long as this is preempted where it does so.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

int main(void)
{
	union bpf_attr map = { .map_type = BPF_MAP_TYPE_HASH, .key_size = 4, .value_size = 8, .max_entries = 1 };
	uint32_t key = 1;
	uint64_t value = 2;
	int fd = bpf(BPF_MAP_CREATE, &map);
	union bpf_attr element = { .map_fd = fd, .key = (uintptr_t)&key, .value = (uintptr_t)&value };

	if (fd < 0 || bpf(BPF_MAP_UPDATE_ELEM, &element)) {
		perror("maplooks");
		return 1;
	}
	puts("looking");
	fflush(stdout);
	while (!bpf(BPF_MAP_LOOKUP_ELEM, &element))
		;
	return 1;
}
