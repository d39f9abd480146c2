/*
 * target.c - processes by number: held, probed, marked.
 *
 * The order in which a process becomes recorded: walkers of the stack that it has
 * mapped are guarded; its program is analysed and probed, which hits nobody yet, since
 * BPF asks first whether a task is marked; the writer is told of it and of what it has
 * mapped; its threads are marked; and at last, with its mappings looked at once more,
 * its returns may be probed (bpf/target.bpf.c, returns.bpf.c).
 *
 * A child is recorded because its parent is, from the parent's marking on. What a
 * target started between our first look at /proc and its marking is found by a second
 * look, and made a target too. Who comes into a cgroup the kernel tells of, and marks
 * at the latest at an exec (bpf/cgroup.bpf.c).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "base.h"
#include "bpflink.h"
#include "cgroup.h"
#include "config.h"
#include "gate.h"
#include "images.h"
#include "kernel.h"
#include "log.h"
#include "process.h"
#include "recorder.skel.h"
#include "source.h"
#include "source/point.h"
#include "target.h"
#include "taskstate.h"

#define TARGET_CHILDREN	256u	/* flag of ours alone: children begun since are meant too */

#define PASSES_MAX	64	/* new threads, or a full ring, make a pass be done again */
#define LOOKS_MAX	16	/* at /proc for children: each finds those begun before their parent was marked */
#define PASS_WAIT_US	1000
#define SETTLES_MAX	8	/* a process that maps files all the time is left without return probes */

struct process {
	pid_t	 pid;		/* in our PID namespace */
	int	 pidfd;
	uint32_t flags;		/* TARGET_* */
	bool	 has_ended;
};

struct target {
	const struct config *cfg;
	struct process	    *process;
	size_t		     count, room;
	pid_t		    *thread;	/* --tid */
	size_t		     thread_count, thread_room;
	pid_t		    *other;	/* descendants that are not meant: they were there before */
	size_t		     other_count, other_room;
	int		     epoll;	/* of all pidfds, and the notices */
	int		     cgroup[CGROUPS_MAX];
	uint64_t	     cgroup_id[CGROUPS_MAX];
	unsigned	     cgroup_count;
	struct ring_buffer  *notices;	/* of who comes into a cgroup */
	uint64_t	     unnoticed;	/* as BPF's when all cgroups were looked at */
	bool		     is_blind;	/* said that some have no number */
	bool		     is_barred;	/* said that some may not be looked at */
	struct recorder_bpf *bpf;	/* since target_begin() */
	struct images	    *images;
	char		     exe[4096];
};

DEFINE_CLEANUP(target_destroy, struct target *)

/* ---- who they are ---- */

static struct process *find(const struct target *t, pid_t pid)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->process[i].pid == pid)
			return &t->process[i];
	return NULL;
}

static int watch(struct target *t, struct process *p)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = p->pid };

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, p->pidfd, &ev) ? -errno : 0;
}

static int hold_new(struct target *t, pid_t pid, uint32_t flags)
{
	struct process new = { .pid = pid, .flags = flags };
	int err = grow(&t->process, &t->room, t->count, sizeof(*t->process));

	if (err)
		return err;
	new.pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (new.pidfd < 0)
		return -errno;
	err = watch(t, &new);
	if (err) {
		close_fd(&new.pidfd);
		return err;
	}
	t->process[t->count++] = new;
	return 0;
}

/* -ESRCH: it has ended. Any other error has been said. */
static int hold(struct target *t, pid_t pid, uint32_t flags)
{
	struct process *p = find(t, pid);
	int err = p ? 0 : hold_new(t, pid, flags);

	if (p)
		p->flags |= flags;
	if (err && err != -ESRCH) {
		fail(err, "cannot attach to process %d", pid);
		if (err == -EMFILE)
			hint("ulimit -n %zu: each process takes a file", t->count + 1024);
	}
	return err;
}

static const char *option_of(const struct target_name *n)
{
	switch (n->kind) {
	case TARGET_TREE:
		return "--tree";
	case TARGET_THREAD:
		return "--tid";
	case TARGET_CGROUP:
		return "--cgroup";
	default:
		return "-p";
	}
}

/* Who is named is looked at in /proc, where another namespace calls others by these numbers. */
static int check_proc(const struct config *cfg)
{
	if (!cfg->target_count || process_proc_is_ours())
		return 0;
	fail(0, "%s: /proc is that of another PID namespace, which counts processes in another way; unshare with --mount-proc "
	     "gives this one its own", option_of(cfg->target));
	return -ESRCH;
}

