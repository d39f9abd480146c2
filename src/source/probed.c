/*
 * probed.c - a table of files; leases, inotify; a look at fresh mappings.
 *
 * Links are closed by threads, since that waits for every task in a sleepable
 * program, also for one that waits for us at a gate. But the kernel takes all
 * breakpoints away first, one after the other in the order they were set, and
 * waits afterwards. Whether they are gone is seen in a mapping of our own: the
 * kernel plants into each new mapping what is registered at that moment.
 *
 * Meanwhile the writer is held by our lease, in its open(). One that could not be
 * held has changed the file, so an exec of that is, whoever does it: fanotify asks
 * us about it, and takes the end of our asking for a yes. Neither is a wait in a
 * BPF program.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "base.h"
#include "clock.h"
#include "gate.h"
#include "kernel.h"
#include "log.h"
#include "mapped.h"
#include "source/probed.h"

#define SETTLE_MS	1000	/* breakpoints go within a few, and with many sites within some tens */
#define UNSEEN_MS	100
#define LOOK_US		500
#define PAGE		4096ul
/* What the kernel plants; what follows may be another site. */
#if defined(__x86_64__)
#define INSN_BYTES	1
static const uint8_t breakpoint[INSN_BYTES] = { 0xcc };				/* int3 */
#else
#define INSN_BYTES	4
static const uint8_t breakpoint[INSN_BYTES] = { 0xa0, 0x00, 0x20, 0xd4 };	/* brk UPROBES_BRK_IMM */
#endif

struct probed {
	dev_t	 dev;
	ino_t	 ino;
	int	 fd;		/* of the file, our own */
	bool	 is_leased;	/* who opens it for writing waits */
	int	 watch;		/* else inotify's number for it; it ends with the first write */
	int	 hold;		/* fanotify: while it is open, nobody execs the file; -1: none */
	bool	 is_told;
	bool	 is_forgotten;
	bool	 is_settled;	/* forgotten, and waited for */
	bool	 is_gone;	/* and all breakpoints were seen to be gone */
	uint64_t since;
	unsigned long *site;	/* in the order they were set */
	size_t	 site_count, site_room;
};

static struct {
	struct probed **file;
	size_t count, room;
	probed_fn tell;
	bool   is_open;		/* the three that follow were asked for; -1: not to be had */
	int    epoll, inotify;
	int    broken;		/* signalfd: somebody waits for a lease of ours */
	char   event[4096] __attribute__((aligned(8)));
	size_t at, len;		/* of event[], not yet looked at */
} table;

static void listen_to(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	if (fd >= 0 && epoll_ctl(table.epoll, EPOLL_CTL_ADD, fd, &ev))
		detail("writes to files with probes are noticed late: %s", strerror(errno));
}

/* The signal is blocked in every thread (launch.c). */
static void open_table(void)
{
	sigset_t set;

	if (table.is_open)
		return;
	table.is_open = true;
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	table.epoll = epoll_create1(EPOLL_CLOEXEC);
	table.inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	table.broken = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	listen_to(table.inotify);
	listen_to(table.broken);
}

/* No while somebody has it open for writing, or where the file system knows none. */
static bool lease(struct probed *p)
{
	return kernel_has(HAVE_FILE_LEASE) && table.broken >= 0 && !fcntl(p->fd, F_SETLEASE, F_RDLCK);
}

bool probed_unleased(int fd)
{
	const struct probed *p = probed_find(fd);

	return p && p->site_count && !p->is_leased;
}

/* The writer goes on. Only once the file is without breakpoints, or we gave up waiting for that. */
static void let_write(struct probed *p)
{
	fcntl(p->fd, F_SETLEASE, F_UNLCK);
	p->is_leased = false;
}

static bool is_broken(const struct probed *p)
{
	return p->is_leased && fcntl(p->fd, F_GETLEASE) != F_RDLCK;
}

/* One event per watch is enough: it ends with it, and is set anew when the file is probed anew. */
static void watch(struct probed *p)
{
	char path[32];

	p->watch = -1;
	p->is_leased = lease(p);
	if (p->is_leased)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->fd);
	p->watch = table.inotify < 0 ? -1 : inotify_add_watch(table.inotify, path, IN_MODIFY | IN_ONESHOT);
	if (p->watch < 0)
		detail("a file with probes cannot be watched for writes: %s", strerror(errno));
}

