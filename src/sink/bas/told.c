/*
 * told.c - names and paths as a record has them, and as lines show them.
 */
#include "base.h"
#include "sink/bas/bas.h"

struct bas_told bas_told_of(struct sink *s, const struct event *ev)
{
	const struct rec_file *r = (const void *)ev->rec;

	return (struct bas_told){ s->names, { &r->root, r->hdr.pid, r->hdr.tid, r->hdr.time }, r->text, r->text_len };
}

static const struct rec_text *next(const struct bas_told *d, const struct rec_text *x)
{
	const char *at = x ? x->bytes + ((x->len + 3) & ~3ul) : d->texts;

	return at < d->texts + d->len ? (const void *)at : NULL;
}

const struct rec_text *bas_told_text(const struct bas_told *d, unsigned which)
{
	for (const struct rec_text *x = next(d, NULL); x; x = next(d, x))
		if (x->arg == which)
			return x->flags & TEXT_FAULT ? NULL : x;
	return NULL;
}

unsigned bas_told_cut(const struct bas_told *d)
{
	unsigned n = 0;

	for (const struct rec_text *x = next(d, NULL); x; x = next(d, x))
		n += !!(x->flags & TEXT_CUT);
	return n;
}

char *bas_told_name(const struct bas_told *d, unsigned which)
{
	const struct rec_text *x = bas_told_text(d, which);

	return x ? strndup(x->bytes, x->len) : NULL;
}

char *bas_told_path(const struct bas_told *d, unsigned which, const char *name)
{
	const struct rec_text *x = bas_told_text(d, which);

	return x ? bas_walked(x, name) : NULL;
}

char *bas_told_joined(const struct bas_told *d, unsigned name, unsigned base)
{
	__cleanup(free_ptr) char *passed = bas_told_name(d, name), *from = bas_told_path(d, base, NULL);

	return passed ? bas_names_join(from, passed) : NULL;
}

/* What a lookup of the name begins with; NULL: it is relative to what could not be read. */
static char *absolute(const struct bas_told *d, unsigned name, unsigned base)
{
	__cleanup(free_ptr) char *passed = bas_told_name(d, name), *from = NULL;
	const struct rec_text *x = bas_told_text(d, base);

	if (!passed || (*passed != '/' && !x))
		return NULL;
	from = x ? bas_walked(x, NULL) : NULL;
	return bas_names_join(from, passed);
}

/* Does the name begin at a directory that its task's root does not lead to? The root may have another of the same path. */
static bool is_outside(const struct bas_told *d, unsigned name, unsigned base)
{
	const struct rec_text *x = bas_told_text(d, name), *dir = bas_told_text(d, base);

	return x && x->bytes[0] != '/' && dir && dir->flags & TEXT_OUTSIDE;
}

/* A name that is one component, of the directory that BPF has walked: nothing is to be looked up. NULL: it is not so. */
static char *within(const struct bas_told *d, unsigned name, unsigned base)
{
	const struct rec_text *x = bas_told_text(d, name), *dir = bas_told_text(d, base);
	__cleanup(free_ptr) char *passed = x ? strndup(x->bytes, x->len) : NULL, *from = NULL;

	if (!passed || !*passed || strchr(passed, '/') || !strcmp(passed, ".") || !strcmp(passed, "..") ||
	    !dir || dir->flags & (TEXT_OBJECT | TEXT_DELETED | TEXT_CUT))
		return NULL;
	from = bas_walked(dir, NULL);
	return from ? bas_names_join(strcmp(from, "/") ? from : "", passed) : NULL;
}

char *bas_told_resolved(const struct bas_told *d, unsigned name, unsigned base, bool *is_gone)
{
	char *plain = within(d, name, base);
	__cleanup(free_ptr) char *path = plain ? NULL : absolute(d, name, base);

	if (plain && is_gone)
		*is_gone = false;
	if (plain)
		return plain;
	if (path && is_outside(d, name, base))
		return bas_names_tidy(path);
	return path ? bas_names_resolve(d->names, &d->whose, path, is_gone) : NULL;
}

char *bas_told_followed(const struct bas_told *d, unsigned name, unsigned base)
{
	__cleanup(free_ptr) char *path = is_outside(d, name, base) ? NULL : absolute(d, name, base);

	return path ? bas_names_follow(d->names, &d->whose, path) : NULL;
}
