/*
 * mapped.h - the files that a process has mapped.
 */
#ifndef MAPPED_H
#define MAPPED_H

#include <stdbool.h>
#include <stdint.h>

struct mapping {
	int	    proc;	/* the folder of the process in /proc */
	int	    maps;	/* its /proc/PID/maps, lent as long as @fn runs */
	uint64_t    start, end;
	uint64_t    offset;	/* of its first byte, in the file */
	uint64_t    ino;
	uint32_t    dev;	/* as rec_image.dev */
	bool	    is_readable;
	const char *path;	/* as /proc/PID/maps shows it */
};

enum mapped {
	MAPPED_CODE,		/* may be executed */
	MAPPED_TEXT,		/* neither executed nor written to, nor is it seen by others */
};

/*
 * Call @fn for each of that kind; it returns 1 or a negative errno, of which the last 1 or
 * the first error comes back. An error ends the walk. @proc: the folder of the
 * process in /proc; one that has gone has none. MAPPED_UNREADABLE: of another it cannot be told.
 */
#define MAPPED_UNREADABLE	2
typedef int (*mapping_fn)(void *ctx, const struct mapping *m);
int mapped_each(int proc, enum mapped kind, mapping_fn fn, void *ctx);

/* Is that what is mapped there, now? Yes where the kernel cannot be asked (before 6.11). */
bool mapped_still(const struct mapping *m);

/* The file itself, whatever is at its path now. A negative errno when it cannot be had. */
int mapped_open(const struct mapping *m);

#endif
