/*
 * specs.c - arguments and results of functions: what follows their records, and the specs in *.dbg that tell of it.
 *
 * The length of what follows is told nowhere: a reader takes it from the
 * function's spec. So a spec is what the first record of a function has, and one
 * that has other forms is shown without its values.
 */
#include <math.h>

#include "base.h"
#include "debug.h"
#include "image.h"
#include "out.h"
#include "sink/uftrace/uftrace.h"

#define STRINGS_SHOWN	800	/* columns of all strings of a call: a reader has 1024 bytes for it, unchecked */

static const char letters[VALUE_FORMATS] = {
	[VALUE_AUTO] = 'd', [VALUE_SIGNED] = 'i', [VALUE_UNSIGNED] = 'u', [VALUE_HEX] = 'x', [VALUE_CHAR] = 'c',
	[VALUE_POINTER] = 'p', [VALUE_STRING] = 's', [VALUE_FLOAT] = 'f',
	[VALUE_STD_STRING] = 'S', [VALUE_STRUCT] = 't', [VALUE_ENUM] = 'e',
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

static bool is_string(const struct rec_value *v)
{
	return v->format == VALUE_STRING || v->format == VALUE_STD_STRING;
}

/* A reader's `dump` has no room for a long double, so they are shown as doubles. */
static uint8_t size_shown(const struct rec_value *v)
{
	return v->format == VALUE_FLOAT && v->size == 10 ? sizeof(double) : v->size;
}

static bool is_form_of(const struct uf_form *f, const struct rec_value *v)
{
	return f->index == v->index && f->format == v->format && f->size == size_shown(v);
}

static struct uf_form form_of(const struct rec_value *v)
{
	struct uf_form f = { v->index, v->format, size_shown(v), "" };

	if (v->format != VALUE_STRUCT)
		return f;
	snprintf(f.type, sizeof(f.type), "%s", v->bytes + ROUND_UP(v->size, 8));
	for (char *c = f.type; *c; c++)
		if (*c <= ' ' || *c > '~' || strchr(",;%@/\"", *c))
			*c = '_';		/* would end the spec, or the line */
	return f;
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

/* An enumeration's value, as a reader takes it. */
static void put_enum(uint8_t *at, const struct rec_value *v)
{
	int32_t named;

	memcpy(&named, v->bytes, sizeof(named));
	memcpy(at, &(int64_t){ named }, sizeof(int64_t));
}

static double as_double(const struct rec_value *v)
{
	long double x = 0;
	double d;
	float f;

	if (v->size == 10)
		return memcpy(&x, v->bytes, 10), x;
	if (v->size == 8)
		return memcpy(&d, v->bytes, sizeof(d)), d;
	return memcpy(&f, v->bytes, sizeof(f)), f;
}

/* What could not be read is no number; nor is what a reader has no room for. */
static void put_float(uint8_t *at, const struct rec_value *v, unsigned *shown)
{
	double d = as_double(v);
	float f;

	*shown += snprintf(NULL, 0, "%f", d);
	if (v->flags & TEXT_FAULT || *shown > STRINGS_SHOWN)
		d = NAN;
	f = d;
	if (v->size == 4)
		memcpy(at, &f, sizeof(f));
	else
		memcpy(at, &d, sizeof(d));
}

static uint8_t *put_string(uint8_t *at, const struct rec_value *v, unsigned *shown)
{
	char text[VALUE_STRING_MAX];
	uint16_t len = text_of(text, v, shown);
	size_t room = ROUND_UP(sizeof(len) + len, 4);

	memset(at, 0, room);
	memcpy(at, &len, sizeof(len));
	memcpy(at + sizeof(len), text, len);
	return at + room;
}

uint8_t *uf_value_put(uint8_t *at, const struct rec_value *v, unsigned *shown)
{
	size_t room = ROUND_UP(v->format == VALUE_ENUM ? sizeof(int64_t) : size_shown(v), 4);

	if (is_string(v))
		return put_string(at, v, shown);
	memset(at, 0, room);
	if (v->format == VALUE_FLOAT)
		put_float(at, v, shown);
	else if (v->format == VALUE_ENUM)
		put_enum(at, v);
	else
		memcpy(at, v->bytes, v->size);
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
		at = uf_value_put(at, v, &shown);
	*len = ROUND_UP((size_t)(at - payload), 8);
	memset(at, 0, *len - (at - payload));
	return 0;
}

/* ---- the file ---- */

/* "NAME" of the enumeration of @f: what follows e: in its spec. NULL: not known. */
static const char *enum_name(const char *spec, const struct uf_form *f, int *len)
{
	char key[16];
	const char *at;

	snprintf(key, sizeof(key), f->index ? "arg%u/e:" : "retval/e:", f->index);
	at = strstr(spec, key);
	if (!at || (at != spec && at[-1] != ','))
		return NULL;
	at += strlen(key);
	*len = strcspn(at, ",%");
	return at;
}

static void put_enum_form(struct out *o, const struct uf_form *f, const char *spec)
{
	int len = 0;
	const char *name = enum_name(spec, f, &len);

	if (name)
		out_printf(o, "e:%.*s", len, name);
	else
		out_printf(o, "i64");
}

/* @spec: what debug information says. */
static void put_form(struct out *o, const struct uf_form *f, const char *spec)
{
	if (f->format == VALUE_ENUM) {
		out_printf(o, f->index ? "arg%u/" : "retval/", f->index);
		put_enum_form(o, f, spec);
		return;
	}
	if (f->format == VALUE_FLOAT && f->index) {
		out_printf(o, "fparg%u/%u", f->index, f->size * 8);
		return;
	}
	if (f->index)
		out_printf(o, "arg%u/%c", f->index, letters[f->format]);
	else
		out_printf(o, "retval/%c", letters[f->format]);
	switch (f->format) {
	case VALUE_STRING:
	case VALUE_STD_STRING:
	case VALUE_POINTER:
		return;
	case VALUE_STRUCT:
		out_printf(o, "%u%s%s", f->size, *f->type ? ":" : "", f->type);
		return;
	default:
		if (f->format != VALUE_CHAR || f->size != 1)
			out_printf(o, "%u", f->size * 8);
	}
}

static void put_spec(struct out *o, const struct uf_spec *s, const char *args, const char *result)
{
	for (unsigned i = 0; i < s->count; i++) {
		out_printf(o, i ? "," : "A: @");
		put_form(o, &s->arg[i], args);
	}
	if (s->count)
		out_printf(o, "\n");
	if (s->has_result) {
		out_printf(o, "R: @");
		put_form(o, &s->result, result);
		out_printf(o, "\n");
	}
}

static void put_function(struct out *o, uint64_t addr, const char *name)
{
	char clean[512];

	uf_clean(clean, sizeof(clean), name, UF_LINE);
	out_printf(o, "F: %llx %s\n", (unsigned long long)addr, *clean ? clean : "_");
}

static void put_enums(struct out *o, const struct debug *d)
{
	for (size_t i = 0; i < d->enum_count; i++) {
		const char *text = debug_at(d, d->enumeration[i]), *body = strchr(text, '{');

		if (body)
			out_printf(o, "E: enum %.*s %s\n", (int)(body - text), text, body);
	}
}

/* A function of which debug information tells, and its spec if it has one. */
static void put_known(struct out *o, const struct uf_module *mod, const struct debug_func *df, const struct uf_spec *s)
{
	const struct func *f = image_func_at(mod->image, df->addr);
	const struct debug *d = mod->image->debug;

	if (!f || f->addr != df->addr || (!df->line && !s))
		return;
	put_function(o, df->addr, f->name);
	if (df->line)
		out_printf(o, "L: %u %s\n", df->line, debug_at(d, df->file));
	if (s)
		put_spec(o, s, debug_at(d, df->args), debug_at(d, df->result));
}

bool uf_specs_any(const struct uf_module *mod)
{
	const struct debug *d = mod->image ? mod->image->debug : NULL;

	for (size_t i = 0; d && i < d->count; i++)
		if (d->func[i].line)
			return true;
	return mod->spec_count;
}

void uf_specs_put(struct out *o, const struct uf_module *mod)
{
	const struct debug *d = mod->image ? mod->image->debug : NULL;
	size_t i = 0, n = 0, known = d ? d->count : 0;

	if (d)
		put_enums(o, d);
	while (i < mod->spec_count || n < known) {
		const struct uf_spec *s = i < mod->spec_count ? &mod->spec[i] : NULL;
		const struct debug_func *df = n < known ? &d->func[n] : NULL;

		if (s && df && s->addr != df->addr)
			*(s->addr < df->addr ? (const void **)&df : (const void **)&s) = NULL;
		i += s != NULL;
		n += df != NULL;
		if (s && !s->count && !s->has_result)
			s = NULL;
		if (df)
			put_known(o, mod, df, s);
		else if (s) {
			put_function(o, s->addr, s->name);
			put_spec(o, s, "", "");
		}
	}
}
