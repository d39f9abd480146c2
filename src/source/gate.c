/*
 * gate.c - who execs a file waits until that is probed; who has mapped libraries, until they were looked at.
 *
 * Where the kernel runs something of ours in a task on its way back to its program (since 6.18), it waits
 * there. Nothing is set in any file for that, so only who is recorded notices, and it is seen whatever exec'd or
 * mapped. Else:
 *
 * The best place is before the exec: nobody has the file mapped yet. Where BPF is one of the kernel's LSMs that is
 * an LSM's hook, by which comes whatever execs; else a probe in the C library's execve(). What does not come by, or is
 * led to by no path, is held at its first instruction, where setting probes takes longer, in a memory that is in use.
 * The first instruction of a dynamically linked program is the dynamic linker's entry point, so one site in that file
 * is the gate of them all; it is set at once for this machine's own, for others when the
 * first image names them as its interpreter. A static program has no such site, and without
 * the hook is probed as soon as its image is known, but not earlier.
 *
 * A task waits inside a BPF program, as an RCU reader. So while one waits
 * nothing may be detached: that would wait for it in turn, until it gives up.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include "base.h"
#include "bpflink.h"
#include "config.h"
#include "gate.h"
#include "image.h"
#include "kernel.h"
#include "log.h"
#include "mapped.h"
#include "process.h"
#include "recorder.skel.h"
#include "source.h"
#include "source/later.h"
#include "source/library.h"
#include "source/links.h"
#include "source/point.h"
#include "source/probed.h"
#include "source/rows.h"

#define FILES_MAX	32	/* with a gate: dynamic linkers, C libraries; 64-bit, 32-bit, of containers */
#define SEGMENTS_MAX	64
#define SERVING_MAX_MS	100	/* for the agent, which runs ahead of all, to make up its mind; else it was killed */
#define C_LIBRARY	"libc.so.6"

static struct {
	struct recorder_bpf *bpf;	/* NULL: there are no gates */
	struct ring_buffer *notices;
	struct gate_slot   *slot;
	bool		    by_work;	/* tasks wait on their way back to their programs */
	struct bpf_program *exec_call;	/* for C libraries; NULL: tasks wait elsewhere */
	struct recorder_bpf *late;	/* a load of its own, for exec_call; NULL: none */
	struct links	    links;
	const struct probed *file[FILES_MAX];	/* with a gate */
	unsigned	    files;
	const struct probed *forks[FILES_MAX];	/* of those, who makes processes by one waits there */
	unsigned	    fork_files;
	gate_fn		    fn;		/* during gate_serve() */
	void		   *fn_ctx;
	bool		    at_forks;	/* are there gates at fork() and its like */
	bool		    is_shut;	/* nobody waits any more */
	bool		    is_blind;	/* said that /proc does not show who waits */
	uint64_t	    missed;	/* execs that were not served in time */
	uint64_t	    misread;	/* mappings of files with breakpoints that were not mended in time */
	uint64_t	    strays;	/* processes that were made past the gate at forks */
	uint64_t	    unseen;	/* processes that mapped files which were not looked at */
} gate;

static bool is_wanted(const struct config *cfg)
{
	return wants_probes(cfg) && kernel_has(HAVE_UPROBE_SLEEPABLE);
}

static void plan_program(struct bpf_program *prog)
{
	bpf_program__set_autoload(prog, true);
	if (kernel_has(HAVE_UPROBE_MULTI))
		bpf_program__set_expected_attach_type(prog, BPFLINK_UPROBE_MULTI);
}

static void plan_probes(struct recorder_bpf *bpf, const struct config *cfg)
{
	plan_program(bpf->progs.exec_gate);
	plan_program(bpf->progs.maps_gate);
	point_load(bpf, bpf->progs.maps_misread, true);
	bpf->rodata->execs_wait_before = cfg->follow;
	if (cfg->follow && kernel_has(HAVE_EXEC_HOOK)) {
		bpf_program__set_autoload(bpf->progs.exec_hook, true);
	} else {
		plan_program(bpf->progs.exec_call);
		gate.exec_call = bpf->progs.exec_call;
	}
}

