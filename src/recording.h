/*
 * recording.h - a recording from first to last.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stddef.h>

struct config;

struct recording_result {
	int  exit_status;	/* not 0: what to leave with, whatever the command did */
	bool has_command;	/* else: @status is the command's, as wait(2) encodes it */
	int  status;
};

/* Launch, record, write, say what was done. Everything that went wrong has been said. */
void recording_run(const struct config *cfg, struct recording_result *ret);

/* Make the formats from a raw recording. Returns the exit status. */
int  recording_replay(const struct config *cfg);

/* Have the kernel take the programs a recording would load, and let them go. Returns 0, or a negative errno and @why. */
int  recording_try(const struct config *cfg, char *why, size_t size);

/* Say what would be probed, and do nothing. Returns the exit status. */
int  recording_dry_run(const struct config *cfg);

#endif
