/*
 * ringname.c - names itself by a write that a ring of io_uring makes. Status 77: there are no such rings here.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char name[] = "by-ring";

int main(void)
{
	struct io_uring_params p = {};
	int ring = syscall(SYS_io_uring_setup, 1, &p), comm = open("/proc/self/comm", O_WRONLY);
	struct io_uring_sqe *sqe;
	unsigned *tail, *array;
	char *sq;

	if (ring < 0 || comm < 0)
		return 77;
	sq = mmap(NULL, p.sq_off.array + sizeof(*array), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqe == MAP_FAILED)
		return 77;
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_WRITE, .fd = comm, .addr = (uintptr_t)name, .len = sizeof(name) - 1 };
	array = (unsigned *)(sq + p.sq_off.array);
	tail = (unsigned *)(sq + p.sq_off.tail);
	array[0] = 0;
	__atomic_store_n(tail, 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1 ? 0 : 77;
}
