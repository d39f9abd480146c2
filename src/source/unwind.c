/*
 * unwind.c - return probes and unwinders made to live together: which functions are watched for it, and where.
 *
 * bpf/unwind.bpf.c says how. Here the entry points of unwinders are found, in each
 * file that a recorded process is about to run or has mapped, and BPF is told
 * which files may lie in a process whose returns are probed (bpf/returns.bpf.c).
 * It is a source that makes no records.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"
#include "bpflink.h"
#include "config.h"
#include "gate.h"
#include "image.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source.h"
#include "source/agent.h"
#include "source/later.h"
#include "source/links.h"
#include "source/point.h"
#include "source/probed.h"
#include "source/retsites.h"
#include "source/rows.h"
#include "unwind.h"

#define SITES_MAX	64	/* in one file, for one program */
#define BODY_MAX	4096	/* bytes of a function searched for its returns */

enum when {
	BEGINS,			/* it walks the stack */
	LOOKS,			/* it walks the stack and comes back, so the end is where it returns */
	ENDS,			/* it runs in a frame that a walk has found */
};

/* The interface of the Itanium C++ ABI, level 1 and 2, and what GCC, LLVM and Rust add to it. */
static const struct point {
	const char *name;
	enum when   when;
} points[] = {
	{ "_Unwind_RaiseException",	BEGINS },	/* throw, panic! */
	{ "_Unwind_Resume",		BEGINS },	/* from a cleanup to the next frame */
	{ "_Unwind_Resume_or_Rethrow",	BEGINS },
	{ "_Unwind_ForcedUnwind",	BEGINS },	/* pthread_exit(), cancellation */
	{ "_Unwind_Backtrace",		LOOKS },
	{ "__cxa_begin_catch",		ENDS },		/* entry of every C++ handler */
	{ "__rust_panic_cleanup",	ENDS },		/* catch_unwind() */
	{ "_ULx86_64_init_local",	BEGINS },	/* unw_init_local() of libunwind */
	{ "_ULx86_64_init_local2",	BEGINS },
	{ "_Ux86_64_init_local",	BEGINS },
	{ "unw_backtrace",		LOOKS },
};

/* File offsets for the two programs. */
struct sites {
	unsigned long begin[SITES_MAX], end[SITES_MAX];
	unsigned      begins, ends;
};

static struct {
	struct recorder_bpf *bpf;	/* a load of its own, for the two programs; NULL: no unwinder was seen yet */
	struct agent *agent;
	struct links	links;		/* the agent has copies */
	struct bpf_program *begin, *end;
	bool		is_off;		/* this kernel cannot */
	bool		is_barred;	/* the agent could not write to who throws */
	unsigned	forbids;	/* files that keep return probes away */
	char	       *forbidding;	/* the first of them */
	const volatile __u64 *failed;	/* BPF's unwind_failed */
} unwind;

static void add_site(unsigned long *site, unsigned *count, unsigned long offset)
{
	if (*count < SITES_MAX)
		site[(*count)++] = offset;
}

/*
 * The first instruction of a function built with -fcf-protection is endbr64,
 * which the kernel has to single-step; the next one is as good a place.
 */
static unsigned long past_endbr(int fd, unsigned long offset)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t start[sizeof(endbr64)];

	if (pread(fd, start, sizeof(start), offset) == sizeof(start) && !memcmp(start, endbr64, sizeof(start)))
		return offset + sizeof(start);
	return offset;
}

static void add_point(struct sites *s, const struct point *p, int fd, unsigned long offset, uint64_t size)
{
	uint8_t code[BODY_MAX];
	bool whole;
	ssize_t n;

	if (p->when == ENDS) {
		add_site(s->end, &s->ends, past_endbr(fd, offset));
		return;
	}
	add_site(s->begin, &s->begins, past_endbr(fd, offset));
	if (p->when != LOOKS)
		return;
	n = pread(fd, code, MIN(size, (uint64_t)sizeof(code)), offset);
	if (n > 0)
		s->ends += ret_sites(code, n, offset, s->end + s->ends, SITES_MAX - s->ends, &whole);
}

