/*
 * unpack.c - zstd by its library; LZ4 here, since the block format is a page: a byte with two lengths, bytes to be
 * copied as they are, and how far back to copy from.
 */
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base.h"
#include "cuda/code.h"
#include "cuda/unpack.h"

/* ---- LZ4 ---- */

struct lz4 {
	const uint8_t *from, *from_end;
	uint8_t	      *start, *to, *to_end;
};

#define LZ4_LONG	15u	/* this length goes on in the bytes that follow */
#define LZ4_MATCH_MIN	4u

/* Adds what follows to @n while it is 255. */
static bool lz4_length(struct lz4 *z, size_t *n)
{
	uint8_t more;

	if (*n != LZ4_LONG)
		return true;
	do {
		if (z->from == z->from_end)
			return false;
		more = *z->from++;
		*n += more;
	} while (more == 255);
	return true;
}

static bool lz4_literals(struct lz4 *z, size_t n)
{
	if (!lz4_length(z, &n) || n > (size_t)(z->from_end - z->from) || n > (size_t)(z->to_end - z->to))
		return false;
	memcpy(z->to, z->from, n);
	z->from += n;
	z->to += n;
	return true;
}

/* The two may overlap: what was just written is copied on, each time as much as there is by then. */
static bool lz4_match(struct lz4 *z, size_t n)
{
	const uint8_t *from;
	size_t back;

	if (z->from_end - z->from < 2)
		return false;
	back = z->from[0] | z->from[1] << 8;
	z->from += 2;
	if (!lz4_length(z, &n))
		return false;
	n += LZ4_MATCH_MIN;
	if (!back || back > (size_t)(z->to - z->start) || n > (size_t)(z->to_end - z->to))
		return false;
	from = z->to - back;
	while (n) {
		size_t some = MIN(n, (size_t)(z->to - from));

		memcpy(z->to, from, some);
		z->to += some;
		n -= some;
	}
	return true;
}

/* A block ends with literals. */
static bool unpack_lz4(void *to, size_t size, const void *from, size_t len)
{
	struct lz4 z = { .from = from, .start = to, .to = to };

	z.from_end = z.from + len;
	z.to_end = z.to + size;
	while (z.from < z.from_end) {
		uint8_t token = *z.from++;

		if (!lz4_literals(&z, token >> 4))
			return false;
		if (z.from == z.from_end)
			return z.to == z.to_end;
		if (!lz4_match(&z, token & 15))
			return false;
	}
	return false;
}

/* ---- zstd ---- */

#ifdef HAVE_ZSTD
static int unpack_zstd(bool *done, struct unpacker *u, void *to, size_t size, const void *from, size_t len)
{
	if (!u->zstd)
		u->zstd = ZSTD_createDCtx();
	if (!u->zstd)
		return -ENOMEM;
	*done = ZSTD_decompressDCtx(u->zstd, to, size, from, len) == size;
	return 0;
}

void unpacker_clear(struct unpacker *u)
{
	ZSTD_freeDCtx(u->zstd);
}
#else
static int unpack_zstd(bool *done, struct unpacker *u, void *to, size_t size, const void *from, size_t len)
{
	(void)u, (void)to, (void)size, (void)from, (void)len;
	*done = false;
	return 0;
}

void unpacker_clear(struct unpacker *u)
{
	(void)u;
}
#endif

int unpack(void **ret, struct unpacker *u, enum pack by, const void *from, size_t len, uint64_t size)
{
	__cleanup(free_ptr) void *to = NULL;
	bool done = false;
	int err = 0;

	*ret = NULL;
	if (!size || size > CODE_UNPACKED_MAX || size > u->left)
		return 0;
	u->left -= size;	/* also where it fails: it may have been made nearly whole */
	to = malloc(size);
	if (!to)
		return -ENOMEM;
	if (by == PACK_LZ4)
		done = unpack_lz4(to, size, from, len);
	else if (by == PACK_ZSTD)
		err = unpack_zstd(&done, u, to, size, from, len);
	if (done)
		*ret = TAKE(to);
	return err;
}
