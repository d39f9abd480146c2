/*
 * maps.c - where files lie in a session's memory, and what an address there belongs to.
 */
#include "base.h"
#include "event.h"
#include "flow/maps.h"
#include "image.h"
#include "symbols.h"

#define PAGE	4096ull

/* Where the file begins in memory, from what the record said and, once it is known, the file's own layout. */
void map_place(struct map *m)
{
	const struct image *img = m->image ?: m->names;

	switch (m->at) {
	case IMAGE_PHDR:
		m->start = img ? m->addr - (img->phdr_addr - img->load_addr) : m->addr & ~(PAGE - 1);
		break;
	case IMAGE_BASE:
		m->start = m->addr + (img ? img->load_addr : 0);
		break;
	default:
		m->start = m->addr - m->offset;
		if (img)			/* the text segment's file offset and address may differ */
			m->start = m->addr - m->offset + img->text_offset - (img->text_addr - img->load_addr);
		break;
	}
	m->end = m->start + (img ? ROUND_UP(img->load_size, PAGE) : MAX(m->len + m->offset, PAGE));
}

static void certain_range(const struct map *m, uint64_t *start, uint64_t *end)
{
	bool is_certain = m->image || m->at == IMAGE_MAPPED;

	*start = m->image ? m->start : m->addr;
	*end = !is_certain ? *start : m->image ? m->end : m->addr + m->len;
}

bool maps_collide(const struct map *a, const struct map *b)
{
	uint64_t start, end, other_start, other_end;

	certain_range(a, &start, &end);
	certain_range(b, &other_start, &other_end);
	return start < other_end && other_start < end;
}

/* Where it lies may only be known with its file. */
static void name_map(struct symbols *symbols, const struct session *s, struct map *m)
{
	if (m->was_named || m->image || !symbols)
		return;
	m->was_named = true;
	m->names = symbols_of(symbols, s->pid, m);
	if (m->names)
		map_place(m);
}

/* What was mapped there last. */
static const struct map *map_at(struct symbols *symbols, const struct session *s, uint64_t ip)
{
	for (size_t i = s->map_count; i--; ) {
		name_map(symbols, s, &s->map[i]);
		if (ip - s->map[i].start < s->map[i].end - s->map[i].start)
			return &s->map[i];
	}
	return NULL;
}

static void place_frame(struct symbols *symbols, const struct session *s, struct frame *f, bool is_return)
{
	const struct map *m = map_at(symbols, s, f->ip);
	const struct image *img;

	if (!m)
		return;
	f->map = m;
	img = m->image ?: m->names;
	f->func = img ? image_func_at(img, f->ip - m->start - is_return) : NULL;
	f->offset = f->ip - m->start - (f->func ? f->func->addr : 0);
}

/* Code of no file, or of one without functions: does its process tell what it is? */
static void name_made(struct symbols *symbols, uint32_t pid, struct frame *f, bool is_return)
{
	f->func = symbols_made(symbols, pid, f->ip - is_return);
	if (f->func)
		f->offset = f->ip - f->func->addr;
}

void frames_find(struct frame *frame, const struct rec_callers *r, const struct session *s, struct symbols *symbols)
{
	for (uint32_t i = 0; i < r->user; i++) {
		frame[i] = (struct frame){ .ip = r->ip[r->kernel + i] };
		if (s)
			place_frame(symbols, s, &frame[i], i);
		if (s && symbols && !frame[i].func)
			name_made(symbols, r->hdr.pid, &frame[i], i);
	}
}
