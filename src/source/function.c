/*
 * function.c - user functions: which are probed, at which site, by which kind of link.
 *
 * For each file one link per program, whatever the number of functions: each
 * link costs a grace period to let go. A table of ways, of which the first that
 * the kernel has is taken: a session (entry and return in one), a pair of multi
 * links, a pair of events of tracefs with many probes each, single perf events.
 * They tell the same.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>

#include "argspec.h"
#include "argtype.h"
#include "base.h"
#include "bpflink.h"
#include "chosen.h"
#include "config.h"
#include "cuda.h"
#include "debug.h"
#include "filter.h"
#include "funcargs.h"
#include "function.h"
#include "image.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source.h"
#include "source/batch.h"
#include "source/links.h"
#include "source/list.h"
#include "source/probed.h"
#include "source/rates.h"
#include "source/rows.h"
#include "source/tracefs.h"
#include "source/triggers.h"
#include "taskstate.h"
#include "unwind.h"

/* Why a function of a file is not probed. */
enum left_out {
	LEFT_DEAR,		/* single-stepped, too small to be worth it: --no-dear */
	LEFT_REFUSED,		/* the kernel refuses the site */
	LEFT_NEVER,		/* must not be probed: _start and its like */
	LEFT_LIBCALL,		/* --no-libcall */
	LEFT_LINKER,		/* the dynamic linker's: guards and gates stand in it, and it runs before its memory is in order */
	LEFT_HIDDEN,		/* --hide */
	LEFT_SMALL,		/* --size-filter */
	LEFT_AWAY,		/* --loc-filter */
	LEFT_FILTERED,		/* --filter, and --depth 1 cuts off all that is not meant */
	LEFT_REASONS,
	LEFT_NOT = LEFT_REASONS	/* it is probed */
};

static const char *const left_why[LEFT_REASONS] = {
	[LEFT_DEAR] = "--no-dear", [LEFT_REFUSED] = "the kernel refuses it", [LEFT_NEVER] = "never safe",
	[LEFT_LIBCALL] = "--no-libcall", [LEFT_HIDDEN] = "--hide", [LEFT_SMALL] = "--size-filter",
	[LEFT_AWAY] = "--loc-filter",
	[LEFT_FILTERED] = "--filter", [LEFT_LINKER] = "the dynamic linker",
};

static struct links links;
static const struct filter *filter;	/* the options' */
static struct {
	unsigned files, functions;
	unsigned files_without_returns;
	unsigned switching;		/* files with returns left out because they switch stacks */
	char	*switches;		/* the first of them */
	unsigned probed[SITE_CLASSES];
	unsigned entry_only;
	unsigned left[LEFT_REASONS];
	unsigned no_plt_calls;		/* of programs: image.no_plt_calls */
	bool	 program_selects;	/* --filter names functions of a program */
	bool	 program_wants_callers;	/* --caller-filter does */
	bool	 is_chosen;		/* --functions=GLOB was given */
	bool	 args_asked, args_named;	/* -A, -R or --auto-args was given; one of the first two */
	unsigned with_args;		/* functions whose arguments or results are recorded */
	unsigned args_refused;		/* whose are not: Go's conventions are its own */
	unsigned args_gone;		/* whose may be others where they are probed */
} tally;

/* What is probed alike: at entry and return, or at entry only. */
struct sites {
	struct batch both, entry;
};

static int sites_create(struct sites *s, size_t room)
{
	return batch_create(&s->both, room) ?: batch_create(&s->entry, room);
}

static void sites_release(struct sites *s)
{
	batch_release(&s->both);
	batch_release(&s->entry);
}

/* All of a file: those whose arguments or results are recorded have programs of their own. */
struct chosen {
	struct sites plain, args;
};

static int chosen_create(struct chosen *c, size_t room)
{
	return sites_create(&c->plain, room) ?: sites_create(&c->args, room);
}

static void chosen_release(struct chosen *c)
{
	sites_release(&c->plain);
	sites_release(&c->args);
}

