/*
 * ptx.c - finds ".entry NAME ( .param TYPE NAME, ... )" in PTX text, which is read once, from its start to its end.
 *
 * The text is taken apart into words, numbers and signs; comments and strings are passed over, so that what only looks
 * like a kernel in them is none. Types and their alignment are those of the PTX ISA, "Types" and "Kernel Function
 * Parameters".
 */
#include "base.h"
#include "cuda/ptx.h"

/* ---- words ---- */

struct text {
	const char *at, *end;
};

/* A word with the point before it, a number, or one sign. A string is the sign '"'. */
struct word {
	const char *at;
	size_t	    len;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Behind the next @what of @len bytes, or at the end. */
static void skip_behind(struct text *t, const char *what, size_t len)
{
	const char *found = memmem(t->at, t->end - t->at, what, len);

	t->at = found ? found + len : t->end;
}

static void skip_space(struct text *t)
{
	while (t->at < t->end) {
		bool is_comment = t->end - t->at > 1 && t->at[0] == '/';

		if (is_comment && t->at[1] == '/') {
			skip_behind(t, "\n", 1);
		} else if (is_comment && t->at[1] == '*') {
			t->at += 2;
			skip_behind(t, "*/", 2);
		} else if (is_space(*t->at)) {
			t->at++;
		} else {
			return;
		}
	}
}

/* False: the text has ended. */
static bool next(struct text *t, struct word *w)
{
	skip_space(t);
	if (t->at == t->end)
		return false;
	w->at = t->at++;
	if (*w->at == '"') {
		skip_behind(t, "\"", 1);
		w->len = 1;
		return true;
	}
	if (*w->at == '.' || is_letter(*w->at) || is_digit(*w->at))
		while (t->at < t->end && (is_letter(*t->at) || is_digit(*t->at)))
			t->at++;
	w->len = t->at - w->at;
	return true;
}

static bool is(const struct word *w, const char *s)
{
	return w->len == strlen(s) && !memcmp(w->at, s, w->len);
}

/* 0: it is no number written in tens, or none that a size can be. */
static uint32_t number(const struct word *w)
{
	uint32_t n = 0;

	for (size_t i = 0; i < w->len; i++) {
		if (!is_digit(w->at[i]) || n > 100000000)
			return 0;
		n = n * 10 + (w->at[i] - '0');
	}
	return n;
}

/* ---- parameters ---- */

struct param {
	uint32_t type, vector;	/* bytes of one element; elements of a vector */
	uint32_t align;		/* 0: that of its type */
	uint64_t elements;	/* 0: not told */
	bool	 is_pointer;	/* what follows tells of what it points to */
};

static uint32_t bytes_of_type(const struct word *w)
{
	static const struct { const char *name; uint32_t bytes; } types[] = {
		{ ".u8", 1 }, { ".s8", 1 }, { ".b8", 1 }, { ".u16", 2 }, { ".s16", 2 }, { ".b16", 2 }, { ".f16", 2 },
		{ ".u32", 4 }, { ".s32", 4 }, { ".b32", 4 }, { ".f32", 4 }, { ".f16x2", 4 },
		{ ".u64", 8 }, { ".s64", 8 }, { ".b64", 8 }, { ".f64", 8 }, { ".b128", 16 },
	};

	for (size_t i = 0; *w->at == '.' && i < ARRAY_SIZE(types); i++)
		if (is(w, types[i].name))
			return types[i].bytes;
	return 0;
}

static bool is_alignment(uint32_t n)
{
	return n && n <= 4096 && !(n & (n - 1));
}

/* Reads the words of one, behind ".param", up to the ',' or ')' that ends it, left in @w. False: it is none. */
static bool read_param(struct param *p, struct text *t, struct word *w)
{
	*p = (struct param){ .vector = 1, .elements = 1 };
	while (next(t, w)) {
		uint32_t bytes = bytes_of_type(w);

		if (is(w, ",") || is(w, ")"))
			return true;
		if (is(w, ".param") || is(w, "(") || is(w, "{") || is(w, "}") || is(w, ";"))
			return false;
		if (bytes)
			p->type = bytes;
		else if (is(w, ".v2") || is(w, ".v4"))
			p->vector = w->at[2] - '0';
		else if (is(w, ".ptr"))
			p->is_pointer = true;
		else if (is(w, ".align") && next(t, w) && !p->is_pointer)
			p->align = is_alignment(number(w)) ? number(w) : ~0u;
		else if (is(w, "[") && next(t, w))
			p->elements = p->elements > UINT32_MAX ? 0 : p->elements * number(w);
	}
	return false;
}

/* Where it ends when it begins behind @bytes. False: not told. */
static bool place_param(uint64_t *bytes, const struct param *p)
{
	uint64_t unit = (uint64_t)p->type * p->vector;

	if (!unit || !p->elements || p->elements > UINT32_MAX || p->align == ~0u)
		return false;
	*bytes = ROUND_UP(*bytes, p->align ?: unit) + unit * p->elements;
	return *bytes <= UINT32_MAX;
}

/* Behind '('. False: it is no list of parameters. */
static bool read_params(struct code_kernel *k, struct text *t)
{
	uint64_t bytes = 0;
	bool are_placed = true;
	struct param p;
	struct word w;

	if (!next(t, &w))
		return false;
	if (is(&w, ")"))
		return true;
	for (; is(&w, ".param"); k->params++) {
		if (!read_param(&p, t, &w))
			return false;
		are_placed = are_placed && place_param(&bytes, &p);
		if (is(&w, ")")) {
			k->params++;
			k->param_bytes = are_placed ? bytes : 0;
			return true;
		}
		if (!next(t, &w))
			return false;
	}
	return false;
}

/* ---- kernels ---- */

/* Behind ".entry". False: it is none. */
static bool read_entry(struct code_kernel *k, struct text *t)
{
	struct word w;

	*k = (struct code_kernel){ .is_ptx = true };
	if (!next(t, &w) || !is_letter(*w.at))
		return false;
	k->name = w.at;
	k->name_len = w.len;
	if (!next(t, &w))
		return false;
	if (is(&w, "("))
		return read_params(k, t);
	return is(&w, "{") || is(&w, ";") || (*w.at == '.' && w.len > 1);	/* no parameters */
}

int ptx_kernels(const char *text, size_t len, code_kernel_fn fn, void *ctx)
{
	struct text t = { .at = text, .end = text + strnlen(text, len) };
	struct code_kernel k;
	struct word w;
	int err = 0;

	while (!err && next(&t, &w))
		if (is(&w, ".entry") && read_entry(&k, &t))
			err = fn(ctx, &k);
	return err;
}
