/*
 * recording.c - builds the parts, starts and stops them in order, and says what was done.
 *
 * It connects, and contains no format, probe or kernel knowledge. Every way
 * out, error or not, is the same walk to the end, because every destroy accepts
 * what was half built: files first, then the probes go.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "about.h"
#include "base.h"
#include "callring.h"
#include "clock.h"
#include "config.h"
#include "control.h"
#include "flow/drain.h"
#include "flow/raw.h"
#include "flow/round.h"
#include "flow/segment.h"
#include "flow/writer.h"
#include "gputime.h"
#include "images.h"
#include "kernel.h"
#include "launch.h"
#include "log.h"
#include "out.h"
#include "output.h"
#include "recorder.skel.h"
#include "recording.h"
#include "rings.h"
#include "sink.h"
#include "source.h"
#include "source/links.h"
#include "source/point.h"
#include "symbols.h"
#include "target.h"
#include "taskstate.h"

#define EXIT_LOST	3	/* --strict: records were lost */
#define RAW_NAME	"recording.raw"

struct recording {
	const struct config *cfg;
	uint64_t	     begun;	/* ns: when recorder itself began, long before what it records */
	struct about	    *about;
	struct output	    *output;
	struct queue	    *queue;
	struct segment	    *segment;
	struct raw	    *raw;
	struct symbols	    *symbols;	/* of stacks; NULL: there are none */
	struct images	    *images;
	struct recorder_bpf *bpf;
	void		    *tallies;	/* struct tally, one per CPU, mapped */
	void		    *calls;	/* the rings of function records, mapped */
	size_t		     calls_bytes;
	uint32_t	     calls_slots;
	unsigned	     cpus;
	struct launch	    *launch;
	struct target	    *target;	/* NULL: the command is recorded */
	struct drain	    *drain;
	struct writer	    *writer;
	struct tracker_counts counts;
	uint64_t	     garbled;	/* of what was lost: records that did not come as they were written */
	int		     written;	/* 0, or why a format stopped before the end */
	bool		     has_ended;	/* the command did, and its status is known */
	int		     exit_status;	/* when the command could not be run */
};

/* ---- output ---- */

static int open_output(struct recording *r)
{
	const struct config *cfg = r->cfg;
	int err = output_open(&r->output, cfg);

	err = err ?: segment_create(&r->segment);
	for (unsigned i = 0; i < cfg->sink_count && !err; i++) {
		struct sink_args args = { .about = r->about };

		output_sink_args(r->output, i, &args);
		err = segment_open(r->segment, cfg->sink[i], &args);
		if (!err)
			continue;
		fail(err, "cannot write '%s' as %s", output_sink_path(r->output, i), cfg->sink[i]->name);
		output_give_up(r->output, i);
	}
	if (!err && cfg->raw) {
		err = raw_create(&r->raw, output_dirfd(r->output), RAW_NAME);
		if (err)
			fail(err, "cannot create '%s/%s'", output_path(r->output), RAW_NAME);
	}
	return err;
}

/* ---- BPF ---- */

static char complaint[256];	/* libbpf's first: what the kernel did not take */

/* Line by line: the verifier's are many, and paths may hold anything. */
static int print_libbpf(const char *fmt, va_list args)
{
	__cleanup(free_ptr) char *text = NULL;
	char *rest = NULL, *line;
	int n = vasprintf(&rest, fmt, args);

	if (n < 0)
		return n;
	text = rest;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			detail("%s", line);
	return n;
}

static int quiet_libbpf(enum libbpf_print_level level, const char *fmt, va_list args)
{
	va_list again;

	if (level == LIBBPF_WARN && !*complaint) {
		va_copy(again, args);
		vsnprintf(complaint, sizeof(complaint), fmt, again);
		va_end(again);
		complaint[strcspn(complaint, "\n")] = '\0';
	}
	if (!log_wants(LOG_DEBUG) || level == LIBBPF_DEBUG)
		return 0;
	return print_libbpf(fmt, args);
}

static int plan_sources(struct recording *r)
{
	int err = 0;

	for (const struct source_ops *const *s = sources; *s && !err; s++)
		if ((*s)->plan)
			err = (*s)->plan(r->bpf, r->cfg);
	return err;
}

