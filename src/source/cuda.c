/*
 * cuda.c - calls of the CUDA driver: where it is mapped, its functions are probed.
 *
 * A machine may have several: a container has its own, a compatibility package another.
 * Nothing is probed, and no program for it loaded, before a recorded process maps one.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base.h"
#include "bpflink.h"
#include "chosen.h"
#include "config.h"
#include "cuda.h"
#include "function.h"
#include "image.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/batch.h"
#include "source/later.h"
#include "source/links.h"
#include "source/retsites.h"
#include "source/rows.h"
#include "unwind.h"

static struct links links;
static struct recorder_bpf *programs;	/* NULL: not loaded */
static struct {
	bool	 was_asked;
	unsigned files, functions, refused;
	unsigned without_returns;	/* files */
} tally;

/* By what is done at entry: a launch by words, nothing is taken along, or something is, or is given. Where that is done, too. */
struct sites {
	struct batch launch, plain, with, rets;
};

#define BODY_MAX	(64u << 10)	/* bytes of a function that is searched for its returns */
#define RETS_MAX	16		/* of one function */

/* The programs of the kinds at both ends, or for sessions at entry where no return is probed. launch NULL: as plain. */
static const struct way {
	enum kernel_feature needs;
	int type;			/* of those at both ends; 0: perf events */
	const char *launch, *plain, *with, *ret;	/* ret NULL: the others are at both ends */
} ways[] = {
	{ HAVE_UPROBE_SESSION, BPFLINK_UPROBE_SESSION, "cuda_launch", "cuda_session", "cuda_session_with", NULL },
	{ HAVE_UPROBE_MULTI, BPFLINK_UPROBE_MULTI, NULL, "cuda_entry", "cuda_entry_with", "cuda_exit" },
	{ HAVE_UPROBE, 0, NULL, "cuda_entry", "cuda_entry_with", "cuda_exit" },
};

static const struct way *way_of_this_kernel(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (kernel_has(ways[i].needs))
			return &ways[i];
	return NULL;
}

/* As of a library's functions: where returns are probed, each process decides by itself. */
static bool may_probe_returns(const struct config *cfg, const struct image *img, const struct way *w)
{
	if (cfg->returns == RETURNS_NEVER || !unwind_possible())
		return false;
	return cfg->returns == RETURNS_ALWAYS || (unwind_is_safe(img) && !w->ret);
}

static struct bpf_program *prog_of(const struct recorder_bpf *bpf, const char *name)
{
	return bpf_object__find_program_by_name(bpf->obj, name);
}

static void want(struct recorder_bpf *bpf, const char *name, int type, bool may_sleep)
{
	struct bpf_program *prog = name ? prog_of(bpf, name) : NULL;

	if (!prog)
		return;
	bpf_program__set_autoload(prog, true);
	bpf_program__set_expected_attach_type(prog, type);
	if (may_sleep && kernel_has(HAVE_UPROBE_SLEEPABLE))
		bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_SLEEPABLE);
}

static void want_way(struct recorder_bpf *bpf, const struct way *w)
{
	int single = w->type ? BPFLINK_UPROBE_MULTI : 0;

	want(bpf, w->launch, w->type, false);
	want(bpf, w->plain, w->type, false);
	want(bpf, w->with, w->type, true);
	want(bpf, w->ret, w->type, false);
	want(bpf, "cuda_ret", single, false);
	if (!w->ret) {
		want(bpf, "cuda_entry", single, false);
		want(bpf, "cuda_entry_with", single, true);
	}
}

static int cuda_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	const struct way *w = cfg->cuda ? way_of_this_kernel() : NULL;

	if (cfg->cuda_asked && !w)
		warn("no calls of the CUDA driver are recorded: %s", kernel_no_uprobes());
	if (cfg->cuda_asked && w && !kernel_has(HAVE_UPROBE_SLEEPABLE))
		warn("calls of a CUDA driver that a program maps later are not recorded: nobody can wait for it on this kernel");
	tally.was_asked = cfg->cuda_asked;
	bpf->rodata->cuda_images_wanted = cfg->cuda_images;
	bpf_map__set_autocreate(bpf->maps.cuda_plans, w);
	bpf_map__set_autocreate(bpf->maps.cuda_tasks, w);
	bpf_map__set_autocreate(bpf->maps.cuda_given, w);
	bpf_map__set_autocreate(bpf->maps.code_images, w);
	return 0;
}

static int tell_plans(const struct recorder_bpf *bpf)
{
	int err = 0;

	for (uint32_t func = 0; func < 2 * cuda_function_count && !err; func++)
		err = bpf_map_update_elem(bpf_map__fd(bpf->maps.cuda_plans), &func, &cuda_function_of(func)->plan, BPF_ANY);
	return err;
}

static int load_programs(struct recorder_bpf *bpf, const struct way *w)
{
	struct recorder_bpf *late = later_open(bpf);
	int err;

	if (!late)
		return -errno;
	want_way(late, w);
	err = tell_plans(bpf) ?: recorder_bpf__load(late);
	if (err)
		recorder_bpf__destroy(late);
	else
		programs = late;
	return err;
}

/* The toolkit has a library of the driver's name to link with: whatever it is asked, it fails. */
static bool is_stub(const char *path)
{
	return strstr(path, "/stubs/libcuda.so");
}

static bool is_wanted(const struct config *cfg, const struct func *f, int func)
{
	return func >= 0 && cuda_function_of(func)->group & cfg->cuda && !(f->flags & FUNC_PLT);
}

