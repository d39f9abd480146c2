/*
 * links.c - a list of links.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <pthread.h>

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

/*
 * The kernel waits for a grace period, a twentieth of a second, for each link that
 * is let go. Let go by a thread each, they wait together.
 */
static struct {
	pthread_t *thread;
	size_t	   count, room;
} going;

static void *let_go(void *ctx)
{
	close((int)(intptr_t)ctx);
	return NULL;
}

static void close_later(int fd)
{
	pthread_t t;

	if (grow(&going.thread, &going.room, going.count, sizeof(t)) ||
	    pthread_create(&t, NULL, let_go, (void *)(intptr_t)fd))
		close(fd);
	else
		going.thread[going.count++] = t;
}

/* What libbpf made is undone by it, but for the last of its file descriptors. */
void links_release(struct links *l)
{
	for (size_t i = 0; i < l->link_count; i++) {
		close_later(fcntl(bpf_link__fd(l->link[i]), F_DUPFD_CLOEXEC, 3));
		bpf_link__destroy(l->link[i]);
	}
	for (size_t i = 0; i < l->fd_count; i++)
		close_later(l->fd[i]);
	free(l->link);
	free(l->fd);
	memset(l, 0, sizeof(*l));
}

void links_wait(void)
{
	while (going.count)
		pthread_join(going.thread[--going.count], NULL);
	free(TAKE(going.thread));
	going.room = 0;
}
