/*
 * seat.h - write into the task that waits at a slot, and into no other.
 */
#ifndef SEAT_H
#define SEAT_H

#include <stdbool.h>

struct gate_slot;

/* Put the words of @s, which is GATE_SERVING, into its task. False: nothing was written, or (its memory has changed since) not all. */
bool seat_write(const struct gate_slot *s);

#endif