/* As many slots as go into a ring of the size asked for, rounded to a power of two. */
static void plan_calls(struct recording *r)
{
	size_t ring;

	r->calls_slots = 2 * CALLS_SPARE;
	while (r->calls_slots * 2 * sizeof(struct rec_func) <= r->cfg->ring_bytes)
		r->calls_slots *= 2;
	ring = sizeof(struct calls_head) + r->calls_slots * sizeof(struct rec_func);
	r->calls_bytes = ring * r->cpus;
	r->bpf->rodata->calls_mask = r->calls_slots - 1;
	bpf_map__set_max_entries(r->bpf->maps.call_rings, r->cpus);
	bpf_map__set_value_size(r->bpf->maps.call_rings, ring);
}

/* What BPF writes there is seen at once. */
static int map_memory(void **ret, const struct bpf_map *map, size_t bytes, const char *what)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (p == MAP_FAILED)
		return fail(-errno, "cannot map %s", what);
	*ret = p;
	return 0;
}

/* The object, with the programs that the sources want of this kernel. */
static int load_object(struct recording *r)
{
	int err;

	libbpf_set_print(quiet_libbpf);
	err = point_prepare();
	if (err)
		return err;
	r->bpf = recorder_bpf__open();
	if (!r->bpf)
		return -errno;
	r->cpus = libbpf_num_possible_cpus();
	bpf_map__set_max_entries(r->bpf->maps.rings, r->cpus);
	bpf_map__set_max_entries(r->bpf->maps.tallies, r->cpus);
	r->bpf->rodata->lose_one_in = r->cfg->lose_one_in;
	plan_calls(r);
	if (r->target)
		target_plan(r->target, r->bpf);
	err = plan_sources(r);
	return err ?: recorder_bpf__load(r->bpf);
}

static int load_bpf(struct recording *r)
{
	int err = load_object(r);
	const char *obstacle = err ? kernel_obstacle_to_load() : NULL;

	if (obstacle) {
		fail(0, "%s", obstacle);
		return err;
	}
	if (err) {
		fail(err, "the kernel does not take the BPF programs");
		hint("recorder --doctor; -vv prints what the kernel says");
		return err;
	}
	images_set_bpf(r->images, r->bpf);
	err = map_memory(&r->calls, r->bpf->maps.call_rings, r->calls_bytes, "the rings of function records");
	err = err ?: map_memory(&r->tallies, r->bpf->maps.tallies, r->cpus * sizeof(struct tally), "the counts of what is lost");
	return err ?: rings_make(r->bpf, r->cpus, r->cfg->ring_bytes);
}

static int attach_sources(struct recording *r)
{
	int err = 0;

	for (const struct source_ops *const *s = sources; *s && !err; s++)
		if ((*s)->attach)
			err = (*s)->attach(r->bpf, r->cfg);
	return err;
}

static void stop_sources(struct recording *r)
{
	for (const struct source_ops *const *s = sources; *s; s++)
		if ((*s)->stop)
			(*s)->stop(r->bpf);
}

static void detach_sources(void)
{
	const struct source_ops *const *s = sources;

	while (*s)
		s++;
	while (s-- > sources)
		if ((*s)->detach)
			(*s)->detach();
	links_wait();
}

/* ---- the command ---- */

/* Execute permission alone is enough to run: then its functions are not seen. */
static int probe_command(struct recording *r)
{
	__cleanup(close_fd) int proc = open("/proc/self", O_PATH | O_CLOEXEC);

	return MIN(images_add_path(r->images, proc, r->cfg->exe), 0);
}

/* From its next execve on, the child is recorded. */
static int mark_command(struct recording *r)
{
	struct task_state state = { .flags = TASK_ARMED | TASK_UNSTARTED };
	int pidfd = launch_pidfd(r->launch);

	if (bpf_map_update_elem(bpf_map__fd(r->bpf->maps.tasks), &pidfd, &state, BPF_ANY))
		return fail(-errno, "cannot mark '%s' to be recorded", r->cfg->argv[0]);
	return 0;
}

