/*
 * printed.h - what was said on stderr.
 */
#ifndef PRINTED_H
#define PRINTED_H

#include <stdio.h>
#include <unistd.h>

#include "base.h"

/* What reached stderr since the last call; the first call redirects stderr to a file. */
static char *printed(void)
{
	static char text[4096];
	static int fd = -1;
	ssize_t n;

	if (fd < 0) {
		fd = fileno(tmpfile());
		dup2(fd, STDERR_FILENO);
	}
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	(void)!ftruncate(fd, 0);
	lseek(fd, 0, SEEK_SET);
	return text;
}

#endif
