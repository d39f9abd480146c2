/*
 * codec.c - zstd where this binary was built with it, zlib, or nothing. A reader of trace-cmd 3.1 knows no zlib.
 */
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base.h"
#include "sink/tracedat/tracedat.h"

#ifdef HAVE_ZSTD
#define ZSTD_LEVEL	1	/* speed before size: the writer thread does it */

static size_t zstd_pack(void *to, size_t room, const void *from, size_t len)
{
	static __thread ZSTD_CCtx *ctx;		/* kept: to make one costs more than to use it */
	size_t n;

	if (!ctx)
		ctx = ZSTD_createCCtx();
	n = ctx ? ZSTD_compressCCtx(ctx, to, room, from, len, ZSTD_LEVEL) : 0;
	return ZSTD_isError(n) ? 0 : n;
}
#endif

static size_t zlib_bound(size_t len)
{
	return compressBound(len);
}

static size_t zlib_pack(void *to, size_t room, const void *from, size_t len)
{
	uLongf n = room;

	return compress2(to, &n, from, len, Z_BEST_SPEED) == Z_OK ? n : 0;
}

static const char *no_version(void)
{
	return "";
}

static const struct td_codec codecs[] = {
#ifdef HAVE_ZSTD
	{ "zstd", ZSTD_versionString, ZSTD_compressBound, zstd_pack },
#endif
	{ "none", no_version, NULL, NULL },
	{ "zlib", zlibVersion, zlib_bound, zlib_pack },
};

const struct td_codec *td_codec_find(const char *name)
{
	if (!name)
		return codecs;
	for (size_t i = 0; i < ARRAY_SIZE(codecs); i++)
		if (!strcmp(codecs[i].name, name))
			return &codecs[i];
	return NULL;
}