static void plan_work(struct recorder_bpf *bpf, const struct config *cfg)
{
	point_load(bpf, bpf->progs.exec_work, cfg->follow);
	point_load(bpf, bpf->progs.maps_work, true);
}

static bool is_by_work(const struct config *cfg)
{
	return is_wanted(cfg) && kernel_has(HAVE_TASK_WORK);
}

bool gate_tells_maps(const struct config *cfg)
{
	return is_by_work(cfg) && !cfg->syscalls;
}

static int gate_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	gate.by_work = is_by_work(cfg);
	gate.exec_call = NULL;
	bpf_map__set_autocreate(bpf->maps.gate_works, gate.by_work);
	if (!is_wanted(cfg))
		return 0;
	if (gate.by_work)
		plan_work(bpf, cfg);
	else
		plan_probes(bpf, cfg);
	if (cfg->target_count && cfg->returns == RETURNS_NEVER && kernel_has(HAVE_PROCESS_LINKS))
		plan_program(bpf->progs.fork_call);
	bpf_program__set_autoload(bpf->progs.gate_settle, true);
	bpf_program__set_autoload(bpf->progs.gate_know, true);
	bpf_program__set_autoload(bpf->progs.gate_plant, true);
	bpf_program__set_autoload(bpf->progs.gate_forget, true);
	bpf->rodata->maps_are_told_here = gate_tells_maps(cfg);
	bpf->rodata->maps_are_seen = gate.by_work || cfg->syscalls || wants_libraries(cfg);
	bpf->rodata->libraries_wanted = wants_libraries(cfg);
	bpf->rodata->cuda_wanted = cfg->cuda;
	return 0;
}

void gate_open(bool is_open)
{
	if (gate.bpf)
		gate.bpf->data->gate_exec_open = is_open && !gate.is_shut;
}

void gate_shut(void)
{
	gate.is_shut = true;
	gate_open(false);
}

void gate_at_forks(bool is_on)
{
	if (gate.bpf)
		gate.bpf->bss->gate_forks_wait = is_on;
}

void gate_attaching(bool begins)
{
	if (gate.bpf)
		gate.bpf->bss->gate_attaching = begins;
}

/* What the BPF program could not say for a task that left it. */
static void settle(const struct gate_notice *n, bool may)
{
	struct gate_answer answer = { n->root_pid, may, n->mapped };
	int err = bpflink_run(bpf_program__fd(gate.bpf->progs.gate_settle), &answer, sizeof(answer));

	if (err)
		detail("gate: process %u cannot be told whether its returns are probed: %s", n->pid, strerror(-err));
}

/* Let the task of @n go on, unless it has gone already. */
static void release(const struct gate_notice *n, enum gate_state answer)
{
	struct gate_slot *s = &gate.slot[n->slot];

	if (__atomic_load_n(&s->ticket, __ATOMIC_SEQ_CST) != n->ticket)
		return;
	for (int i = 0; i < SERVING_MAX_MS && !gate_move(s, GATE_WAITING, answer) && gate_state(s) == GATE_SERVING; i++)
		usleep(1000);		/* the agent makes it GATE_HELD */
	if (gate_move(s, GATE_SERVING, answer) || gate_state(s) != GATE_HELD)
		return;
	if (n->what == GATE_MAPPED)
		settle(n, answer == GATE_DONE);
	gate_move(s, GATE_HELD, GATE_LET_GO);
}

/* Only its task or the agent, which holds that task, frees a slot: while this is true the numbers in @n are that task's. */
static bool is_waiting(const struct gate_notice *n)
{
	const struct gate_slot *s = &gate.slot[n->slot];
	__u32 state = gate_state(s);

	return (state == GATE_WAITING || state == GATE_SERVING || state == GATE_HELD) &&
	       __atomic_load_n(&s->ticket, __ATOMIC_SEQ_CST) == n->ticket;
}

