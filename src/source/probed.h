/*
 * probed.h - the files that carry our breakpoints, and whether they are still what they were.
 *
 * The kernel knows a probe by inode and offset, and keeps the instruction it
 * found there first. When the file is written to, it plants the old offsets in
 * the new code. So who opens such a file for writing is made to wait (a lease,
 * fcntl(2)) until its links are let go of and the breakpoints are seen to be gone.
 * Where the file system knows no leases, the write is noticed after the fact, by
 * inotify and by the file's identity. Belongs to the control thread.
 *
 * The wait ends with recorder, or with the kernel's fs.lease-break-time.
 */
#ifndef PROBED_H
#define PROBED_H

#include <stdbool.h>
#include <stdint.h>

struct mapping;
struct probed;

/* The file open at @fd (lent), watched from now on; NULL: no memory. The same file is the same struct for ever. */
struct probed *probed_file(int fd);

/* The same, NULL if it is none of those. */
struct probed *probed_find(int fd);
/* Has it breakpoints, and whoever writes to it does not wait for us? */
bool probed_unleased(int fd);

/* The same for @path, where a link has just put breakpoints at @count places, in that order. */
struct probed *probed_at(const char *path, const unsigned long *site, unsigned count);

/* Called once for each file that gets a breakpoint, from then on; NULL: nobody wants to know. */
typedef void (*probed_fn)(uint64_t ino);
void probed_tell(probed_fn fn);

/* May a mapping be of a file with breakpoints? Told by its number alone, which another file may have. */
bool probed_may_be(const struct mapping *m);

/*
 * A process has mapped such a file to read it, and waits as long as @waits says so: give it what that file has in place
 * of breakpoints. @mem: its memory, open to read and write. False: some of them it may read.
 */
typedef bool (*probed_waits_fn)(const void *ctx);
bool probed_show(const struct mapping *m, int mem, probed_waits_fn waits, const void *ctx);

int  probed_fd(void);			/* readable when one is, or was, written to; -1: none is watched */
struct probed *probed_next(void);	/* such a one, each time it is; to be forgotten; NULL: no more */

/* Its links are about to be let go of. From now on nobody execs it, until probed_let_exec(). */
void probed_forget(struct probed *p);
void probed_let_exec(void);		/* of all files */
bool probed_is_forgotten(const struct probed *p);

/*
 * Wait until no forgotten file has a breakpoint any more, but not for long; then who waits to write goes on.
 * True when one was waited for.
 */
bool probed_settle(void);

/* May @p be probed (again)? False: its old breakpoints did not go in time. After true its places are forgotten too. */
bool probed_renew(struct probed *p);

uint64_t probed_since(const struct probed *p);	/* when it was forgotten last, ns; 0: never */

void probed_release(void);

#endif
