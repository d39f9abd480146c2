/*
 * links.h - the links a source has made, kept to be let go together.
 */
#ifndef LINKS_H
#define LINKS_H

#include <stddef.h>

struct bpf_link;
struct bpf_program;

struct links {
	struct bpf_link **link;		/* made by libbpf */
	int		 *fd;		/* made by bpf(2) directly */
	size_t		  link_count, link_room, fd_count, fd_room;
};

/* Attach a tracepoint program to what its section names. Says why it failed. */
int  links_attach(struct links *l, struct bpf_program *prog);
int  links_keep(struct links *l, struct bpf_link *link);	/* takes @link */
int  links_keep_fd(struct links *l, int fd);			/* takes @fd */
void links_release(struct links *l);				/* in the background */
void links_wait(void);						/* until all that were released are gone */

#endif
