/*
 * asker.h - a process that walks paths for recorder where the file system itself has to be asked: a server of FUSE or
 * NFS that does not answer holds that process, and recorder goes on. It is of the user the text belongs to: FUSE lets
 * in none but that user's own processes.
 */
#ifndef BAS_ASKER_H
#define BAS_ASKER_H

#include <stddef.h>
#include <stdint.h>

struct bas_asker;
struct identity;

int  bas_asker_create(struct bas_asker **ret, const struct identity *as);	/* lent; starts nothing yet */
void bas_asker_destroy(struct bas_asker *a);

/*
 * Where @path, walked from the directory @rootfd with openat2()'s @flags and @resolve, leads to, as this process calls
 * it; to be freed. NULL, and *@err says why: -ETIMEDOUT when there was no answer in time; then, until the answer comes,
 * it is so at once.
 */
char *bas_ask(struct bas_asker *a, int rootfd, const char *path, uint64_t flags, uint64_t resolve, int *err);

#endif
