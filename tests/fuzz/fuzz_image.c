/*
 * fuzz_image.c - the parsers of executable files, with any bytes at all.
 *
 *	clang -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -iquote include -iquote src \
 *		$(find src/image -name '*.c') tests/fuzz/fuzz_image.c -lZydis -ldw -lelf -lz -liberty -o fuzz_image
 *	./fuzz_image -max_len=65536 DIR-WITH-SMALL-PROGRAMS
 *
 * The first byte says what the rest is: a file for image_read(), 'r' what a
 * child that was taken over sends to image_unpack(), 'u' the arguments of a USDT probe.
 */
#include <elf.h>
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

static bool find_symbol(void *ctx, const char *name, size_t len, uint64_t *ret)
{
	*ret = len;
	return ctx == NULL && *name;
}

static void read_arguments(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct usdt_arg arg[ARGS_MAX];

	if (!text)
		abort();
	for (int machine = EM_X86_64; machine; machine = machine == EM_X86_64 ? EM_AARCH64 : 0)
		for (unsigned n = usdt_parse(arg, text, machine, 0x1000, find_symbol, NULL); n--; )
			if (!arg[n].size || arg[n].size > 8 || arg[n].base >= USDT_REGISTERS ||
			    arg[n].index >= USDT_REGISTERS || arg[n].scale > 3 || arg[n].place > USDT_MEMORY)
				abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image *img = NULL;

	if (size && data[0] == 'r')
		image_destroy(image_unpack(&img, data + 1, size - 1) ? NULL : img);
	else if (size && data[0] == 'u')
		read_arguments(data + 1, size - 1);
	else
		read_file(data, size);
	return 0;
}
