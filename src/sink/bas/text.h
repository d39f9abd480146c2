/*
 * text.h - lines of bas text. An event is a block of lines that is put together in memory and reaches the file whole.
 */
#ifndef BAS_TEXT_H
#define BAS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BAS_PART	900u	/* bytes of a string on one line at most; strings below have the short form */
#define BAS_LONG_LINE	1990u	/* with --long-lines: what a reader that fails at 2048 bytes takes */

struct bas_text;
struct out;

/* @out is taken, also when this fails. */
int  bas_text_create(struct bas_text **ret, struct out *out, bool long_lines);
void bas_text_destroy(struct bas_text *t);

/* The line that begins the file. */
int  bas_text_head(struct bas_text *t, const char *cwd);

/* Lines of one event: all of one CPU, each later than every line before it, none before @time (ns). */
void bas_begin(struct bas_text *t, uint64_t upid, unsigned cpu, uint64_t time);
void bas_line(struct bas_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bas_string(struct bas_text *t, const char *tag, const char *text, size_t len);
/* Parts tagged A[@index]; and Env[0], Env[1], ... */
void bas_argument(struct bas_text *t, unsigned index, const char *text, size_t len);
void bas_variable(struct bas_text *t, const char *text, size_t len);
/* Put it into the file. Returns 0 or a negative errno, the first of all. */
int  bas_end(struct bas_text *t);

/* A line of no task: what ftrace puts in the place of events that were lost. */
int  bas_lost(struct bas_text *t, unsigned cpu, uint64_t count);

int  bas_text_flush(struct bas_text *t);
int  bas_text_seal(struct bas_text *t);

#endif
