/*
 * decode.c - a reader for each way in which functions are told what to do.
 *
 * Offsets are those of the structures in NVIDIA's cuda.h; x86-64 and arm64 lay
 * them out alike.
 */
#include <elf.h>

#include "base.h"
#include "cuda/code.h"
#include "cuda/decode.h"

/* ---- what was taken along ---- */

/* The @n-th piece, from 0 on; NULL: there is none. */
static const struct rec_text *piece(const struct rec_cuda_entry *r, unsigned n)
{
	const char *at = r->text, *end = r->text + r->text_len;

	for (; at < end; n--) {
		const struct rec_text *x = (const void *)at;

		if (!n)
			return x;
		at += (sizeof(*x) + x->len + 3) & ~3ul;
	}
	return NULL;
}

static uint32_t u32_at(const struct rec_text *x, size_t at)
{
	uint32_t v = 0;

	if (x && at + sizeof(v) <= x->len)
		memcpy(&v, x->bytes + at, sizeof(v));
	return v;
}

static uint64_t u64_at(const struct rec_text *x, size_t at)
{
	uint64_t v = 0;

	if (x && at + sizeof(v) <= x->len)
		memcpy(&v, x->bytes + at, sizeof(v));
	return v;
}

static void three_at(uint32_t to[3], const struct rec_text *x, size_t at)
{
	for (size_t i = 0; i < 3; i++)
		to[i] = u32_at(x, at + 4 * i);
}

static uint64_t arg_at(const struct cuda_call *c, uint8_t n)
{
	return n ? c->arg[n - 1] : 0;
}

/* ---- launches ---- */

/* cuLaunchKernel(), cuLaunchCooperativeKernel(): all in words. */
static size_t dims_of_words(struct cuda_dims *d, const struct rec_cuda_entry *r)
{
	d->func = r->arg[0];
	for (size_t i = 0; i < 3; i++) {
		d->grid[i] = r->arg[1 + i];
		d->block[i] = r->arg[4 + i];
	}
	d->shared = r->arg[7];
	d->stream = r->arg[8];
	d->flags = cuda_function_of(r->func)->plan.words == 10 ? CUDA_LAUNCH_COOPERATIVE : 0;
	return 1;
}

enum launch_attribute { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };	/* CUlaunchAttributeID */

#define ATTRIBUTE_BYTES	72u	/* CUlaunchAttribute: its id, and its value from 8 on */

static void read_attributes(struct cuda_dims *d, const struct rec_text *x)
{
	for (size_t at = 0; x && at + ATTRIBUTE_BYTES <= x->len; at += ATTRIBUTE_BYTES) {
		uint32_t id = u32_at(x, at);

		if (id == ATTRIBUTE_COOPERATIVE && u32_at(x, at + 8))
			d->flags |= CUDA_LAUNCH_COOPERATIVE;
		if (id != ATTRIBUTE_CLUSTER)
			continue;
		d->flags |= CUDA_LAUNCH_CLUSTER;
		three_at(d->cluster, x, at + 8);
	}
}

/* CUlaunchConfig: grid, block, shared bytes, stream. */
static size_t dims_of_config(struct cuda_dims *d, const struct rec_cuda_entry *r)
{
	const struct rec_text *x = piece(r, 0);

	d->func = r->arg[1];
	d->flags = CUDA_LAUNCH_EX;
	three_at(d->grid, x, 0);
	three_at(d->block, x, 12);
	d->shared = u32_at(x, 24);
	d->stream = u64_at(x, 32);
	read_attributes(d, piece(r, 1));
	return 1;
}

#define LAUNCH_PARAMS_BYTES	56u	/* CUDA_LAUNCH_PARAMS, one per device */

static size_t dims_of_list(struct cuda_dims *d, const struct rec_cuda_entry *r)
{
	const struct rec_text *x = piece(r, 0);
	size_t n = x ? MIN(x->len / LAUNCH_PARAMS_BYTES, CUDA_LIST_MAX) : 0;

	for (size_t i = 0; i < n; i++, d++) {
		size_t at = i * LAUNCH_PARAMS_BYTES;

		*d = (struct cuda_dims){
			.func = u64_at(x, at), .shared = u32_at(x, at + 32), .stream = u64_at(x, at + 40),
			.flags = CUDA_LAUNCH_MULTI | CUDA_LAUNCH_COOPERATIVE,
		};
		three_at(d->grid, x, at + 8);
		three_at(d->block, x, at + 20);
	}
	return n;
}

