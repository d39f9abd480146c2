/*
 * out.h - a file being written.
 *
 * An out finishes short writes, counts bytes, and keeps the first error:
 * write a whole block, then look once. Bytes reach the file in blocks of
 * OUT_BLOCK, or when flushed. The first error of every out of a recording is
 * also what out_error() of that out says from then on; nothing is written
 * after it.
 */
#ifndef OUT_H
#define OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OUT_BLOCK	65536	/* bytes gathered before a write() */

struct out;

/* A new file, mode 0600: fails if it exists, never follows a link. */
int  out_create(struct out **ret, int dirfd, const char *name);
int  out_open_new(int dirfd, const char *name);		/* such a file as a descriptor, or a negative errno */
int  out_open_new_dir(int dirfd, const char *name);	/* a new directory, mode 0700, likewise */
int  out_memory(struct out **ret);
int  out_memory_small(struct out **ret, size_t room);	/* for tests: the disk is full after @room bytes */
void out_destroy(struct out *o);			/* closes; what is not flushed is lost */

void out_bytes(struct out *o, const void *data, size_t len);
void out_u16(struct out *o, uint16_t v);		/* little endian, as are all below */
void out_u32(struct out *o, uint32_t v);
void out_u64(struct out *o, uint64_t v);
void out_printf(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_pad(struct out *o, size_t to);			/* zeroes, up to a multiple of @to */

/* Overwrite 8 bytes written before, at @at: for sizes and offsets known only later. */
void out_patch_u64(struct out *o, uint64_t at, uint64_t v);

/*
 * What one call of out_bytes() adds is never torn apart: it reaches the file in
 * one write(), with what was added before it. Room for this many bytes is left
 * before that happens.
 */
size_t out_room(const struct out *o);

/*
 * Many outs may be open at once (one per task), more than a process may have
 * files: out_park() flushes and closes the file and frees its memory. From then
 * on the file is open only while bytes are written to it; it must still be the
 * same file, or the out has failed (-ESTALE).
 */
int  out_park(struct out *o);

int	 out_flush(struct out *o);			/* everything so far is in the file */
uint64_t out_tell(const struct out *o);			/* bytes written */
int	 out_error(const struct out *o);		/* the first error, or 0 */
int	 out_seal(struct out *o);			/* flush and close; the first error of all */

/* out_memory() only: what was written so far; lent. */
const void *out_data(const struct out *o);

/* Bytes that all outs together have written to files, for the summary, and those told of files without one. */
uint64_t out_total(void);
void	 out_count(size_t bytes);
void	 out_uncount(size_t bytes);	/* of files that did not stay */

/*
 * From now on room for all that may be gathered, and @more, is set aside beyond the end of @o's file. When no more is to
 * be had @is_full is called, once: what was added until then, and @more bytes, still have their place, whoever else
 * writes to that disk. A filesystem that sets nothing aside does as before.
 */
void out_set_aside(struct out *o, size_t more, void (*is_full)(void *ctx), void *ctx);

/* Is @err about a lack of space? */
bool out_is_full(int err);

/* Files created from now on belong to @uid and @gid; -1: to whoever creates them. */
void out_set_owner(uid_t uid, gid_t gid);

/* Put @name in place at once: its bytes go to a temporary file, which out_seal() renames to @name. */
int  out_create_replacing(struct out **ret, int dirfd, const char *name);

/* The same, with an empty file @existing as the temporary one, for which room was set aside. */
int  out_create_over(struct out **ret, int dirfd, const char *existing, const char *name);

#endif
