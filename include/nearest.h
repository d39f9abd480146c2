/*
 * nearest.h - "did you mean": the candidate most like a word.
 */
#ifndef NEAREST_H
#define NEAREST_H

struct nearest {
	const char *word;	/* what was typed; set this, leave the rest zero */
	const char *found;	/* the best candidate so far that is near enough to be meant; NULL: none */
	unsigned    distance;	/* its distance + 1 */
};

/*
 * Compare with @candidate, which is lent for as long as @n is used. The
 * distance counts letters put in, left out, changed or swapped; one that begins
 * with the word is near, whatever follows.
 */
void nearest_offer(struct nearest *n, const char *candidate);

#endif