static void know(const struct gate_file *f)
{
	struct gate_known known = { *f, .value = 1 };
	int err = bpflink_run(bpf_program__fd(gate.bpf->progs.gate_know), &known, sizeof(known));

	if (err)
		detail("gate: cannot note a file as known: %s", strerror(-err));
}

static bool still_waits(const void *notice)
{
	return is_waiting(notice);
}

struct reading {
	const struct gate_notice *n;
	struct gate_read read;
	int  proc, mem;
	bool is_whole;
};

/* Returns 1 where the file may be one with breakpoints. */
static int show_mapping(void *ctx, const struct mapping *m)
{
	struct reading *r = ctx;

	if (!probed_may_be(m))
		return 0;
	if (m->is_readable && m->start < r->read.end && m->end > r->read.begin)
		r->is_whole &= probed_show(m, r->mem, still_waits, r->n);
	return 1;
}

static void tell_unread(const struct reading *r)
{
	struct gate_unread u = { r->n->root_pid, r->read.count };

	bpflink_run(bpf_program__fd(gate.bpf->progs.gate_forget), &u, sizeof(u));
}

static void show_all(struct reading *r)
{
	__cleanup(close_fd) int mem = openat(r->proc, "mem", O_RDWR | O_CLOEXEC);
	int found;

	r->mem = mem;
	r->is_whole = mem >= 0;
	found = mapped_each(r->proc, MAPPED_TEXT, show_mapping, r);
	if (!found)
		tell_unread(r);
	r->is_whole &= found != MAPPED_UNREADABLE;
}

/* The task is not stopped: it is let go by the end of the thread that traces it. */
static void *trace_and_show(void *reading)
{
	struct reading *r = reading;

	if (!ptrace(PTRACE_SEIZE, r->n->tid, 0, 0))
		show_all(r);
	return NULL;
}

/* GATE_READ. False: there may be breakpoints in what it reads. */
static bool show_readings(const struct gate_notice *n, int proc)
{
	struct reading r = { n, gate.slot[n->slot].read, proc, .mem = -1 };
	pthread_t tracer;

	if (kernel_has(HAVE_FORCED_WRITES))
		show_all(&r);
	else if (!pthread_create(&tracer, NULL, trace_and_show, &r))
		pthread_join(tracer, NULL);
	return r.is_whole;
}

static void tell_planted(uint64_t ino)
{
	struct gate_known planted = { .file.ino = ino };
	int err = bpflink_run(bpf_program__fd(gate.bpf->progs.gate_plant), &planted, sizeof(planted));

	if (err)
		detail("gate: cannot note a file as one with breakpoints: %s", strerror(-err));
}

static bool names_a_path(const struct gate_notice *n)
{
	return n->what == GATE_EXEC_CALL || n->what == GATE_EXEC_HOOK;
}

/* Do what the task of @n waits for. Only GATE_MAPPED is told more than that it was done. */
static int serve_waiting(const struct gate_notice *n, enum gate_state *answer)
{
	__cleanup(close_fd) int proc = process_open(n->pid);
	char path[sizeof(gate.slot->path)];
	int err;

	snprintf(path, sizeof(path), "%.*s", (int)sizeof(path) - 1, gate.slot[n->slot].path);
	*answer = n->what == GATE_MAPPED || n->what == GATE_READ ? GATE_FAILED : GATE_DONE;
	if (!is_waiting(n))
		return 0;
	if (proc < 0) {
		if (!gate.is_blind)
			warn("programs exec'd are not probed: /proc does not show process %u", n->pid);
		gate.is_blind = true;
		return 0;
	}
	if (n->what == GATE_READ) {
		if (show_readings(n, proc))
			*answer = GATE_DONE;
		return 0;
	}
	gate.bpf->bss->gate_serving = gate.bpf->rodata->libraries_wanted || n->what == GATE_FORK;	/* else it is soon done */
	err = gate.fn(gate.fn_ctx, n, proc, names_a_path(n) ? path : NULL);
	gate.bpf->bss->gate_serving = false;
	if (n->what == GATE_EXECED)		/* a path may have led to another file than the task has */
		know(&n->file);
	if (!err)
		*answer = GATE_DONE;
	return MIN(err, 0);
}