/* Where and how a function is probed. */
struct choice {
	unsigned long site;
	uint32_t      sp_offset;
	uint8_t	      class;
	bool	      entry_only;
	bool	      has_args;
	bool	      args_named;	/* an option names the function for them */
	struct func_args args;		/* if it has */
};

/* Filters are told by cookie which function they judge. */
static bool needs_cookies(const struct config *cfg)
{
	return filter_in_kernel(cfg) || filter_holds(cfg);
}

/* Without cookies it cannot be told how far the stack pointer has moved at the site. */
static bool tells_sp_offset(const struct config *cfg)
{
	return kernel_has(HAVE_UPROBE_MULTI) || !kernel_has(HAVE_UPROBE_TRACEFS) || needs_cookies(cfg);
}

/* Are the arguments at the function's site as they were at its start, and what they point to? */
static bool args_are_right(const struct func *f)
{
	return !(f->flags & (FUNC_ARGS_GONE | FUNC_LOADS));
}

static bool find_known_args(const struct image *img, const struct func *f, struct func_args *ret)
{
	const struct debug_func *d = debug_find(img->debug, f->addr);

	return d && argspec_forms(ret, f, debug_at(img->debug, d->args), debug_at(img->debug, d->result));
}

/* The first instruction: whatever it costs. */
static void choose_start(struct choice *c, const struct image *img, const struct func *f)
{
	c->site = image_offset(img, f);
	c->class = f->flags & FUNC_START_REFUSED ? SITE_REFUSED : SITE_DEAR;
	c->sp_offset = 0;
}

/* Only the start will do: what lies before the function's site may change what is asked for. @asks: as in choose() */
static bool wants_start(const struct func *f, const struct choice *c, bool asks)
{
	if (c->class == SITE_REFUSED)
		return false;
	return (c->has_args && c->args.count && !args_are_right(f)) || (asks && f->flags & FUNC_ARGS_GONE);
}

/* Are all arguments values themselves, none read from where they point to? */
static bool are_values(const struct func_args *args)
{
	for (unsigned i = 0; i < args->count; i++)
		if (args->arg[i].format == VALUE_STRING || args->arg[i].format == VALUE_STD_STRING)
			return false;
	return true;
}

/* It has to be probed behind its start: its result is what is left, where its arguments may be others there. */
static void leave_gone_args(struct choice *c, const struct func *f)
{
	if (!(f->flags & FUNC_ARGS_GONE) && are_values(&c->args))
		return;
	c->args.count = 0;
	c->args.bytes = 0;
	c->args.vectors &= VECTORS_EXIT;
	c->has_args = c->args.result_bytes;
	tally.args_gone++;
}

/* @asks: conditions hang on its arguments, so its site must have them as they were at its start. */
static struct choice choose(const struct config *cfg, const struct image *img, const struct func *f, bool returns,
			    bool asks)
{
	struct choice c = { .site = f->site, .sp_offset = f->sp_offset, .class = f->site_class };

	c.entry_only = !returns || f->flags & FUNC_ENTRY_ONLY;
	c.args_named = cfg->args.count && argspecs_find(&cfg->args, &c.args, img, f);
	c.has_args = c.args_named || (cfg->auto_args && find_known_args(img, f, &c.args));
	if (c.has_args && img->is_go) {
		c.has_args = false;
		tally.args_refused++;
	}
	if (f->nop5_site && (cfg->nop5 || kernel_has(HAVE_NOP5_FORK_SAFE))) {
		c.site = f->nop5_site;
		c.class = SITE_NOP5;
		c.sp_offset = 0;
	} else if (wants_start(f, &c, asks)) {
		if (f->flags & FUNC_START_REFUSED && !(asks && f->flags & FUNC_ARGS_GONE))
			leave_gone_args(&c, f);
		else
			choose_start(&c, img, f);
	} else if (!c.has_args && !asks && c.entry_only && c.class == SITE_DEAR && f->entry_site && tells_sp_offset(cfg)) {
		c.site = f->entry_site;
		c.class = SITE_CHEAP;
		c.sp_offset = f->entry_sp_offset;
	}
	return c;
}

