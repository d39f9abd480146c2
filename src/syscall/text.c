/*
 * text.c - text in a buffer of fixed size, escaped text, and values by name.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "args.h"

void text_add(struct textbuf *t, const char *fmt, ...)
{
	size_t room = t->len < t->size ? t->size - t->len : 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? t->buf + t->len : NULL, room, fmt, ap);
	va_end(ap);
	t->len += n > 0 ? n : 0;
}

static void text_add_char(struct textbuf *t, char c)
{
	if (t->len + 1 < t->size) {
		t->buf[t->len] = c;
		t->buf[t->len + 1] = '\0';
	}
	t->len++;
}

/* Octal, as short as what follows allows: "\0" and then the digit 1 must not read as "\01". */
static void text_add_octal(struct textbuf *t, unsigned char c, bool digit_follows)
{
	text_add_char(t, '\\');
	if (c >= 0100 || digit_follows)
		text_add_char(t, '0' + (c >> 6));
	if (c >= 010 || digit_follows)
		text_add_char(t, '0' + (c >> 3 & 7));
	text_add_char(t, '0' + (c & 7));
}

void text_add_escaped(struct textbuf *t, const void *bytes, size_t len)
{
	static const char special[] = "\t\n\v\f\r\"\\", letter[] = "tnvfr\"\\";
	const unsigned char *s = bytes;
	const char *p;

	for (size_t i = 0; i < len; i++) {
		p = s[i] ? strchr(special, s[i]) : NULL;
		if (p) {
			text_add_char(t, '\\');
			text_add_char(t, letter[p - special]);
		} else if (s[i] >= ' ' && s[i] < 0x7f) {
			text_add_char(t, s[i]);
		} else {
			text_add_octal(t, s[i], i + 1 < len && s[i + 1] >= '0' && s[i + 1] <= '9');
		}
	}
}

int text_escape(const void *text, size_t len, bool is_cut, char *buf, size_t size)
{
	struct textbuf t = { buf, size, 0 };

	text_add(&t, "%s", "");			/* an empty text is ended too */
	text_add_escaped(&t, text, len);
	if (is_cut)
		text_add(&t, "...");
	return t.len;
}

const char *names_find(const struct name *names, uint32_t v)
{
	for (; names && names->name; names++) {
		if ((uint32_t)names->value == v)
			return names->name;
	}
	return NULL;
}

const struct name *names_under(const struct name *lists, uint32_t key)
{
	for (; lists->name; lists++) {
		if (lists->value == key)
			return lists->field;
	}
	return NULL;
}

void names_add_value(struct textbuf *t, const struct name *names, int64_t v)
{
	const char *name = names_find(names, v);

	if (name)
		text_add(t, "%s", name);
	else if (v >= -4095 && v <= 4096)
		text_add(t, "%d", (int)v);
	else
		text_add(t, "%#x", (uint32_t)v);
}

/* Whether @n is among the flags of @v, of which those in @done have been named. */
static bool is_set(const struct name *n, uint64_t v, uint64_t done)
{
	if (n->mask & done)
		return false;
	if (n->field)
		return v & n->mask;
	return n->mask ? (v & n->mask) == n->value : !v;
}

void names_add_flags(struct textbuf *t, const struct name *names, uint64_t v)
{
	const char *sep = "";
	uint64_t done = 0;

	for (; names && names->name; names++) {
		if (!is_set(names, v, done))
			continue;
		text_add(t, "%s", sep);
		if (names->field)
			names_add_value(t, names->field, v & names->mask);
		else
			text_add(t, "%s", names->name);
		done |= names->mask;
		sep = "|";
	}
	if (v & ~done)
		text_add(t, "%s%#llx", sep, (unsigned long long)(v & ~done));
	else if (!*sep)
		text_add(t, "0");
}
