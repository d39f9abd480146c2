/*
 * argspec.c - a rule for each function of each -A and -R.
 *
 * In FUNC@ITEM,ITEM,... an item that is no argument names the file, as uftrace
 * has it: strlen@PLT,arg1/s. What uftrace passes over in silence is refused: an
 * argument that is not shown is found too late.
 */
#include <stdarg.h>
#include <stdio.h>

#include "argspec.h"
#include "argtype.h"
#include "base.h"
#include "image.h"
#include "pattern.h"

struct arg_rule {
	struct pattern	pattern;
	unsigned	count;
	struct arg_form form[ARGS_MAX];		/* as they came; @at is not set */
};

/* What is being read, for messages. */
struct reading {
	bool   is_result;
	bool   is_known;	/* from debug information, which has the names of enumerations */
	char  *why;
	size_t size;
};

static const char format_letters[] = "diuxcpsfSt";	/* by enum value_format */

#define FLOAT_REGISTERS	8	/* that arguments come in */

#ifdef __aarch64__
static const char *const registers[] = { "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7" };
#else
static const char *const registers[] = { "rdi", "rsi", "rdx", "rcx", "r8", "r9" };
#endif

__attribute__((format(printf, 2, 3)))
static int refuse(const struct reading *r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->why, r->size, fmt, args);
	va_end(args);
	return -EINVAL;
}

/* A number from 1 to @most; 0: there is none. @at is moved behind it. */
static unsigned take_number(const char **at, unsigned most)
{
	unsigned n = 0;

	for (; **at >= '0' && **at <= '9' && n <= most; (*at)++)
		n = n * 10 + (**at - '0');
	return n <= most ? n : 0;
}

/* "/tSIZE" or "/tSIZE:NAME", NAME up to a '%': a structure that is passed by value. */
static int take_struct(const struct reading *r, const char *item, const char **at, struct arg_form *form)
{
	size_t len;

	form->size = take_number(at, VALUE_STRUCT_MAX);
	if (!form->size)
		return refuse(r, "'%s': a structure has from 1 to %d bytes, as in arg1/t16:NAME", item,
			      VALUE_STRUCT_MAX);
	if (**at != ':')
		return 0;
	len = strcspn(++*at, "%");
	if (!len || len >= TYPE_NAME_MAX)
		return refuse(r, "'%s': a type's name has from 1 to %d letters", item, TYPE_NAME_MAX - 1);
	form->type = argtype_of(*at, len);
	*at += len;
	return form->type ? 0 : -ENOMEM;
}

/* The bits of a number. */
static int take_bits(const struct reading *r, const char *item, const char **at, struct arg_form *form)
{
	bool is_float = form->format == VALUE_FLOAT;
	unsigned bits;

	if (**at < '0' || **at > '9')
		return 0;
	if (form->format == VALUE_STRING || form->format == VALUE_STD_STRING)
		return refuse(r, "'%s': a string has no size", item);
	bits = take_number(at, 80);
	form->size = bits / 8;
	if (is_float)
		return bits == 32 || bits == 64 || bits == 80 ? 0 : refuse(r, "'%s': a size is one of 32 64 80", item);
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? 0 :
	       refuse(r, "'%s': a size is one of 8 16 32 64", item);
}

/* "/FMT" with its bits; of fpargN bits alone. */
static int take_format(const struct reading *r, const char *item, const char **at, struct arg_form *form)
{
	bool is_fparg = form->format == VALUE_FLOAT;
	const char *letter;

	form->size = 8;
	if (**at != '/')
		return 0;
	(*at)++;
	if (r->is_known && !strncmp(*at, "e:", 2)) {
		form->format = VALUE_ENUM;
		form->size = 4;
		*at += strcspn(*at, "%");
		return 0;
	}
	if (**at == 'e')
		return refuse(r, "'%s': enumerations are named by --auto-args", item);
	if (**at == 'o')
		return refuse(r, "'%s': uftrace 0.13 shows no octal numbers, x are shown", item);
	if (is_fparg && **at != 'f')
		return **at >= '0' && **at <= '9' ? take_bits(r, item, at, form) :
		       refuse(r, "'%s': a size is one of 32 64 80", item);
	letter = **at ? strchr(format_letters, **at) : NULL;
	if (!letter)
		return refuse(r, "'%s': a format is one of d i u x c p s f S t", item);
	(*at)++;
	form->format = letter - format_letters;
	if (form->format == VALUE_CHAR)
		form->size = 1;
	return form->format == VALUE_STRUCT ? take_struct(r, item, at, form) : take_bits(r, item, at, form);
}

