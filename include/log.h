/*
 * log.h - messages: one line each, on stderr, beginning "recorder: ".
 *
 * Text that came from a target or a user is escaped: a control byte never
 * reaches the terminal.
 */
#ifndef LOG_H
#define LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_QUIET = -1, LOG_NORMAL, LOG_VERBOSE, LOG_DEBUG };

void log_set_level(enum log_level level);
bool log_wants(enum log_level level);

/*
 * Copy @text into @to with every byte made visible that a terminal could obey:
 * controls, C1 controls, malformed UTF-8, marks of text direction. Cut, never
 * inside an escape, when @room is too small; 4 bytes for each of @text and one
 * for the NUL always suffice. Returns the bytes written, the NUL not counted.
 */
size_t log_escape(char *to, size_t room, const char *text);
char  *log_escaped(const char *text);	/* a copy made so, to be freed; NULL: no memory */

/* Print "recorder: <message>: <strerror>", no strerror when @err is 0. Returns @err, a negative errno. */
int fail(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line after a failure that says what helps: "recorder: try: <message>". */
void hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Something went wrong that we go on from: "recorder: warning: <message>". */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* What the user wants to know: the summary. Nothing with -q. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Only with -v. */
void detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * The status line, below what the command last wrote: replaced by the next one,
 * erased by any message; @fmt NULL erases it. Only on a terminal, and not while
 * another process group or a raw mode owns it: an editor, a pager, a prompt.
 */
void status_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
