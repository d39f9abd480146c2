/*
 * text.c - lines, each with its task, CPU and a time of its own; strings, in parts where they are long.
 *
 * A reader sorts lines by time, and not stably: so no two lines of a file have the same. The time of an event is that
 * of its first line, its other lines follow in steps of one nanosecond.
 */
#include <stdarg.h>

#include "base.h"
#include "out.h"
#include "sink/bas/text.h"

#define ROOM_KEPT	(1u << 20)	/* bytes of the block buffer that stay: few events need more */

struct bas_text {
	struct out *out;
	bool	    long_lines;
	char	   *block;		/* the event being put together */
	size_t	    used, room;
	uint64_t    last;		/* the time of the last line */
	char	    task[64];		/* "0: UPID,CPU," of the event */
	size_t	    task_len;
	int	    err;		/* the first */
};

int bas_text_create(struct bas_text **ret, struct out *out, bool long_lines)
{
	struct bas_text *t = calloc(1, sizeof(*t));

	if (!t) {
		out_destroy(out);
		return -ENOMEM;
	}
	t->out = out;
	t->long_lines = long_lines;
	*ret = t;
	return 0;
}

void bas_text_destroy(struct bas_text *t)
{
	if (!t)
		return;
	out_destroy(t->out);
	free(t->block);
	free(t);
}

/* ---- the block ---- */

static void add(struct bas_text *t, const char *data, size_t len)
{
	size_t room = MAX(t->room, (size_t)4096);
	char *block;

	while (room - t->used < len)
		room *= 2;
	if (!t->err && room > t->room) {
		block = realloc(t->block, room);
		if (block) {
			t->block = block;
			t->room = room;
		} else {
			t->err = -ENOMEM;
		}
	}
	if (t->err || !len)
		return;
	memcpy(t->block + t->used, data, len);
	t->used += len;
}

static void add_format(struct bas_text *t, const char *fmt, va_list args)
{
	char text[256];
	int n = vsnprintf(text, sizeof(text), fmt, args);

	add(t, text, MIN((size_t)MAX(n, 0), sizeof(text) - 1));
}

/* "0: UPID,CPU,SEC,NSEC!" of the next line. */
static void add_prefix(struct bas_text *t)
{
	uint64_t now = ++t->last, sec = now / NSEC_PER_SEC, nsec = now % NSEC_PER_SEC;
	char stamp[48];

	add(t, t->task, t->task_len);
	add(t, stamp, snprintf(stamp, sizeof(stamp), "%lu,%lu!", sec, nsec));
}

static void add_line(struct bas_text *t, const char *tag, const char *text, size_t len)
{
	add_prefix(t);
	add(t, tag, strlen(tag));
	add(t, text, len);
	add(t, "\n", 1);
}

void bas_begin(struct bas_text *t, uint64_t upid, unsigned cpu, uint64_t time)
{
	t->used = 0;
	t->last = MAX(t->last, time ? time - 1 : 0);
	t->task_len = snprintf(t->task, sizeof(t->task), "0: %lu,%u,", upid, cpu);
}

void bas_line(struct bas_text *t, const char *fmt, ...)
{
	va_list args;

	add_prefix(t);
	va_start(args, fmt);
	add_format(t, fmt, args);
	va_end(args);
	add(t, "\n", 1);
}

int bas_end(struct bas_text *t)
{
	if (!t->err)
		out_bytes(t->out, t->block, t->used);
	t->err = t->err ?: out_error(t->out);
	t->used = 0;
	if (t->room > ROOM_KEPT) {
		free(TAKE(t->block));
		t->room = 0;
	}
	return t->err;
}

/* ---- strings ---- */

/* How the parts of a string are tagged. */
struct tagging {
	const char *tag;
	unsigned    number;
	bool	    counts;	/* each part but those of Cont has a number of its own */
};

static void add_tagged(struct bas_text *t, struct tagging *g, const char *text, size_t len)
{
	char tag[32];

	snprintf(tag, sizeof(tag), "%s[%u]", g->tag, g->number);
	g->number += g->counts;
	add_line(t, tag, text, len);
}

/* Parts of at most BAS_PART bytes. A newline ends one, and what follows it goes on in a part tagged Cont. */
static void add_parts(struct bas_text *t, struct tagging *g, const char *text, size_t len)
{
	const char *end = text + len;
	bool is_next_line = false, was_cont = false;

	for (;;) {
		const char *newline = memchr(text, '\n', MIN((size_t)(end - text), (size_t)BAS_PART + 1));
		size_t n = MIN((size_t)((newline ?: end) - text), (size_t)BAS_PART);

		if (is_next_line) {
			add_line(t, "Cont|", text, n);
		} else {
			if (was_cont)
				add_line(t, "Cont_end|", NULL, 0);
			add_tagged(t, g, text, n);
		}
		was_cont = is_next_line;
		text += n;
		if (text == end)
			break;
		is_next_line = *text == '\n';
		text += is_next_line;
	}
	if (was_cont)
		add_line(t, "Cont_end|", NULL, 0);
}

static void add_short(struct bas_text *t, const char *tag, const char *text, size_t len)
{
	const char *end = text + len, *newline;
	bool is_one_line = true;

	while ((newline = memchr(text, '\n', end - text))) {
		add_line(t, is_one_line ? tag : "Cont|", text, newline - text);
		is_one_line = false;
		text = newline + 1;
	}
	add_line(t, is_one_line ? tag : "Cont|", text, end - text);
	if (!is_one_line)
		add_line(t, "Cont_end|", NULL, 0);
}

void bas_string(struct bas_text *t, const char *tag, const char *text, size_t len)
{
	bool fits = t->long_lines && len <= BAS_LONG_LINE && !memchr(text, '\n', len);
	struct tagging g = { .tag = tag, .counts = true };
	char with_bar[32];

	if (len < BAS_PART || fits) {
		snprintf(with_bar, sizeof(with_bar), "%s|", tag);
		add_short(t, with_bar, text, len);
		return;
	}
	add_parts(t, &g, text, len);
	snprintf(with_bar, sizeof(with_bar), "%s_end|", tag);
	add_line(t, with_bar, NULL, 0);
}

void bas_argument(struct bas_text *t, unsigned index, const char *text, size_t len)
{
	add_parts(t, &(struct tagging){ .tag = "A", .number = index }, text, len);
}

void bas_variable(struct bas_text *t, const char *text, size_t len)
{
	add_parts(t, &(struct tagging){ .tag = "Env", .counts = true }, text, len);
}

/* ---- the file ---- */

int bas_text_head(struct bas_text *t, const char *cwd)
{
	t->used = 0;
	add(t, "INITCWD=", strlen("INITCWD="));
	add(t, cwd, strcspn(cwd, "\n"));	/* a second line of it would be taken for an event */
	add(t, "\n", 1);
	return bas_end(t) ?: bas_text_flush(t);
}

int bas_lost(struct bas_text *t, unsigned cpu, uint64_t count)
{
	char line[64];

	t->used = 0;
	add(t, line, snprintf(line, sizeof(line), "CPU:%u [LOST %lu EVENTS]\n", cpu, count));
	return bas_end(t);
}

int bas_text_flush(struct bas_text *t)
{
	return t->err = t->err ?: out_flush(t->out);
}

int bas_text_seal(struct bas_text *t)
{
	int err = out_seal(t->out);

	return t->err = t->err ?: err;
}
