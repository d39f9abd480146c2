/*
 * raw.h - rounds as they came, in a file; and back again.
 *
 * --format raw writes them, --replay FILE makes any format from them. So the
 * flow and the sinks can be tested without root and without a kernel.
 *
 * The file: 8 bytes of magic, then blocks: u32 type, u32 zero, u64 bytes that
 * follow. Byte order and records are those of the machine that wrote it. A file
 * is hostile when it is read: every length is checked.
 */
#ifndef RAW_H
#define RAW_H

#include <stdint.h>

struct about;
struct image;
struct queue;
struct raw;
struct round;

/* Writing. Errors are kept and told by raw_seal(). */
int  raw_create(struct raw **ret, int dirfd, const char *name);
int  raw_image(struct raw *raw, const struct image *img);
int  raw_round(struct raw *raw, const struct round *r);
int  raw_seal(struct raw *raw, const struct about *about);	/* the facts of the end included; frees @raw */

/* Reading. The facts; -EBADMSG: not such a file; -ENODATA: they are missing or damaged. */
int  raw_about(int fd, struct about **ret);

/* Every image and round; the last one marked so. -EBADMSG: damaged; what came before the damage has been pushed. */
int  raw_push(int fd, struct queue *q);

#endif
