/*
 * event.h - what a sink reads: a record in its place.
 *
 * Entries that were held back come late: when it is known that they are to be
 * recorded. Their `began` is the time to show. Of one task the entries and exits are
 * in order of it, too; of several they are not. A sink that has one order for all
 * tasks has to sort them, or show `time`.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdint.h>

#include "record.h"
#include "task.h"

/* How the end of a call is known. */
enum ending {
	ENDED_SEEN,		/* its own exit record */
	ENDED_INFERRED,		/* a later record shows that its frame is gone: longjmp, exception, lost or unprobed return */
	ENDED_WITH_TASK,	/* the task exec'd, exited, or the recording ended */
};

/* Of a program: where it was, or where a call returns to. */
struct frame {
	uint64_t	   ip;
	const struct map  *map;		/* NULL: no file is known to be there */
	const struct func *func;	/* NULL: none is known to be there */
	uint64_t	   offset;	/* from the function's begin, else from the map's */
};

struct event {
	const struct rec_hdr *rec;	/* lent; NULL with REC_CUDA_TIMES; for a call whose end was not seen: the record that showed it */
	struct task	     *task;	/* NULL with REC_EVENT, REC_MARK, REC_CUDA_TIMES, REC_CALLERS: it need not be recorded */
	uint64_t	      time;	/* never decreases from one event to the next */
	uint64_t	      began;	/* of an entry that -t or -C held back: when it was, earlier; else as time */
	uint16_t	      kind;	/* enum rec_kind: of this event; for an unseen end REC_FUNC_EXIT, REC_SYS_EXIT or REC_CUDA_EXIT */
	uint16_t	      ending;	/* enum ending; for exits */
	uint32_t	      depth;	/* entries and exits: the calls open around this one */
	const struct call    *call;	/* entries and exits: the call; NULL: the exit of a system call that this task did not
					   enter, an exec in the new program, a fork in the child; else NULL */
	const struct frame   *frame;	/* REC_CALLERS: the program's, as many as the record says; else NULL */
	const struct func    *func;	/* REC_MARK: whose trigger it is, NULL: not known, or a signal's; else NULL */
	const struct cuda_device_time *device;	/* REC_CUDA_TIMES, an event for each time of the device: cuda.h; else NULL */
};

#endif