/* What is wrong with a number, before it is held; 0: nothing. */
static int check(const struct target_name *n)
{
	const char *option = option_of(n);
	pid_t pid = process_of_thread(n->pid);

	if (!pid) {
		fail(0, "%s %d: there is no such process", option, n->pid);
		hint("ps -e, which lists them");
	} else if (pid == getpid()) {
		fail(0, "%s %d: recorder does not record itself", option, n->pid);
	} else if (n->kind != TARGET_THREAD && pid != n->pid) {
		fail(0, "%s %d: this is a thread of process %d", option, n->pid, pid);
		hint("--tid %d, or %s %d for all of its threads", n->pid, option, pid);
	} else if (process_is_barred(pid)) {
		fail(0, "%s %d: recorder may not look at this process", option, n->pid);
		hint("root with CAP_SYS_PTRACE, which a container may lack");
	} else if (!process_with_program(pid)) {
		fail(0, "%s %d: this is a thread of the kernel, or has ended", option, n->pid);
	} else {
		return 0;
	}
	return -ESRCH;
}

/* One that recorder may not look at is not recorded. */
static bool say_barred(struct target *t, pid_t pid)
{
	if (!process_is_barred(pid))
		return false;
	if (!t->is_barred)
		warn("process %d, of those asked for, is not recorded: recorder may not look at it; nor at others, perhaps", pid);
	t->is_barred = true;
	return true;
}

/* Who has ended meanwhile, is a thread of the kernel or belongs to us is nobody's loss. */
static int hold_member(void *ctx, pid_t pid)
{
	struct target *t = ctx;
	int err;

	if (find(t, pid) || process_is_ours(pid) || say_barred(t, pid) || !process_with_program(pid))
		return 0;
	err = hold(t, pid, TARGET_WHOLE);
	return err == -ESRCH ? 0 : err;
}

static int hold_members(struct target *t)
{
	int err = 0;

	for (unsigned i = 0; i < t->cgroup_count && !err; i++)
		err = cgroup_each(t->cgroup[i], hold_member, t);
	return err;
}

static int add_cgroup(struct target *t, const char *path)
{
	int fd;

	if (t->cgroup_count == CGROUPS_MAX)
		return fail(-E2BIG, "--cgroup %s: more than %d at a time", path, CGROUPS_MAX);
	fd = cgroup_open(path, &t->cgroup_id[t->cgroup_count]);
	if (fd < 0)
		return fd;
	t->cgroup[t->cgroup_count++] = fd;
	return cgroup_each(fd, hold_member, t);
}

static int add_name(struct target *t, const struct target_name *n)
{
	bool is_thread = n->kind == TARGET_THREAD;
	int err;

	if (n->kind == TARGET_CGROUP)
		return add_cgroup(t, n->path);
	err = check(n);
	if (!err && is_thread)
		err = grow(&t->thread, &t->thread_room, t->thread_count, sizeof(*t->thread));
	if (err)
		return err;
	if (is_thread)
		t->thread[t->thread_count++] = n->pid;
	err = hold(t, is_thread ? process_of_thread(n->pid) : n->pid, is_thread ? 0 : TARGET_WHOLE | TARGET_CHILDREN);
	return err == -ESRCH ? fail(err, "cannot attach to %d", n->pid) : err;
}

/* ---- their children ---- */

struct kin {
	pid_t pid, parent;
};

struct kins {
	struct kin *kin;
	size_t	    count, room;
};

/* All processes; none when /proc is that of another PID namespace than ours. */
static int list_kins(struct kins *k)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int err = 0;

	k->count = 0;
	if (!dir)
		return -errno;
	if (!process_proc_is_ours()) {
		closedir(dir);
		return 0;
	}
	while (!err && (e = readdir(dir))) {
		pid_t pid = atoi(e->d_name);

		if (pid <= 0)
			continue;
		err = grow(&k->kin, &k->room, k->count, sizeof(*k->kin));
		if (!err)
			k->kin[k->count++] = (struct kin){ pid, process_parent(pid) };
	}
	closedir(dir);
	return err;
}

static bool is_other(const struct target *t, pid_t pid)
{
	for (size_t i = 0; i < t->other_count; i++)
		if (t->other[i] == pid)
			return true;
	return process_is_ours(pid);
}

static int note_other(struct target *t, pid_t pid)
{
	int err = grow(&t->other, &t->other_room, t->other_count, sizeof(*t->other));

	if (!err)
		t->other[t->other_count++] = pid;
	return err;
}

static bool is_in_tree(const struct config *cfg, pid_t pid)
{
	for (size_t i = 0; i < cfg->target_count; i++)
		if (cfg->target[i].kind == TARGET_TREE && cfg->target[i].pid == pid)
			return true;
	return false;
}