/* Of the memory for rounds: what may wait for others in the merge, when they have been taken out of the queue. */
static size_t hold_bytes(const struct config *cfg)
{
	return cfg->memory_bytes / 4;
}

static int start_threads(struct recording *r)
{
	struct drain_args drain = {
		.ring_fd = rings_fds(), .ring_count = r->cpus, .ring_bytes = r->cfg->ring_bytes,
		.calls = r->calls, .calls_slots = r->calls_slots,
		.tallies = r->tallies, .queue = r->queue, .hold_bytes = hold_bytes(r->cfg), .is_prompt = r->cfg->files,
	};
	struct writer_args writer = {
		.queue = r->queue, .segment = r->segment, .raw = r->raw, .symbols = r->symbols, .about = r->about, .exe = r->cfg->exe,
	};
	int err = writer_start(&r->writer, &writer);

	err = err ?: drain_start(&r->drain, &drain);
	return err ? fail(err, "cannot start the threads that write") : 0;
}

/* What is missed from now on is. */
static void begin_sources(struct recording *r)
{
	for (const struct source_ops *const *s = sources; *s; s++)
		if ((*s)->begin)
			(*s)->begin(r->bpf);
}

/* From now on: the targets are recorded, or the command runs, or both. */
static int run(struct recording *r)
{
	struct control_args args = {
		.cfg = r->cfg, .launch = r->launch, .target = r->target, .writer = r->writer, .images = r->images,
	};
	int err;

	r->about->start = clock_now();
	begin_sources(r);
	if (r->target) {
		err = target_begin(r->target, r->bpf, r->images);
		if (err)
			return err;
		say("recording %zu process%s%s", target_count(r->target), target_count(r->target) == 1 ? "" : "es",
		    target_awaits(r->target) ? ", and who comes into the cgroup" : "");
	}
	if (r->cfg->argv) {
		r->exit_status = launch_go(r->launch);
		if (r->exit_status)
			return -ECANCELED;
	}
	return control_run(&args, &r->has_ended);
}

/* Who is to be recorded, as far as that can be wrong. */
static int open_targets(struct recording *r)
{
	int err = r->cfg->target_count ? target_create(&r->target, r->cfg) : 0;

	if (err)
		r->exit_status = EXIT_USAGE;
	return err;
}

static int start_launch(struct recording *r)
{
	if (!r->cfg->argv)
		return launch_nothing(&r->launch, r->cfg);
	r->exit_status = launch_start(&r->launch, r->cfg);
	return r->exit_status ? -ECANCELED : 0;
}

static int describe(struct recording *r)
{
	int err = about_create(&r->about, r->cfg->argv, NULL);

	err = err ?: tracepoints_copy(&r->about->tracepoints, &r->cfg->tracepoints);
	if (!err && r->target) {
		free(r->about->exe);
		r->about->exe = strdup(target_exe(r->target));
		err = r->about->exe ? 0 : -ENOMEM;
	}
	if (err)
		return fail(err, "cannot describe this host");
	r->about->string_bytes = r->cfg->string_bytes;
	r->about->gpu_times = gputime_setting() != NULL;
	return 0;
}

/* ---- the walk ---- */

/* Ahead of BPF objects and targets, which the process that reads files is to know nothing of. */
static int start_symbols(struct recording *r)
{
	int err = symbols_create(&r->symbols) ?: symbols_start(r->symbols);

	return err ? fail(err, "cannot start the process that reads names of functions") : 0;
}

static int recording_begin(struct recording *r, const struct config *cfg)
{
	int err;

	r->cfg = cfg;
	err = open_targets(r);
	err = err ?: queue_create(&r->queue, cfg->memory_bytes - hold_bytes(cfg));
	err = err ?: images_create(&r->images, cfg, r->queue);
	if (cfg->callers)
		err = err ?: start_symbols(r);
	err = err ?: load_bpf(r);
	err = err ?: attach_sources(r);
	err = err ?: start_launch(r);
	err = err ?: describe(r);
	if (!err && !r->target)
		err = images_copy_for(r->images, launch_pid(r->launch)) ?: mark_command(r) ?: probe_command(r);
	err = err ?: open_output(r);
	return err ?: start_threads(r);
}

