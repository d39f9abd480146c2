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
	char  *why;
	size_t size;
};

static const char format_letters[] = "diuxcps";	/* by enum value_format */

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

/* "/FMT" with its bits. */
static int take_format(const struct reading *r, const char *item, const char **at, struct arg_form *form)
{
	const char *letter;
	unsigned bits;

	form->format = VALUE_AUTO;
	form->size = 8;
	if (**at != '/')
		return 0;
	(*at)++;
	if (**at && strchr("foSte", **at))
		return refuse(r, "'%s': the format '%c' is not built yet", item, **at);
	letter = **at ? strchr(format_letters, **at) : NULL;
	if (!letter)
		return refuse(r, "'%s': a format is one of d i u x c p s", item);
	(*at)++;
	form->format = letter - format_letters;
	form->size = form->format == VALUE_CHAR ? 1 : 8;
	if (**at < '0' || **at > '9')
		return 0;
	bits = take_number(at, 64);
	if (form->format == VALUE_STRING || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
		return refuse(r, form->format == VALUE_STRING ? "'%s': a string has no size" :
			      "'%s': a size is one of 8 16 32 64", item);
	form->size = bits / 8;
	return 0;
}

/* "%REGISTER" or "%stack+N", the N-th word behind the return address. */
static int take_place(const struct reading *r, const char *item, const char **at, struct arg_form *form)
{
	unsigned n;

	if (**at != '%' || r->is_result)
		return 0;
	(*at)++;
	if (!strncmp(*at, "stack+", strlen("stack+"))) {
		*at += strlen("stack+");
		n = take_number(at, ARG_PLACES - 1 - ARRAY_SIZE(registers));
		form->place = n ? ARRAY_SIZE(registers) + n : 0;
		return n ? 0 : refuse(r, "'%s': the stack is asked for from %%stack+1 to %%stack+%zu", item,
				      ARG_PLACES - 1 - ARRAY_SIZE(registers));
	}
	for (n = 0; n < ARRAY_SIZE(registers); n++) {
		if (!strcmp(*at, registers[n])) {
			form->place = n + 1;
			*at += strlen(*at);
			return 0;
		}
	}
	return refuse(r, "'%s': an argument is in %%%s to %%%s or in %%stack+N", item, registers[0],
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

	if (is_number_behind(item, "fparg"))
		return refuse(r, "'%s': floating-point arguments are not built yet", item);
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		if (!strncmp(item, actions[i], strlen(actions[i])))
			return refuse(r, "'%s' is not built yet", item);
	if (is_number_behind(item, "arg")) {
		if (r->is_result)
			return refuse(r, "'%s' is for -A; here it is retval", item);
		at += strlen("arg");
		form->index = form->place = take_number(&at, ARG_PLACES - 1);
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
	const struct reading r = { is_result, why, size };
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

	return is_file && f->name && pattern_matches(&rule->pattern, f->name);
}

/* Forms found so far, in the order in which their arguments were first named. */
struct found {
	struct arg_form form[ARG_PLACES];
	bool		is_exact[ARG_PLACES];
	unsigned	count;
};

static void take_form(struct found *found, const struct arg_form *form, bool is_exact)
{
	unsigned i = 0;

	while (i < found->count && found->form[i].index != form->index)
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
	return sizeof(struct rec_value) + (form->format == VALUE_STRING ? VALUE_ROOM_STRING : VALUE_ROOM_NUMBER);
}

bool argspecs_find(const struct argspecs *s, struct func_args *ret, const struct image *img, const struct func *f)
{
	struct found found = {};

	for (size_t i = 0; i < s->count; i++)
		if (is_rule_of(&s->rule[i], img, f))
			take_forms(&found, &s->rule[i]);
	*ret = (struct func_args){};
	for (unsigned i = 0; i < found.count; i++) {
		struct arg_form *form = &found.form[i];

		if (!form->index) {
			ret->result = *form;
			ret->result_bytes = value_bytes(form);
		} else if (ret->count < ARGS_MAX) {
			form->at = ret->bytes;
			ret->bytes += value_bytes(form);
			ret->arg[ret->count++] = *form;
		}
	}
	return ret->count || ret->result_bytes;
}
