/*
 * taken.h - records, taken out of the rings that BPF writes into the chunk of a round.
 *
 * What follows believes what a record says of itself. So here each is looked at, a
 * copy that nobody else can write, and one that is not sane is left out and counted.
 */
#ifndef TAKEN_H
#define TAKEN_H

#include <stddef.h>
#include <stdint.h>

struct calls_head;
struct chunk;
struct tally;

/* The sample @data of a BPF ring buffer, @len bytes, one record. @garbled: where one left out is counted. */
int  taken_sample(struct chunk *c, const void *data, size_t len, struct tally *garbled);

/* A record that is not whole at the end, @data is what there is of it: counted in @unfinished. */
void taken_unfinished(const void *data, size_t len, struct tally *unfinished);

/*
 * What is in a ring of function records, of @slots slots, at most once round. @unfinished NULL: one that is being written
 * stays, with all behind it. Else, at the end, it is counted there.
 */
void taken_calls(struct chunk *c, struct calls_head *ring, uint32_t slots, struct tally *garbled, struct tally *unfinished);

#endif
