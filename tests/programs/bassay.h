/*
 * bassay.h - what a program did, as tests/live/bas.py events prints it: columns with tabs between, strings escaped.
 *
 * All is kept until said() writes it, so that saying it makes no event between.
 */
#ifndef BASSAY_H
#define BASSAY_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct say {
	char	*text;
	size_t	 len, room;
};

static inline void say_byte(struct say *s, char c)
{
	if (s->len == s->room) {
		s->room = s->room ? 2 * s->room : 65536;
		s->text = realloc(s->text, s->room);
		if (!s->text)
			abort();
	}
	s->text[s->len++] = c;
}

__attribute__((format(printf, 2, 3))) static inline void say(struct say *s, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *p = text; *p; p++)
		say_byte(s, *p);
}

/* A column "TAG=STRING". */
static inline void say_string(struct say *s, const char *tag, const char *string)
{
	say(s, "\t%s=", tag);
	for (const unsigned char *p = (const unsigned char *)string; *p; p++) {
		if (*p == '\\')
			say(s, "\\\\");
		else if (*p == '\n')
			say(s, "\\n");
		else if (*p == '\t')
			say(s, "\\t");
		else if (*p < 32 || *p > 126)
			say(s, "\\x%02x", *p);
		else
			say_byte(s, *p);
	}
}

static inline void said(struct say *s)
{
	for (size_t at = 0; at < s->len;) {
		ssize_t n = write(1, s->text + at, s->len - at);

		if (n <= 0)
			abort();
		at += n;
	}
	s->len = 0;
}

/* What the kernel says descriptor @fd is. */
static inline const char *link_of(int fd, char text[PATH_MAX])
{
	char name[64];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/thread-self/fd/%d", fd);
	n = readlink(name, text, PATH_MAX - 1);
	text[n < 0 ? 0 : n] = 0;
	return text;
}

#endif
