/*
 * links.c - a list of links.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <pthread.h>

#include "base.h"
#include "log.h"
#include "source/links.h"

static int keep(struct links *l, struct bpf_link *link, int fd, const struct probed *file)
{
	int err = grow(&l->link, &l->room, l->count, sizeof(*l->link));

	if (!err)
		l->link[l->count++] = (struct kept){ link, fd, file };
	return err;
}

int links_keep(struct links *l, struct bpf_link *link, const struct probed *file)
{
	int err = keep(l, link, -1, file);

	if (err)
		bpf_link__destroy(link);
	return err;
}

int links_keep_fd(struct links *l, int fd, const struct probed *file)
{
	int err = keep(l, NULL, fd, file);

	if (err)
		close(fd);
	return err;
}

int links_attach(struct links *l, struct bpf_program *prog)
{
	struct bpf_link *link = bpf_program__attach(prog);

	if (!link)
		return fail(-errno, "cannot attach to the kernel's '%s'", bpf_program__section_name(prog));
	return links_keep(l, link, NULL);
}

int links_attach_loaded(struct links *l, struct bpf_program *prog)
{
	return bpf_program__autoload(prog) ? links_attach(l, prog) : 0;
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
static void release(const struct kept *k)
{
	if (!k->link) {
		close_later(k->fd);
		return;
	}
	close_later(fcntl(bpf_link__fd(k->link), F_DUPFD_CLOEXEC, 3));
	bpf_link__destroy(k->link);
}

bool links_has(const struct links *l, const struct probed *file)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->link[i].file == file)
			return true;
	return false;
}

void links_let_go(struct links *l, const struct probed *file)
{
	size_t left = 0;

	for (size_t i = 0; i < l->count; i++)
		if (l->link[i].file == file)
			release(&l->link[i]);
		else
			l->link[left++] = l->link[i];
	l->count = left;
}

void links_release(struct links *l)
{
	for (size_t i = 0; i < l->count; i++)
		release(&l->link[i]);
	free(l->link);
	memset(l, 0, sizeof(*l));
}

void links_wait(void)
{
	while (going.count)
		pthread_join(going.thread[--going.count], NULL);
	free(TAKE(going.thread));
	going.room = 0;
}