static int on_notice(void *ctx, void *data, size_t len)
{
	const struct gate_notice *n = data;
	enum gate_state answer;
	int err;

	(void)ctx;
	if (len < sizeof(*n))
		return 0;
	if (n->slot == GATE_SLOTS)
		return gate.fn(gate.fn_ctx, n, -1, NULL);
	if (n->slot >= GATE_EXEC_SLOTS)
		return 0;
	err = serve_waiting(n, &answer);
	release(n, answer);
	gate_open(true);
	return err;
}

int gate_fd(void)
{
	return gate.notices ? ring_buffer__epoll_fd(gate.notices) : -1;
}

int gate_serve(gate_fn fn, void *ctx)
{
	int n;

	if (!gate.notices)
		return 0;
	gate.fn = fn;
	gate.fn_ctx = ctx;
	n = ring_buffer__consume(gate.notices);
	return n < 0 ? n : 0;
}

/* File offset of the ELF entry point; 0 when the file at @fd is not an ELF file that has one. */
static unsigned long entry_offset(int fd)
{
	Elf64_Phdr ph[SEGMENTS_MAX];
	Elf64_Ehdr eh;
	size_t n;

	if (pread(fd, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(*ph))
		return 0;
	n = MIN(eh.e_phnum, SEGMENTS_MAX) * sizeof(*ph);
	if (pread(fd, ph, n, eh.e_phoff) != (ssize_t)n)
		return 0;
	for (size_t i = 0; i < n / sizeof(*ph); i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X && eh.e_entry - ph[i].p_vaddr < ph[i].p_filesz)
			return eh.e_entry - ph[i].p_vaddr + ph[i].p_offset;
	return 0;
}

static int attach_at(struct bpf_program *prog, int fd, unsigned long offset)
{
	struct bpf_link *link;
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (kernel_has(HAVE_UPROBE_MULTI)) {
		err = bpflink_uprobe_multi(bpf_program__fd(prog), BPFLINK_UPROBE_MULTI, path, &offset, NULL, 1, 0, 0);
		return err < 0 ? err : links_keep_fd(&gate.links, err, probed_at(path, &offset, 1));
	}
	link = bpf_program__attach_uprobe(prog, false, -1, path, offset);
	return link ? links_keep(&gate.links, link, probed_at(path, &offset, 1)) : -errno;
}

static bool has_file(const struct probed *const *file, unsigned count, const struct probed *p)
{
	for (unsigned i = 0; i < count; i++)
		if (file[i] == p)
			return true;
	return false;
}

/* True the first time it is asked about a file, and again when that was rewritten. */
static bool is_new_file(int fd)
{
	struct probed *p = probed_file(fd);

	if (!p || has_file(gate.file, gate.files, p) || gate.files == FILES_MAX || !probed_renew(p))
		return false;
	gate.file[gate.files++] = p;
	return true;
}

static void set_gate(int fd, const char *linker)
{
	unsigned long offset;
	struct stat st;
	int err;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_new_file(fd))
		return;
	offset = entry_offset(fd);
	err = offset ? attach_at(gate.bpf->progs.exec_gate, fd, offset) : -ENOEXEC;
	if (err)
		detail("gate: none at '%s': programs it starts are probed a little late: %s", linker, strerror(-err));
}

/* Dynamic linkers call it when they have mapped libraries and run nothing of theirs yet: a place for debuggers. */
static const struct func *debug_state(const struct image *img)
{
	for (size_t i = 0; i < img->func_count; i++)
		if (!strcmp(img->func[i].name, "_dl_debug_state"))
			return &img->func[i];
	return NULL;
}

static int gate_mapped(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd)
{
	const struct func *f = debug_state(img);
	int err;

	(void)bpf;
	if (!gate.bpf || gate.by_work || !f)
		return 0;
	if (cfg->follow)
		set_gate(fd, img->path);
	err = attach_at(gate.bpf->progs.maps_gate, fd, image_offset(img, f));
	if (err)
		detail("gate: none at _dl_debug_state() of '%s': %s", img->path, strerror(-err));
	return 0;
}

