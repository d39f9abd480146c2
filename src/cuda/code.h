/*
 * code.h - which kernels a program gave the driver: a reader of device code.
 *
 * An image is what cuModuleLoadData() or cuLibraryLoadData() is given: a cubin (an ELF file of 64 bits, machine 190),
 * a fat binary from its 16-byte header on, or PTX text. It is a program's, so none of it is believed: reading takes time
 * and memory that are bounded by the image's length and the limits below, whatever stands in it. What is damaged or of
 * an unknown kind is passed over, and a fact is told only where the image tells it.
 *
 * Sources: what nvcc 13.0 makes, read with readelf; the names and numbers are those of cuobjdump and NVIDIA's PTX ISA.
 */
#ifndef CUDA_CODE_H
#define CUDA_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_FATBIN_MAGIC	0xba55ed50u
#define CODE_UNPACKED_MAX	(64u << 20)	/* bytes that a packed entry of a fat binary may have; longer ones are passed over */
#define CODE_UNPACKED_TOTAL	(256u << 20)	/* and all of an image's together */
#define CODE_ENTRIES_MAX	4096u		/* entries of a fat binary that are read */
#define CODE_PARAMS_UNKNOWN	(~0u)

/* Lent until the callback returns. */
struct code_kernel {
	const char *name;		/* mangled; no NUL behind it */
	size_t	    name_len;		/* never 0 */
	unsigned    params;		/* as declared, a struct is one; CODE_PARAMS_UNKNOWN: not told */
	uint32_t    param_bytes;	/* from the first to the end of the last; 0: there are none, or not told */
	unsigned    regs;		/* registers of a thread; 0: not told, as in PTX */
	uint32_t    arch;		/* 90 for sm_90; 0: PTX, or not told */
	bool	    is_ptx;
};

/* Return 0 to go on, else what ends the reading. */
typedef int (*code_kernel_fn)(void *ctx, const struct code_kernel *k);

/*
 * Tells each kernel of the image, once for every entry that has it: a fat binary holds the same kernel for several
 * architectures, and as PTX. Returns 0, what @fn returned, or -ENOMEM.
 */
int code_kernels(const void *image, size_t len, code_kernel_fn fn, void *ctx);

/*
 * Bytes of the image that begins with the @len bytes of @head: an ELF file by the ends of its two tables, a fat binary
 * by its header (64 and 16 bytes are enough). 0: not told.
 */
uint64_t code_bytes(const void *head, size_t len);

#endif
