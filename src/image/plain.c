/*
 * plain.c - the names that C++ and Rust functions have in their sources, and that users give to options.
 *
 * libiberty reads the mangled names. It is given names of foreign files, so it runs
 * in the image child. What it says is shortened to what uftrace shows: no arguments, no
 * template arguments.
 */
#include "base.h"
#include "reader.h"

#define MANGLED_MAX	2048	/* longer ones stay as they are: demangling may take time that grows faster than they do */

/* Of libiberty.a, whose header lies elsewhere on each distribution. Options 0: no arguments. */
char *cplus_demangle_v3(const char *mangled, int options);
char *rust_demangle(const char *mangled, int options);

struct writer {
	char  *to;
	size_t len, room;
};

/* @len: bytes; what does not fit is cut. */
static void put(struct writer *w, const char *text, size_t len)
{
	len = MIN(len, w->room - 1 - w->len);
	memcpy(w->to + w->len, text, len);
	w->len += len;
}

/* Past the bracket that closes the one at @s; NULL when there is none. An arrow is no bracket. */
static const char *past_brackets(const char *s)
{
	const char *begin = s;
	unsigned depth = 0;

	for (; *s; s++) {
		if (strchr("<(", *s))
			depth++;
		else if (*s == ')' || (*s == '>' && s > begin && s[-1] != '-'))
			depth--;
		if (!depth)
			return s + 1;
	}
	return NULL;
}

static bool is_word(char c)
{
	return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What stands behind "operator": signs, or a word; the type of a conversion is "(cast)". Returns what follows. */
static const char *put_operator(struct writer *w, const char *s)
{
	static const char *const signs[] = { "()", "[]", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "->*", "->", "<", ">" };
	static const char *const words[] = { " new[]", " delete[]", " new", " delete", " co_await" };
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		len = strlen(signs[i]);
		if (!strncmp(s, signs[i], len))
			return put(w, s, len), s + len;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		len = strlen(words[i]);
		if (!strncmp(s, words[i], len))
			return put(w, s, len), s + len;
	}
	if (*s == ' ')
		return put(w, "(cast)", 6), s + strlen(s);
	return s;
}

/* "(anonymous namespace)", or the arguments and qualifiers of a function that something lies in. */
static const char *put_parentheses(struct writer *w, const char *s)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *next = past_brackets(s);

	if (!strncmp(s, anonymous, strlen(anonymous)))
		return put(w, "_GLOBAL__N_1", 12), s + strlen(anonymous);
	return next ? strstr(next, "::") ?: next + strlen(next) : NULL;
}

/* "{lambda(int)#2}" is $_1 to uftrace. */
static const char *put_lambda(struct writer *w, const char *s)
{
	const char *end = past_brackets(s + strcspn(s, "("));
	char name[32];

	if (!end || *end != '#')
		return NULL;
	put(w, name, snprintf(name, sizeof(name), "$_%lu", strtoul(end + 1, (char **)&end, 10) - 1));
	return *end == '}' ? end + 1 : NULL;
}

/* uftrace calls a thunk as what it leads to, and the streams as what they stand for. */
static const char *put_start(struct writer *w, const char *s)
{
	static const char *const left_out[] = { "virtual thunk to ", "non-virtual thunk to ", "transaction clone for " };
	static const char *const streams[] = { "istream::", "ostream::", "iostream::" };

	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		if (!strncmp(s, left_out[i], strlen(left_out[i])))
			s += strlen(left_out[i]);
	for (size_t i = 0; i < ARRAY_SIZE(streams); i++) {
		if (strncmp(s, "std::", 5) || strncmp(s + 5, streams[i], strlen(streams[i])))
			continue;
		put(w, "std::basic_", 11);
		return s + 5;
	}
	return s;
}

static bool shorten_cplus(struct writer *w, const char *s)
{
	const char *begin = s = put_start(w, s);

	while (s && *s) {
		bool is_start = s == begin || !is_word(s[-1]);

		if (is_start && !strncmp(s, "operator", 8) && !is_word(s[8])) {
			put(w, s, 8);
			s = put_operator(w, s + 8);
		} else if (*s == '<') {
			s = past_brackets(s);
		} else if (*s == '(') {
			s = put_parentheses(w, s);
		} else if (!strncmp(s, "{lambda(", 8)) {
			s = put_lambda(w, s);
		} else if (!strncmp(s, "[abi:", 5)) {
			s += strcspn(s, "]") + 1;
		} else {
			put(w, s++, 1);
		}
	}
	while (w->len && w->to[w->len - 1] == ' ')	/* "operator<< <char>" */
		w->len--;
	return s;
}

static bool shorten_rust(struct writer *w, const char *s)
{
	while (s && *s) {
		if (!strncmp(s, "::<", 3))
			s = past_brackets(s + 2);
		else
			put(w, s++, 1);
	}
	return s;
}

size_t name_plain(const char *mangled, char *to, size_t room)
{
	struct writer w = { to, 0, room };
	__cleanup(free_ptr) char *text = NULL;
	bool is_rust, is_whole;

	if (strncmp(mangled, "_Z", 2) && strncmp(mangled, "_R", 2))
		return 0;
	if (strnlen(mangled, MANGLED_MAX) == MANGLED_MAX)
		return 0;
	text = rust_demangle(mangled, 0);
	is_rust = text;
	text = text ?: cplus_demangle_v3(mangled, 0);
	if (!text)
		return 0;
	is_whole = is_rust ? shorten_rust(&w, text) : shorten_cplus(&w, text);
	to[w.len] = '\0';
	for (char *c = to; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '_';
	return is_whole ? w.len : 0;
}
