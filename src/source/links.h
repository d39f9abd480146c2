/*
 * links.h - the links a source has made, kept to be let go together.
 */
#ifndef LINKS_H
#define LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_link;
struct bpf_program;
struct probed;

struct kept {
	struct bpf_link	    *link;	/* made by libbpf; NULL: @fd */
	int		     fd;	/* made by bpf(2) directly */
	const struct probed *file;	/* that it puts breakpoints into; NULL: none */
};

struct links {
	struct kept *link;
	size_t	     count, room;
};

/* Attach a tracepoint program to what its section names. Says why it failed. */
int  links_attach(struct links *l, struct bpf_program *prog);
int  links_attach_loaded(struct links *l, struct bpf_program *prog);	/* if it was to be loaded */
int  links_keep(struct links *l, struct bpf_link *link, const struct probed *file);	/* takes @link */
int  links_keep_fd(struct links *l, int fd, const struct probed *file);			/* takes @fd */
bool links_has(const struct links *l, const struct probed *file);	/* any of that file? */
void links_let_go(struct links *l, const struct probed *file);	/* of those of one file, in the background */
void links_release(struct links *l);				/* in the background */
/* Whoever lets links go keeps @fd open until they are gone, so that its other end can wait for that. Lent, for good. */
void links_witness(int fd);
/* Until all that were released are gone, or a second has passed: the breakpoints are, in any case. */
void links_wait(void);

#endif
