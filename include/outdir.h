/*
 * outdir.h - the directory a recording goes into.
 *
 * recorder runs as root and writes where a user may: a directory is created,
 * moved or removed only when it is known to be ours, and its name is never
 * followed if it is a link. The way to it is the user's own choice and may
 * hold links.
 */
#ifndef OUTDIR_H
#define OUTDIR_H

#include <stdbool.h>
#include <sys/types.h>

#define OUTDIR_MARK	".recorder"	/* a file that says: this directory is a recording */

/*
 * Create the directory @path, mode 0700, for @uid and @gid; the files created
 * in it from now on are theirs too. What is there already:
 *
 *	nothing, or an empty directory	is taken
 *	a recording			is renamed to PATH.old; a recording there is removed first
 *	anything else			is left alone: -EEXIST, -ELOOP, -ENOTDIR or -EPERM
 *
 * @is_ours	whether an open directory is a recording; NULL: outdir_is_ours()
 *
 * Returns 0 and the open directory in @dirfd, or a negative errno after a message.
 */
int outdir_create(int *dirfd, const char *path, bool (*is_ours)(int dirfd), uid_t uid, gid_t gid);

/*
 * Make the name @path free for a file of @uid: a regular file there is renamed to PATH.old if @is_ours() says so or
 * it is empty; anything else is left alone, and an error. @dirfd becomes the directory it is in, @name its name
 * there, to be freed. Returns as outdir_create() does.
 */
int outdir_file(int *dirfd, char **name, const char *path, bool (*is_ours)(int fd), uid_t uid);

/*
 * Give the file @from of @fromdir its final name @name in @dirfd. Who has made something of that name meanwhile keeps it:
 * -EEXIST. Returns 0 or a negative errno, silently.
 */
int outdir_place(int fromdir, const char *from, int dirfd, const char *name);

/*
 * Remove the directory open at @dirfd, which @parent has as @name, and what is in it, if it is ours. -ESTALE: another
 * has the name by now. Returns 0 or a negative errno, silently.
 */
int outdir_remove(int parent, const char *name, int dirfd);

/* It carries our mark, or its file `info` begins as uftrace's do. */
bool outdir_is_ours(int dirfd);

#endif