static const struct point *point_of(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(points); i++)
		if (!strcmp(points[i].name, name))
			return &points[i];
	return NULL;
}

static int keep_link_fd(int fd, const struct probed *file)
{
	int err;

	if (fd < 0)
		return fd;
	err = agent_hold(unwind.agent, fd, file);
	if (err)
		close(fd);
	return err ?: links_keep_fd(&unwind.links, fd, file);
}

/* Takes @link; NULL: what libbpf answers when it could not make one. */
static int keep_link(struct bpf_link *link, const struct probed *file)
{
	int err;

	if (!link)
		return -errno;
	err = agent_hold(unwind.agent, bpf_link__fd(link), file);
	if (err)
		bpf_link__destroy(link);
	return err ?: links_keep(&unwind.links, link, file);
}

static int attach_sites(struct bpf_program *prog, const char *path, const unsigned long *site, unsigned count)
{
	int err = 0;

	if (!count)
		return 0;
	if (kernel_has(HAVE_UPROBE_MULTI))
		return keep_link_fd(bpflink_uprobe_multi(bpf_program__fd(prog), BPFLINK_UPROBE_MULTI, path, site, NULL,
							 count, 0, 0), probed_at(path, site, count));
	for (unsigned i = 0; i < count && !err; i++)
		err = keep_link(bpf_program__attach_uprobe(prog, false, -1, path, site[i]),
				probed_at(path, &site[i], 1));
	return err;
}

static int load_programs(struct recorder_bpf *bpf)
{
	struct recorder_bpf *late = later_open(bpf);
	int err;

	if (!late)
		return -errno;
	late->rodata_later->gate_can_write = kernel_has(HAVE_WRITE_USER);
	unwind.begin = late->progs.unwind_begin;
	unwind.end = late->progs.unwind_end;
	later_want(unwind.begin);
	later_want(unwind.end);
	err = recorder_bpf__load(late);
	if (err)
		recorder_bpf__destroy(late);
	else
		unwind.bpf = late;
	return err;
}

/* The kernel writes a warning into its log for each load of a program that may write: so not before there is an unwinder. */
static bool have_programs(struct recorder_bpf *bpf)
{
	int err = unwind.bpf ? 0 : load_programs(bpf);

	if (!err)
		return true;
	warn("returns are not probed where something unwinds: the programs for it cannot be loaded: %s", strerror(-err));
	unwind.is_off = true;
	return false;
}

static int attach_file(int fd, const struct sites *s)
{
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = attach_sites(unwind.begin, path, s->begin, s->begins);
	return err ?: attach_sites(unwind.end, path, s->end, s->ends);
}

/* It also looks after those who wait at an exec. */
static bool needs_agent(const struct config *cfg)
{
	return wants_probes(cfg) && kernel_has(HAVE_UPROBE_SLEEPABLE);
}

/* Can who throws be written to? Without sessions a file's returns are probed whoever runs it, so all must be ours to write to. */
static bool may_write(void)
{
	return kernel_has(HAVE_WRITE_OTHERS) && (kernel_has(HAVE_UPROBE_SESSION) || kernel_may_trace_all());
}

static int unwind_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	bpf->rodata->returns_when = cfg->returns;
	bpf->rodata->returns_user = kernel_may_trace_all() ? RETURNS_ANYBODY : geteuid();
	unwind.is_off = !wants_returns(cfg) || !unwind_possible();
	unwind.is_barred = unwind.is_off && wants_returns(cfg) && !may_write();
	bpf_program__set_autoload(bpf->progs.hijacked_tasks, needs_agent(cfg));
	bpf_program__set_autoload(bpf->progs.returns_know, wants_probes(cfg));
	if (unwind.is_off)
		return 0;
	point_load(bpf, bpf->progs.gate_fork, true);
	return 0;
}

static int unwind_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = needs_agent(cfg) ? agent_start(&unwind.agent, bpf) : 0;

	if (err || unwind.is_off)
		return err;
	unwind.failed = &bpf->bss->unwind_failed;
	return keep_link(point_link(bpf, bpf->progs.gate_fork), NULL);
}