/* One that has ended meanwhile is nobody's loss. */
static int hold_child(struct target *t, pid_t pid)
{
	int err = say_barred(t, pid) || !process_with_program(pid) ? -ESRCH : hold(t, pid, TARGET_WHOLE | TARGET_CHILDREN);

	return err == -ESRCH ? note_other(t, pid) : err;
}

/* Children of whole targets become targets, if they are not known as others. Returns how many there were, or an errno. */
static int hold_children(struct target *t, const struct kins *k)
{
	int err = 0, n = 0;

	for (size_t i = 0; i < k->count && !err; i++) {
		const struct process *parent = find(t, k->kin[i].parent);

		if (!parent || !(parent->flags & TARGET_CHILDREN) || find(t, k->kin[i].pid) || is_other(t, k->kin[i].pid))
			continue;
		err = hold_child(t, k->kin[i].pid);
		n++;
	}
	return err ?: n;
}

/* Present children: with --tree they and theirs are targets, else they are not meant. */
static int look_at_children(struct target *t)
{
	__cleanup(free_ptr) void *list = NULL;
	struct kins k = {};
	int err = list_kins(&k), n;

	list = k.kin;
	for (size_t i = 0; i < k.count && !err; i++)	/* of those that are no tree: not meant */
		if (find(t, k.kin[i].parent) && !is_in_tree(t->cfg, k.kin[i].parent) && !find(t, k.kin[i].pid))
			err = note_other(t, k.kin[i].pid);
	do
		n = err ?: hold_children(t, &k);
	while (n > 0);
	return n;
}

/* ---- recording them ---- */

void target_plan(const struct target *t, struct recorder_bpf *bpf)
{
	bpf_program__set_autoload(bpf->progs.target_tasks, true);
	bpf_program__set_autoload(bpf->progs.target_files, true);
	if (!t->cgroup_count)
		return;
	for (unsigned i = 0; i < t->cgroup_count; i++)
		bpf->rodata->cgroup_ids[i] = t->cgroup_id[i];
	point_load(bpf, bpf->progs.cgroup_exec, true);
	point_load(bpf, bpf->progs.cgroup_fork, true);
	bpf_program__set_autoload(bpf->progs.cgroup_move, true);
}

static int run_step(struct recorder_bpf *bpf, enum target_step step)
{
	int err;

	bpf->bss->target_step = step;
	bpf->bss->target_done = bpf->bss->target_failed = bpf->bss->target_unsettled = 0;
	err = bpflink_iterate(bpf_program__fd(bpf->progs.target_tasks), 0);
	return err ? fail(err, "cannot walk the kernel's tasks") : 0;
}

/* Again while the ring has no room, and (marking) while new threads turn up. */
static int run_until_done(struct recorder_bpf *bpf, enum target_step step)
{
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		int err = run_step(bpf, step);

		if (err)
			return err;
		if (!bpf->bss->target_failed && (step != TARGET_MARK || !bpf->bss->target_done))
			return 0;
		if (bpf->bss->target_failed)
			usleep(PASS_WAIT_US);
	}
	warn("not every thread is recorded: more and more begin, or the buffer (-b) is too small");
	return 0;
}

static int put(struct bpf_map *map, uint32_t number, uint32_t flags)
{
	return bpf_map_update_elem(bpf_map__fd(map), &number, &flags, BPF_ANY) ? -errno : 0;
}

/* Passes are about processes [first, count) only, and all named threads. */
static int choose(struct target *t, struct recorder_bpf *bpf, size_t first)
{
	int err = 0;

	for (size_t i = 0; i < t->count && !err; i++) {
		const struct process *p = &t->process[i];

		if (i < first || p->has_ended)
			bpf_map_delete_elem(bpf_map__fd(bpf->maps.targets), &p->pid);
		else
			err = put(bpf->maps.targets, p->pid, p->flags);
	}
	for (size_t i = 0; i < t->thread_count && !err; i++)
		err = put(bpf->maps.target_threads, t->thread[i], 0);
	return err ? fail(err, "cannot name the targets to the kernel") : 0;
}

static int probe(struct target *t, struct images *im, size_t first)
{
	int err = 0;

	for (size_t i = first; i < t->count && !err; i++) {
		__cleanup(close_fd) int proc = process_folder(t->process[i].pidfd);

		err = images_add_exe(im, t->process[i].pid, proc, NULL);
	}
	return err;
}

