/*
 * usdtargs.c - the arguments of a USDT probe: "SIZE@OPERAND" each, the operand as the compiler's assembler writes it.
 *
 * systemtap's <sys/sdt.h> leaves the operands to the compiler. On x86-64 those are
 * "$5", "%edi", "-16(%rbp)", "(%rax,%rbx,4)", "name+8(%rip)"; on arm64 "5", "w0",
 * "[sp, 8]". What is not one of these is counted as an argument that is not known.
 */
#include <ctype.h>
#include <elf.h>

#include "base.h"
#include "usdt.h"

/* A text being read. */
struct text {
	const char *at, *end;
};

struct parser {
	struct text	t;		/* the operand */
	struct usdt_arg *arg;
	uint64_t	site;
	usdt_symbol_fn	symbol;
	void	       *ctx;
};

static bool skip(struct text *t, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(t->end - t->at) < len || strncmp(t->at, word, len))
		return false;
	t->at += len;
	return true;
}

static char next(const struct text *t)
{
	return t->at < t->end ? *t->at : '\0';
}

static void skip_spaces(struct text *t)
{
	while (next(t) == ' ' || next(t) == '\t')
		t->at++;
}

/* A number with a sign or without, decimal or 0x; what is too large is taken modulo 2^64, as assemblers do. */
static bool take_number(struct text *t, int64_t *ret)
{
	struct text n = *t;
	bool is_negative = skip(&n, "-");
	uint64_t value = 0;
	unsigned base = 10;
	const char *first;

	if (!is_negative)
		skip(&n, "+");
	if (skip(&n, "0x") || skip(&n, "0X"))
		base = 16;
	for (first = n.at; isxdigit((unsigned char)next(&n)); n.at++) {
		unsigned digit = isdigit((unsigned char)*n.at) ? *n.at - '0' : (*n.at | 32) - 'a' + 10;

		if (digit >= base)
			break;
		value = value * base + digit;
	}
	if (n.at == first)
		return false;
	*ret = is_negative ? -value : value;
	*t = n;
	return true;
}

static bool is_symbol_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '@';
}

/* "name", "name+8", "-8+name": less the address of the probe, which is added again where it is read. */
static bool take_symbol(struct parser *p, int64_t *ret)
{
	struct text t = p->t;
	int64_t before = 0, behind = 0;
	const char *name;
	uint64_t addr;

	if (take_number(&t, &before) && !skip(&t, "+"))
		return false;
	for (name = t.at; is_symbol_char(next(&t)); t.at++)
		;
	if (t.at == name || isdigit((unsigned char)*name) || !p->symbol ||
	    !p->symbol(p->ctx, name, t.at - name, &addr))
		return false;
	while (next(&t) == '+' || next(&t) == '-') {
		int64_t more;

		if (!take_number(&t, &more))
			return false;
		behind = (uint64_t)behind + more;
	}
	*ret = addr + before + behind - p->site;
	p->arg->flags |= USDT_FROM_SITE;
	p->t = t;
	return true;
}

/* ---- x86-64, as AT&T writes it ---- */

static const char *const x86_names[X86_R8] = {
	[X86_AX] = "ax", [X86_BX] = "bx", [X86_CX] = "cx", [X86_DX] = "dx", [X86_SI] = "si", [X86_DI] = "di",
	[X86_BP] = "bp", [X86_SP] = "sp",
};

/* "r8" to "r15", with d, w or b behind it for its lower part. */
static bool numbered_register(const char *name, size_t len, uint8_t *reg)
{
	unsigned n = 0;
	size_t i = 1;

	for (; i < len && i < 3 && isdigit((unsigned char)name[i]); i++)
		n = n * 10 + (name[i] - '0');
	if (name[0] != 'r' || n < 8 || n > 15)
		return false;
	*reg = X86_R8 + n - 8;
	return i == len || (i + 1 == len && strchr("dwb", name[i]));
}

/* "%rax", "%eax", "%ax", "%al", "%ah", "%sil", "%r8d". @shift NULL: no register's part will do. */
static bool take_x86_register(struct text *t, uint8_t *reg, uint8_t *shift)
{
	struct text n = *t;
	const char *name;
	size_t len;

	if (!skip(&n, "%"))
		return false;
	for (name = n.at; isalnum((unsigned char)next(&n)); n.at++)
		;
	len = n.at - name;
	if (len >= 2 && numbered_register(name, len, reg)) {
		*t = n;
		return true;
	}
	for (unsigned i = 0; i < X86_R8; i++) {
		const char *x = x86_names[i];
		bool is_byte = len == 2 && name[0] == x[0] && (name[1] == 'l' || name[1] == 'h') && x[1] == 'x';

		if ((len == 3 && (name[0] == 'r' || name[0] == 'e') && !strncmp(name + 1, x, 2)) ||
		    (len == 3 && name[2] == 'l' && x[1] != 'x' && !strncmp(name, x, 2)) ||
		    (len == 2 && !strncmp(name, x, 2)) || (shift && is_byte)) {
			*reg = i;
			if (shift && is_byte && name[1] == 'h')
				*shift = 8;
			*t = n;
			return true;
		}
	}
	return false;
}

static bool take_scale(struct text *t, uint8_t *ret)
{
	int64_t scale;

	if (!take_number(t, &scale) || (scale != 1 && scale != 2 && scale != 4 && scale != 8))
		return false;
	*ret = __builtin_ctz(scale);
	return true;
}

