/*
 * copies.h - libraries of the command's own: copies, mounted over the originals for it and what it starts.
 *
 * A probe stands in a file, so whoever maps the file meets it. The command is given a mount
 * namespace, and in that a copy of each library of this machine whose functions are asked for
 * (@LIB) and which a program of the tree names, before that program is exec'd. Mounts that others make or
 * the command makes go on as before: all else stays in the groups that it shares mounts with.
 *
 * Only for who can neither write nor replace the originals: a user other than root. What is
 * not copied (a library of the user's own, one opened by a name that no file tells) is probed in whoever maps it.
 */
#ifndef COPIES_H
#define COPIES_H

#include <stdbool.h>
#include <sys/types.h>

struct config;
struct copies;
struct identity;
struct image;

/* Shall a command that runs as @id have a mount namespace? */
bool copies_wanted(const struct config *cfg, const struct identity *id);

/* For the child, before it gives up its rights: it has its mount namespace then, or, if that fails, goes without. */
void copies_enter(void);

/* @pid has been through copies_enter(). Without a namespace of its own *@ret is NULL, which the others accept. */
int  copies_create(struct copies **ret, const struct config *cfg, pid_t pid);
void copies_destroy(struct copies *c);

/* @img is about to be exec'd: the libraries it needs are copied. One that cannot be is shared, as without. */
void copies_add(struct copies *c, const struct image *img);

/* A copy that was made: once each, until there is no more. @fd is lent until copies_destroy(). -1: none is left. */
int  copies_next(struct copies *c, const char **path);

bool probe_private_libraries(void);	/* the trial */

#endif
