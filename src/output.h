/*
 * output.h - where a recording goes: the directories and files that -o and --format name.
 *
 *	one format that is a directory		PATH is that directory, raw in it
 *	one format that is a file		PATH is that file; until it is whole, PATH.part is a directory
 *	several					PATH is a directory, each format in it under its usual name
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "sink.h"

struct config;
struct output;

/* Make what is needed; what a format had there before is moved to NAME.old. Returns 0, or a negative errno after a message. */
int  output_open(struct output **ret, const struct config *cfg);
void output_destroy(struct output *o);

const char *output_usual_path(const struct config *cfg);	/* what PATH will be */
const char *output_path(const struct output *o);
int	    output_dirfd(const struct output *o);			/* where raw goes; lent */
const char *output_sink_path(const struct output *o, unsigned i);	/* of cfg->sink[i] */
/* Is what cfg->sink[i] has written at its path? */
bool	    output_has_come(const struct output *o, unsigned i);
/* The spool directory of a sink whose file did not come to its place; to be freed. NULL: it did, or there is none. */
char	   *output_sink_spool(const struct output *o, unsigned i);
void	    output_sink_args(const struct output *o, unsigned i, struct sink_args *args);

/* cfg->sink[i] could not be opened: what was made for it goes again. */
void output_give_up(const struct output *o, unsigned i);

/* Says in the summary what an earlier recorder, killed, left there. */
void output_summary(const struct output *o);

/* How to open what @ops has written at @path, as a shell takes it. */
void output_say_open(const struct sink_ops *ops, const char *path);

/* --recover PATH: seal what a recorder that was killed left. Returns the exit status. */
int output_recover(const char *path);

#endif