/* The place of register @name, @len bytes; 0: none that arguments come in. */
static uint8_t place_of_register(const char *name, size_t len)
{
	for (unsigned n = 0; n < ARRAY_SIZE(registers); n++)
		if (strlen(registers[n]) == len && !strncasecmp(name, registers[n], len))
			return n + 1;
	if (len == 4 && !strncasecmp(name, "xmm", 3) && name[3] >= '0' && name[3] <= '7')
		return PLACE_VECTOR + (name[3] - '0');
	return 0;
}

/* The @n-th word of the stack that has arguments, from 1 on. */
static int stack_place(const struct reading *r, const char *item, unsigned n, struct arg_form *form)
{
	if (!n || n >= ARG_PLACES - ARRAY_SIZE(registers))
		return refuse(r, "'%s': the stack is asked for from %%stack+1 to %%stack+%zu", item,
			      ARG_PLACES - 1 - ARRAY_SIZE(registers));
	form->place = ARRAY_SIZE(registers) + n;
	form->second = 0;
	return 0;
}

/* Where the calling convention has the argument if nothing is said. A long double has two words of the stack. */
static int usual_place(const struct reading *r, const char *item, struct arg_form *form)
{
	unsigned n = form->index, words = (form->size + 7) / 8;

	form->place = n;
	if (form->format == VALUE_FLOAT && form->size == 10)
		return stack_place(r, item, 2 * n - 1, form);
	if (form->format == VALUE_FLOAT && n > FLOAT_REGISTERS)
		return stack_place(r, item, n - FLOAT_REGISTERS, form);
	if (form->format == VALUE_FLOAT)
		form->place = PLACE_VECTOR + n - 1;
	if (form->format != VALUE_STRUCT || n > ARRAY_SIZE(registers))
		return 0;
	if (words > 2 || n + words - 1 > ARRAY_SIZE(registers))
		return stack_place(r, item, 1, form);
	form->second = words == 2 ? n + 1 : 0;
	return 0;
}

/* Integers and floating-point numbers have registers of their own; a structure has both. */
static int check_kind(const struct reading *r, const char *item, const struct arg_form *form)
{
	if (form->format == VALUE_FLOAT && form->size == 10)
		return refuse(r, "'%s': a long double is in no register: try %%stack+N", item);
	if (form->format == VALUE_FLOAT && form->place < PLACE_VECTOR)
		return refuse(r, "'%s': a floating-point number is in %%xmm0 to %%xmm7; of %%%s ask for an integer, argN/i64", item,
			      registers[form->place - 1]);
	if (form->format != VALUE_FLOAT && form->format != VALUE_STRUCT && form->place >= PLACE_VECTOR)
		return refuse(r, "'%s': in %%xmm%u is a floating-point number: fpargN/64, or argN/f64", item,
			      form->place - PLACE_VECTOR);
	return 0;
}

/* "%REGISTER", of a structure "%REGISTER+REGISTER", or "%stack+N", the N-th word behind the return address. */
static int take_place(const struct reading *r, const char *item, const char **at, struct arg_form *form)
{
	bool is_struct = form->format == VALUE_STRUCT;
	size_t len;

	if (r->is_result)
		return 0;
	if (**at != '%')
		return usual_place(r, item, form);
	(*at)++;
	if (!strncmp(*at, "stack+", strlen("stack+"))) {
		*at += strlen("stack+");
		return stack_place(r, item, take_number(at, ARG_PLACES), form);
	}
	len = strcspn(*at, is_struct ? "+" : "");
	form->place = place_of_register(*at, len);
	*at += len;
	if (form->place && **at == '+') {
		len = strlen(++*at);
		form->second = place_of_register(*at, len);
		*at += len;
		if (!form->second)
			form->place = 0;
	}
	if (form->place && is_struct && form->size > (form->second ? 16 : 8))
		return refuse(r, "'%s': so many bytes are not in registers", item);
	if (form->place)
		return check_kind(r, item, form);
	return refuse(r, "'%s': an argument is in %%%s to %%%s, %%xmm0 to %%xmm7 or in %%stack+N", item, registers[0],
		      registers[ARRAY_SIZE(registers) - 1]);
}

static bool is_number_behind(const char *item, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(item, word, len) && item[len] >= '0' && item[len] <= '9';
}

static bool is_word(const char *item, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(item, word, len) && (!item[len] || item[len] == '/' || item[len] == '%');
}

