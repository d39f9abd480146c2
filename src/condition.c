/*
 * condition.c - reads the conditions of -F, -N, -H, -C and -T.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base.h"
#include "condition.h"

#ifdef __aarch64__
#define ARGS_MOST	8	/* that come in registers */
#else
#define ARGS_MOST	6
#endif

_Static_assert(ARGS_MOST <= COND_ARGS, "BPF has room for all of them");

__attribute__((format(printf, 3, 4)))
static int refuse(char *why, size_t size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, size, fmt, args);
	va_end(args);
	return -EINVAL;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " ");
}

/* The longer ones before those they begin with. */
static const struct operator {
	const char *word;
	unsigned    holds;
} operators[] = {
	{ "==", COND_EQUAL },
	{ "!=", COND_LESS | COND_MORE },
	{ "<=", COND_LESS | COND_EQUAL },
	{ ">=", COND_MORE | COND_EQUAL },
	{ "<",  COND_LESS },
	{ ">",  COND_MORE },
};

static bool take_operator(struct func_cond *c, const char **at)
{
	for (const struct operator *o = operators; o < operators + ARRAY_SIZE(operators); o++) {
		if (strncmp(*at, o->word, strlen(o->word)))
			continue;
		*at += strlen(o->word);
		c->holds = o->holds;
		return true;
	}
	return false;
}

/* "/i32": a letter, then bits. */
static bool take_format(struct func_cond *c, const char **at)
{
	static const char *const letters = "diuxpc";
	char *end = (char *)*at + 2;
	unsigned long bits = 64;

	if (**at != '/')
		return true;
	if (!(*at)[1] || !strchr(letters, (*at)[1]))
		return false;
	if (*end >= '0' && *end <= '9')
		bits = strtoul(end, &end, 10);
	else if ((*at)[1] == 'c')
		bits = 8;
	c->is_unsigned = strchr("uxp", (*at)[1]) != NULL;
	c->bits = bits;
	*at = end;
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool take_value(struct func_cond *c, const char **at)
{
	char *end;

	if (**at != '-' && (**at < '0' || **at > '9'))
		return false;
	errno = 0;
	c->value = **at == '-' ? (uint64_t)strtoll(*at, &end, 0) : strtoull(*at, &end, 0);
	if (errno || end == *at)
		return false;
	*at = end;
	return true;
}

int condition_parse(struct func_cond *ret, const char *item, char *why, size_t size)
{
	const char *at = skip_blanks(item + strlen(CONDITION_WORD));
	unsigned long n;
	char *end;

	*ret = (struct func_cond){};
	if (strncmp(at, "arg", 3) || at[3] < '0' || at[3] > '9')
		return refuse(why, size, "'%s' asks no argument, as if:arg1==0 does", item);
	n = strtoul(at + 3, &end, 10);
	if (!n || n > ARGS_MOST)
		return refuse(why, size, "'%s': conditions are on arg1 to arg%d", item, ARGS_MOST);
	ret->arg = n;
	at = end;
	if (!take_format(ret, &at))
		return refuse(why, size, "'%s': a format is one of d i u x p c, with one of 8 16 32 64 bits", item);
	at = skip_blanks(at);
	if (!take_operator(ret, &at))
		return refuse(why, size, "'%s': an operator is one of == != < <= > >=", item);
	at = skip_blanks(at);
	if (!take_value(ret, &at) || *skip_blanks(at))
		return refuse(why, size, "'%s': what is compared to is a number", item);
	return 0;
}

int condition_split(struct func_cond *ret, char **rest, const char *text, size_t len, char *why, size_t size)
{
	__cleanup(free_ptr) char *copy = strndup(text, len), *others = calloc(1, len + 1);
	char *items, *item;
	bool is_found = false;
	int err = copy && others ? 0 : -ENOMEM;

	*ret = (struct func_cond){};
	*rest = NULL;
	items = err ? NULL : strchr(copy, '@');
	if (!items)
		return err;
	*items++ = '\0';
	strcpy(others, copy);
	for (const char *before = "@"; !err && (item = strsep(&items, ",")); ) {
		if (strncmp(item, CONDITION_WORD, strlen(CONDITION_WORD))) {
			strcat(strcat(others, before), item);
			before = ",";
			continue;
		}
		err = is_found ? refuse(why, size, "'%s': a rule has one condition", item) :
				 condition_parse(ret, item, why, size);
		is_found = true;
	}
	if (!err && is_found)
		*rest = TAKE(others);
	return err;
}
