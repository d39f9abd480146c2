/*
 * links.c - a list of links.
 */
#include <bpf/libbpf.h>

#include "base.h"
#include "log.h"
#include "source/links.h"

int links_keep(struct links *l, struct bpf_link *link)
{
	int err = grow(&l->link, &l->link_room, l->link_count, sizeof(*l->link));

	if (err)
		bpf_link__destroy(link);
	else
		l->link[l->link_count++] = link;
	return err;
}

int links_keep_fd(struct links *l, int fd)
{
	int err = grow(&l->fd, &l->fd_room, l->fd_count, sizeof(*l->fd));

	if (err)
		close(fd);
	else
		l->fd[l->fd_count++] = fd;
	return err;
}

int links_attach(struct links *l, struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach(prog);

	if (!link)
		return fail(-errno, "cannot attach to the kernel's '%s'", bpf_program__section_name(prog));
	return links_keep(l, link);
}

void links_release(struct links *l)
{
	for (size_t i = 0; i < l->link_count; i++)
		bpf_link__destroy(l->link[i]);
	for (size_t i = 0; i < l->fd_count; i++)
		close(l->fd[i]);
	free(l->link);
	free(l->fd);
	memset(l, 0, sizeof(*l));
}
