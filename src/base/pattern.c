/*
 * pattern.c - one compiled regex, glob or name.
 */
#include <fnmatch.h>

#include "base.h"
#include "image.h"
#include "pattern.h"

#define SPECIAL	".?*+-^$|()[]{}"	/* what makes uftrace take a name for a pattern */
#define GLOB	"?*["

static int take_words(struct pattern *p, const char *text, size_t len)
{
	const char *at = memchr(text, '@', len);
	size_t func_len = at ? (size_t)(at - text) : len;

	if (!func_len || (at && func_len + 1 == len))
		return -EINVAL;
	p->func = strndup(text, func_len);
	p->lib = at ? strndup(at + 1, len - func_len - 1) : NULL;
	return p->func && (p->lib || !at) ? 0 : -ENOMEM;
}

static void free_words(struct pattern *p)
{
	free(TAKE(p->func));
	free(TAKE(p->lib));
}

int pattern_parse(struct pattern *p, const char *text, size_t len, enum pattern_kind kind)
{
	int err;

	*p = (struct pattern){ .kind = kind };
	err = take_words(p, text, strnlen(text, len));
	if (!err && !strpbrk(p->func, SPECIAL))
		p->kind = PATTERN_EXACT;
	if (!err && p->kind == PATTERN_REGEX && regcomp(&p->regex, p->func, REG_EXTENDED | REG_NOSUB))
		err = -EINVAL;
	if (err)
		free_words(p);
	return err;
}

/* "sub/" and "/sub" are "sub": found where a "/" or the end follows. */
static char *place_regex(const char *text, size_t len)
{
	char *regex;

	len -= len > 1 && text[len - 1] == '/';
	if (len > 1 && *text == '/') {
		text++;
		len--;
	}
	return asprintf(&regex, "%.*s(/|$)", (int)len, text) < 0 ? NULL : regex;
}

int pattern_parse_place(struct pattern *p, const char *text, size_t len, enum pattern_kind kind)
{
	__cleanup(free_ptr) char *copy = strndup(text, len);

	*p = (struct pattern){ .kind = kind };
	if (!copy || !len)
		return len ? -ENOMEM : -EINVAL;
	if (!strpbrk(copy, SPECIAL)) {
		p->kind = PATTERN_REGEX;
		p->func = place_regex(copy, strlen(copy));
	} else {
		p->func = TAKE(copy);
	}
	if (p->func && (p->kind != PATTERN_REGEX || !regcomp(&p->regex, p->func, REG_EXTENDED | REG_NOSUB)))
		return 0;
	if (!p->func)
		return -ENOMEM;
	free(TAKE(p->func));
	return -EINVAL;
}

void pattern_release(struct pattern *p)
{
	if (p->func && p->kind == PATTERN_REGEX)
		regfree(&p->regex);
	free_words(p);
}

bool pattern_matches(const struct pattern *p, const char *func)
{
	switch (p->kind) {
	case PATTERN_REGEX:
		return !regexec(&p->regex, func, 0, NULL, 0);
	case PATTERN_GLOB:
		return !fnmatch(p->func, func, 0);
	default:
		return !strcmp(p->func, func);
	}
}

bool pattern_matches_name(const struct pattern *p, const struct func *f)
{
	return f->name && (pattern_matches(p, f->name) || (f->plain && pattern_matches(p, f->plain)));
}

bool pattern_matches_file(const struct pattern *p, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (!p->lib)
		return true;
	if (!strcmp(p->lib, "PLT"))
		return false;
	return strpbrk(p->lib, GLOB) ? !fnmatch(p->lib, name, 0) : !strncmp(p->lib, name, strlen(p->lib));
}