/* @says: filter_of() it. One that a filter needs is probed though nothing of it is shown, and whatever that costs. */
static enum left_out left_out(const struct config *cfg, const struct func *f, const struct choice *c, unsigned says,
			      bool is_named)
{
	bool is_needed = says & (FILTER_IN | FILTER_OUT | FILTER_CALLER | FILTER_TRIGGER);

	if (f->flags & FUNC_NEVER)
		return LEFT_NEVER;
	if (f->flags & FUNC_PLT && !cfg->libcalls)
		return LEFT_LIBCALL;
	if (says & FILTER_HIDE && !is_needed)
		return says & FILTER_AWAY ? LEFT_AWAY : LEFT_HIDDEN;
	if (f->size < cfg->least_size && !(f->flags & FUNC_PLT))
		return LEFT_SMALL;
	if (c->class == SITE_REFUSED)
		return LEFT_REFUSED;
	if (c->class == SITE_DEAR && !cfg->dear && !is_needed && !is_named && !c->args_named &&
	    (f->flags & (FUNC_TINY | FUNC_PLT)) == FUNC_TINY)
		return LEFT_DEAR;
	return LEFT_NOT;
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

/* What is said of a function with triggers is told to BPF, which has it for each call. */
static uint64_t filter_cookie(unsigned says, bool selects)
{
	if (says & FILTER_TRIGGER)
		return COOKIE_TRIGGER | (selects ? COOKIE_ONLY : 0);
	return (says & FILTER_IN ? COOKIE_IN : 0) | (says & FILTER_OUT ? COOKIE_OUT : 0) |
	       (says & FILTER_HIDE ? COOKIE_HIDE : 0) | (selects ? COOKIE_ONLY : 0) |
	       (says & FILTER_CALLER ? COOKIE_CALLER : 0);
}

static void add_site(struct sites *s, const struct choice *c, uint64_t cookie)
{
	if (c->entry_only)
		batch_add(&s->entry, c->site, cookie | COOKIE_NO_EXIT | (uint64_t)c->sp_offset << COOKIE_SP_SHIFT);
	else
		batch_add(&s->both, c->site, cookie);
}

static int tell_type(struct recorder_bpf *bpf, uint32_t type)
{
	char name[TYPE_NAME_MAX] = "";

	if (!type)
		return 0;
	snprintf(name, sizeof(name), "%s", argtype_name(type));
	return bpf_map_update_elem(bpf_map__fd(bpf->maps.arg_types), &type, name, BPF_ANY);
}

/* The plan of a function is there before its probe is. @bpf NULL: --dry-run. */
static int tell_args(struct recorder_bpf *bpf, uint32_t func, const struct func_args *args)
{
	tally.with_args++;
	for (unsigned i = 0; bpf && i <= args->count; i++) {
		int err = tell_type(bpf, i < args->count ? args->arg[i].type : args->result.type);

		if (err)
			return err;
	}
	return bpf ? bpf_map_update_elem(bpf_map__fd(bpf->maps.args_of_func), &func, args, BPF_ANY) : 0;
}

/* Is what lies in no function of --filter left out here? In a library too, when a program has such functions. */
static bool selects_in(const struct config *cfg, const struct image *img)
{
	bool selects = filter_selects(cfg->filter, img);

	if (selects && !img->is_library)
		tally.program_selects = true;
	return selects || (img->is_library && tally.program_selects);
}

/* The same of --caller-filter. */
static bool wants_callers_in(const struct config *cfg, const struct image *img)
{
	bool wants = filter_wants_callers(cfg->filter, img);

	if (wants && !img->is_library)
		tally.program_wants_callers = true;
	return wants || (img->is_library && tally.program_wants_callers);
}

static void say_no_places(const struct config *cfg, const struct image *img)
{
	if (filter_has_places(cfg->filter) && !debug_has_lines(img->debug))
		warn("-L: '%s' has no debug information that tells source files, so %s of its functions is left out", img->path,
		     filter_names_places(cfg->filter) ? "each" : "none");
}

/* Recorded as such by source/cuda.c: the driver's own function where --cuda was given, and a caller's way there. */
static bool is_cuda_call(const struct config *cfg, const struct image *img, const struct func *f)
{
	bool is_there = f->flags & FUNC_PLT ? cfg->cuda_asked || !chosen_library(cfg, "libcuda.so.1") :
			cfg->cuda_asked && img->is_library && cuda_is_driver(img->path);
	int func = is_there && cfg->cuda ? cuda_find(f->name) : -1;

	return func >= 0 && cuda_function_of(func)->group & cfg->cuda;
}

/* Of the files that switch stacks the first is named. */
static void note_switching(const struct image *img)
{
	if (!tally.switching++)
		tally.switches = strdup(img->path);
	detail("returns are not probed in '%s': it switches stacks", img->path);
}

static int choose_sites(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img,
			struct chosen *chosen)
{
	bool returns = may_probe_returns(cfg, img), selects = selects_in(cfg, img), is_named;
	unsigned before = tally.functions, entry_only = tally.entry_only;
	uint64_t of_file = (img->owner ? COOKIE_OWN : 0) | (wants_callers_in(cfg, img) ? COOKIE_CALLERS_ONLY : 0);
	/* Where returns are not probed, calls of others show what was left. */
	bool is_flat = selects && returns && !img->switches_stacks && filter_is_flat(cfg);
	int err = 0;

	if (cfg->list)
		list_image(img);
	for (size_t i = 0; i < img->func_count && !err; i++) {
		const struct func *f = &img->func[i];
		unsigned says = filter_of(cfg->filter, img, f);
		enum left_out why;
		struct choice c;

		if (!chosen_function(cfg, img, f, &is_named) || is_cuda_call(cfg, img, f))
			continue;
		tally.functions++;
		c = choose(cfg, img, f, returns, says & FILTER_IF);
		why = is_flat && !(says & FILTER_IN) ? LEFT_FILTERED : left_out(cfg, f, &c, says, is_named);
		if (cfg->list && filter_lists(cfg->filter, img, f))
			list_function(img, f, c.class, !c.entry_only, why == LEFT_NOT ? NULL : left_why[why]);
		if (why != LEFT_NOT) {
			tally.left[why]++;
			continue;
		}
		tally.probed[c.class]++;
		tally.entry_only += c.entry_only;
		if (c.has_args)
			err = tell_args(bpf, img->first_func + i, &c.args);
		if (says & FILTER_TRIGGER)
			err = err ?: trigger_tell(bpf, cfg->filter, img, f);
		else
			err = err ?: rate_tell(bpf, img, f);
		add_site(c.has_args ? &chosen->args : &chosen->plain, &c, (img->first_func + i) | of_file | filter_cookie(says, selects));
	}
	if (tally.functions > before)
		say_no_places(cfg, img);
	if (returns && img->switches_stacks && tally.entry_only > entry_only)
		note_switching(img);
	tally.files += tally.functions > before;
	tally.files_without_returns += !returns && tally.functions > before;
	return err;
}

static int attach_multi(struct bpf_program *prog, int type, unsigned flags, const char *path, const struct batch *b)
{
	return batch_attach_multi(&links, prog, type, flags, path, b, &tally.left[LEFT_REFUSED]);
}

static int attach_singly(struct bpf_program *prog, bool at_return, const char *path, const struct batch *b)
{
	return batch_attach_singly(&links, prog, at_return, path, b, &tally.left[LEFT_REFUSED]);
}

/* Returns first in each pair, so that no call is seen whose return would not be. @prog: as the kit names them. */

static int attach_by_session(struct bpf_program *const prog[], const char *path, const struct sites *s)
{
	int err = attach_multi(prog[0], BPFLINK_UPROBE_SESSION, 0, path, &s->both);

	return err ?: attach_multi(prog[1], BPFLINK_UPROBE_MULTI, 0, path, &s->entry);
}

static int attach_by_multi(struct bpf_program *const prog[], const char *path, const struct sites *s)
{
	int err = attach_multi(prog[0], BPFLINK_UPROBE_MULTI, BPFLINK_RETURN, path, &s->both);

	err = err ?: attach_multi(prog[1], BPFLINK_UPROBE_MULTI, 0, path, &s->both);
	return err ?: attach_multi(prog[1], BPFLINK_UPROBE_MULTI, 0, path, &s->entry);
}

static int attach_event(struct bpf_program *prog, bool at_return, const char *path, const struct batch *b)
{
	int fd;

	if (!b->count)
		return 0;
	fd = tracefs_attach(bpf_program__fd(prog), at_return, path, b->offset, b->count);
	return fd < 0 ? fd : links_keep_fd(&links, fd, probed_at(path, b->offset, b->count));
}

static int attach_by_tracefs(struct bpf_program *const prog[], const char *path, const struct sites *s)
{
	int err = attach_event(prog[0], true, path, &s->both);

	err = err ?: attach_event(prog[1], false, path, &s->both);
	return err ?: attach_event(prog[2], false, path, &s->entry);
}

static int attach_by_perf(struct bpf_program *const prog[], const char *path, const struct sites *s)
{
	int err = attach_singly(prog[0], true, path, &s->both);

	err = err ?: attach_singly(prog[1], false, path, &s->both);
	return err ?: attach_singly(prog[1], false, path, &s->entry);
}

#define KIT_PROGS	3

/* Programs, what each is loaded to be attached as (0: a perf event), and how they are attached. */
struct kit {
	const char *prog[KIT_PROGS];
	int	    type[KIT_PROGS];
	int	  (*attach)(struct bpf_program *const prog[], const char *path, const struct sites *s);
};

#define SESSION_TYPES	{ BPFLINK_UPROBE_SESSION, BPFLINK_UPROBE_MULTI }
#define MULTI_TYPES	{ BPFLINK_UPROBE_MULTI, BPFLINK_UPROBE_MULTI }

/* The ways to probe, best first. Arguments need a cookie, which the many probes behind an event of tracefs have not. */
static const struct way {
	enum kernel_feature needs;
	const char *name;
	/*
	 * filtered: calls are asked about, by --filter and its like; held: by --time-filter and --caller-filter too.
	 * Those whose arguments or results are recorded: args, whatever filters them; timed, when calls are held.
	 */
	struct kit  plain, filtered, held, args, timed;
} ways[] = {
	{ HAVE_UPROBE_SESSION, "sessions",
	  { { "function_session", "function_entry" }, SESSION_TYPES, attach_by_session },
	  { { "filter_session", "filter_entry" }, SESSION_TYPES, attach_by_session },
	  { { "held_session", "held_entry" }, SESSION_TYPES, attach_by_session },
	  { { "args_session", "args_entry" }, SESSION_TYPES, attach_by_session },
	  { { "timed_session", "timed_entry" }, SESSION_TYPES, attach_by_session } },
	{ HAVE_UPROBE_MULTI, "multi links",
	  { { "function_exit", "function_entry" }, MULTI_TYPES, attach_by_multi },
	  { { "filter_exit", "filter_entry" }, MULTI_TYPES, attach_by_multi },
	  { { "held_exit", "held_entry" }, MULTI_TYPES, attach_by_multi },
	  { { "args_exit", "args_entry" }, MULTI_TYPES, attach_by_multi },
	  { { "timed_exit", "timed_entry" }, MULTI_TYPES, attach_by_multi } },
	{ HAVE_UPROBE_TRACEFS, "tracefs events",
	  { { "function_exit_at", "function_entry_at", "function_entry_only_at" }, {}, attach_by_tracefs },
	  {},
	  {},
	  { { "args_exit", "args_entry" }, {}, attach_by_perf },
	  {} },
	{ HAVE_UPROBE, "perf events",
	  { { "function_exit", "function_entry" }, {}, attach_by_perf },
	  { { "filter_exit", "filter_entry" }, {}, attach_by_perf },
	  { { "held_exit", "held_entry" }, {}, attach_by_perf },
	  { { "args_exit", "args_entry" }, {}, attach_by_perf },
	  { { "timed_exit", "timed_entry" }, {}, attach_by_perf } },
};

static const struct way *way_of_this_kernel(const struct config *cfg)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (kernel_has(ways[i].needs) && (ways[i].needs != HAVE_UPROBE_TRACEFS || !needs_cookies(cfg)))
			return &ways[i];
	return NULL;
}

