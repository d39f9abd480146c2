/*
 * grace.h - who takes uprobes away does not wait for as long as we record.
 *
 * Belongs to the control thread.
 */
#ifndef GRACE_H
#define GRACE_H

/* Readable when it is time to look; -1: return probes of ours keep nobody waiting. */
int  grace_fd(void);

/* Look: whoever waits since the last time gets his way, for which no return is probed for a moment. */
void grace_turn(void);

#endif
