/*
 * test_code.h - what the reader of device code tells of an image, as one text.
 */
#ifndef TEST_CODE_H
#define TEST_CODE_H

#include "cuda/code.h"
#include "test_image.h"

/* "NAME PARAMS BYTES REGS ARCH;", '?' for parameters that are not told, "ptx" for the architecture of text. */
struct told {
	char   text[16384];
	size_t count, stop_after;	/* 0: at none */
};

__attribute__((unused)) static int note(void *ctx, const struct code_kernel *k)
{
	struct told *t = ctx;
	size_t used = strlen(t->text);
	char params[16] = "?", arch[16] = "ptx";

	if (k->params != CODE_PARAMS_UNKNOWN)
		snprintf(params, sizeof(params), "%u", k->params);
	if (!k->is_ptx)
		snprintf(arch, sizeof(arch), "%u", k->arch);
	snprintf(t->text + used, sizeof(t->text) - used, "%.*s %s %u %u %s;", (int)k->name_len, k->name, params, k->param_bytes,
		 k->regs, arch);
	return ++t->count == t->stop_after ? 7 : 0;
}

/* Reads a copy that ends where the image ends, so that a reader that goes too far is seen. */
__attribute__((unused)) static const char *told_of(const void *image, size_t len)
{
	static struct told t;
	__cleanup(free_ptr) void *copy = malloc(len ?: 1);

	CHECK(copy);
	memcpy(copy, image, len);
	t = (struct told){};
	CHECK_INT(code_kernels(copy, len, note, &t), 0);
	return t.text;
}

#endif