static const struct kit *kit_of(const struct config *cfg, const struct way *w)
{
	return filter_holds(cfg) ? &w->held : filter_in_kernel(cfg) ? &w->filtered : &w->plain;
}

static const struct kit *args_kit_of(const struct config *cfg, const struct way *w)
{
	return filter_holds(cfg) ? &w->timed : &w->args;
}

static struct bpf_program *prog_of(const struct recorder_bpf *bpf, const struct kit *k, size_t i)
{
	return k->prog[i] ? bpf_object__find_program_by_name(bpf->obj, k->prog[i]) : NULL;
}

static void load_kit(struct recorder_bpf *bpf, const struct kit *k, bool may_sleep)
{
	for (size_t i = 0; i < KIT_PROGS && k->prog[i]; i++) {
		struct bpf_program *prog = prog_of(bpf, k, i);

		bpf_program__set_autoload(prog, true);
		bpf_program__set_expected_attach_type(prog, k->type[i]);
		if (may_sleep)
			bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_SLEEPABLE);
	}
}

static int attach_kit(struct recorder_bpf *bpf, const struct kit *k, const char *path, const struct sites *s)
{
	struct bpf_program *prog[KIT_PROGS];

	for (size_t i = 0; i < KIT_PROGS; i++)
		prog[i] = prog_of(bpf, k, i);
	return k->attach(prog, path, s);
}

