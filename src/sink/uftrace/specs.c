/*
 * specs.c - arguments and results of functions: what follows their records, and the specs in *.dbg that tell of it.
 *
 * The length of what follows is told nowhere: a reader takes it from the
 * function's spec. So a spec is what the first record of a function has, and one
 * that has other forms is shown without its values.
 */
#include "base.h"
#include "out.h"
#include "sink/uftrace/uftrace.h"

#define STRINGS_SHOWN	800	/* columns of all strings of a call: a reader has 1024 bytes for it, unchecked */

static const char letters[VALUE_FORMATS] = {
	[VALUE_AUTO] = 'd', [VALUE_SIGNED] = 'i', [VALUE_UNSIGNED] = 'u', [VALUE_HEX] = 'x', [VALUE_CHAR] = 'c',
	[VALUE_POINTER] = 'p', [VALUE_STRING] = 's',
};

static const struct rec_value *next_value(const struct rec_func_args *rec, const struct rec_value *v)
{
	const char *at = v ? v->bytes + v->room : rec->values;

	return at < rec->values + rec->values_len ? (const void *)at : NULL;
}

/* ---- which spec ---- */

static size_t spec_index(const struct uf_module *mod, uint64_t addr)
{
	size_t low = 0, high = mod->spec_count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (mod->spec[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The spec of the function at @addr, an empty one if it had none; NULL: no memory. */
static struct uf_spec *spec_of(struct uf_module *mod, uint64_t addr, const char *name)
{
	size_t i = spec_index(mod, addr);

	if (i < mod->spec_count && mod->spec[i].addr == addr)
		return &mod->spec[i];
	if (grow(&mod->spec, &mod->spec_room, mod->spec_count, sizeof(*mod->spec)))
		return NULL;
	memmove(&mod->spec[i + 1], &mod->spec[i], (mod->spec_count++ - i) * sizeof(*mod->spec));
	mod->spec[i] = (struct uf_spec){ .addr = addr, .name = name };
	return &mod->spec[i];
}

static bool is_form_of(const struct uf_form *f, const struct rec_value *v)
{
	return f->index == v->index && f->format == v->format && f->size == v->size;
}

static struct uf_form form_of(const struct rec_value *v)
{
	return (struct uf_form){ v->index, v->format, v->size };
}

static bool set_forms(struct uf_spec *s, const struct rec_func_args *rec)
{
	for (const struct rec_value *v = next_value(rec, NULL); v; v = next_value(rec, v)) {
		if (!v->index) {
			s->result = form_of(v);
			s->has_result = true;
		} else if (s->count < ARRAY_SIZE(s->arg)) {
			s->arg[s->count++] = form_of(v);
		} else {
			s->count = 0;
			return false;
		}
	}
	return true;
}

static bool has_forms(const struct uf_spec *s, const struct rec_func_args *rec)
{
	unsigned n = 0;

	for (const struct rec_value *v = next_value(rec, NULL); v; v = next_value(rec, v))
		if (!v->index ? !is_form_of(&s->result, v) : n == s->count || !is_form_of(&s->arg[n++], v))
			return false;
	return rec->f.hdr.kind == REC_FUNC_EXIT_ARGS || n == s->count;
}

static bool is_known(const struct uf_spec *s, const struct rec_func_args *rec)
{
	return rec->f.hdr.kind == REC_FUNC_EXIT_ARGS ? s->has_result : s->count;
}

/* ---- what follows a record ---- */

/* Columns that @c may take. */
static unsigned width(unsigned char c)
{
	return c < ' ' || c > '~' ? 4 : 1;
}

/* uftrace's own recorder writes NULL and what cannot be read as text. */
static size_t text_of(char text[VALUE_STRING_MAX], const struct rec_value *v, unsigned *shown)
{
	char unread[32];
	uint64_t addr = 0;
	const char *from = v->bytes;
	size_t len = MIN(v->len, VALUE_STRING_MAX), n;

	if (v->flags & TEXT_FAULT) {
		memcpy(&addr, v->bytes, sizeof(addr));
		len = snprintf(unread, sizeof(unread), addr ? "<%#llx>" : "NULL", (unsigned long long)addr);
		from = unread;
	}
	for (n = 0; n < len && *shown + width(from[n]) <= STRINGS_SHOWN; n++)
		*shown += width(from[n]);
	memcpy(text, from, n);
	if (n < len || v->len >= VALUE_STRING_MAX)
		memset(text + n - MIN(n, (size_t)3), '.', MIN(n, (size_t)3));
	return n;
}

static uint8_t *put_value(uint8_t *at, const struct rec_value *v, unsigned *shown)
{
	char text[VALUE_STRING_MAX];
	uint16_t len = v->format == VALUE_STRING ? text_of(text, v, shown) : 0;
	size_t room = ROUND_UP(v->format == VALUE_STRING ? sizeof(len) + len : v->size, 4);

	memset(at, 0, room);
	if (v->format == VALUE_STRING) {
		memcpy(at, &len, sizeof(len));
		memcpy(at + sizeof(len), text, len);
	} else {
		memcpy(at, v->bytes, v->size);
	}
	return at + room;
}

int uf_values_show(struct uf_modules *m, struct uf_module *mod, uint64_t addr, const char *name,
		   const struct rec_func_args *rec, uint8_t *payload, size_t *len)
{
	struct uf_spec *s;
	uint8_t *at = payload;
	unsigned shown = 0;

	*len = 0;
	if (!rec->values_len)
		return 0;
	s = spec_of(mod, addr, name);
	if (!s)
		return -ENOMEM;
	if (!is_known(s, rec)) {
		if (!set_forms(s, rec))
			return 0;
		uf_module_has_new_specs(m, mod);
	}
	if (!has_forms(s, rec))
		return 0;
	for (const struct rec_value *v = next_value(rec, NULL); v; v = next_value(rec, v))
		at = put_value(at, v, &shown);
	*len = ROUND_UP((size_t)(at - payload), 8);
	memset(at, 0, *len - (at - payload));
	return 0;
}

/* ---- the file ---- */

static void put_form(struct out *o, const struct uf_form *f)
{
	if (f->index)
		out_printf(o, "arg%u/%c", f->index, letters[f->format]);
	else
		out_printf(o, "retval/%c", letters[f->format]);
	if (f->format != VALUE_STRING && f->format != VALUE_POINTER && (f->format != VALUE_CHAR || f->size != 1))
		out_printf(o, "%u", f->size * 8);
}

static void put_spec(struct out *o, const struct uf_spec *s)
{
	char clean[512];

	uf_clean(clean, sizeof(clean), s->name, UF_LINE);
	out_printf(o, "F: %llx %s\n", (unsigned long long)s->addr, *clean ? clean : "_");
	for (unsigned i = 0; i < s->count; i++) {
		out_printf(o, i ? "," : "A: @");
		put_form(o, &s->arg[i]);
	}
	if (s->count)
		out_printf(o, "\n");
	if (s->has_result) {
		out_printf(o, "R: @");
		put_form(o, &s->result);
		out_printf(o, "\n");
	}
}

void uf_specs_put(struct out *o, const struct uf_module *mod)
{
	for (const struct uf_spec *s = mod->spec; s < mod->spec + mod->spec_count; s++)
		if (s->count || s->has_result)
			put_spec(o, s);
}
