/*
 * fuzz_image.c - the parsers of executable files, with any bytes at all.
 *
 *	clang -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -iquote include -iquote src \
 *		$(find src/image -name '*.c') tests/fuzz/fuzz_image.c -lZydis -ldw -lelf -lz -liberty -o fuzz_image
 *	./fuzz_image -max_len=65536 DIR-WITH-SMALL-PROGRAMS
 *
 * The first byte says what the rest is: a file for image_read(), or what a
 * child that was taken over sends to image_unpack().
 */
#include <sys/mman.h>

#include "base.h"
#include "image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct image *img = NULL, *copy = NULL;
	void *block = NULL;
	size_t len;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (image_read(&img, fd, IMAGE_FUNCTIONS) == 0) {
		if (image_pack(img, &block, &len) || image_unpack(&copy, block, len))
			abort();	/* what was read must be sane */
		for (size_t i = 0; i < copy->func_count; i++)
			if (image_func_at(copy, copy->func[i].addr) != &copy->func[i])
				abort();
	}
	free(block);
	image_destroy(copy);
	image_destroy(img);
	img = NULL;
	(void)image_read(&img, fd, IMAGE_DEBUG_LINES);
	image_destroy(img);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *img = NULL;

	if (size && data[0] == 'r')
		image_destroy(image_unpack(&img, data + 1, size - 1) ? NULL : img);
	else
		read_file(data, size);
	return 0;
}
