/*
 * pattern.h - FUNC[@LIB]: which functions, of which files, an option means.
 *
 * FUNC is matched as uftrace(1) does: without any of .?*+-^$|()[]{} it is the whole
 * name, whatever the kind. A regex is found anywhere in the name unless anchored.
 * LIB means files whose name (its last component) begins so, or matches it as a glob
 * when it has glob characters.
 *
 * A place in the source is matched as uftrace matches it: without special characters it is
 * the end of a path, or a folder in it.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

enum pattern_kind {
	PATTERN_REGEX,		/* regex(7), extended: the default of uftrace */
	PATTERN_GLOB,		/* glob(7) */
	PATTERN_EXACT,
};

struct pattern {
	enum pattern_kind kind;	/* PATTERN_EXACT too for a text without special characters */
	char   *func;		/* owned, as lib */
	char   *lib;		/* NULL: no "@LIB" was given; "PLT": calls of library functions */
	regex_t regex;		/* only with PATTERN_REGEX */
};

/*
 * From @text, of which no more than @len bytes are read. Returns 0, -EINVAL for a regex
 * that is none or an empty FUNC or LIB, or -ENOMEM; @p is to be released after 0 only.
 */
int  pattern_parse(struct pattern *p, const char *text, size_t len, enum pattern_kind kind);
int  pattern_parse_place(struct pattern *p, const char *text, size_t len, enum pattern_kind kind);	/* no LIB */
void pattern_release(struct pattern *p);

bool pattern_matches(const struct pattern *p, const char *func);	/* its FUNC part */

struct func;

/* The name of @f, mangled or plain. */
bool pattern_matches_name(const struct pattern *p, const struct func *f);

/* Its LIB part; @path: of the file. Always true when it has none, never for "PLT". */
bool pattern_matches_file(const struct pattern *p, const char *path);

#endif
