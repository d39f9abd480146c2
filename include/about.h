/*
 * about.h - the recording itself: what file headers want to know.
 *
 * Made before the first record; the fields of the end are filled in before the
 * sinks are closed. Strings are owned by the about.
 */
#ifndef ABOUT_H
#define ABOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "kevent.h"
#include "record.h"

struct about {
	char	     **argv;		/* the command recorded; NULL when attached or replayed without one */
	char	      *cmdline;		/* recorder's own command line, words joined by spaces */
	char	      *exe;		/* absolute path of the command */
	char	      *cwd;		/* where recorder was started */
	uint32_t       pid;		/* recorder's own */
	char	      *hostname, *kernel, *distro, *cpu_model;	/* kernel: "Linux 6.1.0" */
	unsigned       cpus_online, cpus_possible;
	uint64_t       mem_free, mem_total;	/* bytes */
	double	       load[3];
	unsigned       string_bytes;	/* -s: at most this much of a text is shown */

	bool	       gpu_times;	/* device times were asked for: REC_CUDA_TIMES may come */
	struct tracepoints tracepoints;	/* the events EVENT_TRACEPOINT and on */
	bool	       is_replay;	/* all of this was before: what is there now need not be what was */
	uint64_t       start;		/* ns, CLOCK_MONOTONIC */
	int64_t	       utc_offset;	/* ns: CLOCK_REALTIME minus CLOCK_MONOTONIC */

	/* known at the end */
	uint64_t       end;
	int	       exit_status;	/* of the command, as wait(2) encodes it */
	struct rusage  usage;		/* of the command and its children */
	uint64_t       lost[REC_CLASSES];
};

/* Fills in the facts of the host. @self_argv NULL: as /proc tells. */
int  about_create(struct about **ret, char **argv, char *const *self_argv);
void about_destroy(struct about *a);

#endif
