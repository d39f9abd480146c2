/*
 * values.c - arguments and results of functions as text: 3, 0x7f00, "text", {01 02}, 'c'.
 */
#include <ctype.h>

#include "base.h"
#include "funcargs.h"
#include "sink/tracedat/tracedat.h"
#include "syscall/syscall.h"

struct text {
	char  *at;
	size_t room;
	int    len;
};

#define ADD(t, ...) do {								\
	int n_ = snprintf((t)->at + (t)->len, (t)->room - (t)->len, __VA_ARGS__);	\
											\
	(t)->len = MIN((size_t)(t)->len + MAX(n_, 0), (t)->room - 1);			\
} while (0)

static int64_t number(const struct rec_value *v, bool is_signed)
{
	unsigned unused = 64 - 8 * v->size;
	uint64_t n;

	memcpy(&n, v->bytes, sizeof(n));
	return is_signed ? (int64_t)(n << unused) >> unused : (int64_t)(n << unused >> unused);
}

static void add_float(struct text *t, const struct rec_value *v)
{
	union { float f; double d; long double l; } u = {};

	if (v->flags & TEXT_FAULT) {
		ADD(t, "nan");
		return;
	}
	memcpy(&u, v->bytes, MIN((size_t)v->len, sizeof(u)));
	ADD(t, "%f", v->size == 4 ? u.f : v->size == 8 ? u.d : (double)u.l);
}

static void add_string(struct text *t, const struct rec_value *v)
{
	char escaped[4 * 256];

	if (v->flags & TEXT_FAULT) {
		if (number(v, false))
			ADD(t, "<%#lx>", (unsigned long)number(v, false));
		else
			ADD(t, "NULL");
		return;
	}
	text_escape(v->bytes, MIN(v->len, VALUE_STRING_MAX), false, escaped, sizeof(escaped));
	ADD(t, "\"%s%s\"", escaped, v->len > VALUE_STRING_MAX ? "..." : "");	/* quoted as a system call's text is */
}

static void add_struct(struct text *t, const struct rec_value *v)
{
	ADD(t, "{");
	for (unsigned i = 0; i < v->size; i++)
		ADD(t, "%s%02x", i ? " " : "", (uint8_t)v->bytes[i]);
	ADD(t, "}");
}

/* Small numbers are counts or errors, large ones addresses or flags. */
static bool is_small(int64_t n)
{
	return n > -100000 && n < 100000;
}

static bool is_number(const struct rec_value *v)
{
	return v->format != VALUE_FLOAT && v->format != VALUE_STRING && v->format != VALUE_STD_STRING &&
	       v->format != VALUE_STRUCT;
}

static void add_value(struct text *t, const struct rec_value *v)
{
	int64_t n = is_number(v) ? number(v, true) : 0;

	if (is_number(v) && v->flags & TEXT_FAULT) {
		ADD(t, "?");
		return;
	}
	switch (v->format) {
	case VALUE_FLOAT:
		add_float(t, v);
		break;
	case VALUE_STRING:
	case VALUE_STD_STRING:
		add_string(t, v);
		break;
	case VALUE_STRUCT:
		add_struct(t, v);
		break;
	case VALUE_SIGNED:
	case VALUE_ENUM:
		ADD(t, "%ld", (long)n);
		break;
	case VALUE_UNSIGNED:
		ADD(t, "%lu", (unsigned long)number(v, false));
		break;
	case VALUE_CHAR:
		if (isprint((uint8_t)n))
			ADD(t, "'%c'", (char)n);
		else
			ADD(t, "'\\x%02x'", (uint8_t)n);
		break;
	case VALUE_AUTO:
		if (is_small(n)) {
			ADD(t, "%ld", (long)n);
			break;
		}
		/* fallthrough */
	default:
		ADD(t, "%#lx", (unsigned long)number(v, false));
	}
}

int td_values_text(const char *values, uint32_t len, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };
	const char *at = values, *end = at + len;

	*buf = '\0';
	while (at < end) {
		const struct rec_value *v = (const void *)at;

		ADD(&t, "%s", at == values ? "" : ", ");
		add_value(&t, v);
		at += sizeof(*v) + v->room;
	}
	return t.len;
}