/* The linkers of this machine: what is run first may be a script, whose interpreter no image names. */
static const char *const linkers[] = {
#if defined(__x86_64__)
	"/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1",
#elif defined(__aarch64__)
	"/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1",
#endif
};

/* system(), popen() and daemon() come by one of these. clone() is not among them: it makes threads. */
static const char *const forks[] = { "fork", "_Fork", "vfork", "posix_spawn", "posix_spawnp" };

static void gate_at_fork_calls(int fd, const char *path)
{
	struct probed *p = probed_file(fd);
	unsigned set = 0;
	uint64_t offset;

	if (!gate.at_forks || gate.fork_files == FILES_MAX || has_file(gate.forks, gate.fork_files, p))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(forks); i++) {
		if (library_symbol(fd, forks[i], &offset))
			continue;
		if (attach_at(gate.bpf->progs.fork_call, fd, offset)) {
			detail("gate: none at %s() of '%s'", forks[i], path);
			return;
		}
		set++;
	}
	if (p && set)
		gate.forks[gate.fork_files++] = p;
}

/* A C library of this machine. */
static int gate_library(void *ctx, int fd, const char *path)
{
	uint64_t offset;

	(void)ctx;
	if (!is_new_file(fd))
		return 0;
	if (gate.exec_call && (library_symbol(fd, "execve", &offset) || attach_at(gate.exec_call, fd, offset)))
		detail("gate: none at execve() of '%s'", path);
	gate_at_fork_calls(fd, path);
	return 0;
}

void gate_at_library(int fd, const char *path)
{
	if (gate.bpf && (gate.exec_call || gate.at_forks) && !strcmp(strrchr(path, '/') + 1, C_LIBRARY))
		(void)gate_library(NULL, fd, path);
}

/* A static program has its own execve(). */
static void gate_own_exec(const struct image *img, int fd)
{
	for (size_t i = 0; gate.exec_call && !img->interp && i < img->func_count; i++) {
		const struct func *f = &img->func[i];

		if (!strcmp(f->name, "execve") || !strcmp(f->name, "__execve"))
			(void)attach_at(gate.exec_call, fd, image_offset(img, f));
	}
}

static void set_gates(void)
{
	for (size_t i = 0; !gate.by_work && i < ARRAY_SIZE(linkers); i++) {
		__cleanup(close_fd) int fd = open(linkers[i], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

		if (fd >= 0)
			set_gate(fd, linkers[i]);
	}
	if (gate.exec_call || gate.at_forks)
		library_each(C_LIBRARY, gate_library, NULL);
}

/*
 * A file that is not leased can be rewritten without our leave, and who execs it then has the old probes in the new code
 * before he waits. A look at it before the exec makes that seldom.
 */
static void look_before_execs(void)
{
	int err;

	gate.late = later_open(gate.bpf);
	if (gate.late)
		later_want(gate.late->progs.exec_call);
	err = gate.late ? recorder_bpf__load(gate.late) : -errno;
	if (err) {
		detail("gate: none at execve() of C libraries: %s", strerror(-err));
		return;
	}
	gate.exec_call = gate.late->progs.exec_call;
	gate.files = 0;
	set_gates();
}

static int is_fork_gate(void *ctx, const struct mapping *m)
{
	__cleanup(close_fd) int fd = mapped_open(m);
	const struct probed *p = fd < 0 ? NULL : probed_find(fd);

	(void)ctx;
	for (unsigned i = 0; p && i < gate.fork_files; i++)
		if (gate.forks[i] == p)
			return 1;
	return 0;
}

bool gate_sees_forks(int proc)
{
	return gate.fork_files && mapped_each(proc, MAPPED_CODE, is_fork_gate, NULL) == 1;
}

static int gate_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	void *p;

	if (!is_wanted(cfg))
		return 0;
	gate.at_forks = bpf_program__autoload(bpf->progs.fork_call);
	p = mmap(NULL, GATE_SLOTS * sizeof(*gate.slot), PROT_READ | PROT_WRITE, MAP_SHARED,
		 bpf_map__fd(bpf->maps.gate_slots), 0);
	if (p == MAP_FAILED)
		return fail(-errno, "cannot share memory with the programs that gate");
	gate.slot = p;
	gate.notices = ring_buffer__new(bpf_map__fd(bpf->maps.gate_notices), on_notice, NULL, NULL);
	if (!gate.notices)
		return fail(-errno, "cannot read the notices of programs that gate");
	gate.bpf = bpf;
	probed_tell(tell_planted);
	if (cfg->follow)
		set_gates();
	if (!gate.by_work)
		return point_attach(&gate.links, bpf, bpf->progs.maps_misread) ?:
		       point_attach(&gate.links, bpf, bpf->progs.exec_hook);
	return point_attach(&gate.links, bpf, bpf->progs.exec_work) ?: point_attach(&gate.links, bpf, bpf->progs.maps_work);
}