static int seal_raw(struct recording *r)
{
	int err = r->raw ? raw_seal(TAKE(r->raw), r->about) : 0;

	return err ? fail(err, "format 'raw' stopped here: its file holds what came before") : 0;
}

/* Stop taking records, finish the files, then let the probes go: files first, detaching may take seconds. */
static int recording_end(struct recording *r, int err)
{
	if (r->bpf)
		r->bpf->data->recording = false;
	if (r->about) {
		r->about->end = clock_now();
		if (r->has_ended) {
			r->about->exit_status = launch_status(r->launch);
			r->about->usage = *launch_usage(r->launch);
		}
	}
	if (r->drain) {
		stop_sources(r);
		r->garbled = drain_finish(TAKE(r->drain));
	}
	r->written = writer_finish(TAKE(r->writer), &r->counts);
	r->written = seal_raw(r) ?: r->written;
	detach_sources();
	return r->written ?: err;
}

static void recording_free(struct recording *r)
{
	segment_destroy(r->segment);
	symbols_destroy(r->symbols);
	launch_destroy(r->launch);
	target_destroy(r->target);
	images_destroy(r->images);
	if (r->calls)
		munmap(r->calls, r->calls_bytes);
	if (r->tallies)
		munmap(r->tallies, r->cpus * sizeof(struct tally));
	recorder_bpf__destroy(r->bpf);
	rings_release();
	queue_destroy(r->queue);
	rounds_release();
	about_destroy(r->about);
	output_destroy(r->output);
}

/* ---- what was done ---- */

static uint64_t lost_in_all(const struct recording *r)
{
	uint64_t n = 0;

	for (int i = 0; i < REC_CLASSES; i++)
		n += r->counts.lost[i];
	return n;
}

/* Of a format that stopped: that, and those that the others did not get, is what was produced. */
static void say_lacks(const struct recording *r, unsigned i)
{
	uint64_t n[REC_CLASSES];
	const char *name = segment_lacks(r->segment, i, n);

	if (name)
		say("  '%s' has stopped, and lacks %lu function, %lu syscall, %lu task, %lu event, %lu CUDA records", name,
		    n[CLASS_FUNCTION], n[CLASS_SYSCALL], n[CLASS_TASK], n[CLASS_EVENT], n[CLASS_CUDA]);
}

static void say_loss(const struct recording *r)
{
	const uint64_t *lost = r->counts.lost;
	char others[80] = "", help[64];
	int n = 0;

	if (r->written)
		say("lost: what came after a format had stopped");
	for (unsigned i = 0; i < r->cfg->sink_count; i++)
		say_lacks(r, i);
	if (!lost_in_all(r)) {
		if (!r->written)
			say("lost: nothing");
		return;
	}
	if (lost[CLASS_EVENT])
		n = snprintf(others, sizeof(others), ", %lu event", lost[CLASS_EVENT]);
	if (lost[CLASS_CUDA])
		snprintf(others + n, sizeof(others) - n, ", %lu CUDA", lost[CLASS_CUDA]);
	snprintf(help, sizeof(help), "larger rings help: -b %zuM", MAX(r->cfg->ring_bytes >> 19, (size_t)1));
	say("lost: %lu function, %lu syscall, %lu task%s records; %s", lost[CLASS_FUNCTION], lost[CLASS_SYSCALL],
	    lost[CLASS_TASK], others, r->cfg->replay ? "when it was recorded" : help);
	if (r->garbled)
		say("  %lu of them were garbled in the rings that the kernel writes", r->garbled);
}

/* They are whole, but stand behind what they came before; at its time. */
static void say_late(const struct recording *r)
{
	if (r->counts.late)
		say("came late, and stand behind later ones: %lu record%s", r->counts.late, r->counts.late == 1 ? "" : "s");
}

/* From recorder's start to now, the CPU and the time alike: set-up and letting go cost, too. */
static void say_cost(const struct recording *r)
{
	struct rusage u;
	double cpu, wall = (clock_now() - r->begun) / 1e9;
	char costly[1024];

	getrusage(RUSAGE_SELF, &u);
	cpu = u.ru_utime.tv_sec + u.ru_stime.tv_sec + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	say("own cost: %.2f s of CPU in a run of %.2f s, set-up and end included, %ld MB", cpu, wall, u.ru_maxrss >> 10);
	if (costly_text(&r->counts.costly, wall * 1e9, costly, sizeof(costly)))
		say("%s", costly);
}

