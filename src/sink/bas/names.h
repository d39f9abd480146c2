/*
 * names.h - names as a task gave them, made into absolute paths that its root directory begins.
 *
 * What the kernel has done it has done: the directory of a name is looked up some milliseconds later, so one that was
 * renamed meanwhile comes under its new name. Nothing of a target is opened: only paths are walked (O_PATH), within
 * the root of the task, over no magic link.
 */
#ifndef BAS_NAMES_H
#define BAS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct bas_names;

/* Who has done something with a name. */
struct bas_whose {
	const struct file_root *root;
	uint32_t		pid, tid;	/* who /proc/self and /proc/thread-self are */
	uint64_t		time;	/* ns, when: what has been looked up since holds for it */
};

/* @looks: names are looked up in file systems as they are now; else they are as they were called. */
int  bas_names_create(struct bas_names **ret, bool looks);
void bas_names_destroy(struct bas_names *n);

/* Remember the root directory of task @tid, which has the identity @root, while it or @parent, who may have it too, is there. */
void bas_names_root(struct bas_names *n, const struct file_root *root, uint32_t tid, uint32_t parent);

/* @base and @name with a '/' between; @name alone when it begins with one, or there is no @base. Nothing is normalised. */
char *bas_names_join(const char *base, const char *name);

/* Doubled slashes, "." and ".." done away with, nothing looked up. */
char *bas_names_tidy(const char *path);

/*
 * The canonical path of the directory that the absolute @path leads to, and its last component, which is not followed;
 * of one that ends in '.' or '..' all is resolved; a '/' behind it is left out. When its directory is not there any
 * more (*@is_gone, unless NULL), what is left of the way to it is resolved, and the rest is @path without doubled
 * slashes and dots. To be freed; NULL: no memory.
 */
char *bas_names_resolve(struct bas_names *n, const struct bas_whose *whose, const char *path, bool *is_gone);

/* Where all of @path leads to, its last component followed too; NULL: nowhere. To be freed. */
char *bas_names_follow(struct bas_names *n, const struct bas_whose *whose, const char *path);

/*
 * Look-ups that failed, so that names are as they were called: a file system did not answer in time, or did not allow
 * it; the directory, or who has the root, was gone.
 */
struct bas_names_failed {
	uint64_t late, denied, gone;
};

struct bas_names_failed bas_names_failed(const struct bas_names *n);

/* Is there something of the name @path, which bas_names_resolve() has given? */
bool bas_names_exists(struct bas_names *n, const struct bas_whose *whose, const char *path);

/*
 * A walked path of a record, names leaf first, as text; "/" of nothing. What has no path is composed as the kernel
 * does, with @name, the last component that it was opened by, where only that tells (namespaces). To be freed.
 */
char *bas_walked(const struct rec_text *text, const char *name);

#endif
