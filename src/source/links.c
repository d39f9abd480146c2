/*
 * links.c - a list of links.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base.h"
#include "clock.h"
#include "log.h"
#include "process.h"
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
 * The kernel waits, for each link that is let go, until nobody can be in its probes any more: a twentieth of a second, and
 * on and on while any task, another recorder's perhaps, has a return probe open and meets more of them. Who waits cannot
 * be killed, and its process does not end. So that is left to a process which has nothing but the links: it closes them
 * by a thread each, which wait together, and need not end before recorder.
 */
#define GOING_MS	1000	/* that recorder waits for them */

struct going {
	pid_t pid;
	int   pidfd;
};

static struct {
	int	     *fd;		/* to be given to the next such process */
	size_t	      count, room;
	struct going *process;
	size_t	      process_count, process_room;
	int	      witness;		/* 0: none */
} going;

void links_witness(int fd)
{
	going.witness = fd;
}

static void close_all(void)
{
	for (size_t i = 0; i < going.count; i++)
		close(going.fd[i]);
	going.count = 0;
}

static void *let_go(void *ctx)
{
	close((int)(intptr_t)ctx);
	return NULL;
}

/* Whoever reads what recorder writes waits for recorder's end, not for that of this process. There is room for one more fd. */
static void going_main(pthread_t *thread)
{
	sigset_t all;
	size_t n = 0, count;

	going.fd[going.count] = going.witness;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "recorder-links");
	count = going.count + !!going.witness;
	process_keep_only(going.fd, count);		/* sorts them */
	for (size_t i = 0; i < count; i++)
		if (going.fd[i] == going.witness)
			continue;
		else if (pthread_create(&thread[n], NULL, let_go, (void *)(intptr_t)going.fd[i]))
			close(going.fd[i]);
		else
			n++;
	while (n)
		pthread_join(thread[--n], NULL);
	_exit(0);
}

/* Where no process can be had they are let go here, one after the other. */
static void start_going(void)
{
	__cleanup(free_ptr) pthread_t *thread = calloc(MAX(going.count, (size_t)1), sizeof(*thread));
	struct going new;

	if (!going.count || !thread || grow(&going.fd, &going.room, going.count, sizeof(int)) ||
	    grow(&going.process, &going.process_room, going.process_count, sizeof(new))) {
		close_all();
		return;
	}
	new.pid = fork();
	if (new.pid == 0)
		going_main(thread);
	close_all();
	if (new.pid < 0)
		return;
	new.pidfd = syscall(SYS_pidfd_open, new.pid, 0);
	going.process[going.process_count++] = new;
}

static void close_later(int fd)
{
	if (fd < 0)
		return;
	if (grow(&going.fd, &going.room, going.count, sizeof(fd)))
		close(fd);
	else
		going.fd[going.count++] = fd;
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
	start_going();
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
	uint64_t until = clock_now() + GOING_MS * 1000000ull;
	unsigned left = 0;

	start_going();
	for (size_t i = 0; i < going.process_count; i++) {
		struct going *g = &going.process[i];
		struct pollfd end = { .fd = g->pidfd, .events = POLLIN };
		int64_t ms = (int64_t)(until - clock_now()) / 1000000;

		left += poll(&end, 1, MAX(ms, 0)) <= 0;
		close_fd(&g->pidfd);
		waitpid(g->pid, NULL, WNOHANG);
	}
	if (left)
		detail("the kernel is not done with the probes yet: somebody else's returns are probed, and it waits for those");
	going.process_count = 0;
}
