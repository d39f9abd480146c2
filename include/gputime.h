/*
 * gputime.h - --gpu-times: the library that the CUDA driver is to load into the command.
 */
#ifndef GPUTIME_H
#define GPUTIME_H

/* The setting of the environment that has the driver load it, owned by the source; NULL: none is to be set. */
const char *gputime_setting(void);

/* What became of device times; one of each recording. */
struct gputime_counts {
	unsigned long ready, no_cupti, busy, failed;	/* processes, by what the library said of itself */
	unsigned	      error;			/* of the last that failed: CUPTI's result */
	unsigned long kernels, copies;			/* timed: kernels; copies and sets */
	unsigned long matched, matched_copies;		/* of them those whose call is known */
	unsigned long unlike;				/* kernels whose launch had another shape; not matched */
	unsigned long untimed;				/* had not ended when CUPTI was asked for the last time */
	unsigned long dropped;				/* CUPTI had no memory for them */
};

void gputime_summary(const struct gputime_counts *c);

#endif