static int attach_chosen(struct recorder_bpf *bpf, const struct config *cfg, int fd, const struct chosen *c)
{
	const struct way *w = way_of_this_kernel(cfg);
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = attach_kit(bpf, kit_of(cfg, w), path, &c->plain);
	return err ?: attach_kit(bpf, args_kit_of(cfg, w), path, &c->args);
}

/* ---- files probed for some processes alone ---- */

/*
 * Each of the processes has links of its own. Who comes later meets links for all, which are made when
 * the first one comes; then the sites are no longer needed.
 */
struct owned {
	const struct probed *file;
	int	     fd;	/* the file */
	pid_t	     pid[OWNERS_MAX];
	unsigned     pids;
	struct chosen chosen;
};

static struct {
	struct owned *file;
	size_t	      count, room;
} owned;

static void owned_release(struct owned *o)
{
	chosen_release(&o->chosen);
	close_fd(&o->fd);
}

static int attach_owned(struct recorder_bpf *bpf, const struct config *cfg, struct owned *o, pid_t pid)
{
	struct chosen *c = &o->chosen;

	c->plain.both.pid = c->plain.entry.pid = c->args.both.pid = c->args.entry.pid = pid;
	return attach_chosen(bpf, cfg, o->fd, c);
}

/* Takes @c, also when it fails. */
static int own(struct recorder_bpf *bpf, const struct config *cfg, int fd, pid_t pid, struct chosen *c)
{
	struct owned o = { .file = probed_file(fd), .fd = fcntl(fd, F_DUPFD_CLOEXEC, 3), .chosen = *c };
	int err = o.fd < 0 ? -errno : grow(&owned.file, &owned.room, owned.count, sizeof(o));

	*c = (struct chosen){};
	if (err) {
		owned_release(&o);
		return err;
	}
	o.pid[o.pids++] = pid;
	owned.file[owned.count++] = o;
	return attach_owned(bpf, cfg, &owned.file[owned.count - 1], pid);
}