/* How to read what a sink has written. */
static void say_place(const struct recording *r, unsigned i)
{
	__cleanup(free_ptr) char *spool = output_sink_spool(r->output, i);

	if (!spool && !output_has_come(r->output, i))
		say("'%s' could not be written", output_sink_path(r->output, i));
	else if (spool)
		say("what there is of it lies in '%s': recorder --recover '%s' seals it", spool, spool);
	else
		output_say_open(r->cfg->sink[i], output_sink_path(r->output, i));
}

/* Is anything where the user wants it? A file that could not be put there is not. */
static bool has_come(const struct recording *r)
{
	bool has = r->cfg->raw;

	for (unsigned i = 0; i < r->cfg->sink_count && !has; i++)
		has = output_has_come(r->output, i);
	return has;
}

static void say_written(const struct recording *r)
{
	char more[128] = "";
	int len = 0;

	if (r->counts.probes)
		len = snprintf(more, sizeof(more), ", %lu USDT probe hits", r->counts.probes);
	if (r->counts.files)
		len += snprintf(more + len, sizeof(more) - len, ", %lu file operations", r->counts.files);
	if (r->counts.kernel_events)
		len += snprintf(more + len, sizeof(more) - len, ", %lu kernel events", r->counts.kernel_events);
	if (r->counts.marks)
		len += snprintf(more + len, sizeof(more) - len, ", %lu mark%s", r->counts.marks, r->counts.marks == 1 ? "" : "s");
	if (r->counts.cuda)
		snprintf(more + len, sizeof(more) - len, ", %lu CUDA calls", r->counts.cuda);
	say("%s '%s': %lu function calls, %lu syscalls%s, %lu tasks, %.1f MB", has_come(r) ? "wrote" : "could not write",
	    output_path(r->output), r->counts.functions, r->counts.syscalls, more, r->counts.tasks, out_total() / 1e6);
	for (unsigned i = 0; i < r->cfg->sink_count; i++)
		say_place(r, i);
}

/* What cannot be known of them is told as far as it goes. */
static void say_unknown_graphs(const struct tracker_counts *n)
{
	if (n->cuda_nodes)
		warn("%lu change%s of graph nodes that are not known: launches of those graphs may have other kernels than told",
		     n->cuda_nodes, n->cuda_nodes == 1 ? "" : "s");
	if (n->cuda_graphs)
		warn("%lu launch%s of graphs that were made before, or unseen: which kernels they have is not known",
		     n->cuda_graphs, n->cuda_graphs == 1 ? "" : "es");
	if (n->cuda_captures)
		warn("%lu capture%s of which the end was not seen: some launches behind it may be told as captured",
		     n->cuda_captures, n->cuda_captures == 1 ? "" : "s");
}

static void say_summary(const struct recording *r)
{
	say_written(r);
	say_loss(r);
	say_late(r);
	for (const struct source_ops *const *s = sources; *s; s++)
		if ((*s)->summary)
			(*s)->summary();
	if (r->counts.cuda_unseen)
		warn("the CUDA driver gave %lu function%s of its own by cuGetProcAddress() that %s not exported: calls are not seen",
		     r->counts.cuda_unseen, r->counts.cuda_unseen == 1 ? "" : "s", r->counts.cuda_unseen == 1 ? "is" : "are");
	say_unknown_graphs(&r->counts);
	gputime_summary(&r->counts.gpu);
	if (r->counts.inferred)
		say("ends inferred from the stack: %lu", r->counts.inferred);
	output_summary(r->output);
	say_cost(r);
}

/* With a command its own status is passed on, so ours must be told from it: env(1). */
static int failed_status(const struct config *cfg)
{
	return cfg->argv ? EXIT_RECORDER : 1;
}