/* Where the kernel cannot decide by process whether to probe a return, all are from the first probe on. */
static int look_ahead(struct target *t, struct images *im, size_t first)
{
	int err = 0;

	for (size_t i = first; i < t->count && !err; i++) {
		__cleanup(close_fd) int proc = process_folder(t->process[i].pidfd);

		err = images_look_ahead(im, t->process[i].pid, proc);
	}
	return err;
}

static int look(struct images *im, const struct process *p)
{
	__cleanup(close_fd) int proc = process_folder(p->pidfd);

	return images_look(im, p->pid, proc);
}

/* What each has mapped, looked at while nobody's returns are probed; then, if nothing was mapped meanwhile, they may be. */
static int settle_returns(struct target *t, struct recorder_bpf *bpf, struct images *im, size_t first)
{
	int err = 0;

	for (int pass = 0; pass < SETTLES_MAX && !err; pass++) {
		err = run_step(bpf, TARGET_ASK);
		for (size_t i = first; i < t->count && !err; i++) {
			struct process *p = &t->process[i];
			int n = look(im, p);

			err = MIN(n, 0);
			p->flags = n ? p->flags & ~TARGET_RETURNS : p->flags | TARGET_RETURNS;
		}
		err = err ?: choose(t, bpf, first);
		err = err ?: run_step(bpf, TARGET_SETTLE);
		if (!err && !bpf->bss->target_unsettled)
			return 0;
	}
	return err;
}

/* Those that are recorded already, since their parent is, are no targets: take them off the end. */
static void drop_known(struct target *t, struct recorder_bpf *bpf, size_t first)
{
	size_t left = first;

	for (size_t i = first; i < t->count; i++) {
		struct process *p = &t->process[i];
		uint32_t flags = 0;

		bpf_map_lookup_elem(bpf_map__fd(bpf->maps.targets), &p->pid, &flags);
		if (!(flags & TARGET_KNOWN)) {
			t->process[left++] = *p;
			continue;
		}
		bpf_map_delete_elem(bpf_map__fd(bpf->maps.targets), &p->pid);
		note_other(t, p->pid);
		close_fd(&p->pidfd);
	}
	t->count = left;
}

/* The kernel asks the first thread for the process's memory; and it must be known ahead that another process is made. */
static bool may_own_probes(const struct target *t, const struct process *p)
{
	__cleanup(close_fd) int proc = process_folder(p->pidfd);

	return process_with_program(p->pid) == p->pid && (!t->cfg->follow || gate_sees_forks(proc));
}

/*
 * Few processes may have probes of their own, which nobody else meets. Not of returns: where a link names a process, the
 * kernel puts the trampoline on the stack of any other that comes by the site, and asks no program of ours.
 */
static bool may_own(const struct target *t)
{
	bool may = t->cfg->returns == RETURNS_NEVER && kernel_has(HAVE_PROCESS_LINKS) && !t->cgroup_count &&
		   t->count <= OWNERS_MAX;

	for (size_t i = 0; i < t->count && may; i++)
		may = may_own_probes(t, &t->process[i]);
	return may;
}

static int begin_from(struct target *t, struct recorder_bpf *bpf, struct images *im, size_t first)
{
	bool returns = wants_returns(t->cfg) && t->cfg->returns != RETURNS_NEVER;
	bool looks = returns || wants_libraries(t->cfg);
	int err = 0;

	if (!may_own(t))
		err = images_share(im);
	else if (!first)
		images_own(im);
	err = err ?: returns ? look_ahead(t, im, first) : 0;
	err = err ?: probe(t, im, first);
	err = err ?: choose(t, bpf, first);
	err = err ?: run_until_done(bpf, TARGET_ANNOUNCE);
	if (err)
		return err;
	drop_known(t, bpf, first);
	for (size_t i = first; i < t->count && !err; i++)
		if (bpflink_iterate(bpf_program__fd(bpf->progs.target_files), t->process[i].pid))
			detail("cannot walk what process %d has mapped: it has ended", t->process[i].pid);
	if (looks)			/* a first look, so that the one that counts is short */
		for (size_t i = first; i < t->count && !err; i++)
			err = MIN(look(im, &t->process[i]), 0);
	err = err ?: run_until_done(bpf, TARGET_MARK);
	return err ?: looks ? settle_returns(t, bpf, im, first) : 0;
}

int target_probe(struct target *t, struct images *im)
{
	int err = probe(t, im, 0);

	for (size_t i = 0; t->cfg->list && wants_libraries(t->cfg) && i < t->count && !err; i++)
		err = MIN(look(im, &t->process[i]), 0);
	return err;
}

