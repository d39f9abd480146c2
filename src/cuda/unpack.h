/*
 * unpack.h - what is packed in a fat binary, by zstd (where this binary was built with it) or as an LZ4 block.
 */
#ifndef CUDA_UNPACK_H
#define CUDA_UNPACK_H

#include <stddef.h>
#include <stdint.h>

enum pack { PACK_NONE, PACK_ZSTD, PACK_LZ4 };

struct unpacker {
	void  *zstd;	/* kept from one entry to the next */
	size_t left;	/* bytes that may still be made */
};

/*
 * Unpacks @len bytes into @ret, @size bytes owned by the caller; NULL: they are not of that length, not packed so, or
 * too many. Returns 0 or -ENOMEM.
 */
int  unpack(void **ret, struct unpacker *u, enum pack by, const void *from, size_t len, uint64_t size);
void unpacker_clear(struct unpacker *u);

#endif
