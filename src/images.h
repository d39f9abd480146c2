/*
 * images.h - the executable files of a recording: each is analysed once, given its function numbers, and probed.
 *
 * Belongs to the control thread.
 */
#ifndef IMAGES_H
#define IMAGES_H

#include <stdint.h>
#include <sys/types.h>

struct config;
struct images;
struct queue;
struct recorder_bpf;

int  images_create(struct images **ret, const struct config *cfg, struct queue *queue);
void images_destroy(struct images *im);
void images_set_bpf(struct images *im, struct recorder_bpf *bpf);

/* The command, which waits to exec, may have copies of libraries of its own: copies.h. Returns 0 or -ENOMEM. */
int  images_copy_for(struct images *im, pid_t pid);

/* What a file is known by. */
struct image_id {
	uint64_t ino;
	uint32_t dev, gen;	/* as rec_image's */
	uint64_t size, ctime;	/* bytes, ns: they tell a file that was rewritten in place */
};

/*
 * The file open at @fd (lent), which the process whose folder in /proc is
 * @proc (lent) knows as @path, has become or is about to become its program: analyse
 * it, tell the writer, attach. Nothing is done for a file that is known; one that was
 * rewritten is probed anew. @id NULL: ask the file itself. A file that
 * cannot be analysed is said and left unprobed; errors are of our own.
 */
int  images_add(struct images *im, int proc, int fd, const char *path, const struct image_id *id);

/*
 * The same for what a process would exec if it named @path: looked up from its
 * root and working directory; of a script the interpreter. @proc: its folder in
 * /proc, lent. Returns 1 when there is nothing it could exec.
 */
int  images_add_path(struct images *im, int proc, const char *path);

/* The same for the program that the process @pid of @proc runs; nothing is done for one that has gone. */
int  images_add_exe(struct images *im, pid_t pid, int proc, const struct image_id *id);

/*
 * Look at all that the process @pid of @proc has mapped with code, and have walkers of
 * the stack guarded. Returns 0 when its returns may be probed then, 1 when not.
 */
int  images_look(struct images *im, pid_t pid, int proc);

/*
 * The same ahead of images_add_exe(), of all but the program itself: returns of it are probed once the walkers that the
 * process has mapped are guarded, never before. Chosen libraries get their probes by the looks that follow.
 */
int  images_look_ahead(struct images *im, pid_t pid, int proc);

/*
 * From now on who else maps a file does not meet its probes: those that a file is added
 * for, and who has it by a later look, have probes of their own. That ends when a recorded process is to make another,
 * or to exec: images_share(), ahead of that. Returns 0 or a negative errno; nothing is done when it has ended.
 */
void images_own(struct images *im);
int  images_share(struct images *im);

/*
 * Files that were written to since they were probed: let go of their probes, and
 * know them no more. The kernel would plant those into the new code. An exec of
 * such a file is held from when it is noticed, by this or by images_add(), until
 * images_let_exec().
 */
int  images_rewritten_fd(void);		/* readable when there are any; -1: cannot be told */
int  images_drop_rewritten(struct images *im);
void images_let_exec(void);

#endif