/* cuLaunch(f), cuLaunchGrid(f, width, height), cuLaunchGridAsync(f, width, height, stream) */
static size_t dims_of_grid(struct cuda_dims *d, const struct rec_cuda_entry *r)
{
	unsigned words = cuda_function_of(r->func)->plan.words;

	d->func = r->arg[0];
	d->grid[0] = words > 1 ? r->arg[1] : 1;
	d->grid[1] = words > 1 ? r->arg[2] : 1;
	d->grid[2] = 1;
	d->stream = words > 3 ? r->arg[3] : 0;
	d->flags = CUDA_LAUNCH_LEGACY;
	return 1;
}

/* CUDA_KERNEL_NODE_PARAMS: function, grid, block, shared bytes; from its second version on a CUkernel where that is 0. */
static size_t dims_of_node(struct cuda_dims *d, const struct rec_text *x, size_t at)
{
	d->func = u64_at(x, at) ?: u64_at(x, at + 56);
	three_at(d->grid, x, at + 8);
	three_at(d->block, x, at + 20);
	d->shared = u32_at(x, at + 32);
	return d->func != 0;
}

size_t decode_dims(struct cuda_dims d[CUDA_LIST_MAX], const struct rec_cuda_entry *r)
{
	memset(d, 0, sizeof(*d));
	switch (cuda_function_of(r->func)->does) {
	case CUDA_DOES_LAUNCH:
		return dims_of_words(d, r);
	case CUDA_DOES_LAUNCH_EX:
		return dims_of_config(d, r);
	case CUDA_DOES_LAUNCH_MULTI:
		return dims_of_list(d, r);
	case CUDA_DOES_LAUNCH_GRID:
		return dims_of_grid(d, r);
	case CUDA_DOES_GRAPH_ADD_KERNEL:
	case CUDA_DOES_EXEC_SET_KERNEL:
	case CUDA_DOES_NODE_SET_KERNEL:
		return dims_of_node(d, piece(r, 0), 0);
	case CUDA_DOES_EXEC_SET_NODE:
	case CUDA_DOES_NODE_SET_NODE:
	case CUDA_DOES_GRAPH_ADD_NODE:		/* CUgraphNodeParams: its type, 0 for a kernel, then from 16 on what that has */
		return piece(r, 0) && !u32_at(piece(r, 0), 0) ? dims_of_node(d, piece(r, 0), 16) : 0;
	default:
		return 0;
	}
}

/* ---- memory ---- */

enum memory_type { MEMORY_HOST = 1, MEMORY_DEVICE, MEMORY_ARRAY, MEMORY_UNIFIED };	/* CUmemorytype */

static uint8_t kind_of_copy(uint32_t from, uint32_t to)
{
	if (from == MEMORY_UNIFIED || to == MEMORY_UNIFIED)
		return CUDA_MEM_UNIFIED;
	if (from == MEMORY_HOST)
		return to == MEMORY_HOST ? CUDA_MEM_UNIFIED : CUDA_MEM_HTOD;
	return to == MEMORY_HOST ? CUDA_MEM_DTOH : CUDA_MEM_DTOD;
}

/* Where a side of a copy begins: a type, then a host and a device address, of which it says which counts. */
static uint64_t side(const struct rec_text *x, size_t type)
{
	return u64_at(x, type + (u32_at(x, type) == MEMORY_HOST ? 8 : 16));
}

