/*
 * asker.c - a process that walks paths: one message for a path, one for the answer.
 *
 * It is forked when it is first needed, from a process of several threads: between fork() and its end it takes no
 * lock and no memory.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base.h"
#include "identity.h"
#include "process.h"
#include "sink/bas/asker.h"

#define PATIENCE_MS	300	/* a disk that has to spin up takes longer: then the name is as it was called */
#define LONGEST		(2 * PATH_MAX)

struct bas_asker {
	const struct identity *as;
	pid_t pid;		/* 0: there is none */
	int   sock;
	bool  is_stuck;		/* it still has to answer what nobody waits for any more */
};

struct question {
	uint64_t flags, resolve;
	char	 path[LONGEST];
};

struct answer {
	int32_t err;
	char	path[LONGEST];
};

int bas_asker_create(struct bas_asker **ret, const struct identity *as)
{
	struct bas_asker *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->as = as;
	a->sock = -1;
	*ret = a;
	return 0;
}

/* ---- messages: with a question comes a descriptor ---- */

static bool send_question(int sock, const struct question *q, size_t len, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec iov = { (void *)q, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &msg, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Returns the descriptor; -1: recorder is gone. */
static int take_question(int sock, struct question *q)
{
	char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { q, sizeof(*q) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) <= 0)
		return -1;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* ---- the process ---- */

/* What /proc/self/fd says of @fd. A number is printed without a lock or memory. */
static int say_place(int fd, char *to)
{
	char link[32];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, to, LONGEST - 1);
	if (len < 0)
		return -errno;
	to[len] = '\0';
	return 0;
}

static void answer_one(int sock, int rootfd, const struct question *q)
{
	struct open_how how = { .flags = q->flags, .resolve = q->resolve };
	int fd = syscall(SYS_openat2, rootfd, q->path, &how, sizeof(how));
	static struct answer a;

	a.path[0] = '\0';
	a.err = fd < 0 ? -errno : say_place(fd, a.path);
	if (fd >= 0)
		close(fd);
	close(rootfd);			/* before it is told: nothing is held then */
	(void)!send(sock, &a, offsetof(struct answer, path) + strlen(a.path) + 1, MSG_NOSIGNAL);
}

static bool become(const struct identity *id)
{
	return !id->is_other || (!syscall(SYS_setgroups, id->group_count, id->groups) &&
				 !syscall(SYS_setresgid, id->gid, id->gid, id->gid) &&
				 !syscall(SYS_setresuid, id->uid, id->uid, id->uid));
}

static void __attribute__((noreturn)) work(int sock, const struct identity *as)
{
	static struct question q;
	int rootfd;

	setsid();			/* out of reach of the terminal's Ctrl-C */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	if (dup2(sock, 0) < 0 || syscall(SYS_close_range, 1u, ~0u, 0u) || !become(as))
		_exit(1);
	while ((rootfd = take_question(0, &q)) >= 0)
		answer_one(0, rootfd, &q);
	_exit(0);
}

static int start(struct bas_asker *a)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	a->pid = fork();
	if (!a->pid)
		work(pair[1], a->as);
	close(pair[1]);
	a->sock = pair[0];
	if (a->pid > 0) {
		process_own(a->pid);
		return 0;
	}
	a->pid = 0;
	close_fd(&a->sock);
	a->sock = -1;
	return -EAGAIN;
}

/* ---- recorder's side ---- */

/* One that is stuck in the kernel ends when that lets it go, with nobody to wait for it. */
static void stop(struct bas_asker *a)
{
	close_fd(&a->sock);
	a->sock = -1;
	if (a->pid) {
		kill(a->pid, SIGKILL);
		while (waitpid(a->pid, NULL, a->is_stuck ? WNOHANG : 0) < 0 && errno == EINTR)
			;
	}
	a->pid = 0;
	a->is_stuck = false;
}

void bas_asker_destroy(struct bas_asker *a)
{
	if (!a)
		return;
	stop(a);
	free(a);
}

/* 1: there is an answer, 0: not in time, -EPIPE: there will be none. */
static int take_answer(struct bas_asker *a, struct answer *answer, int patience)
{
	struct pollfd p = { .fd = a->sock, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, patience);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n;
	return recv(a->sock, answer, sizeof(*answer), 0) >= (ssize_t)offsetof(struct answer, path) + 1 ? 1 : -EPIPE;
}

/* Whoever was stuck may have come back: what it says then is of an older question. */
static bool is_ready(struct bas_asker *a, struct answer *scratch)
{
	int n = a->is_stuck ? take_answer(a, scratch, 0) : 1;

	if (n < 0)
		stop(a);
	else if (n)
		a->is_stuck = false;
	return n && (a->pid || !start(a));
}

char *bas_ask(struct bas_asker *a, int rootfd, const char *path, uint64_t flags, uint64_t resolve, int *err)
{
	struct question q = { .flags = flags, .resolve = resolve };
	size_t len = strlen(path) + 1;
	struct answer answer;
	int n;

	*err = len > sizeof(q.path) ? -ENAMETOOLONG : -ETIMEDOUT;
	if (len > sizeof(q.path) || !is_ready(a, &answer))
		return NULL;
	memcpy(q.path, path, len);
	n = send_question(a->sock, &q, offsetof(struct question, path) + len, rootfd) ? take_answer(a, &answer, PATIENCE_MS) :
											-EPIPE;
	a->is_stuck = n == 0;
	*err = n > 0 ? answer.err : n ? n : -ETIMEDOUT;
	if (n < 0)
		stop(a);
	return *err ? NULL : strdup(answer.path);
}
