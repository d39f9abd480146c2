/*
 * child.c - the image child: foreign files are interpreted where nothing can be hurt.
 *
 * Two processes. The nursery is forked at the very start, when the recorder
 * holds no BPF object, ring or target, and drops all privileges; it never sees a
 * byte of a foreign file. At a word from the recorder it forks a worker, which
 * filters its own system calls and then reads files. A worker that crashes,
 * hangs or is taken over is killed, and the next is made from the clean
 * nursery, not from the recorder, whose memory must not be inherited.
 *
 *	recorder --control socket--> nursery: 'w' make a worker, answered by a byte with its socket; 'k' kill it
 *	recorder --worker socket---> worker:  a word of depth_word with the file, answered by struct answer and
 *					      the packed image; before it 's' goes with its debug file, 'a' with what dwz(1) took out
 */
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base.h"
#include "child.h"
#include "process.h"

#define FILE_TIMEOUT_MS	20000
#define DEBUG_TIMEOUT_MS 4000u	/* it ends by itself before that, unless libdw is caught in a loop */
#define NURSE_TIMEOUT_MS 5000
#define ANSWER_MAX	(512u << 20)	/* bytes; a browser's 700 000 functions make about 120 MB */

struct image_child {
	pid_t	     nursery;	/* 0: none */
	int	     control;	/* to the nursery; -1 */
	int	     worker;	/* to the worker; -1: none, or it has failed */
	image_reader read;
	unsigned     timeout_ms;
};

struct answer {
	int32_t	 err;		/* 0, or what image_read() returned */
	uint32_t pad;
	uint64_t len;		/* bytes that follow */
	char	 debug_link[NAME_MAX + 1];	/* image.debug_link; "": none */
	char	 common_link[PATH_MAX];		/* image.common_link; "": none */
	char	 common_id[sizeof(((struct image *)0)->common_id)];
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

/* What the worker is asked for, by enum image_depth. */
static const char depth_word[] = { 'r', 'f', 'c', 'n', 'd', 'l', '\0' };

static enum image_depth depth_of(int word)
{
	const char *at = word ? strchr(depth_word, word) : NULL;

