/*
 * table.c - NEUTRINO's container of a record for each thread or warp of a launch, used for what a host knows.
 *
 * A table is a launch of as many blocks as it has rows, of one thread each. The
 * header's count follows the rows at a checkpoint: a reader of a file whose writer
 * was killed finds whole rows only.
 */
#include "base.h"
#include "out.h"
#include "sink/neutrino/neutrino.h"

static uint64_t first_words(const struct nt_table *t)
{
	return t->rows | 1ull << 32;	/* gridDimX, gridDimY */
}

int nt_table_create(struct nt_table *t, int dirfd, const char *name, unsigned maps)
{
	struct nt_header h = {
		.grid = { 0, 1, 1 }, .block = { 1, 1, 1 }, .maps = 1,
		.section[0] = { .size = NT_ROW, .warp_div = 1, .offset = NT_HEADER(maps) },
	};
	int err = out_create(&t->out, dirfd, name);

	if (err)
		return err;
	t->head = NT_HEADER(maps);
	out_bytes(t->out, &h, t->head);
	return out_flush(t->out);
}

void nt_table_add(struct nt_table *t, const void *row)
{
	if (t->rows == UINT32_MAX)
		return;
	out_bytes(t->out, row, NT_ROW);
	t->rows++;
	t->has_news = true;
}

void nt_table_patch(struct nt_table *t, uint32_t row, size_t at, uint64_t v)
{
	if (row < t->rows)
		out_patch_u64(t->out, t->head + (uint64_t)row * NT_ROW + at, v);
}

int nt_table_checkpoint(struct nt_table *t)
{
	int err = out_park(t->out);

	if (!err && t->has_news)
		out_patch_u64(t->out, 0, first_words(t));
	t->has_news = false;
	return out_error(t->out);
}

int nt_table_add_map(struct nt_table *t, int fd, uint32_t size)
{
	uint64_t at = out_tell(t->out), left = (uint64_t)t->rows * size, from = 0;
	char bytes[48 * 256];

	for (; left; left -= MIN(left, sizeof(bytes)), from += sizeof(bytes)) {
		size_t n = MIN(left, sizeof(bytes));
		ssize_t got = pread(fd, bytes, n, from);

		if (got < 0)
			return -errno;
		memset(bytes + got, 0, n - got);	/* the last rows may have nothing */
		out_bytes(t->out, bytes, n);
	}
	if (out_flush(t->out))
		return out_error(t->out);
	out_patch_u64(t->out, offsetof(struct nt_header, section[1]), size | 1ull << 32);	/* size, warp_div */
	out_patch_u64(t->out, offsetof(struct nt_header, section[1].offset), at);
	out_patch_u64(t->out, offsetof(struct nt_header, shared), 2ull << 32);	/* shared, maps */
	return out_error(t->out);
}

/* Where there is no room for all rows, the count stays the last one that was right. */
int nt_table_seal(struct nt_table *t)
{
	if (!out_flush(t->out))
		out_patch_u64(t->out, 0, first_words(t));
	return out_seal(t->out);
}

/* a * b * c, UINT64_MAX if it is more. */
static uint64_t product(const uint32_t dim[3])
{
	unsigned __int128 n = (unsigned __int128)((uint64_t)dim[0] * dim[1]) * dim[2];

	return n > UINT64_MAX ? UINT64_MAX : n;
}

/*
 * The section holds one unit for a block, so a reader sees the record in block 0 and a hole for the rest; where that
 * would be too much to look at it sees no units, and the record stands there all the same.
 */
bool nt_shape(struct nt_shape *ret, const struct cuda_launch *l, bool has_gpu)
{
	uint64_t threads = product(l->block);
	bool shows;

	ret->blocks = product(l->grid);
	shows = threads && ret->blocks && ret->blocks <= NT_APPARENT_MAX / NT_ROW;
	if (threads >= UINT32_MAX)
		return false;
	ret->units = shows;
	ret->warp_div = shows ? threads : threads + 1;
	ret->host_bytes = NT_ROW * (shows ? ret->blocks : 1);
	ret->gpu_bytes = has_gpu ? NT_GPU_ROW * (shows ? ret->blocks : 1) : 0;
	ret->size = NT_HEADER(1u + has_gpu) + ret->host_bytes + ret->gpu_bytes;
	return true;
}
