/*
 * options.h - words that are options, into a config.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

struct config;

/* One pass over words: those of RECORDER_OPTS, then the command line. */
struct pass {
	struct config *cfg;
	int	       argc;
	char	     **argv;	/* argv[0] is not read */
	const char    *from;	/* before every message: "" or "RECORDER_OPTS: " */
};

/*
 * Returns 0 with getopt's optind at the first word that is no option, else
 * 1 + the exit status to leave with, everything having been said.
 */
int options_parse(const struct pass *p);

#endif