/* What the kernel refuses was counted the first time. */
static int attach_again(struct recorder_bpf *bpf, const struct config *cfg, struct owned *o, pid_t pid)
{
	unsigned refused = tally.left[LEFT_REFUSED];
	int err = attach_owned(bpf, cfg, o, pid);

	tally.left[LEFT_REFUSED] = refused;
	return err;
}

static int function_owner(struct recorder_bpf *bpf, const struct config *cfg, const struct probed *file, pid_t pid)
{
	struct owned *o = NULL;

	for (size_t i = 0; i < owned.count && !o; i++)
		if (owned.file[i].file == file)
			o = &owned.file[i];
	for (unsigned i = 0; o && i < o->pids; i++)
		if (o->pid[i] == pid)
			return 0;
	if (!o)
		return 0;
	if (o->pids == OWNERS_MAX)
		return -E2BIG;
	o->pid[o->pids++] = pid;
	return attach_again(bpf, cfg, o, pid);
}

static void make_late(struct batch *b)
{
	for (unsigned i = 0; i < b->count; i++)
		b->cookie[i] ^= COOKIE_OWN | COOKIE_LATE;
}

/* Calls that are open have their returns recorded by the old links, which stay. */
static int function_share(struct recorder_bpf *bpf, const struct config *cfg)
{
	int err = 0;

	for (size_t i = 0; i < owned.count; i++) {
		struct owned *o = &owned.file[i];

		make_late(&o->chosen.plain.both);
		make_late(&o->chosen.plain.entry);
		make_late(&o->chosen.args.both);
		make_late(&o->chosen.args.entry);
		err = err ?: attach_again(bpf, cfg, o, 0);
		owned_release(o);
	}
	owned.count = 0;
	return err;
}

