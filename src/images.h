/*
 * images.h - the executable files of a recording: each is analysed once, given its function numbers, and probed.
 *
 * Belongs to the control thread.
 */
#ifndef IMAGES_H
#define IMAGES_H

#include <stdint.h>

struct config;
struct images;
struct queue;
struct recorder_bpf;

int  images_create(struct images **ret, const struct config *cfg, struct queue *queue);
void images_destroy(struct images *im);
void images_set_bpf(struct images *im, struct recorder_bpf *bpf);

/* What a file is known by. */
struct image_id {
	uint64_t ino;
	uint32_t dev, gen;	/* as rec_image's */
};

/*
 * The file open at @fd (lent), which targets know as @path, has become or is
 * about to become part of one: analyse it, tell the writer, attach. Nothing is
 * done for a file that is known. @id NULL: ask the file itself. A file that
 * cannot be analysed is said and left unprobed; errors are of our own.
 */
int  images_add(struct images *im, int fd, const char *path, const struct image_id *id);

/*
 * The same for what the process @pid would exec if it named @path: looked up from
 * its root and working directory; of a script the interpreter. Returns 1 when
 * there is nothing it could exec.
 */
int  images_add_path(struct images *im, unsigned pid, const char *path);

#endif
