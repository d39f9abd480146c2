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
#include "config.h"
#include "filter.h"
#include "function.h"
#include "image.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/list.h"
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
	LEFT_HIDDEN,		/* --hide */
	LEFT_SMALL,		/* --size-filter */
	LEFT_FILTERED,		/* --filter, and --depth 1 cuts off all that is not meant */
	LEFT_REASONS,
	LEFT_NOT = LEFT_REASONS	/* it is probed */
};

static const char *const left_why[LEFT_REASONS] = {
	[LEFT_DEAR] = "small, see --dear", [LEFT_REFUSED] = "the kernel refuses it", [LEFT_NEVER] = "never safe",
	[LEFT_LIBCALL] = "--no-libcall", [LEFT_HIDDEN] = "--hide", [LEFT_SMALL] = "--size-filter",
	[LEFT_FILTERED] = "--filter",
};

static const char *family = "function";	/* of the programs that are attached: "filter" where calls are asked about */

/* The program of that family for @role: "session", "entry", "exit" ... */
static struct bpf_program *program_for(const struct recorder_bpf *bpf, const char *role)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%s", family, role);
	return bpf_object__find_program_by_name(bpf->obj, name);
}

static struct links links;
static const struct filter *filter;	/* the options' */
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

/* Filters are told by cookie which function they judge. */
static bool needs_cookies(const struct config *cfg)
{
	return filter_in_kernel(cfg);
}

/* Without cookies it cannot be told how far the stack pointer has moved at the site. */
static bool tells_sp_offset(const struct config *cfg)
{
	return kernel_has(HAVE_UPROBE_MULTI) || !kernel_has(HAVE_UPROBE_TRACEFS) || needs_cookies(cfg);
}

static struct choice choose(const struct config *cfg, const struct func *f, bool returns)
{
	struct choice c = { .site = f->site, .sp_offset = f->sp_offset, .class = f->site_class };

	c.entry_only = !returns || f->flags & FUNC_ENTRY_ONLY;
	if (f->nop5_site && (cfg->nop5 || kernel_has(HAVE_NOP5_FORK_SAFE))) {
		c.site = f->nop5_site;
		c.class = SITE_NOP5;
		c.sp_offset = 0;
	} else if (c.entry_only && c.class == SITE_DEAR && f->entry_site && tells_sp_offset(cfg)) {
		c.site = f->entry_site;
		c.class = SITE_CHEAP;
		c.sp_offset = f->entry_sp_offset;
	}
	return c;
}

/* @says: filter_of() it. One that a filter needs is probed though nothing of it is shown, and whatever that costs. */
static enum left_out left_out(const struct config *cfg, const struct func *f, const struct choice *c, unsigned says)
{
	bool is_needed = says & (FILTER_IN | FILTER_OUT);

	if (f->flags & FUNC_NEVER)
		return LEFT_NEVER;
	if (f->flags & FUNC_PLT && !cfg->libcalls)
		return LEFT_LIBCALL;
	if (says & FILTER_HIDE && !is_needed)
		return LEFT_HIDDEN;
	if (f->size < cfg->least_size && !(f->flags & FUNC_PLT))
		return LEFT_SMALL;
	if (c->class == SITE_REFUSED)
		return LEFT_REFUSED;
	if (c->class == SITE_DEAR && !cfg->dear && !is_needed && (f->flags & (FUNC_TINY | FUNC_PLT)) == FUNC_TINY)
		return LEFT_DEAR;
	return LEFT_NOT;
}

/* With sessions the process decides besides, call by call: bpf/returns.bpf.c. */
static bool may_probe_returns(const struct config *cfg, const struct image *img)
{
	if (cfg->returns == RETURNS_NEVER || img->is_go || !unwind_possible())
		return false;
	return cfg->returns == RETURNS_ALWAYS || unwind_is_safe(img);
}

static uint64_t filter_cookie(unsigned says, bool selects)
{
	return (says & FILTER_IN ? COOKIE_IN : 0) | (says & FILTER_OUT ? COOKIE_OUT : 0) |
	       (says & FILTER_HIDE ? COOKIE_HIDE : 0) | (selects ? COOKIE_ONLY : 0);
}

