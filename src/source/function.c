/*
 * function.c - user functions: which are probed, at which site, by which kind of link.
 *
 * For each file one link per program, whatever the number of functions: each
 * link costs a grace period to let go. A table of ways, of which the first that
 * the kernel has is taken: a session (entry and return in one), a pair of multi
 * links, a pair of events of tracefs with many probes each, single perf events.
 * They tell the same.
 */
#include <bpf/libbpf.h>
#include <stdio.h>

#include "base.h"
#include "bpflink.h"
#include "chosen.h"
#include "config.h"
#include "function.h"
#include "image.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/probed.h"
#include "source/rows.h"
#include "source/tracefs.h"
#include "taskstate.h"
#include "unwind.h"

#ifndef ENOTSUPP
#define ENOTSUPP	524	/* the kernel's own number for a site it cannot emulate or step; not in <errno.h> */
#endif

/* Why a function of a file is not probed. */
enum left_out {
	LEFT_DEAR,		/* single-stepped, too small to be worth it, and --dear was not given */
	LEFT_REFUSED,		/* the kernel refuses the site */
	LEFT_NEVER,		/* must not be probed: _start and its like */
	LEFT_LIBCALL,		/* --no-libcall */
	LEFT_LINKER,		/* the dynamic linker's: guards and gates stand in it, and it runs before its memory is in order */
	LEFT_REASONS
};

static struct links links;
static struct {
	unsigned files, functions;
	unsigned files_without_returns;
	unsigned probed[SITE_CLASSES];
	unsigned entry_only;
	unsigned left[LEFT_REASONS];
} tally;

/* Sites of one file that go into one link. */
struct batch {
	unsigned long *offset;
	uint64_t      *cookie;
	unsigned       count;
};

static int batch_create(struct batch *b, size_t room)
{
	b->offset = calloc(room ?: 1, sizeof(*b->offset));
	b->cookie = calloc(room ?: 1, sizeof(*b->cookie));
	b->count = 0;
	return b->offset && b->cookie ? 0 : -ENOMEM;
}

static void batch_release(struct batch *b)
{
	free(b->offset);
	free(b->cookie);
}

static void batch_add(struct batch *b, unsigned long offset, uint64_t cookie)
{
	b->offset[b->count] = offset;
	b->cookie[b->count++] = cookie;
}

/* Where and how a function is probed. */
struct choice {
	unsigned long site;
	uint32_t      sp_offset;
	uint8_t	      class;
	bool	      entry_only;
};

/* Without cookies it cannot be told how far the stack pointer has moved at the site. */
static bool tells_sp_offset(void)
{
	return kernel_has(HAVE_UPROBE_MULTI) || !kernel_has(HAVE_UPROBE_TRACEFS);
}

static struct choice choose(const struct config *cfg, const struct func *f, bool returns)
{
	struct choice c = { .site = f->site, .sp_offset = f->sp_offset, .class = f->site_class };

	c.entry_only = !returns || f->flags & FUNC_ENTRY_ONLY;
	if (f->nop5_site && (cfg->nop5 || kernel_has(HAVE_NOP5_FORK_SAFE))) {
		c.site = f->nop5_site;
		c.class = SITE_NOP5;
		c.sp_offset = 0;
	} else if (c.entry_only && c.class == SITE_DEAR && f->entry_site && tells_sp_offset()) {
		c.site = f->entry_site;
		c.class = SITE_CHEAP;
		c.sp_offset = f->entry_sp_offset;
	}
	return c;
}

static bool is_left_out(const struct config *cfg, const struct func *f, const struct choice *c, bool is_named)
{
	if (f->flags & FUNC_NEVER)
		return tally.left[LEFT_NEVER]++, true;
	if (f->flags & FUNC_PLT && !cfg->libcalls)
		return tally.left[LEFT_LIBCALL]++, true;
	if (c->class == SITE_REFUSED)
		return tally.left[LEFT_REFUSED]++, true;
	if (c->class == SITE_DEAR && !cfg->dear && !is_named && (f->flags & (FUNC_TINY | FUNC_PLT)) == FUNC_TINY)
		return tally.left[LEFT_DEAR]++, true;
	return false;
}

/*
 * With sessions the process decides besides, call by call: bpf/returns.bpf.c. Without
 * them a library's returns would be probed in whatever process maps it.
 */
static bool may_probe_returns(const struct config *cfg, const struct image *img)
{
	if (cfg->returns == RETURNS_NEVER || img->is_go || !unwind_possible())
		return false;
	if (cfg->returns == RETURNS_ALWAYS)
		return true;
	return unwind_is_safe(img) && (!img->is_library || kernel_has(HAVE_UPROBE_SESSION));
}