	return at ? at - depth_word : IMAGE_FUNCTIONS;
}

/* One byte, with @fd beside it when that is not -1. */
static int send_word(int sock, char word, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec iov = { &word, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = room;
		msg.msg_controllen = sizeof(room);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	while (sendmsg(sock, &msg, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* Returns the byte; @fd gets what came with it, else -1. -EPIPE: the other side is gone. */
static int take_word(int sock, int *fd)
{
	char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	char word;
	struct iovec iov = { &word, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room) };
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do {
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	return (unsigned char)word;
}

/* The worker's side. */

static int write_all(int fd, const void *data, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = write(fd, (const char *)data + at, len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EPIPE;
		at += n;
	}
	return 0;
}

static int answer_one(int sock, const struct image_files *files, enum image_depth depth, image_reader read)
{
	struct answer answer = { 0 };
	struct image *img = NULL;
	void *block = NULL;
	size_t len = 0;
	int err;

	answer.err = read(&img, files, depth);
	if (!answer.err)
		answer.err = image_pack(img, &block, &len);
	if (!answer.err && img->debug_link)
		snprintf(answer.debug_link, sizeof(answer.debug_link), "%s", img->debug_link);
	if (!answer.err && img->common_link) {
		snprintf(answer.common_link, sizeof(answer.common_link), "%s", img->common_link);
		memcpy(answer.common_id, img->common_id, sizeof(answer.common_id));
	}
	image_destroy(img);
	if (!answer.err && len > ANSWER_MAX)
		answer.err = -EFBIG;
	answer.len = answer.err ? 0 : len;
	err = write_all(sock, &answer, sizeof(answer));
	err = err ?: write_all(sock, block, answer.len);
	free(block);
	return err;
}

static void close_files(struct image_files *files)
{
	int *const fds[] = { &files->fd, &files->debug, &files->common };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static void __attribute__((noreturn)) work(int sock, image_reader read)
{
	struct image_files files = { -1, -1, -1 };
	int fd, word, err = sandbox_filter_syscalls();

	while (!err) {
		word = take_word(sock, &fd);
		if (word < 0)
			break;
		if (fd < 0)
			continue;
		if (word == 's') {
			files.debug = fd;
		} else if (word == 'a') {
			files.common = fd;
		} else {
			files.fd = fd;
			err = answer_one(sock, &files, depth_of(word), read);
			close_files(&files);
		}
	}
	_exit(err ? 1 : 0);
}

/* The nursery's side. */

static void kill_worker(pid_t *worker)
{
	if (*worker <= 0)
		return;
	kill(*worker, SIGKILL);
	while (waitpid(*worker, NULL, 0) < 0 && errno == EINTR)
		;
	*worker = 0;
}

/* Dies with @parent, which is checked after asking: it may have died before. */
static void die_with(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
}

static int make_worker(int control, pid_t *worker, image_reader read)
{
	pid_t nursery = getpid();
	int pair[2], err;

	kill_worker(worker);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	*worker = fork();
	if (*worker == 0) {
		die_with(nursery);
		close(control);
		close(pair[0]);
		work(pair[1], read);
	}
	close(pair[1]);
	err = *worker < 0 ? -errno : send_word(control, 'w', pair[0]);
	close(pair[0]);
	return err;
}

/* Only @keep stays open, as descriptor 3; 0 to 2 lead nowhere. */
static int close_others(int keep)
{
	if (keep != 3 && dup2(keep, 3) < 0)
		return -errno;
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	if (syscall(SYS_close_range, 4u, ~0u, 0u) == 0)
		return 0;
	for (int fd = 4; fd < 65536; fd++)	/* a kernel before 5.9 */
		close(fd);
	return 0;
}

static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);	/* not all may be set: those need not be */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn)) nurse(int control, pid_t recorder, image_reader read)
{
	pid_t worker = 0;
	int err, fd, word;

	reset_signals();
	setsid();			/* out of reach of the terminal's Ctrl-C and Ctrl-Z */
	(void)setpriority(PRIO_PROCESS, 0, -20);	/* a target's task may wait, busily, for the answer */
	err = close_others(control);
	control = 3;
	err = err ?: sandbox_leave_privileges();
	die_with(recorder);		/* after the user was changed, which clears it */
	while (!err) {
		word = take_word(control, &fd);
		if (word < 0)
			break;
		if (word == 'w')
			err = make_worker(control, &worker, read);
		else
			kill_worker(&worker);
	}
	kill_worker(&worker);
	_exit(err ? 1 : 0);
}

/* The recorder's side. */

static void stop_nursery(struct image_child *c)
{
	if (c->worker >= 0)
		close(c->worker);
	if (c->control >= 0)
		close(c->control);
	c->worker = c->control = -1;
	if (c->nursery > 0) {
		kill(c->nursery, SIGKILL);	/* its worker dies with it */
		while (waitpid(c->nursery, NULL, 0) < 0 && errno == EINTR)
			;
	}
	c->nursery = 0;
}

static int start_nursery(struct image_child *c)
{
	pid_t recorder = getpid();
	int pair[2];

	stop_nursery(c);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	c->nursery = fork();
	if (c->nursery == 0)
		nurse(pair[1], recorder, c->read);
	close(pair[1]);
	c->control = pair[0];
	if (c->nursery < 0) {
		c->nursery = 0;
		return -EAGAIN;
	}
	process_own(c->nursery);
	return 0;
}

int image_child_start_with(struct image_child **ret, image_reader read, unsigned timeout_ms)
{
	struct image_child *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	*c = (struct image_child){ .control = -1, .worker = -1, .read = read, .timeout_ms = timeout_ms };
	err = start_nursery(c);
	if (err) {
		image_child_stop(c);
		return err;
	}
	*ret = c;
	return 0;
}

int image_child_start(struct image_child **ret)
{
	return image_child_start_with(ret, image_read_with, FILE_TIMEOUT_MS);
}

void image_child_stop(struct image_child *c)
{
	if (!c)
		return;
	stop_nursery(c);
	free(c);
}

/* Until @sock can be read, or @until. */
static int await(int sock, int64_t until)
{
	struct pollfd p = { sock, POLLIN, 0 };

	for (;;) {
		int64_t left = until - now_ms();
		int n = left > 0 ? poll(&p, 1, left) : 0;

		if (n > 0)
			return 0;
		if (!n)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static int ask_for_worker(struct image_child *c)
{
	int err = send_word(c->control, 'w', -1);

	err = err ?: await(c->control, now_ms() + NURSE_TIMEOUT_MS);
	err = err ?: take_word(c->control, &c->worker);
	if (err < 0)
		return err;
	return c->worker >= 0 ? 0 : -EPIPE;
}

/* A worker that ended while it had nothing to do (killed by hand, or for memory) is no file's fault. */
static bool has_ended(int worker)
{
	struct pollfd p = { worker, POLLIN, 0 };

	return poll(&p, 1, 0) > 0;	/* a sound one says nothing unasked */
}

static int have_worker(struct image_child *c)
{
	int err;

	if (c->worker >= 0 && !has_ended(c->worker))
		return 0;
	if (c->worker >= 0)
		close(c->worker);
	c->worker = -1;
	err = c->control >= 0 ? ask_for_worker(c) : -EPIPE;
	if (!err)
		return 0;
	err = start_nursery(c);		/* the nursery is gone: killed for memory, or by hand */
	return err ?: ask_for_worker(c);
}

static int read_all(int sock, void *data, size_t len, int64_t until)
{
	for (size_t at = 0; at < len;) {
		int err = await(sock, until);
		ssize_t n;

		if (err)
			return err;
		n = recv(sock, (char *)data + at, len - at, MSG_DONTWAIT);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return -EPIPE;
		at += n;
	}
	return 0;
}

/* A name that the child gave, and that is to be looked for in folders. */
static bool is_file_name(const char *name, size_t size)
{
	return strnlen(name, size) < size && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

static bool are_links(const struct answer *a)
{
	return is_file_name(a->debug_link, sizeof(a->debug_link)) &&
	       strnlen(a->common_link, sizeof(a->common_link)) < sizeof(a->common_link) &&
	       strspn(a->common_id, "0123456789abcdef") == strnlen(a->common_id, sizeof(a->common_id) - 1);
}

static void take_links(struct image *img, const struct answer *a)
{
	img->debug_link = *a->debug_link ? strdup(a->debug_link) : NULL;
	img->common_link = *a->common_link ? strdup(a->common_link) : NULL;
	snprintf(img->common_id, sizeof(img->common_id), "%s", a->common_id);
}

/* Sets *@refused to what image_read() said of the file; returns what went wrong with the worker itself. */
static int ask(struct image_child *c, struct image **ret, const struct image_files *files, enum image_depth depth, int *refused)
{
	__cleanup(free_ptr) void *block = NULL;
	int64_t until = now_ms() + (depth >= IMAGE_DEBUG ? MIN(c->timeout_ms, DEBUG_TIMEOUT_MS) : c->timeout_ms);
	struct answer answer;
	int err;

	*refused = 0;
	err = files->debug < 0 ? 0 : send_word(c->worker, 's', files->debug);
	err = err ?: files->common < 0 ? 0 : send_word(c->worker, 'a', files->common);
	err = err ?: send_word(c->worker, depth_word[depth], files->fd);
	err = err ?: read_all(c->worker, &answer, sizeof(answer), until);
	if (err)
		return err;
	if (answer.err) {
		*refused = answer.err;
		return answer.err < 0 && answer.err > -4096 && !answer.len ? 0 : -EPIPE;
	}
	if (answer.len > ANSWER_MAX || !are_links(&answer))
		return -EPIPE;
	block = malloc(answer.len + 1);
	if (!block)
		return -ENOMEM;
	err = read_all(c->worker, block, answer.len, until);
	err = err ?: image_unpack(ret, block, answer.len);
	if (!err)
		take_links(*ret, &answer);
	return err == -EBADMSG ? -EPIPE : err;	/* the worker lies: it is no longer ours */
}

int image_child_read_with(struct image_child *c, struct image **ret, const struct image_files *files, enum image_depth depth)
{
	int refused, err = have_worker(c);

	if (err)
		return err;
	err = ask(c, ret, files, depth, &refused);
	if (!err)
		return refused;
	close(c->worker);
	c->worker = -1;
	(void)send_word(c->control, 'k', -1);
	return err == -ETIMEDOUT || err == -ENOMEM ? err : -EPIPE;
}

int image_child_read(struct image_child *c, struct image **ret, int fd, enum image_depth depth)
{
	return image_child_read_with(c, ret, &(struct image_files){ fd, -1, -1 }, depth);
}