static void gate_forget(const struct probed *file)
{
	unsigned left = 0;

	for (unsigned i = 0; i < gate.files; i++)
		if (gate.file[i] != file)
			gate.file[left++] = gate.file[i];
	gate.files = left;
	for (unsigned i = left = 0; i < gate.fork_files; i++)
		if (gate.forks[i] != file)
			gate.forks[left++] = gate.forks[i];
	gate.fork_files = left;
	links_let_go(&gate.links, file);
}

static int gate_again(struct recorder_bpf *bpf, const struct config *cfg)
{
	(void)bpf;
	if (gate.bpf && cfg->follow)
		set_gates();
	return 0;
}

static int gate_image(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd)
{
	struct gate_file file = {
		.ino = img->ino, .dev = img->dev, .gen = img->gen, .size = img->file_size, .ctime = img->file_ctime,
	};

	(void)bpf;
	if (!gate.bpf)
		return 0;
	know(&file);
	if (!cfg->follow)
		return 0;
	if (!gate.by_work)
		know(&(struct gate_file){ .ino = file.ino, .size = file.size, .ctime = file.ctime });	/* gate_begun() */
	else if (!gate.late && probed_unleased(fd))
		look_before_execs();
	gate_own_exec(img, fd);
	return 0;
}

/* Who waits is let go first, or the detaching would wait for him. */
static void gate_detach(void)
{
	if (gate.bpf) {
		gate.bpf->data->gate_exec_open = false;
		gate.missed = gate.bpf->bss->gate_exec_timeouts;
		gate.misread = gate.bpf->bss->gate_misread;
		gate.strays = gate.bpf->bss->gate_strays;
		gate.unseen = gate.bpf->rodata->libraries_wanted ? gate.bpf->bss->returns_unseen : 0;
		gate.unseen += gate.bpf->bss->gate_unplanted;
	}
	probed_tell(NULL);
	links_release(&gate.links);
	ring_buffer__free(TAKE(gate.notices));
	if (gate.slot)
		munmap(gate.slot, GATE_SLOTS * sizeof(*gate.slot));
	gate.slot = NULL;
	gate.bpf = NULL;
	recorder_bpf__destroy(TAKE(gate.late));
	gate.files = gate.fork_files = 0;
}

static void gate_summary(void)
{
	if (gate.missed)
		say("programs that began before their functions were probed: %lu", gate.missed);
	if (gate.misread)
		say("files with probes that were mapped to be read, and may have been read with breakpoints in them: %lu", gate.misread);
	if (gate.strays)
		say("processes that were made past the C library, or not answered: %lu; functions were missed when they began",
		    gate.strays);
	if (gate.unseen)
		say("processes that mapped code past the dynamic linker, or were not answered: %lu; functions there were missed",
		    gate.unseen);
}

const struct source_ops source_gate = {
	.name	= "gate",
	.plan	= gate_plan,
	.attach	= gate_attach,
	.image	= gate_image,
	.mapped	= gate_mapped,
	.forget	= gate_forget,
	.again	= gate_again,
	.detach	= gate_detach,
	.summary = gate_summary,
};
