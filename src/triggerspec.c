/*
 * triggerspec.c - reads the actions of a -T. What uftrace passes over in silence is refused.
 */
#include <stdio.h>

#include "base.h"
#include "condition.h"
#include "function.h"
#include "triggerspec.h"

static const struct word {
	const char *word;
	unsigned    action;	/* TRIGGER_*; 0: one of the flags */
	size_t	    flag;	/* offset in struct triggerspec */
} words[] = {
	{ "filter",    0, offsetof(struct triggerspec, in) },
	{ "notrace",   0, offsetof(struct triggerspec, out) },
	{ "hide",      0, offsetof(struct triggerspec, hide) },
	{ "trace_on",  TRIGGER_ON, 0 },
	{ "traceon",   TRIGGER_ON, 0 },
	{ "trace_off", TRIGGER_OFF, 0 },
	{ "traceoff",  TRIGGER_OFF, 0 },
	{ "finish",    TRIGGER_FINISH, 0 },
};

/* What uftrace has besides; where a word ends in '=' or ':' something follows. */
static const struct refused {
	const char *word, *why;
} refused[] = {
	{ "backtrace", "is for uftrace replay -T" },
	{ "color=",    "is for uftrace replay -T" },
	{ "recover",   "is not needed: the program's stack is never changed" },
	{ "read=",     "is not built yet; perf record reads counters" },
	{ "time=",     "is not built yet; uftrace replay -t TIME hides calls that are shorter" },
	{ "size=",     "is not built yet; --size-filter BYTES is for all functions" },
	{ "trace",     "is not needed: no time filter takes the function out" },
	{ "auto-args", "is not built yet; -A and -R name arguments" },
	{ "arg",       "is for -A" },
	{ "fparg",     "is for -A" },
	{ "retval",    "is for -R" },
};

static int take_depth(struct triggerspec *t, const char *item, char *why, size_t size)
{
	char *end;
	unsigned long n = strtoul(item, &end, 10);

	if (*item < '0' || *item > '9' || *end || !n || n > FILTER_DEPTH_MAX) {
		snprintf(why, size, "'depth=%s': a depth is 1 to %d", item, FILTER_DEPTH_MAX);
		return -EINVAL;
	}
	t->actions |= TRIGGER_DEPTH;
	t->depth = n;
	return 0;
}

static bool is_refused(const char *item, char *why, size_t size)
{
	for (const struct refused *r = refused; r < refused + ARRAY_SIZE(refused); r++) {
		size_t len = strlen(r->word);
		bool is_begin = strchr("=:", r->word[len - 1]) || strstr(r->word, "arg");

		if (strncmp(item, r->word, len) || (!is_begin && item[len]))
			continue;
		snprintf(why, size, "'%s' %s", item, r->why);
		return true;
	}
	return false;
}

/* 1: it is no action, so the name of a file. */
static int take_item(struct triggerspec *t, const char *item, char *why, size_t size)
{
	for (const struct word *w = words; w < words + ARRAY_SIZE(words); w++) {
		if (strcmp(item, w->word))
			continue;
		/* Of on and off the later counts. */
		if (w->action & (TRIGGER_ON | TRIGGER_OFF))
			t->actions &= ~(TRIGGER_ON | TRIGGER_OFF);
		t->actions |= w->action;
		if (!w->action)
			*(bool *)((char *)t + w->flag) = true;
		return 0;
	}
	if (!strncmp(item, CONDITION_WORD, strlen(CONDITION_WORD))) {
		if (t->cond.arg)
			return snprintf(why, size, "'%s': a rule has one condition", item), -EINVAL;
		return condition_parse(&t->cond, item, why, size);
	}
	if (!strncmp(item, "depth=", strlen("depth=")))
		return take_depth(t, item + strlen("depth="), why, size);
	return is_refused(item, why, size) ? -EINVAL : 1;
}

static bool has_action(const struct triggerspec *t)
{
	return t->actions || t->in || t->out || t->hide;
}

static int take_items(struct triggerspec *t, char *items, const char **lib, char *why, size_t size)
{
	char *item;
	int err;

	while ((item = strsep(&items, ","))) {
		err = take_item(t, item, why, size);
		if (err < 0)
			return err;
		if (!err)
			continue;
		if (!*item || *lib) {
			snprintf(why, size, "'%s' is not an action, such as trace_on", item);
			return -EINVAL;
		}
		*lib = item;
	}
	return 0;
}

int triggerspec_parse(struct triggerspec *ret, const char *text, size_t len, char *why, size_t size)
{
	__cleanup(free_ptr) char *copy = strndup(text, len);
	const char *lib = NULL;
	char *items;
	int err;

	*ret = (struct triggerspec){};
	if (!copy)
		return -ENOMEM;
	items = strchr(copy, '@');
	if (items)
		*items++ = '\0';
	err = items ? take_items(ret, items, &lib, why, size) : 0;
	if (err)
		return err;
	if (!*copy || !has_action(ret)) {
		if (!*copy)
			snprintf(why, size, "'%.*s' names no function", (int)len, text);
		else if (lib)
			snprintf(why, size, "'%s' is not an action, such as trace_on", lib);
		else
			snprintf(why, size, "'%.*s' has no action, as FUNC@trace_on would", (int)len, text);
		return -EINVAL;
	}
	if (ret->in && ret->out) {
		snprintf(why, size, "'%.*s': filter and notrace are opposites", (int)len, text);
		return -EINVAL;
	}
	return asprintf(&ret->func, "%s%s%s", copy, lib ? "@" : "", lib ?: "") < 0 ? -ENOMEM : 0;
}