int unwind_agent_fd(void)
{
	return agent_fd(unwind.agent);
}

static void unwind_forget(const struct probed *file)
{
	if (!links_has(&unwind.links, file))
		return;
	agent_let_go(unwind.agent, file);
	links_let_go(&unwind.links, file);
}

/* Guard what @img has of an unwinder: libstdc++ has its ends only. False when that cannot be done. */
static bool guard(struct recorder_bpf *bpf, const struct image *img, int fd)
{
	struct sites s = {};
	int err;

	for (size_t i = 0; i < img->func_count; i++) {
		const struct func *f = &img->func[i];
		const struct point *p = f->flags & FUNC_PLT ? NULL : point_of(f->name);

		if (p)
			add_point(&s, p, fd, image_offset(img, f), f->size);
	}
	if (!s.begins && !s.ends)
		return img->walker != WALKER_NAMED;
	if (!have_programs(bpf))
		return false;
	err = attach_file(fd, &s);
	detail("unwinder: %s: %u entry points, %u ends%s%s", img->path, s.begins, s.ends, err ? ": " : "",
	       err ? strerror(-err) : "");
	return !err && (s.begins || img->walker != WALKER_NAMED);
}

/* Of the files that keep return probes away, the first is named. */
static void note_forbidding(const struct image *img)
{
	if (!unwind.forbids++)
		unwind.forbidding = strdup(img->path);
	detail("returns are not probed where '%s' is mapped: it holds %s", img->path,
	       img->walker == WALKER_RUNTIME ? "a run time that looks at return addresses" :
					       "an unwinder that cannot be guarded");
}

static int unwind_mapped(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd)
{
	bool may = !wants_returns(cfg) || unwind_is_safe(img);

	if (!bpf || !wants_probes(cfg))
		return 0;
	if (may && !unwind.is_off)
		may = guard(bpf, img, fd);
	if (!may)
		note_forbidding(img);
	return !may;
}

static void unwind_known(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, bool may)
{
	struct gate_known known = {
		{ .ino = img->ino, .dev = img->dev, .gen = img->gen, .size = img->file_size, .ctime = img->file_ctime }, .value = may,
	};
	int err = bpf && wants_probes(cfg) ?
		  bpflink_run(bpf_program__fd(bpf->progs.returns_know), &known, sizeof(known)) : 0;

	if (err)
		detail("cannot note what '%s' holds: %s", img->path, strerror(-err));
}

static void unwind_detach(void)
{
	links_release(&unwind.links);
	agent_dismiss(TAKE(unwind.agent));
	recorder_bpf__destroy(TAKE(unwind.bpf));
}

static void unwind_summary(void)
{
	if (unwind.is_barred)
		say("returns are not probed: who throws would have to be written to, and this system does not let recorder "
		    "(CAP_SYS_PTRACE, kernel.yama.ptrace_scope)");
	else if (unwind.forbids)
		say("returns are not probed where '%s'%s is mapped, which looks at return addresses (-v: why)",
		    unwind.forbidding ?: "?", unwind.forbids > 1 ? " or another of its kind" : "");
	free(TAKE(unwind.forbidding));
	if (unwind.failed && *unwind.failed)
		say("exceptions: %llu stacks were not served in time; what threw there may have died of it",
		    (unsigned long long)*unwind.failed);
}

bool unwind_possible(void)
{
#if defined(__x86_64__)
	return !unwind.is_off && kernel_has(HAVE_UPROBE_SLEEPABLE) && kernel_has(HAVE_BPF_LOOP) && may_write();
#else
	return false;		/* the return address is in a register at the entry: where it is kept is not known */
#endif
}

bool unwind_is_safe(const struct image *img)
{
	return img->walker == WALKER_NONE || (img->walker == WALKER_NAMED && unwind_possible());
}

const struct source_ops source_unwind = {
	.name	 = "unwind",
	.plan	 = unwind_plan,
	.attach	 = unwind_attach,
	.mapped	 = unwind_mapped,
	.known	 = unwind_known,
	.forget	 = unwind_forget,
	.detach	 = unwind_detach,
	.summary = unwind_summary,
};
