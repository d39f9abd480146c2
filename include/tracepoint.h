/*
 * tracepoint.h - what BPF must know of a tracepoint asked for by name to take its event along. Shared with BPF.
 */
#ifndef TRACEPOINT_H
#define TRACEPOINT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define TRACEPOINT_BYTES_MAX	512u	/* of fixed fields; others are not recorded */
#define TRACEPOINT_TEXTS	8	/* fields of varying length that are taken along */

/* Places count from behind the 8 bytes that every event begins with. */
struct tracepoint_plan {
	__u16	bytes;			/* of the fixed fields */
	__u16	text_count;
	struct {
		__u16	at;		/* of the field that tells a text's place and length */
		__u16	base;		/* what that place counts from */
	} text[TRACEPOINT_TEXTS];
};

#endif