static void owned_forget(const struct probed *file)
{
	size_t left = 0;

	for (size_t i = 0; i < owned.count; i++)
		if (owned.file[i].file == file)
			owned_release(&owned.file[i]);
		else
			owned.file[left++] = owned.file[i];
	owned.count = left;
}

static int function_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	const struct way *w = cfg->functions ? way_of_this_kernel(cfg) : NULL;

	if (cfg->functions && !w)
		warn("no functions are recorded: %s", kernel_no_uprobes());
	/* Of the CUDA driver's functions, too. */
	bpf->rodata->spare_other_stacks = wants_probes(cfg) && !kernel_has(HAVE_UPROBE_SESSION) && kernel_has(HAVE_WRITE_USER);
	bpf->rodata->args_filtered = filter_in_kernel(cfg);
	bpf->rodata->args_may_fault = kernel_has(HAVE_UPROBE_SLEEPABLE);
	if (w)
		load_kit(bpf, kit_of(cfg, w), false);
	tally.is_chosen = cfg->function_count;
	tally.args_asked = wants_values(cfg);
	tally.args_named = cfg->args.count;
	bpf_map__set_autocreate(bpf->maps.args_of_func, tally.args_asked);
	bpf_map__set_autocreate(bpf->maps.arg_types, tally.args_asked);
	if (w && tally.args_asked)
		load_kit(bpf, args_kit_of(cfg, w), kernel_has(HAVE_UPROBE_SLEEPABLE));
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
	const struct way *w = way_of_this_kernel(cfg);
	struct chosen chosen = {};
	int err;

	if (!cfg->functions || (!w && !cfg->list) || !img->func_count)
		return 0;
	if (img->is_library && is_linker(img)) {
		tally.left[LEFT_LINKER]++;
		return 0;
	}
	if (!img->is_library && cfg->libcalls)
		tally.no_plt_calls += img->no_plt_calls;
	err = chosen_create(&chosen, img->func_count);
	if (!err) {
		filter = cfg->filter;
		err = choose_sites(bpf, cfg, img, &chosen);
		if (bpf && !err)		/* --dry-run only chooses */
			err = img->owner ? own(bpf, cfg, fd, img->owner, &chosen) : attach_chosen(bpf, cfg, fd, &chosen);
	}
	chosen_release(&chosen);
	if (err)
		warn("cannot probe the functions of '%s': %s", img->path, strerror(-err));
	return 0;
}

