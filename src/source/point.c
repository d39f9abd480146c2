/*
 * point.c - which of a program's two shapes, and how it is attached.
 */
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "base.h"
#include "kernel.h"
#include "log.h"
#include "recorder.skel.h"
#include "source/links.h"
#include "source/point.h"

#define NAME_MAX_BYTES	64

bool point_by_events(void)
{
	return !kernel_has(HAVE_STEADY_TRACEPOINTS) && kernel_has(HAVE_PERF_TRACEPOINTS);
}

/* The shape of @prog that is used here: itself, where there is but one. */
static struct bpf_program *shape_of(struct recorder_bpf *bpf, struct bpf_program *prog)
{
	char name[NAME_MAX_BYTES];

	if (!point_by_events())
		return prog;
	snprintf(name, sizeof(name), "%s_perf", bpf_program__name(prog));
	return bpf_object__find_program_by_name(bpf->obj, name) ?: prog;
}

/* Calls of the kernel's functions get the numbers that they have here. */
static int put_calls(struct bpf_program *prog, struct bpf_prog_load_opts *, long)
{
	size_t count = bpf_program__insn_cnt(prog);
	struct bpf_insn *code = calloc(count, sizeof(*code));
	int err;

	if (!code)
		return -ENOMEM;
	memcpy(code, bpf_program__insns(prog), count * sizeof(*code));
	for (size_t i = 0; i < count; i++)
		if (code[i].code == (BPF_JMP | BPF_CALL) && code[i].src_reg == BPF_PSEUDO_KFUNC_CALL)
			code[i].imm = kernel_call(code[i].imm);
	err = bpf_program__set_insns(prog, code, count);
	free(code);
	return err;
}

/* bpf/point.bpf.h: a typed tracepoint's program, for which libbpf has a name of its own, that calls the kernel's functions. */
#define WORK	"work/"

int point_prepare(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = put_calls);
	int id = libbpf_register_prog_handler("tracepoint+", BPF_PROG_TYPE_TRACEPOINT, 0, &opts);

	if (id >= 0)
		id = libbpf_register_prog_handler("work+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, &opts);
	return MIN(id, 0);
}

/* The event that the section of @prog names, where that is ours; else NULL. */
static const char *work_event(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	return strncmp(section, WORK, strlen(WORK)) ? NULL : section + strlen(WORK);
}

void point_load(struct recorder_bpf *bpf, struct bpf_program *prog, bool is_wanted)
{
	struct bpf_program *shape = shape_of(bpf, prog);
	const char *event = work_event(shape);

	bpf_program__set_autoload(shape, is_wanted);
	if (is_wanted && event && bpf_program__set_attach_target(shape, 0, event))
		detail("the kernel has no tracepoint '%s'", event);
}

struct bpf_link *point_link_event(struct bpf_program *prog, unsigned id, uint64_t cookie)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id };
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = cookie);
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), err;
	struct bpf_link *link = fd < 0 ? NULL : bpf_program__attach_perf_event_opts(prog, fd, &opts);	/* takes @fd */

	if (!link && fd >= 0) {
		err = errno;
		close(fd);
		errno = err;
	}
	return link;
}

/* The number of the event that the section of @prog names: tracepoint/SYSTEM/NAME. False: errno tells why there is none. */
static bool event_of(const struct bpf_program *prog, unsigned *id)
{
	const char *event = strchr(bpf_program__section_name(prog), '/');
	__cleanup(close_file) FILE *f = NULL;
	char path[320];

	snprintf(path, sizeof(path), "%s%s/id", kernel_events_dir() ?: "", event ?: "");
	f = fopen(path, "re");
	if (!f)
		return false;
	errno = EINVAL;
	return fscanf(f, "%u", id) == 1;
}

struct bpf_link *point_link(struct recorder_bpf *bpf, struct bpf_program *prog)
{
	struct bpf_program *shape = shape_of(bpf, prog);
	unsigned id;

	if (work_event(shape))
		return bpf_program__attach_trace(shape);
	if (bpf_program__type(shape) != BPF_PROG_TYPE_TRACEPOINT)
		return bpf_program__attach(shape);
	return event_of(shape, &id) ? point_link_event(shape, id, 0) : NULL;
}

int point_attach(struct links *l, struct recorder_bpf *bpf, struct bpf_program *prog)
{
	struct bpf_link *link;

	if (!bpf_program__autoload(shape_of(bpf, prog)))
		return 0;
	link = point_link(bpf, prog);
	if (!link)
		return fail(-errno, "cannot attach to the kernel's '%s'", bpf_program__section_name(prog));
	return links_keep(l, link, NULL);
}