static void choose_sites(const struct config *cfg, const struct image *img, struct batch *both, struct batch *entry)
{
	bool returns = may_probe_returns(cfg, img), is_named;
	unsigned before = tally.functions;

	for (size_t i = 0; i < img->func_count; i++) {
		const struct func *f = &img->func[i];
		struct choice c = choose(cfg, f, returns);
		uint64_t cookie = img->first_func + i;

		if (!chosen_function(cfg, img, f, &is_named))
			continue;
		tally.functions++;
		if (is_left_out(cfg, f, &c, is_named))
			continue;
		tally.probed[c.class]++;
		if (c.entry_only) {
			tally.entry_only++;
			cookie |= COOKIE_NO_EXIT | (uint64_t)c.sp_offset << COOKIE_SP_SHIFT;
			batch_add(entry, c.site, cookie);
		} else {
			batch_add(both, c.site, cookie);
		}
	}
	tally.files += tally.functions > before;
	tally.files_without_returns += !returns && tally.functions > before;
}

/* One link for @b; sites the kernel refuses after all are found by halving, counted and left out. */
static int attach_multi(struct bpf_program *prog, int type, unsigned flags, const char *path, const struct batch *b)
{
	struct batch half = *b;
	int fd, err;

	if (!b->count)
		return 0;
	fd = bpflink_uprobe_multi(bpf_program__fd(prog), type, path, b->offset, b->cookie, b->count, flags, 0);
	if (fd >= 0)
		return links_keep_fd(&links, fd, probed_at(path, b->offset, b->count));
	if (b->count == 1) {
		tally.left[LEFT_REFUSED]++;
		detail("the kernel refuses the site at offset 0x%lx: %s", b->offset[0], strerror(-fd));
		return 0;
	}
	if (fd != -ENOTSUPP && fd != -EOPNOTSUPP && fd != -EINVAL)
		return fd;
	half.count = b->count / 2;
	err = attach_multi(prog, type, flags, path, &half);
	half.offset += half.count;
	half.cookie += half.count;
	half.count = b->count - half.count;
	return err ?: attach_multi(prog, type, flags, path, &half);
}

/* Without multi links: a perf event per site. */
static int attach_singly(struct bpf_program *prog, bool at_return, const char *path, const struct batch *b)
{
	for (unsigned i = 0; i < b->count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = b->cookie[i], .retprobe = at_return);
		struct bpf_link *link = bpf_program__attach_uprobe_opts(prog, -1, path, b->offset[i], &opts);
		int err = link ? links_keep(&links, link, probed_at(path, &b->offset[i], 1)) : -errno;

		if (err == -ENOTSUPP || err == -EOPNOTSUPP || err == -EINVAL)
			tally.left[LEFT_REFUSED]++;
		else if (err)
			return err;
	}
	return 0;
}

/* Returns first in each pair, so that no call is seen whose return would not be. */

static int attach_by_session(struct recorder_bpf *bpf, const char *path, const struct batch *both,
			     const struct batch *entry)
{
	int err = attach_multi(bpf->progs.function_session, BPFLINK_UPROBE_SESSION, 0, path, both);

	return err ?: attach_multi(bpf->progs.function_entry, BPFLINK_UPROBE_MULTI, 0, path, entry);
}

static int attach_by_multi(struct recorder_bpf *bpf, const char *path, const struct batch *both,
			   const struct batch *entry)
{
	int err = attach_multi(bpf->progs.function_exit, BPFLINK_UPROBE_MULTI, BPFLINK_RETURN, path, both);

	err = err ?: attach_multi(bpf->progs.function_entry, BPFLINK_UPROBE_MULTI, 0, path, both);
	return err ?: attach_multi(bpf->progs.function_entry, BPFLINK_UPROBE_MULTI, 0, path, entry);
}

static int attach_event(struct bpf_program *prog, bool at_return, const char *path, const struct batch *b)
{
	int fd;

	if (!b->count)
		return 0;
	fd = tracefs_attach(bpf_program__fd(prog), at_return, path, b->offset, b->count);
	return fd < 0 ? fd : links_keep_fd(&links, fd, probed_at(path, b->offset, b->count));
}

static int attach_by_tracefs(struct recorder_bpf *bpf, const char *path, const struct batch *both,
			     const struct batch *entry)
{
	int err = attach_event(bpf->progs.function_exit_at, true, path, both);

	err = err ?: attach_event(bpf->progs.function_entry_at, false, path, both);
	return err ?: attach_event(bpf->progs.function_entry_only_at, false, path, entry);
}