static struct probed *find(const struct stat *st)
{
	for (size_t i = 0; i < table.count; i++)
		if (table.file[i]->ino == st->st_ino && table.file[i]->dev == st->st_dev)
			return table.file[i];
	return NULL;
}

static struct probed *file_at(const char *path)
{
	struct probed *p;
	struct stat st;

	if (stat(path, &st))
		return NULL;
	p = find(&st);
	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p || grow(&table.file, &table.room, table.count, sizeof(p))) {
		free(p);
		return NULL;
	}
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	p->hold = -1;
	open_table();
	watch(p);
	table.file[table.count++] = p;
	return p;
}

struct probed *probed_find(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? NULL : find(&st);
}

struct probed *probed_file(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return file_at(path);
}

struct probed *probed_at(const char *path, const unsigned long *site, unsigned count)
{
	struct probed *p = file_at(path);

	for (unsigned i = 0; p && i < count; i++) {
		if (grow(&p->site, &p->site_room, p->site_count, sizeof(*site)))
			return NULL;
		p->site[p->site_count++] = site[i];
	}
	if (p && table.tell && !p->is_told)
		table.tell(p->ino);
	p->is_told |= p && table.tell;
	return p;
}

void probed_tell(probed_fn fn)
{
	table.tell = fn;
}

bool probed_may_be(const struct mapping *m)
{
	for (size_t i = 0; i < table.count; i++)
		if (table.file[i]->ino == m->ino && table.file[i]->site_count)
			return true;
	return false;
}

/*
 * Memory that is only read can be written to as a debugger does. What is no breakpoint is left alone, and so is one that the
 * file has itself: @file is what is mapped, whichever of those with that number.
 */
static bool mend(const struct mapping *m, int mem, int file, uint64_t offset, probed_waits_fn waits, const void *ctx)
{
	uint8_t want[INSN_BYTES], have[INSN_BYTES];
	uint64_t at = m->start + (offset - m->offset);

	if (pread(mem, have, sizeof(have), at) != sizeof(have))
		return false;
	if (memcmp(have, breakpoint, sizeof(have)))
		return true;
	if (pread(file, want, sizeof(want), offset) != sizeof(want))
		return false;
	if (!memcmp(want, breakpoint, sizeof(want)))
		return true;
	return waits(ctx) && mapped_still(m) && pwrite(mem, want, sizeof(want), at) == sizeof(want);
}

bool probed_show(const struct mapping *m, int mem, probed_waits_fn waits, const void *ctx)
{
	__cleanup(close_fd) int file = mapped_open(m);
	bool is_whole = file >= 0;

	for (size_t i = 0; i < table.count; i++) {
		const struct probed *p = table.file[i];

		for (size_t k = 0; p->ino == m->ino && k < p->site_count && is_whole; k++)
			if (p->site[k] - m->offset < m->end - m->start)
				is_whole = mend(m, mem, file, p->site[k], waits, ctx);
	}
	return is_whole;
}

int probed_fd(void)
{
	open_table();
	return table.epoll;
}

/* All are asked: one signal may stand for several. */
static struct probed *next_broken(void)
{
	struct signalfd_siginfo info;

	while (table.broken >= 0 && read(table.broken, &info, sizeof(info)) > 0)
		;
	for (size_t i = 0; i < table.count; i++) {
		struct probed *p = table.file[i];

		if (!is_broken(p))
			continue;
		if (!p->is_forgotten)
			return p;
		if (p->is_settled)
			let_write(p);
	}
	return NULL;
}

static struct probed *watched_by(int wd)
{
	for (size_t i = 0; i < table.count; i++)
		if (table.file[i]->watch == wd)
			return table.file[i];
	return NULL;
}

static struct probed *next_written(void)
{
	for (;;) {
		const struct inotify_event *e = (void *)(table.event + table.at);
		struct probed *p;
		ssize_t n;

		if (table.at >= table.len) {
			n = table.inotify >= 0 ? read(table.inotify, table.event, sizeof(table.event)) : -1;
			if (n <= 0)
				return NULL;
			table.at = 0;
			table.len = n;
			continue;
		}
		table.at += sizeof(*e) + e->len;
		p = e->mask & IN_MODIFY ? watched_by(e->wd) : NULL;
		if (p)
			return p;
	}
}

struct probed *probed_next(void)
{
	return table.is_open ? next_broken() ?: next_written() : NULL;
}

