/*
 * gputime.c - device times: the library that is loaded into the command, and the probe in it.
 *
 * It lies beside recorder, or where `make install` puts it. It is a file of ours, so
 * the probe is there before anybody has mapped it.
 */
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <limits.h>

#include "base.h"
#include "bpflink.h"
#include "config.h"
#include "gputime.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/batch.h"
#include "source/library.h"
#include "source/links.h"
#include "source/rows.h"

#define VARIABLE	"CUDA_INJECTION64_PATH"
#define LIBRARY		"librecorder_cupti.so"
#define FUNCTION	"recorder_cupti_batch"

static struct links links;
static char setting[sizeof(VARIABLE "=") + PATH_MAX];
static const char *path;	/* in it; NULL: none is loaded */
static bool was_asked;

/* Beside the file that runs, else in ../lib/recorder as seen from there. */
static bool find_library(char to[PATH_MAX])
{
	static const char *const places[] = { "%.*s/" LIBRARY, "%.*s/../lib/recorder/" LIBRARY };
	char self[PATH_MAX], at[2 * PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		return false;
	self[n] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		snprintf(at, sizeof(at), places[i], (int)(strrchr(self, '/') - self), self);
		if (realpath(at, to))
			return true;
	}
	return false;
}

static int gputime_plan(struct recorder_bpf *bpf, const struct config *cfg)
{
	struct bpf_program *prog = bpf->progs.gpu_batch;
	char found[PATH_MAX];

	was_asked = cfg->gpu_times && cfg->cuda;
	if (cfg->gpu_times && !cfg->cuda)
		warn("no device times: the format has no place for them");
	if (!was_asked)
		return 0;
	if (getenv(VARIABLE)) {
		warn("no device times: " VARIABLE " is set already, and the driver loads one library only");
		return 0;
	}
	if (!find_library(found)) {
		warn("no device times: " LIBRARY " is neither beside recorder nor in ../lib/recorder");
		hint("make, or make install, which puts both in place");
		return 0;
	}
	if (!kernel_has(HAVE_UPROBE_MULTI) && !kernel_has(HAVE_UPROBE)) {
		warn("no device times: %s", kernel_no_uprobes());
		return 0;
	}
	snprintf(setting, sizeof(setting), VARIABLE "=%s", found);
	path = setting + strlen(VARIABLE "=");
	bpf_program__set_autoload(prog, true);
	if (kernel_has(HAVE_UPROBE_MULTI))
		bpf_program__set_expected_attach_type(prog, BPFLINK_UPROBE_MULTI);
	if (kernel_has(HAVE_UPROBE_SLEEPABLE))
		bpf_program__set_flags(prog, bpf_program__flags(prog) | BPF_F_SLEEPABLE);
	return 0;
}

static int probe_function(struct recorder_bpf *bpf, int fd)
{
	uint64_t offset;
	unsigned refused = 0;
	struct batch b;
	int err = library_symbol(fd, FUNCTION, &offset);

	if (err)
		return err;
	err = batch_create(&b, 1);
	if (!err) {
		batch_add(&b, offset, 0);
		if (kernel_has(HAVE_UPROBE_MULTI))
			err = batch_attach_multi(&links, bpf->progs.gpu_batch, BPFLINK_UPROBE_MULTI, 0, path, &b, &refused);
		else
			err = batch_attach_singly(&links, bpf->progs.gpu_batch, false, path, &b, &refused);
	}
	batch_release(&b);
	return err ?: refused ? -EOPNOTSUPP : 0;
}

static int gputime_attach(struct recorder_bpf *bpf, const struct config *cfg)
{
	__cleanup(close_fd) int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	int err = fd >= 0 ? probe_function(bpf, fd) : path ? -errno : 0;

	(void)cfg;
	if (!err)
		return 0;
	warn("no device times: cannot probe '%s': %s", path, strerror(-err));
	path = NULL;
	return 0;
}

const char *gputime_setting(void)
{
	return path ? setting : NULL;
}

static void gputime_detach(void)
{
	links_release(&links);
}

static void say_why_not(const struct gputime_counts *c)
{
	if (!c->ready && !c->no_cupti && !c->busy && !c->failed)
		warn("no device times: no CUDA driver has loaded '%s'", path);
	if (c->no_cupti)
		warn("no device times of %lu process%s: there is no libcupti that could be loaded", c->no_cupti,
		     c->no_cupti == 1 ? "" : "es");
	if (c->no_cupti)
		hint("the CUDA toolkit, or pip install nvidia-cuda-cupti, has it; LD_LIBRARY_PATH says where it is");
	if (c->busy)
		warn("no device times of %lu process%s: another tool has CUPTI, which serves one at a time", c->busy,
		     c->busy == 1 ? "" : "es");
	if (c->failed)
		warn("no device times of %lu process%s: CUPTI says %u", c->failed, c->failed == 1 ? "" : "es", c->error);
}

void gputime_summary(const struct gputime_counts *c)
{
	if (!was_asked || !path)
		return;
	say_why_not(c);
	if (!c->ready)
		return;
	say("device times: %lu kernels, %lu of no launch that was seen; %lu copies and sets, %lu of no call that was seen",
	    c->kernels, c->kernels - c->matched, c->copies, c->copies - c->matched_copies);
	if (c->unlike)
		warn("device times: %lu kernels have another shape than the launches that they seem to be of", c->unlike);
	if (c->untimed)
		warn("device times: %lu kernels and copies had not ended when the program did", c->untimed);
	if (c->dropped)
		warn("device times: CUPTI has dropped %lu records", c->dropped);
}

const struct source_ops source_gputime = {
	.name	= "gputime",
	.plan	= gputime_plan,
	.attach	= gputime_attach,
	.detach	= gputime_detach,
};
