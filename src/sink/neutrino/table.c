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

int nt_table_create(struct nt_table *t, int dirfd, const char *name)
{
	struct nt_header h = {
		.grid = { 0, 1, 1 }, .block = { 1, 1, 1 }, .maps = 1,
		.size = NT_ROW, .warp_div = 1, .offset = sizeof(h),
	};
	int err = out_create(&t->out, dirfd, name);

	if (err)
		return err;
	out_bytes(t->out, &h, sizeof(h));
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
		out_patch_u64(t->out, sizeof(struct nt_header) + (uint64_t)row * NT_ROW + at, v);
}

int nt_table_checkpoint(struct nt_table *t)
{
	int err = out_park(t->out);

	if (!err && t->has_news)
		out_patch_u64(t->out, 0, first_words(t));
	t->has_news = false;
	return out_error(t->out);
}

int nt_table_seal(struct nt_table *t)
{
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
bool nt_shape(struct nt_shape *ret, const struct cuda_launch *l)
{
	uint64_t threads = product(l->block);
	bool shows;

	ret->blocks = product(l->grid);
	shows = threads && ret->blocks && ret->blocks <= NT_APPARENT_MAX / NT_ROW;
	if (threads >= UINT32_MAX)
		return false;
	ret->units = shows;
	ret->warp_div = shows ? threads : threads + 1;
	ret->size = sizeof(struct nt_header) + NT_ROW * (shows ? ret->blocks : 1);
	return true;
}