static void hold_execs(struct probed *p)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->fd);
	if (p->hold < 0)
		p->hold = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_CLOEXEC);
	if (p->hold >= 0 && !fanotify_mark(p->hold, FAN_MARK_ADD, FAN_OPEN_EXEC_PERM, AT_FDCWD, path))
		return;
	detail("a file that was rewritten can be exec'd while its breakpoints go: %s", strerror(errno));
	close_fd(&p->hold);
	p->hold = -1;
}

void probed_let_exec(void)
{
	for (size_t i = 0; i < table.count; i++) {
		close_fd(&table.file[i]->hold);
		table.file[i]->hold = -1;
	}
}

void probed_forget(struct probed *p)
{
	if (!p->is_leased)
		hold_execs(p);
	p->is_forgotten = true;
	p->is_settled = p->is_gone = false;
	p->since = clock_now();
}

bool probed_is_forgotten(const struct probed *p)
{
	return p->is_forgotten;
}

uint64_t probed_since(const struct probed *p)
{
	return p->since;
}

enum sight { GONE, UNSEEN, THERE };

/* Does the page look different when it is mapped, at one of the @count sites in it? UNSEEN: the file is shorter by now. */
static enum sight look_at_page(int fd, unsigned long page, const unsigned long *site, size_t count)
{
	uint8_t file[PAGE];
	ssize_t n = pread(fd, file, PAGE, page);
	enum sight sight = GONE;
	uint8_t *p;

	if (n <= 0)
		return n < 0 ? THERE : UNSEEN;
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_DENYWRITE, fd, page);	/* bpf/gate.bpf.c leaves it as it is */
	if (p == MAP_FAILED)
		return THERE;
	for (size_t i = 0; i < count && sight != THERE; i++) {
		unsigned long at = site[i] - page;

		if (at + INSN_BYTES > (size_t)n)
			sight = UNSEEN;
		else if (memcmp(p + at, file + at, INSN_BYTES))
			sight = THERE;
	}
	munmap(p, PAGE);
	return sight;
}

/* The last first: while one is there, so may be those before it. */
static enum sight look(const struct probed *p)
{
	size_t end = p->site_count, begin;
	enum sight all = GONE;

	for (; end && all != THERE; end = begin) {
		unsigned long page = p->site[end - 1] & ~(PAGE - 1);

		for (begin = end - 1; begin && (p->site[begin - 1] & ~(PAGE - 1)) == page; begin--)
			;
		all = MAX(all, look_at_page(p->fd, page, p->site + begin, end - begin));
	}
	return all;
}

/* What lies behind the end of a file that has shrunk, or is just being written, cannot be seen: it gets its time. */
static void settle(struct probed *p, uint64_t until)
{
	uint64_t begin = clock_now(), unseen_until = MIN(until, begin + UNSEEN_MS * 1000000ull);
	enum sight sight = look(p);

	while (sight != GONE && clock_now() < (sight == THERE ? until : unseen_until)) {
		usleep(LOOK_US);
		sight = look(p);
	}
	p->is_gone = sight != THERE;
	p->is_settled = true;
	detail("a file was rewritten: its %zu breakpoints %s after %.1f ms", p->site_count,
	       p->is_gone ? "were gone" : "still stood", (clock_now() - begin) / 1e6);
}

bool probed_settle(void)
{
	uint64_t until = clock_now() + SETTLE_MS * 1000000ull;
	bool any = false;

	for (size_t i = 0; i < table.count; i++) {
		struct probed *p = table.file[i];

		if (!p->is_forgotten)
			continue;
		any = any || !p->is_settled;
		if (!p->is_settled)
			settle(p, until);
		if (is_broken(p))
			let_write(p);
	}
	return any;
}

bool probed_renew(struct probed *p)
{
	if (!p->is_forgotten)
		return true;
	if (!p->is_settled || (p->is_gone && look(p) == THERE))
		settle(p, clock_now() + SETTLE_MS * 1000000ull);
	if (!p->is_gone && look(p) == THERE)
		return false;
	p->is_forgotten = false;
	p->site_count = 0;
	if (!p->is_leased)
		watch(p);
	return true;
}

void probed_release(void)
{
	for (size_t i = 0; i < table.count; i++) {
		close_fd(&table.file[i]->fd);
		close_fd(&table.file[i]->hold);
		free(table.file[i]->site);
		free(table.file[i]);
	}
	free(table.file);
	if (table.is_open) {
		close_fd(&table.inotify);
		close_fd(&table.broken);
		close_fd(&table.epoll);
	}
	memset(&table, 0, sizeof(table));
}