static void function_forget(const struct probed *file)
{
	owned_forget(file);
	links_let_go(&links, file);
}

static void function_detach(void)
{
	while (owned.count)
		owned_release(&owned.file[--owned.count]);
	free(TAKE(owned.file));
	owned.room = 0;
	links_release(&links);
	tracefs_release();
}

static void args_summary(void)
{
	if (tally.with_args)
		say("arguments or results: of %u function%s", tally.with_args, tally.with_args == 1 ? "" : "s");
	else if (!tally.args_gone)
		warn("no function has its arguments or results recorded: %s", tally.args_named ?
		     "what -A and -R name was not found" : "there is no debug information that tells of them");
	if (tally.args_refused)
		warn("-A and -R: left out %u function%s of Go, which passes arguments in a way of its own",
		     tally.args_refused, tally.args_refused == 1 ? "" : "s");
	if (tally.args_gone)
		say("arguments left out: of %u function%s whose first instruction the kernel does not probe", tally.args_gone,
		    tally.args_gone == 1 ? "" : "s");
}

static void function_summary(void)
{
	unsigned cheap = tally.probed[SITE_NOP5] + tally.probed[SITE_CHEAP], dear = tally.probed[SITE_DEAR];

	if (!tally.files && tally.is_chosen)
		warn("--functions: no function of what was run has such a name");
	if (!tally.files)
		return;
	filter_summary(filter);
	say("functions: %u of %u in %u file%s probed: %u cheap, %u single-stepped, %u without their returns",
	    cheap + dear, tally.functions, tally.files, tally.files == 1 ? "" : "s", cheap, dear, tally.entry_only);
	if (cheap + dear < tally.functions)
		say("left out: %u the kernel refuses, %u never safe%s%s%s%s%s%s%s", tally.left[LEFT_REFUSED], tally.left[LEFT_NEVER],
		    tally.left[LEFT_DEAR] ? ", --no-dear" : "", tally.left[LEFT_LIBCALL] ? ", library calls" : "",
		    tally.left[LEFT_HIDDEN] ? ", --hide" : "",
		    tally.left[LEFT_SMALL] ? ", --size-filter" : "", tally.left[LEFT_AWAY] ? ", --loc-filter" : "",
		    tally.left[LEFT_FILTERED] ? ", --filter" : "",
		    tally.left[LEFT_LINKER] ? ", the dynamic linker" : "");
	if (tally.files_without_returns)
		say("%u file%s without return probes: ends are inferred from the stack", tally.files_without_returns,
		    tally.files_without_returns == 1 ? "" : "s");
	if (tally.switching)
		say("returns are not probed in '%s'%s, which switches stacks: they would come out of order",
		    tally.switches ?: "?", tally.switching > 1 ? " and others of its kind" : "");
	free(TAKE(tally.switches));
	if (tally.no_plt_calls)
		say("calls of library functions at %u place%s go around the PLT (-fno-plt, Rust) and are not seen; "
		    "--functions='*@LIB' probes the functions themselves", tally.no_plt_calls,
		    tally.no_plt_calls == 1 ? "" : "s");
	if (tally.args_asked)
		args_summary();
}

const struct source_ops source_function = {
	.name	 = "function",
	.plan	 = function_plan,
	.image	 = function_image,
	.owner	 = function_owner,
	.share	 = function_share,
	.forget	 = function_forget,
	.detach	 = function_detach,
	.summary = function_summary,
};