static int on_notice(void *ctx, void *data, size_t len)
{
	struct target *t = ctx;
	pid_t pid = len < sizeof(pid) ? 0 : *(pid_t *)data;

	if (pid)
		return hold_member(t, pid);
	if (!t->is_blind)
		warn("who comes from another PID namespace is not recorded before its next exec");
	t->is_blind = true;
	return 0;
}

/* From now on notices are heard; who came before they were made is found by looking. */
static int hear_notices(struct target *t, struct recorder_bpf *bpf)
{
	struct epoll_event ev = { .events = EPOLLIN };		/* no process has the number 0 */

	if (!t->cgroup_count)
		return 0;
	t->notices = ring_buffer__new(bpf_map__fd(bpf->maps.cgroup_notices), on_notice, t, NULL);
	if (!t->notices || epoll_ctl(t->epoll, EPOLL_CTL_ADD, ring_buffer__epoll_fd(t->notices), &ev))
		return fail(-errno, "cannot hear of who comes into a cgroup");
	return hold_members(t);
}

int target_begin(struct target *t, struct recorder_bpf *bpf, struct images *im)
{
	__cleanup(free_ptr) void *list = NULL;
	struct kins k = {};
	size_t first = 0;
	int err = hear_notices(t, bpf);

	t->bpf = bpf;
	t->images = im;
	for (int look = 0; look < LOOKS_MAX && t->count > first && !err; look++) {
		err = begin_from(t, bpf, im, first);
		first = t->count;
		err = err ?: t->cfg->follow ? list_kins(&k) : 0;
		list = k.kin;
		err = err ?: MIN(hold_children(t, &k), 0);
	}
	return err;
}

/* ---- their life ---- */

static void find_exe(struct target *t)
{
	__cleanup(close_fd) int proc = t->count ? process_folder(t->process[0].pidfd) : -1;
	ssize_t n = readlinkat(proc, "exe", t->exe, sizeof(t->exe) - 1);

	t->exe[MAX(n, 0)] = '\0';
}

int target_create(struct target **ret, const struct config *cfg)
{
	__cleanup(target_destroyp) struct target *t = calloc(1, sizeof(*t));
	int err = 0;

	if (!t)
		return -ENOMEM;
	t->cfg = cfg;
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (t->epoll < 0)
		return fail(-errno, "cannot watch processes");
	err = check_proc(cfg);
	for (size_t i = 0; i < cfg->target_count && !err; i++)
		err = add_name(t, &cfg->target[i]);
	err = err ?: look_at_children(t);
	if (err)
		return err;
	find_exe(t);
	*ret = TAKE(t);
	return 0;
}

void target_destroy(struct target *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++)
		close_fd(&t->process[i].pidfd);
	for (unsigned i = 0; i < t->cgroup_count; i++)
		close_fd(&t->cgroup[i]);
	ring_buffer__free(t->notices);
	close_fd(&t->epoll);
	free(t->process);
	free(t->thread);
	free(t->other);
	free(t);
}

int target_fd(const struct target *t)
{
	return t->epoll;
}

/* Forget those that have ended: many may come and go. */
static void reap(struct target *t)
{
	struct epoll_event ev;
	size_t left = 0;

	while (epoll_wait(t->epoll, &ev, 1, 0) == 1 && ev.data.u32) {
		struct process *p = find(t, ev.data.u32);

		epoll_ctl(t->epoll, EPOLL_CTL_DEL, p->pidfd, NULL);
		p->has_ended = true;
	}
	for (size_t i = 0; i < t->count; i++) {
		struct process *p = &t->process[i];

		if (!p->has_ended) {
			t->process[left++] = *p;
			continue;
		}
		bpf_map_delete_elem(bpf_map__fd(t->bpf->maps.targets), &p->pid);
		close_fd(&p->pidfd);
	}
	t->count = left;
}

static int take_in(struct target *t)
{
	uint64_t unnoticed = t->bpf->bss->cgroup_unnoticed;
	size_t first = t->count;
	int err = MIN(ring_buffer__consume(t->notices), 0);

	if (!err && unnoticed != t->unnoticed)
		err = hold_members(t);
	t->unnoticed = unnoticed;
	if (err || t->count == first)
		return err;
	err = begin_from(t, t->bpf, t->images, first);
	detail("recording more processes, who came into the cgroup: %zu", t->count - first);
	return err;
}

int target_serve(struct target *t, bool *done)
{
	int err;

	reap(t);
	err = t->notices ? take_in(t) : 0;
	*done = !t->count && !t->notices;
	return err;
}

bool target_awaits(const struct target *t)
{
	return t->cgroup_count;
}

size_t target_count(const struct target *t)
{
	return t->count;
}

const char *target_exe(const struct target *t)
{
	return t->exe;
}
