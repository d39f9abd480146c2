/*
 * demangle.c - the part of the Itanium C++ ABI (5.1, Mangling) that spells the names of functions.
 */
#include "base.h"
#include "demangle.h"

struct reader {
	const char *at;
	char	   *to;
	size_t	    len, room;
	const char *last;	/* the last name read: a constructor has that of its class; not ended by a NUL */
	size_t	    last_len;
};

static const struct { char code[3]; const char *name; } operators[] = {
	{ "nw", "new" }, { "na", "new[]" }, { "dl", "delete" }, { "da", "delete[]" }, { "co", "~" }, { "pl", "+" },
	{ "ps", "+" }, { "mi", "-" }, { "ng", "-" }, { "ml", "*" }, { "de", "*" }, { "dv", "/" }, { "rm", "%" },
	{ "an", "&" }, { "ad", "&" }, { "or", "|" }, { "eo", "^" }, { "aS", "=" }, { "pL", "+=" }, { "mI", "-=" },
	{ "mL", "*=" }, { "dV", "/=" }, { "rM", "%=" }, { "aN", "&=" }, { "oR", "|=" }, { "eO", "^=" }, { "ls", "<<" },
	{ "rs", ">>" }, { "lS", "<<=" }, { "rS", ">>=" }, { "eq", "==" }, { "ne", "!=" }, { "lt", "<" }, { "gt", ">" },
	{ "le", "<=" }, { "ge", ">=" }, { "ss", "<=>" }, { "nt", "!" }, { "aa", "&&" }, { "oo", "||" }, { "pp", "++" },
	{ "mm", "--" }, { "cm", "," }, { "pm", "->*" }, { "pt", "->" }, { "cl", "()" }, { "ix", "[]" },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool put(struct reader *r, const char *text, size_t len)
{
	if (len >= r->room - r->len)
		return false;
	memcpy(r->to + r->len, text, len);
	r->len += len;
	r->to[r->len] = '\0';
	return true;
}

static bool put_part(struct reader *r, const char *before, const char *text, size_t len)
{
	return (!r->len || put(r, "::", 2)) && put(r, before, strlen(before)) && put(r, text, len);
}

/* A length and so many bytes. */
static bool read_source_name(struct reader *r, const char **name, size_t *len)
{
	char *end;
	unsigned long n = strtoul(r->at, &end, 10);

	if (!n || n > strlen(end))
		return false;
	*name = end;
	*len = n;
	r->at = end + n;
	return true;
}

/* A literal, up to its E; those of named types are not read. */
static bool skip_literal(struct reader *r)
{
	if (*r->at < 'a' || *r->at > 'z')
		return false;
	r->at += strcspn(r->at, "E");
	return *r->at++ == 'E';
}

/* One step inside template arguments; @depth: how many E are to come. */
static bool skip_step(struct reader *r, unsigned *depth)
{
	const char *name;
	size_t len;

	if (is_digit(*r->at))
		return read_source_name(r, &name, &len);
	switch (*r->at++) {
	case '\0': case 'X': case 'U': case 'Z':
		return false;
	case 'I': case 'N': case 'J': case 'F':
		++*depth;
		return true;
	case 'E':
		--*depth;
		return true;
	case 'L':
		return skip_literal(r);
	case 'A':
	case 'T':
		r->at += strspn(r->at, "0123456789");
		return *r->at++ == '_';
	case 'S':
		if (*r->at >= 'a' && *r->at <= 'z')
			return r->at++, true;
		r->at += strspn(r->at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
		return *r->at++ == '_';
	case 'D':
		return *r->at != 't' && *r->at != 'T' && *r->at++;
	default:
		return true;
	}
}

static bool skip_template_args(struct reader *r)
{
	unsigned depth = 1;

	while (depth)
		if (!skip_step(r, &depth))
			return false;
	return true;
}

static bool read_operator(struct reader *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++) {
		if (strncmp(r->at, operators[i].code, 2))
			continue;
		r->at += 2;
		return put_part(r, strchr("nd", operators[i].code[0]) && operators[i].name[1] > 'Z' ? "operator " :
				"operator", operators[i].name, strlen(operators[i].name));
	}
	return false;
}

/* A name, or the constructor or destructor of the class named before. */
static bool read_part(struct reader *r)
{
	if (*r->at == 'L')			/* of this file only */
		r->at++;
	if (is_digit(*r->at))
		return read_source_name(r, &r->last, &r->last_len) && put_part(r, "", r->last, r->last_len);
	if ((*r->at == 'C' || *r->at == 'D') && is_digit(r->at[1]) && r->last) {
		r->at += 2;
		return put_part(r, r->at[-2] == 'D' ? "~" : "", r->last, r->last_len);
	}
	if (!strncmp(r->at, "St", 2)) {
		r->at += 2;
		return put_part(r, "", "std", 3);
	}
	return read_operator(r);
}

static bool read_abi_tags(struct reader *r)
{
	const char *name;
	size_t len;

	while (*r->at == 'B') {
		r->at++;
		if (!read_source_name(r, &name, &len))
			return false;
	}
	return true;
}

static bool read_nested(struct reader *r)
{
	r->at += strspn(r->at, "rVKRO");
	while (*r->at && *r->at != 'E') {
		if (*r->at == 'I') {
			r->at++;
			if (!skip_template_args(r))
				return false;
		} else if (!read_part(r) || !read_abi_tags(r)) {
			return false;
		}
	}
	return *r->at == 'E';
}

bool demangle_simple(const char *mangled, char *to, size_t room)
{
	struct reader r = { .at = mangled + 2, .to = to, .room = room };
	bool is_std;

	if (strncmp(mangled, "_Z", 2) || !room)
		return false;
	if (*r.at == 'N')
		return r.at++, read_nested(&r);
	is_std = !strncmp(r.at, "St", 2);
	return read_part(&r) && (!is_std || read_part(&r));
}