static int attach_by_perf(struct recorder_bpf *bpf, const char *path, const struct batch *both,
			  const struct batch *entry)
{
	int err = attach_singly(bpf->progs.function_exit, true, path, both);

	err = err ?: attach_singly(bpf->progs.function_entry, false, path, both);
	return err ?: attach_singly(bpf->progs.function_entry, false, path, entry);
}

/* The ways to probe, best first. */
static const struct way {
	enum kernel_feature needs;
	const char *name;
	const char *prog[3];		/* the programs it loads */
	int	    type[3];		/* and what each is to be attached as; 0: a perf event */
	int	  (*attach)(struct recorder_bpf *bpf, const char *path, const struct batch *both,
			    const struct batch *entry);
} ways[] = {
	{ HAVE_UPROBE_SESSION, "sessions", { "function_session", "function_entry" },
	  { BPFLINK_UPROBE_SESSION, BPFLINK_UPROBE_MULTI }, attach_by_session },
	{ HAVE_UPROBE_MULTI, "multi links", { "function_exit", "function_entry" },
	  { BPFLINK_UPROBE_MULTI, BPFLINK_UPROBE_MULTI }, attach_by_multi },
	{ HAVE_UPROBE_TRACEFS, "tracefs events", { "function_exit_at", "function_entry_at", "function_entry_only_at" },
	  {}, attach_by_tracefs },
	{ HAVE_UPROBE, "perf events", { "function_exit", "function_entry" }, {}, attach_by_perf },
};

static const struct way *way_of_this_kernel(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (kernel_has(ways[i].needs))
			return &ways[i];
	return NULL;
}

static int function_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	const struct way *w = cfg->functions ? way_of_this_kernel() : NULL;

	if (cfg->functions && !w)
		warn("no functions are recorded: this kernel has no uprobes");
	bpf->rodata->spare_other_stacks = !kernel_has(HAVE_UPROBE_SESSION) && kernel_has(HAVE_WRITE_USER);
	for (size_t i = 0; w && i < ARRAY_SIZE(w->prog) && w->prog[i]; i++) {
		struct bpf_program *prog = bpf_object__find_program_by_name(bpf->obj, w->prog[i]);

		bpf_program__set_autoload(prog, true);
		bpf_program__set_expected_attach_type(prog, w->type[i]);
	}
	return 0;
}

static bool is_linker(const struct image *img)
{
	for (size_t i = 0; i < img->func_count; i++)
		if (!strcmp(img->func[i].name, "_dl_debug_state"))
			return true;
	return false;
}

static int function_image(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd)
{
	const struct way *w = way_of_this_kernel();
	struct batch both = {}, entry = {};
	char path[32];
	int err;

	if (!cfg->functions || !w || !img->func_count)
		return 0;
	if (img->is_library && is_linker(img)) {
		tally.left[LEFT_LINKER]++;
		return 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = batch_create(&both, img->func_count) ?: batch_create(&entry, img->func_count);
	if (!err) {
		choose_sites(cfg, img, &both, &entry);
		if (bpf)			/* --dry-run only chooses */
			err = w->attach(bpf, path, &both, &entry);
	}
	batch_release(&both);
	batch_release(&entry);
	if (err)
		warn("cannot probe the functions of '%s': %s", img->path, strerror(-err));
	return 0;
}

static void function_forget(const struct probed *file)
{
	links_let_go(&links, file);
}

static void function_detach(void)
{
	links_release(&links);
	tracefs_release();
}

static void function_summary(void)
{
	unsigned cheap = tally.probed[SITE_NOP5] + tally.probed[SITE_CHEAP], dear = tally.probed[SITE_DEAR];

	if (!tally.files)
		return;
	say("functions: %u of %u in %u file%s probed: %u cheap, %u single-stepped, %u without their returns",
	    cheap + dear, tally.functions, tally.files, tally.files == 1 ? "" : "s", cheap, dear, tally.entry_only);
	if (cheap + dear < tally.functions)
		say("left out: %u small and single-stepped (--dear), %u the kernel refuses, %u never safe%s%s",
		    tally.left[LEFT_DEAR], tally.left[LEFT_REFUSED], tally.left[LEFT_NEVER],
		    tally.left[LEFT_LIBCALL] ? ", library calls" : "",
		    tally.left[LEFT_LINKER] ? ", the dynamic linker" : "");
	if (tally.files_without_returns)
		say("%u file%s without return probes: ends are inferred from the stack", tally.files_without_returns,
		    tally.files_without_returns == 1 ? "" : "s");
}

const struct source_ops source_function = {
	.name	 = "function",
	.plan	 = function_plan,
	.image	 = function_image,
	.forget	 = function_forget,
	.detach	 = function_detach,
	.summary = function_summary,
};
