/*
 * usdt.c - USDT probes: which are asked for, and one link for those of a file.
 *
 * Their files become known as those that hold return probes back do: whatever a
 * recorded process maps with code. The kernel raises a probe's semaphore as long as
 * it is there.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base.h"
#include "bpflink.h"
#include "config.h"
#include "image.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/batch.h"
#include "source/links.h"
#include "source/probed.h"
#include "source/rows.h"
#include "usdt.h"

static struct links links;
static struct {
	const struct config *cfg;
	bool	*has_matched;	/* by pattern */
	unsigned files, probes, refused;
	size_t	 malformed;
	uint32_t next;		/* cookie */
} tally;

static int usdt_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	struct bpf_program *prog = bpf->progs.usdt_hit;

	bpf_map__set_autocreate(bpf->maps.usdt_plans, cfg->usdt_count);
	if (!cfg->usdt_count)
		return 0;
	if (!kernel_has(HAVE_UPROBE_MULTI) && !kernel_has(HAVE_UPROBE)) {
		warn("no USDT probes are recorded: %s", kernel_no_uprobes());
		return 0;
	}
	if (!kernel_has(HAVE_UPROBE_SLEEPABLE))
		warn("USDT probes of what a program maps later are not recorded: nobody can wait for them on this kernel");
	bpf_program__set_autoload(prog, true);
	if (kernel_has(HAVE_UPROBE_MULTI))
		bpf_program__set_expected_attach_type(prog, BPFLINK_UPROBE_MULTI);
	if (kernel_has(HAVE_UPROBE_SLEEPABLE))
		bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_SLEEPABLE);
	return 0;
}

/* Does a pattern mean @p? All that do say how its arguments are to be shown. */
static bool is_chosen(const struct config *cfg, const struct image *img, const struct usdt_probe *p,
		      uint8_t format[ARGS_MAX])
{
	bool is = false;

	memset(format, VALUE_AUTO, ARGS_MAX);
	for (size_t i = 0; i < cfg->usdt_count; i++) {
		const struct usdt_pattern *pat = &cfg->usdt[i];

		if (!usdt_pattern_matches(pat, img->path, p))
			continue;
		is = true;
		if (tally.has_matched)
			tally.has_matched[i] = true;
		for (unsigned n = 0; n < ARGS_MAX; n++)
			format[n] = pat->format[n] ?: format[n];
	}
	return is;
}

/* What is no integer stays what it is, and what is no address is no string. */
static void set_format(struct usdt_arg *a, uint8_t format)
{
	if (!format || a->place == USDT_UNKNOWN || a->format == VALUE_FLOAT ||
	    (format == VALUE_STRING && a->size != sizeof(uint64_t)))
		return;
	a->format = format;
	if (format == VALUE_CHAR)
		a->size = 1;
}

static struct usdt_plan plan_of(const struct usdt_probe *p, const uint8_t format[ARGS_MAX])
{
	struct usdt_plan plan = { .count = p->count };

	memcpy(plan.name, p->name, sizeof(plan.name));
	memcpy(plan.arg, p->arg, sizeof(plan.arg));
	for (unsigned i = 0; i < plan.count; i++) {
		struct usdt_arg *a = &plan.arg[i];

		set_format(a, format[i]);
		a->at = plan.bytes;
		plan.bytes += sizeof(struct rec_value) +
			      (a->format == VALUE_STRING ? VALUE_ROOM_STRING :
			       a->format == VALUE_FLOAT ? VALUE_ROOM_FLOAT : VALUE_ROOM_NUMBER);
	}
	return plan;
}

/* Of what the file's maker wanted a terminal obeys nothing. */
static void list_probe(const struct usdt_probe *p)
{
	__cleanup(free_ptr) char *name = log_escaped(p->name);
	__cleanup(free_ptr) char *text = log_escaped(p->text);

	printf("usdt %-40s %s\n", name ?: "", text ?: "");
}

/* @bpf NULL: --dry-run and --list. */
static int choose_probes(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, struct batch *b)
{
	uint8_t format[ARGS_MAX];
	int err = 0;

	for (size_t i = 0; i < img->usdt.count && !err; i++) {
		const struct usdt_probe *p = &img->usdt.probe[i];
		struct usdt_plan plan;

		if (!is_chosen(cfg, img, p, format))
			continue;
		if (cfg->list)
			list_probe(p);
		plan = plan_of(p, format);
		if (bpf)
			err = bpf_map_update_elem(bpf_map__fd(bpf->maps.usdt_plans), &tally.next, &plan, BPF_ANY);
		batch_add_usdt(b, p->site, p->semaphore, tally.next++);
	}
	tally.files += b->count != 0;
	tally.probes += b->count;
	return err;
}

static int attach(struct recorder_bpf *bpf, int fd, const struct batch *b)
{
	struct bpf_program *prog = bpf->progs.usdt_hit;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (kernel_has(HAVE_UPROBE_MULTI))
		return batch_attach_multi(&links, prog, BPFLINK_UPROBE_MULTI, 0, path, b, &tally.refused);
	/* A perf event each: those of tracefs have no cookie. */
	return kernel_has(HAVE_UPROBE) ? batch_attach_singly(&links, prog, false, path, b, &tally.refused) : 0;
}

static int usdt_mapped(struct recorder_bpf *bpf, const struct config *cfg, const struct image *img, int fd)
{
	struct batch b;
	int err;

	if (!cfg->usdt_count)
		return 0;
	tally.cfg = cfg;
	tally.has_matched = tally.has_matched ?: calloc(cfg->usdt_count, sizeof(*tally.has_matched));
	tally.malformed += img->usdt.malformed;
	if (img->usdt.malformed)
		detail("'%s': %zu notes of USDT probes are malformed, or not of a nop", img->path, img->usdt.malformed);
	if (!img->usdt.count)
		return 0;
	err = batch_create(&b, img->usdt.count);
	err = err ?: choose_probes(bpf, cfg, img, &b);
	if (bpf && !err)
		err = attach(bpf, fd, &b);
	batch_release(&b);
	if (err)
		warn("cannot set the USDT probes of '%s': %s", img->path, strerror(-err));
	return 0;
}

static void usdt_forget(const struct probed *file)
{
	links_let_go(&links, file);
}

static void usdt_detach(void)
{
	links_release(&links);
}

static void usdt_summary(void)
{
	const struct config *cfg = tally.cfg;

	if (tally.probes)
		say("USDT: %u probe%s in %u file%s", tally.probes - tally.refused, tally.probes - tally.refused == 1 ? "" : "s",
		    tally.files, tally.files == 1 ? "" : "s");
	if (tally.refused || tally.malformed)
		say("USDT probes left out: %u the kernel refuses, %zu malformed", tally.refused, tally.malformed);
	for (size_t i = 0; cfg && i < cfg->usdt_count; i++)
		if (!tally.has_matched || !tally.has_matched[i])
			warn("--usdt: no probe matches '%s'", cfg->usdt[i].text);
	free(TAKE(tally.has_matched));
}

const struct source_ops source_usdt = {
	.name	 = "usdt",
	.plan	 = usdt_plan,
	.mapped	 = usdt_mapped,
	.forget	 = usdt_forget,
	.detach	 = usdt_detach,
	.summary = usdt_summary,
};