/* What is between the brackets of "(%rax,%rbx,4)", its first one skipped. */
static bool take_x86_address(struct parser *p)
{
	struct usdt_arg *a = p->arg;

	if (skip(&p->t, "%rip"))		/* a bare number is from the end of an instruction that is not there */
		return a->flags & USDT_FROM_SITE && skip(&p->t, ")");
	if (take_x86_register(&p->t, &a->base, NULL))
		a->flags |= USDT_HAS_BASE;
	if (skip(&p->t, ",")) {
		skip_spaces(&p->t);
		if (take_x86_register(&p->t, &a->index, NULL))
			a->flags |= USDT_HAS_INDEX;
		if (skip(&p->t, ",")) {
			skip_spaces(&p->t);
			if (!take_scale(&p->t, &a->scale))
				return false;
		}
	}
	return skip(&p->t, ")");
}

static bool take_value(struct parser *p)
{
	int64_t value = 0;

	if (!take_symbol(p, &value) && !take_number(&p->t, &value))
		return false;
	p->arg->value = value;
	return true;
}

static bool take_x86(struct parser *p)
{
	struct usdt_arg *a = p->arg;

	if (skip(&p->t, "$")) {
		a->place = USDT_CONST;
		return take_value(p);
	}
	if (take_x86_register(&p->t, &a->base, &a->shift)) {
		a->place = USDT_REGISTER;
		return true;
	}
	a->place = USDT_MEMORY;
	if (next(&p->t) != '(' && !take_value(p))
		return false;
	return skip(&p->t, "(") ? take_x86_address(p) : true;
}

/* ---- arm64 ---- */

static bool take_arm64_register(struct text *t, uint8_t *reg)
{
	struct text n = *t;
	int64_t number;

	if (skip(&n, "sp") || skip(&n, "wsp")) {
		*reg = 31;
	} else {
		if (!skip(&n, "x") && !skip(&n, "w"))
			return false;
		if (!isdigit((unsigned char)next(&n)) || !take_number(&n, &number) || number < 0 || number > 30)
			return false;
		*reg = number;
	}
	*t = n;
	return true;
}

/* "[sp]", "[sp, 8]", "[x0, x1]", "[x0, x1, lsl 3]" */
static bool take_arm64_address(struct parser *p)
{
	struct usdt_arg *a = p->arg;
	int64_t shift;

	if (!take_arm64_register(&p->t, &a->base))
		return false;
	a->flags |= USDT_HAS_BASE;
	if (skip(&p->t, ",")) {
		skip_spaces(&p->t);
		if (next(&p->t) == 'x' && take_arm64_register(&p->t, &a->index)) {
			a->flags |= USDT_HAS_INDEX;
		} else {
			skip(&p->t, "#");
			if (!take_value(p))
				return false;
		}
	}
	if (skip(&p->t, ",")) {
		skip_spaces(&p->t);
		if (!(a->flags & USDT_HAS_INDEX) || !skip(&p->t, "lsl ") || !(skip(&p->t, "#"), take_number(&p->t, &shift)) ||
		    shift < 0 || shift > 3)
			return false;
		a->scale = shift;
	}
	return skip(&p->t, "]");
}

static bool take_arm64(struct parser *p)
{
	struct usdt_arg *a = p->arg;

	if (skip(&p->t, "[")) {
		a->place = USDT_MEMORY;
		return take_arm64_address(p);
	}
	if (take_arm64_register(&p->t, &a->base)) {
		a->place = USDT_REGISTER;
		return true;
	}
	a->place = USDT_CONST;
	skip(&p->t, "#");
	return take_value(p);
}

/* ---- both ---- */

/* "-4@", "8f@"; none: a word. A negative size is that of a signed number, f says that it is a floating-point one. */
static bool take_size(struct text *t, struct usdt_arg *a)
{
	struct text n = *t;
	bool is_float;
	int64_t size;

	a->size = 8;
	a->format = VALUE_SIGNED;
	if (!take_number(&n, &size))
		return true;
	is_float = skip(&n, "f");
	if (!skip(&n, "@"))
		return true;
	*t = n;
	a->format = is_float ? VALUE_FLOAT : size < 0 ? VALUE_SIGNED : VALUE_UNSIGNED;
	size = size < 0 ? -size : size;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return false;
	a->size = size;
	return !is_float || size >= 4;
}

static void set_unknown(struct usdt_arg *a)
{
	*a = (struct usdt_arg){ .place = USDT_UNKNOWN, .size = 8, .format = VALUE_HEX };
}

static void parse_one(struct parser *p, int machine)
{
	struct usdt_arg *a = p->arg;
	bool is_known;

	*a = (struct usdt_arg){};
	is_known = take_size(&p->t, a) && (machine == EM_AARCH64 ? take_arm64(p) : take_x86(p)) && p->t.at == p->t.end;
	if (a->format == VALUE_FLOAT && a->place == USDT_REGISTER)
		is_known = false;		/* of a vector register no more than the name would fit */
	if (!is_known)
		set_unknown(a);
}

/* The next word: up to a space that is in no brackets. */
static bool take_word(struct text *t, struct text *word)
{
	int depth = 0;

	skip_spaces(t);
	word->at = t->at;
	for (; t->at < t->end && (depth > 0 || (*t->at != ' ' && *t->at != '\t')); t->at++)
		depth += (*t->at == '(' || *t->at == '[') - (*t->at == ')' || *t->at == ']');
	word->end = t->at;
	return word->at < word->end;
}

unsigned usdt_parse(struct usdt_arg arg[ARGS_MAX], const char *text, int machine, uint64_t site,
		    usdt_symbol_fn symbol, void *ctx)
{
	struct parser p = { .site = site, .symbol = symbol, .ctx = ctx };
	struct text all = { text, text + strlen(text) };
	unsigned n = 0;

	while (n < ARGS_MAX && take_word(&all, &p.t)) {
		p.arg = &arg[n++];
		parse_one(&p, machine);
	}
	return n;
}