static void choose_sites(const struct config *cfg, const struct image *img, struct batch *both, struct batch *entry)
{
	bool returns = may_probe_returns(cfg, img), selects = filter_selects(cfg->filter, img);
	/* Where returns are not probed, calls of others show what was left. */
	bool is_flat = selects && returns && !img->switches_stacks && filter_is_flat(cfg);

	if (!returns)
		tally.files_without_returns++;
	if (cfg->list)
		list_image(img);
	for (size_t i = 0; i < img->func_count; i++) {
		const struct func *f = &img->func[i];
		struct choice c = choose(cfg, f, returns);
		unsigned says = filter_of(cfg->filter, img, f);
		enum left_out why = is_flat && !(says & FILTER_IN) ? LEFT_FILTERED : left_out(cfg, f, &c, says);
		uint64_t cookie = (img->first_func + i) | filter_cookie(says, selects);

		tally.functions++;
		if (cfg->list && filter_lists(cfg->filter, img, f))
			list_function(img, f, c.class, !c.entry_only, why == LEFT_NOT ? NULL : left_why[why]);
		if (why != LEFT_NOT) {
			tally.left[why]++;
			continue;
		}
		tally.probed[c.class]++;
		if (c.entry_only) {
			tally.entry_only++;
			cookie |= COOKIE_NO_EXIT | (uint64_t)c.sp_offset << COOKIE_SP_SHIFT;
			batch_add(entry, c.site, cookie);
		} else {
			batch_add(both, c.site, cookie);
		}
	}
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
	int err = attach_multi(program_for(bpf, "session"), BPFLINK_UPROBE_SESSION, 0, path, both);

	return err ?: attach_multi(program_for(bpf, "entry"), BPFLINK_UPROBE_MULTI, 0, path, entry);
}

static int attach_by_multi(struct recorder_bpf *bpf, const char *path, const struct batch *both,
			   const struct batch *entry)
{
	int err = attach_multi(program_for(bpf, "exit"), BPFLINK_UPROBE_MULTI, BPFLINK_RETURN, path, both);

	err = err ?: attach_multi(program_for(bpf, "entry"), BPFLINK_UPROBE_MULTI, 0, path, both);
	return err ?: attach_multi(program_for(bpf, "entry"), BPFLINK_UPROBE_MULTI, 0, path, entry);
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
	int err = attach_singly(program_for(bpf, "exit"), true, path, both);

	err = err ?: attach_singly(program_for(bpf, "entry"), false, path, both);
	return err ?: attach_singly(program_for(bpf, "entry"), false, path, entry);
}

/* The ways to probe, best first. */
static const struct way {
	enum kernel_feature needs;
	const char *name;
	const char *prog[3];		/* the programs it loads: program_for() */
	int	    type[3];		/* and what each is to be attached as; 0: a perf event */
	int	  (*attach)(struct recorder_bpf *bpf, const char *path, const struct batch *both,
			    const struct batch *entry);
} ways[] = {
	{ HAVE_UPROBE_SESSION, "sessions", { "session", "entry" },
	  { BPFLINK_UPROBE_SESSION, BPFLINK_UPROBE_MULTI }, attach_by_session },
	{ HAVE_UPROBE_MULTI, "multi links", { "exit", "entry" },
	  { BPFLINK_UPROBE_MULTI, BPFLINK_UPROBE_MULTI }, attach_by_multi },
	{ HAVE_UPROBE_TRACEFS, "tracefs events", { "exit_at", "entry_at", "entry_only_at" }, {}, attach_by_tracefs },
	{ HAVE_UPROBE, "perf events", { "exit", "entry" }, {}, attach_by_perf },
};

static const struct way *way_of_this_kernel(const struct config *cfg)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (kernel_has(ways[i].needs) && (ways[i].needs != HAVE_UPROBE_TRACEFS || !needs_cookies(cfg)))
			return &ways[i];
	return NULL;
}

static int function_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	const struct way *w = cfg->functions ? way_of_this_kernel(cfg) : NULL;

	if (cfg->functions && !w)
		warn("no functions are recorded: this kernel has no uprobes");
	if (filter_in_kernel(cfg))
		family = "filter";
	bpf->rodata->spare_other_stacks = !kernel_has(HAVE_UPROBE_SESSION) && kernel_has(HAVE_WRITE_USER);
	for (size_t i = 0; w && i < ARRAY_SIZE(w->prog) && w->prog[i]; i++) {
		struct bpf_program *prog = program_for(bpf, w->prog[i]);

		bpf_program__set_autoload(prog, true);
		bpf_program__set_expected_attach_type(prog, w->type[i]);
	}
	return 0;
}

static int function_image(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd)
{
	const struct way *w = way_of_this_kernel(cfg);
	struct batch both = {}, entry = {};
	char path[32];
	int err;

	if (!cfg->functions || (!w && !cfg->list) || !img->func_count)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = batch_create(&both, img->func_count) ?: batch_create(&entry, img->func_count);
	if (!err) {
		filter = cfg->filter;
		choose_sites(cfg, img, &both, &entry);
		tally.files++;
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
	filter_summary(filter);
	say("functions: %u of %u in %u file%s probed: %u cheap, %u single-stepped, %u without their returns",
	    cheap + dear, tally.functions, tally.files, tally.files == 1 ? "" : "s", cheap, dear, tally.entry_only);
	if (cheap + dear < tally.functions)
		say("left out: %u small and single-stepped (--dear), %u the kernel refuses, %u never safe%s%s%s%s",
		    tally.left[LEFT_DEAR], tally.left[LEFT_REFUSED], tally.left[LEFT_NEVER],
		    tally.left[LEFT_LIBCALL] ? ", library calls" : "", tally.left[LEFT_HIDDEN] ? ", --hide" : "",
		    tally.left[LEFT_SMALL] ? ", --size-filter" : "", tally.left[LEFT_FILTERED] ? ", --filter" : "");
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