/* An argument or a result; an item of uftrace's that is neither is named. 1: it is the name of a file. */
static int take_item(const struct reading *r, const char *item, struct arg_form *form)
{
	static const char *const actions[] = { "filter", "notrace", "trace", "depth=", "time=", "size=", "if:", "auto-args" };
	const char *at = item;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (!strncmp(item, actions[i], strlen(actions[i])))
			return refuse(r, "'%s' is not built yet", item);
	if (is_number_behind(item, "arg") || is_number_behind(item, "fparg")) {
		if (r->is_result)
			return refuse(r, "'%s' is for -A; here it is retval", item);
		form->format = *item == 'f' ? VALUE_FLOAT : VALUE_AUTO;
		at += strcspn(at, "0123456789");
		form->index = take_number(&at, ARG_PLACES - 1);
		if (!form->index)
			return refuse(r, "'%s': arguments are arg1 to arg%d", item, ARG_PLACES - 1);
	} else if (is_word(item, "retval")) {
		if (!r->is_result)
			return refuse(r, "'%s' is for -R; here it is arg1, arg2 ...", item);
		at += strlen("retval");
	} else {
		return !strncmp(item, "arg", 3) ? refuse(r, "'%s' is not an argument, such as arg1/x", item) : 1;
	}
	err = take_format(r, item, &at, form) ?: take_place(r, item, &at, form);
	if (!err && *at)
		return refuse(r, "'%s': '%s' is not understood", item, at);
	return err;
}

static int take_items(const struct reading *r, struct arg_rule *rule, char *items, const char **lib)
{
	char *item;

	while ((item = strsep(&items, ","))) {
		struct arg_form form = {};
		int err = *item ? take_item(r, item, &form) : refuse(r, "an argument is missing before a ','");

		if (err < 0)
			return err;
		if (err && *lib)
			return refuse(r, "'%s' is not an argument, such as arg1/x", item);
		if (err) {
			*lib = item;
			continue;
		}
		if (rule->count == ARGS_MAX)
			return refuse(r, "'%s': no more than %d arguments of a function", item, ARGS_MAX);
		rule->form[rule->count++] = form;
	}
	return 0;
}

static int take_rule(const struct reading *r, struct arg_rule *rule, char *text)
{
	__cleanup(free_ptr) char *whole = strdup(text), *name = NULL;
	char *items = strchr(text, '@');
	const char *lib = NULL;
	int err;

	if (!whole)
		return -ENOMEM;
	if (items)
		*items++ = '\0';
	if (items && *items) {
		err = take_items(r, rule, items, &lib);
		if (err)
			return err;
	}
	if (!rule->count)
		return refuse(r, "'%s' asks for nothing, as FUNC@%s would", whole, r->is_result ? "retval" : "arg1");
	if (asprintf(&name, "%s%s%s", text, lib ? "@" : "", lib ?: "") < 0)
		return -ENOMEM;
	err = pattern_parse(&rule->pattern, name, strlen(name), PATTERN_REGEX);
	if (err == -EINVAL)
		return refuse(r, *text ? "'%s' is not a regular expression" : "'%s' names no function",
			      *text ? text : whole);
	return err;
}

int argspecs_add(struct argspecs *s, const char *text, bool is_result, char *why, size_t size)
{
	const struct reading r = { .is_result = is_result, .why = why, .size = size };
	__cleanup(free_ptr) char *copy = strdup(text);
	char *rest = copy, *part;
	size_t before = s->count;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (part = strsep(&rest, ";"))) {
		struct arg_rule rule = {};

		if (!*part)
			continue;
		err = grow(&s->rule, &s->room, s->count, sizeof(*s->rule)) ?: take_rule(&r, &rule, part);
		if (!err)
			s->rule[s->count++] = rule;
	}
	return !err && s->count == before ? refuse(&r, "'%s' names no function", text) : err;
}

void argspecs_release(struct argspecs *s)
{
	for (size_t i = 0; i < s->count; i++)
		pattern_release(&s->rule[i].pattern);
	free(s->rule);
	memset(s, 0, sizeof(*s));
}

/* ---- what is asked for of a function ---- */

static bool is_rule_of(const struct arg_rule *rule, const struct image *img, const struct func *f)
{
	const char *lib = rule->pattern.lib;
	bool is_file = lib && !strcmp(lib, "PLT") ? f->flags & FUNC_PLT :
		       pattern_matches_file(&rule->pattern, img->path ?: "");

	return is_file && pattern_matches_name(&rule->pattern, f);
}