/* CUDA_MEMCPY2D: source from 16 on, destination from 72 on, width, height. */
static void read_2d(struct cuda_call *c, const struct rec_text *x)
{
	c->memory = kind_of_copy(u32_at(x, 16), u32_at(x, 72));
	c->src = side(x, 16);
	c->dst = side(x, 72);
	c->bytes = u64_at(x, 112) * u64_at(x, 120);
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER, whose contexts lie where the other keeps nothing. */
static void read_3d(struct cuda_call *c, const struct rec_text *x, bool is_peer)
{
	c->memory = is_peer ? CUDA_MEM_PEER : kind_of_copy(u32_at(x, 32), u32_at(x, 120));
	c->src = side(x, 32);
	c->dst = side(x, 120);
	c->bytes = u64_at(x, 176) * u64_at(x, 184) * u64_at(x, 192);
}

static void read_batch(struct cuda_call *c, const struct rec_text *x)
{
	c->memory = CUDA_MEM_UNIFIED;
	for (size_t at = 0; x && at + 8 <= x->len; at += 8)
		c->bytes += u64_at(x, at);
	c->is_partial = (x ? x->len / 8 : 0) < arg_at(c, c->fn->plan.take_count);
}

static bool is_copy(uint8_t memory)
{
	return (memory && memory < CUDA_MEM_SET) || memory == CUDA_MEM_PEER;
}

static void read_memory(struct cuda_call *c, const struct rec_cuda_entry *r)
{
	const struct cuda_function *f = c->fn;

	c->memory = f->memory;
	c->dst = arg_at(c, f->dst);
	c->src = arg_at(c, f->src);
	c->bytes = arg_at(c, f->bytes) * (f->unit ?: 1) * (f->times ? arg_at(c, f->times) : 1);
	c->is_partial = is_copy(f->memory) && !f->bytes;	/* of a list of structures */
	if (f->memory == CUDA_MEM_2D)
		read_2d(c, piece(r, 0));
	else if (f->memory == CUDA_MEM_3D)
		read_3d(c, piece(r, 0), strstr(f->name, "Peer"));
	else if (f->memory == CUDA_MEM_BATCH)
		read_batch(c, piece(r, 0));
}

/* ---- modules ---- */

#define WRAPPER_MAGIC	0x466243b1u

static bool is_text(const struct rec_text *x)
{
	for (size_t i = 0; i < MIN(x->len, 4u); i++)
		if (x->bytes[i] != '\t' && x->bytes[i] != '\n' && x->bytes[i] != '\r' && (x->bytes[i] < ' ' || x->bytes[i] > '~'))
			return false;
	return x->len >= 4;
}

static void read_image(struct cuda_call *c, const struct rec_cuda_entry *r)
{
	const struct rec_text *x = piece(r, 0), *inner = piece(r, 1);

	c->image_addr = c->arg[1];
	if (!x || !x->len) {
		c->image = CUDA_IMAGE_UNREAD;
	} else if (!memcmp(x->bytes, ELFMAG, MIN(x->len, SELFMAG))) {
		c->image = CUDA_IMAGE_ELF;
		c->image_bytes = code_bytes(x->bytes, x->len);
	} else if (u32_at(x, 0) == CODE_FATBIN_MAGIC) {
		c->image = CUDA_IMAGE_FATBIN;
		c->image_bytes = code_bytes(x->bytes, x->len);
	} else if (u32_at(x, 0) == WRAPPER_MAGIC) {
		c->image = CUDA_IMAGE_WRAPPED;
		c->image_addr = u64_at(x, 8);
		c->image_bytes = u32_at(inner, 0) == CODE_FATBIN_MAGIC ? code_bytes(inner->bytes, inner->len) : 0;
	} else if (is_text(x)) {
		c->image = CUDA_IMAGE_PTX;
	}
}

static int read_string(struct cuda_call *c, const struct rec_cuda_entry *r)
{
	const struct rec_text *x = piece(r, 0);
	char *name;

	if (!x || x->flags & TEXT_FAULT)
		return 0;
	/* Of one that is too long not all was taken along: it ends as it is shown to the user everywhere. */
	if (asprintf(&name, "%.*s%s", x->len, x->bytes, x->flags & TEXT_CUT ? "..." : "") < 0)
		return -ENOMEM;
	c->name = name;
	return 0;
}

#define NODE_IS_GRAPH	4	/* CUgraphNodeType; in CUgraphNodeParams its graph is at 16 */

static uint64_t child_of(const struct cuda_call *c, const struct rec_cuda_entry *r)
{
	switch (c->fn->does) {
	case CUDA_DOES_GRAPH_ADD_CHILD:
		return c->arg[4];
	case CUDA_DOES_EXEC_SET_CHILD:
		return c->arg[2];
	case CUDA_DOES_EXEC_SET_NODE:
	case CUDA_DOES_NODE_SET_NODE:
	case CUDA_DOES_GRAPH_ADD_NODE:
		return u32_at(piece(r, 0), 0) == NODE_IS_GRAPH ? u64_at(piece(r, 0), 16) : 0;
	default:
		return 0;
	}
}

static uint8_t wait_kind(uint8_t does)
{
	switch (does) {
	case CUDA_DOES_WAIT_CONTEXT:
		return CUDA_MEM_WAIT_CONTEXT;
	case CUDA_DOES_WAIT_STREAM:
		return CUDA_MEM_WAIT_STREAM;
	case CUDA_DOES_WAIT_EVENT:
		return CUDA_MEM_WAIT_EVENT;
	default:
		return CUDA_MEM_NONE;
	}
}

int decode_call(struct cuda_call *c, const struct rec_cuda_entry *r)
{
	const struct cuda_function *f = cuda_function_of(r->func);

	c->fn = f;
	c->func = r->func;
	c->tid = r->hdr.tid;
	c->result = CUDA_NO_RESULT;
	c->entry = r->hdr.time;
	memcpy(c->arg, r->arg, sizeof(c->arg));
	c->stream = arg_at(c, f->stream);
	c->event = arg_at(c, f->event);
	c->handle = arg_at(c, f->handle);
	c->child = child_of(c, r);
	c->memory = wait_kind(f->does);
	if (f->does == CUDA_DOES_MEMORY)
		read_memory(c, r);
	if (f->plan.take == CUDA_TAKE_IMAGE)
		read_image(c, r);
	return f->plan.take == CUDA_TAKE_STRING ? read_string(c, r) : 0;
}
