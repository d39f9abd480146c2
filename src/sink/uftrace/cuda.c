/*
 * cuda.c - a call of the CUDA driver: a function of a module of our own, with what it was told decoded.
 *
 * As with USDT probes, a function has a slot for each form of its arguments. A grid is
 * an enumerator, so that it is shown as 64x1x1 and not in quotes; when there are too
 * many different ones, it is a string.
 */
#include "base.h"
#include "cuda.h"
#include "sink/uftrace/calls.h"

#define SPEC_MAX	(ARGS_MAX * 16)
#define FIRST_DIMS	0x40000000

/* What is made of a call as it is gone through. */
struct made {
	struct uf_calls *c;
	char	 spec[SPEC_MAX];
	size_t	 len;		/* of spec */
	unsigned args, shown;
	uint8_t *at;		/* in the payload */
};

static void add_spec(struct made *m, const char *form)
{
	m->len += snprintf(m->spec + m->len, sizeof(m->spec) - m->len, "%sarg%u/%s", m->args ? "," : "", m->args + 1, form);
	m->args++;
}

static void add_number(struct made *m, const char *form, uint64_t value, unsigned bytes)
{
	add_spec(m, form);
	memcpy(m->at, &value, bytes);
	m->at += bytes;
}

static void add_hex(struct made *m, uint64_t value)
{
	add_number(m, "x64", value, 8);
}

static void add_text(struct made *m, const char *text)
{
	size_t len = strlen(text);
	struct {
		struct rec_value v;
		char bytes[VALUE_ROOM_STRING];
	} x = { .v = { .format = VALUE_STRING, .size = 8 } };

	x.v.len = MIN(len, (size_t)VALUE_STRING_MAX + 1);
	memcpy(x.v.bytes, text, x.v.len);
	add_spec(m, "s");
	m->at = uf_value_put(m->at, &x.v, &m->shown);
}

/* The same text is always the same enumerator. */
static const struct seen *dims_seen(struct uf_calls *c, const uint32_t d[3], char *text)
{
	uint64_t key = ((uint64_t)d[0] << 32 | d[1]) * 0x9e3779b97f4a7c15ull ^ d[2];
	const struct seen *known;

	if (!c->dims)
		c->dims = column_create();
	known = c->dims ? column_find(c->dims, key) : NULL;
	if (known || !c->dims)
		return known;
	c->has_new_names = c->has_new_slots = true;
	return column_add(c->dims, key, FIRST_DIMS, text);
}

static void add_dims(struct made *m, const uint32_t d[3])
{
	char text[40], copy[40];
	const struct seen *s;

	snprintf(text, sizeof(text), "%ux%ux%u", d[0], d[1], d[2]);
	s = dims_seen(m->c, d, strcpy(copy, text));
	if (s && s->format == F_NAMED)
		add_number(m, "e:dims", s->value, 8);
	else
		add_text(m, text);
}

static void add_launch(struct made *m, const struct cuda_call *call)
{
	const struct cuda_launch *l = call->launch;

	add_text(m, l->kernel->name);
	add_dims(m, l->grid);
	add_dims(m, l->block);
	add_number(m, "u32", l->shared, 4);
	add_hex(m, l->stream);
}

static void add_memory(struct made *m, const struct cuda_call *call)
{
	const struct cuda_function *f = call->fn;

	if (f->dst || call->dst)
		add_hex(m, call->dst);
	if (f->src || call->src)
		add_hex(m, call->src);
	if (f->bytes || call->bytes)
		add_number(m, "u64", call->bytes, 8);
	if (f->stream)
		add_hex(m, call->stream);
}

static void add_others(struct made *m, const struct cuda_call *call)
{
	const struct cuda_function *f = call->fn;

	if (f->handle)
		add_hex(m, call->handle);
	if (f->event)
		add_hex(m, call->event);
	if (f->stream)
		add_hex(m, call->stream);
	if (call->name)
		add_text(m, call->name);
	if (f->does == CUDA_DOES_LOAD)
		add_hex(m, call->image_addr);
	if (f->does == CUDA_DOES_GRAPH_LAUNCH)
		add_number(m, "u32", call->launches, 4);
}

static uint64_t slot_of(const struct made *m, const struct cuda_call *call)
{
	char name[CUDA_SYMBOL_MAX];

	cuda_symbol(call->func, name);
	return slot_of_function(m->c, name, m->args ? m->spec : NULL, "retval/i32");
}

/* The slot follows from what is known at the entry, so both ends have the same. */
static uint64_t show(struct uf_calls *c, const struct cuda_call *call, uint8_t *payload, size_t *len)
{
	struct made m = { .c = c, .at = payload };
	uint64_t addr;

	if (call->fn->does == CUDA_DOES_MEMORY)
		add_memory(&m, call);
	else if (call->launches && call->fn->does != CUDA_DOES_GRAPH_LAUNCH)
		add_launch(&m, call);
	else
		add_others(&m, call);
	addr = slot_of(&m, call);
	*len = ROUND_UP((size_t)(m.at - payload), 8);
	memset(m.at, 0, *len - (m.at - payload));
	if (addr)
		return addr;
	*len = 0;
	return uf_calls_named(c, call->fn->name);
}

uint64_t uf_cuda_entry(struct uf_calls *c, const struct cuda_call *call, uint8_t *payload, size_t *len)
{
	return show(c, call, payload, len);
}

uint64_t uf_cuda_exit(struct uf_calls *c, const struct cuda_call *call, uint8_t *payload, size_t *len)
{
	uint8_t entry[UF_VALUES_MAX];
	uint64_t addr = show(c, call, entry, len);

	*len = call->result == CUDA_NO_RESULT ? 0 : 8;
	memset(payload, 0, 8);
	memcpy(payload, &call->result, sizeof(call->result));
	return addr;
}

uint64_t uf_cuda_kernel(struct uf_calls *c, const char *name, const uint32_t grid[3], const uint32_t block[3], uint8_t *payload,
			size_t *len)
{
	struct made m = { .c = c, .at = payload };
	uint64_t addr;

	add_dims(&m, grid);
	add_dims(&m, block);
	addr = slot_of_function(c, name, m.spec, NULL);
	*len = addr ? ROUND_UP((size_t)(m.at - payload), 8) : 0;
	memset(m.at, 0, payload + *len > m.at ? payload + *len - m.at : 0);
	return addr ?: uf_calls_named(c, name);
}
