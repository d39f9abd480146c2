/*
 * walked.c - names that were walked leaf first, turned round.
 */
#include "base.h"
#include "walked.h"

char *walked_path(const char *names, size_t len, const char *behind)
{
	char *path = malloc(len + strlen(behind) + 2), *to = path;

	if (!path)
		return NULL;
	while (len) {
		size_t end = len - !names[len - 1], start = end;

		while (start && names[start - 1])
			start--;
		*to++ = '/';
		memcpy(to, names + start, end - start);
		to += end - start;
		len = start;
	}
	if (to == path)
		*to++ = '/';
	strcpy(to, behind);
	return path;
}