/* Forms found so far, in the order in which their arguments were first named. */
struct found {
	struct arg_form form[2 * ARG_PLACES];
	bool		is_exact[2 * ARG_PLACES];
	unsigned	count;
};

/* arg1 and fparg1 are two arguments; a function has one result. */
static bool is_same_value(const struct arg_form *a, const struct arg_form *b)
{
	return a->index == b->index && (!a->index || (a->format == VALUE_FLOAT) == (b->format == VALUE_FLOAT));
}

static void take_form(struct found *found, const struct arg_form *form, bool is_exact)
{
	unsigned i = 0;

	while (i < found->count && !is_same_value(&found->form[i], form))
		i++;
	if (i == found->count)
		found->count++;			/* indexes are below ARG_PLACES, so there is room */
	else if (found->is_exact[i] && !is_exact)
		return;
	found->form[i] = *form;
	found->is_exact[i] = is_exact;
}

static void take_forms(struct found *found, const struct arg_rule *rule)
{
	for (const struct arg_form *form = rule->form; form < rule->form + rule->count; form++)
		take_form(found, form, rule->pattern.kind == PATTERN_EXACT);
}

static uint32_t value_bytes(const struct arg_form *form)
{
	switch (form->format) {
	case VALUE_STRING:
	case VALUE_STD_STRING:
		return sizeof(struct rec_value) + VALUE_ROOM_STRING;
	case VALUE_STRUCT:
		return sizeof(struct rec_value) + ROUND_UP(form->size, 8) + TYPE_NAME_MAX;
	case VALUE_FLOAT:
		return sizeof(struct rec_value) + VALUE_ROOM_FLOAT;
	default:
		return sizeof(struct rec_value) + VALUE_ROOM_NUMBER;
	}
}

/* Is it in registers that are not among those of the probe? */
static bool is_in_vectors(const struct arg_form *form)
{
	if (!form->index)
		return form->format == VALUE_FLOAT;
	return form->place >= PLACE_VECTOR || form->second >= PLACE_VECTOR;
}

/* What the function's own name tells: functions that take libc++'s strings have its namespace, std::__1, in theirs. */
static void settle_form(struct arg_form *form, const struct func *f)
{
	if (form->format == VALUE_STD_STRING && strstr(f->name, "St3__1"))
		form->flags |= FORM_LIBCXX;
}

static bool set_args(struct func_args *ret, struct found *found, const struct func *f)
{
	*ret = (struct func_args){};
	for (unsigned i = 0; i < found->count; i++) {
		struct arg_form *form = &found->form[i];

		settle_form(form, f);
		if (is_in_vectors(form))
			ret->vectors |= form->index ? VECTORS_ENTRY : VECTORS_EXIT;
		if (!form->index) {
			ret->result = *form;
			ret->result_bytes = value_bytes(form);
		} else if (ret->count < ARGS_MAX) {
			ret->arg[ret->count] = *form;
			ret->arg[ret->count++].at = ret->bytes;
			ret->bytes += value_bytes(form);
		}
	}
	return ret->count || ret->result_bytes;
}

bool argspecs_find(const struct argspecs *s, struct func_args *ret, const struct image *img, const struct func *f)
{
	struct found found = {};

	for (size_t i = 0; i < s->count; i++)
		if (is_rule_of(&s->rule[i], img, f))
			take_forms(&found, &s->rule[i]);
	return set_args(ret, &found, f);
}

static void take_known(struct found *found, const char *text, bool is_result)
{
	char why[160], copy[1024], *rest = copy, *item;
	const struct reading r = { .is_result = is_result, .is_known = true, .why = why, .size = sizeof(why) };

	snprintf(copy, sizeof(copy), "%s", text);
	while (*copy && (item = strsep(&rest, ",")) && found->count < ARG_PLACES) {
		struct arg_form form = {};

		if (take_item(&r, item, &form))
			return;
		take_form(found, &form, true);
	}
}

bool argspec_forms(struct func_args *ret, const struct func *f, const char *args, const char *result)
{
	struct found found = {};

	take_known(&found, args, false);
	take_known(&found, result, true);
	return set_args(ret, &found, f);
}

bool argspecs_have_vectors(const struct argspecs *s)
{
	for (const struct arg_rule *rule = s->rule; rule < s->rule + s->count; rule++)
		for (unsigned i = 0; i < rule->count; i++)
			if (is_in_vectors(&rule->form[i]))
				return true;
	return false;
}