/* The first instruction is the site, where the words of a call are as they were passed. */
static bool starts_refused(const struct func *f)
{
	return f->site_class == SITE_REFUSED || f->flags & FUNC_START_REFUSED;
}

/* Where it returns, for processes in which returns are not probed; of one that is not understood whole, nowhere. */
static void add_rets(struct sites *s, int fd, const struct image *img, const struct func *f, uint64_t func)
{
	__cleanup(free_ptr) uint8_t *code = f->size <= BODY_MAX ? malloc(BODY_MAX) : NULL;
	unsigned long offset = image_offset(img, f), site[RETS_MAX];
	ssize_t len = code ? pread(fd, code, f->size, offset) : -1;
	bool whole = false;
	unsigned n = len == (ssize_t)f->size ? ret_sites(code, len, offset, site, RETS_MAX, &whole) : 0;

	for (unsigned i = 0; i < n && whole; i++)
		batch_add(&s->rets, site[i], func);
}

static struct batch *batch_of(struct sites *s, const struct cuda_function *f)
{
	if (f->plan.take || f->plan.out)
		return &s->with;
	return f->does == CUDA_DOES_LAUNCH ? &s->launch : &s->plain;
}

static void choose_sites(const struct config *cfg, const struct image *img, int fd, struct sites *s, uint64_t cookie)
{
	for (size_t i = 0; i < img->func_count; i++) {
		const struct func *f = &img->func[i];
		int func = cuda_find(f->name);

		if (!is_wanted(cfg, f, func))
			continue;
		if (cuda_function_of(func)->plan.out)
			add_rets(s, fd, img, f, func);
		if (starts_refused(f))
			tally.refused++;
		else
			batch_add(batch_of(s, cuda_function_of(func)), image_offset(img, f), func | cookie);
	}
}

static int attach_ends(const struct way *w, const char *path, const struct sites *s, bool returns)
{
	const char *plain = returns ? w->plain : "cuda_entry", *with = returns ? w->with : "cuda_entry_with";
	const char *launch = returns && w->launch ? w->launch : plain, *ret = returns ? w->ret : NULL;
	int type = w->type && !returns ? BPFLINK_UPROBE_MULTI : w->type, err = 0;
	const struct { const char *prog; const struct batch *b; bool at_return; } part[] = {
		{ "cuda_ret", &s->rets, false },
		{ ret, &s->launch, true }, { ret, &s->plain, true }, { ret, &s->with, true },
		{ launch, &s->launch, false }, { plain, &s->plain, false }, { with, &s->with, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(part) && !err; i++) {
		struct bpf_program *prog = part[i].prog ? prog_of(programs, part[i].prog) : NULL;
		int as = part[i].b == &s->rets ? BPFLINK_UPROBE_MULTI : type;

		if (prog && type)
			err = batch_attach_multi(&links, prog, as, part[i].at_return ? BPFLINK_RETURN : 0, path, part[i].b,
						 &tally.refused);
		else if (prog)
			err = batch_attach_singly(&links, prog, part[i].at_return, path, part[i].b, &tally.refused);
	}
	return err;
}

static int attach(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd)
{
	const struct way *w = way_of_this_kernel();
	bool returns = w && may_probe_returns(cfg, img, w);
	struct sites s = {};
	char path[32];
	int err;

	if (!w)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = batch_create(&s.launch, img->func_count) ?: batch_create(&s.plain, img->func_count) ?:
	      batch_create(&s.with, img->func_count) ?: batch_create(&s.rets, img->func_count * RETS_MAX);
	if (!err) {
		choose_sites(cfg, img, fd, &s, returns ? 0 : COOKIE_NO_EXIT);
		tally.files++;
		tally.functions += s.launch.count + s.plain.count + s.with.count;
		tally.without_returns += !returns;
		if (bpf && !programs)
			err = load_programs(bpf, w);
		if (bpf && !err)
			err = attach_ends(w, path, &s, returns);
	}
	batch_release(&s.launch);
	batch_release(&s.plain);
	batch_release(&s.with);
	batch_release(&s.rets);
	return err;
}

static int cuda_mapped(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd)
{
	int err;

	if (!cfg->cuda || !cuda_is_driver(img->path))
		return 0;
	if (!cfg->cuda_asked && cfg->functions && chosen_library(cfg, img->path))
		return 0;			/* whose functions are recorded as functions: none twice */
	if (is_stub(img->path))
		warn("'%s' is not a CUDA driver but the toolkit's stand-in for linking: all calls of it fail", img->path);
	err = attach(bpf, cfg, img, fd);
	if (err)
		warn("cannot probe the CUDA driver '%s': %s", img->path, strerror(-err));
	return 0;
}

static void cuda_forget(const struct probed *file)
{
	links_let_go(&links, file);
}

static void cuda_detach(void)
{
	links_release(&links);
	recorder_bpf__destroy(TAKE(programs));
}

static void cuda_summary(void)
{
	if (!tally.files && tally.was_asked)
		warn("--cuda: no process had a CUDA driver mapped, a file named libcuda.so.*");
	if (!tally.files)
		return;
	say("CUDA: %u functions of %u driver%s probed%s", tally.functions, tally.files,
	    tally.files == 1 ? "" : "s",
	    tally.without_returns ? "; without their returns, so most results are not known" : "");
	if (tally.refused)
		say("CUDA: %u functions begin with what the kernel refuses to probe, and are not seen", tally.refused);
}

const struct source_ops source_cuda = {
	.name	 = "cuda",
	.plan	 = cuda_plan,
	.mapped	 = cuda_mapped,
	.forget	 = cuda_forget,
	.detach	 = cuda_detach,
	.summary = cuda_summary,
};
