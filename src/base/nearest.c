/*
 * nearest.c - edit distance, with swapped neighbours as one edit (optimal string alignment).
 */
#include "base.h"
#include "nearest.h"

#define WORD_MAX	64	/* longer words are not compared: nobody mistypes them */

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	return MIN(MIN(a, b), c);
}

static unsigned edit_distance(const char *a, size_t an, const char *b, size_t bn)
{
	unsigned row[3][WORD_MAX + 1];		/* of the letter of @a before the last, the last, this one */
	unsigned *before = row[0], *last = row[1], *this = row[2], *spare;

	for (size_t j = 0; j <= bn; j++)
		last[j] = j;
	for (size_t i = 1; i <= an; i++) {
		this[0] = i;
		for (size_t j = 1; j <= bn; j++) {
			this[j] = least(last[j] + 1, this[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				this[j] = MIN(this[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = this;
		this = spare;
	}
	return last[bn];
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	size_t wn = strlen(n->word), cn = strlen(candidate);
	unsigned distance;

	if (!wn || wn > WORD_MAX || cn > WORD_MAX)
		return;
	distance = edit_distance(n->word, wn, candidate, cn);
	if (wn > 2 && !strncmp(n->word, candidate, wn))
		distance = 1;
	/* Two of three letters must be right, or the offer is a guess. */
	if (distance > 0 && distance * 3 > MAX(wn, cn))
		return;
	if (!n->found || distance + 1 < n->distance) {
		n->found = candidate;
		n->distance = distance + 1;
	}
}