void recording_run(const struct config *cfg, struct recording_result *ret)
{
	struct recording r = { .begun = clock_now() };
	int err = recording_begin(&r, cfg);

	err = err ?: run(&r);
	err = recording_end(&r, err);
	if (r.counts.events)
		say_summary(&r);
	ret->has_command = r.has_ended;
	ret->status = r.has_ended ? launch_status(r.launch) : 0;
	ret->exit_status = r.exit_status ?: err ? failed_status(cfg) : 0;
	if (err && r.has_ended)			/* it has been said; the command's status is its own */
		ret->exit_status = cfg->strict ? EXIT_LOST : 0;
	if (!err && r.target && !r.counts.events) {
		fail(0, "nothing was recorded");
		ret->exit_status = failed_status(cfg);
	}
	if (!ret->exit_status && cfg->strict && lost_in_all(&r))
		ret->exit_status = EXIT_LOST;
	recording_free(&r);
}

/* ---- from a raw recording ---- */

static int open_raw(const struct config *cfg, struct recording *r)
{
	int fd = open(cfg->replay, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	int err;

	if (fd < 0)
		return fail(-errno, "cannot open '%s'", cfg->replay);
	err = fstat(fd, &st) || !S_ISREG(st.st_mode) ? -EBADMSG : raw_about(fd, &r->about);
	if (err == -ENODATA) {			/* cut short: its end, and what it says of itself, are missing */
		warn("'%s' was not finished; the facts of this host stand in for its own", cfg->replay);
		err = about_create(&r->about, NULL, NULL);
	}
	if (!err)
		return fd;
	close(fd);
	fail(0, "'%s' is not a raw recording", cfg->replay);
	hint("recorder --format raw -o DIR -- CMD makes one: DIR/" RAW_NAME);
	return err;
}

static int replay_into(struct recording *r, int fd)
{
	struct writer_args args = { .queue = r->queue, .about = r->about, .exe = r->about->exe };
	int err, pushed;

	r->about->is_replay = true;
	err = open_output(r) ?: symbols_create(&r->symbols);
	args.segment = r->segment;
	args.symbols = r->symbols;
	err = err ?: writer_start(&r->writer, &args);
	if (err)
		return err;
	pushed = raw_push(fd, r->queue);
	err = r->written = writer_finish(TAKE(r->writer), &r->counts);
	if (pushed)
		warn("'%s' is damaged: what came before the damage is written", r->cfg->replay);
	return err ?: pushed;
}

int recording_replay(const struct config *cfg)
{
	struct recording r = { .cfg = cfg };
	__cleanup(close_fd) int fd = open_raw(cfg, &r);
	int err = fd < 0 ? fd : queue_create(&r.queue, cfg->memory_bytes);

	if (fd < 0)
		return EXIT_USAGE;
	err = err ?: replay_into(&r, fd);
	if (r.counts.events) {
		say_written(&r);
		say_loss(&r);
		say_late(&r);
	}
	if (!err && cfg->strict && lost_in_all(&r))
		err = EXIT_LOST;
	recording_free(&r);
	return err > 0 ? err : err ? 1 : 0;
}

/* ---- what would be done ---- */

int recording_try(const struct config *cfg, char *why, size_t size)
{
	static const char prefix[] = "libbpf: ";
	struct recording r = { .cfg = cfg };
	int err = load_object(&r);

	if (err)
		snprintf(why, size, "the kernel does not take the BPF programs: %s", !*complaint ? strerror(-err) :
			 complaint + (strncmp(complaint, prefix, strlen(prefix)) ? 0 : strlen(prefix)));
	recording_free(&r);
	return err;
}

int recording_dry_run(const struct config *cfg)
{
	struct recording r = { .cfg = cfg };
	int err = queue_create(&r.queue, cfg->memory_bytes);

	err = err ?: images_create(&r.images, cfg, r.queue);
	err = err ?: open_targets(&r);
	err = err ?: r.target ? target_probe(r.target, r.images) : probe_command(&r);
	if (!err) {
		if (r.target && !cfg->list)
			say("would record %zu processes and write '%s'", target_count(r.target), output_usual_path(cfg));
		else if (!cfg->list)
			say("would run '%s' and write '%s'", cfg->exe, output_usual_path(cfg));
		for (const struct source_ops *const *s = sources; *s; s++)
			if ((*s)->summary)
				(*s)->summary();
	}
	recording_free(&r);
	return err ? 1 : 0;
}
