/*
 * config.c - from the command line to a config that makes sense.
 *
 * The options of the environment come first, then those of the command line,
 * then what must fit together is checked, and the command is looked for: all
 * that can be wrong about a command line is said before anything is done.
 */
#include <getopt.h>
#include <sys/sysinfo.h>

#include "base.h"
#include "config.h"
#include "cuda.h"
#include "filter.h"
#include "identity.h"
#include "launch.h"
#include "log.h"
#include "options.h"
#include "pattern.h"
#include "sink.h"
#include "usdt.h"

/* ---- RECORDER_OPTS ---- */

/* A service gets its options from its own unit, not from whatever its manager's environment holds. */
static bool environment_is_the_users(void)
{
	const char *pid = getenv("SYSTEMD_EXEC_PID");	/* systemd.exec(5): the process it started itself */

	return getuid() == geteuid() && (!pid || atol(pid) != getpid());
}

static int parse_environment(struct config *cfg)
{
	const char *text = environment_is_the_users() ? getenv("RECORDER_OPTS") : NULL;
	struct pass p = { .cfg = cfg, .from = "RECORDER_OPTS: " };
	size_t room = 0;
	char *rest;
	int err;

	if (!text)
		return 0;
	cfg->env_words = strdup(text);
	room = strlen(text) / 2 + 3;
	p.argv = cfg->env_argv = calloc(room, sizeof(*p.argv));
	if (!cfg->env_words || !p.argv)
		return fail(-ENOMEM, "RECORDER_OPTS"), 1 + EXIT_RECORDER;
	p.argv[p.argc++] = (char *)"recorder";
	rest = cfg->env_words;
	while ((p.argv[p.argc] = strsep(&rest, " \t\n")))
		p.argc += *p.argv[p.argc] != '\0';
	err = options_parse(&p);
	if (!err && optind < p.argc) {
		fail(0, "RECORDER_OPTS: '%s' is not an option", p.argv[optind]);
		err = 1 + EXIT_USAGE;
	}
	return err;
}

/* ---- what must fit together ---- */

/* A ring's size is a power of two; what was asked for is the least it may be. */
static int round_ring(struct config *cfg)
{
	const size_t most = 1ul << 30;
	size_t n = 16 << 10;

	if (cfg->ring_bytes > most) {
		fail(0, "-b: %zu bytes are too many for the buffer of one CPU, which is at most 1G",
		     cfg->ring_bytes);
		return 1 + EXIT_USAGE;
	}
	while (n < cfg->ring_bytes)
		n *= 2;
	cfg->ring_bytes = n;
	return 0;
}

/* Which option wants to know more of functions than their calls; NULL: none. @s: how its verb ends. */
static const char *asks_more(const struct config *cfg, const char **s)
{
	*s = cfg->args.count ? "" : "s";
	return cfg->args.count ? "-A and -R" : cfg->auto_args ? "--auto-args" : cfg->srcline ? "--srcline" : NULL;
}

static int check_without_command(const struct config *cfg, const char *command)
{
	const char *who = cfg->replay ? "--replay reads a file and runs nothing" : "--doctor runs nothing", *s;

	if (command) {
		fail(0, "%s, so there is no place for '%s'", who, command);
		return 1 + EXIT_USAGE;
	}
	if (cfg->replay && cfg->doctor) {
		fail(0, "--replay and --doctor are two different things to do");
		return 1 + EXIT_USAGE;
	}
	if (cfg->target_count) {
		fail(0, "%s, so there is no place for %s", who, cfg->target->kind == TARGET_CGROUP ? "--cgroup" : "-p");
		return 1 + EXIT_USAGE;
	}
	if (cfg->replay && (cfg->user || cfg->as_root || cfg->dry_run || cfg->list)) {
		fail(0, "%s, so there is no place for %s", who,
		     cfg->list ? "--list" : cfg->dry_run ? "--dry-run" : cfg->user ? "-u" : "--as-root");
		return 1 + EXIT_USAGE;
	}
	if (cfg->replay && asks_more(cfg, &s)) {
		fail(0, "%s, so there is no place for %s", who, asks_more(cfg, &s));
		hint("without them: what was asked for when it was recorded is in the file");
		return 1 + EXIT_USAGE;
	}
	if (cfg->replay && (cfg->usdt_count || cfg->cuda_asked || cfg->gpu_times)) {
		fail(0, "%s, so there is no place for %s", who,
		     cfg->cuda_asked ? "--cuda" : cfg->gpu_times ? "--gpu-times" : "--usdt");
		return 1 + EXIT_USAGE;
	}
	if (cfg->replay && access(cfg->replay, R_OK)) {
		fail(-errno, "--replay: cannot read '%s'", cfg->replay);
		return 1 + EXIT_USAGE;
	}
	return 0;
}

static int check_identity(const struct config *cfg)
{
	struct identity id;

	if (cfg->user && cfg->as_root) {
		fail(0, "-u '%s' and --as-root: the command can run as one of them only", cfg->user);
		return 1 + EXIT_USAGE;
	}
	if (cfg->user && identity_find(&id, cfg->user, false))
		return 1 + EXIT_USAGE;
	if (cfg->user)
		identity_release(&id);
	return 0;
}

/* Somebody used to "perf record" or "uftrace record" types a verb. */
static bool is_verb(const char *word)
{
	static const char *const verbs[] = {
		"record", "run", "start", "stop", "trace", "attach", "replay", "report", "live",
	};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(word, verbs[i]))
			return true;
	return false;
}

static int find_command(struct config *cfg)
{
	const char *name = cfg->argv[0];
	__cleanup(free_ptr) char *cwd = NULL;
	int err = launch_resolve(name, &cfg->exec_path);

	if (err == -ENOENT && is_verb(name)) {
		fail(0, "cannot run '%s': there is no such program in PATH", name);
		hint("recorder COMMAND: there are no verbs, recorder only records");
		return 1 + EXIT_NOT_FOUND;
	}
	if (err)
		return 1 + launch_failed(name, name, NULL, err);
	cwd = *cfg->exec_path == '/' ? NULL : getcwd(NULL, 0);
	if (*cfg->exec_path == '/' || !cwd)	/* without a working directory there is only the name */
		cfg->exe = strdup(cfg->exec_path);
	else if (asprintf(&cfg->exe, "%s/%s", cwd,
			  cfg->exec_path + (strncmp(cfg->exec_path, "./", 2) ? 0 : 2)) < 0)
		cfg->exe = NULL;
	return cfg->exe ? 0 : (fail(-ENOMEM, "cannot run '%s'", name), 1 + EXIT_RECORDER);
}

static int check_cgroups(const struct config *cfg)
{
	for (size_t i = 0; i < cfg->target_count && !cfg->follow; i++) {
		if (cfg->target[i].kind != TARGET_CGROUP)
			continue;
		fail(0, "--no-follow: --cgroup means also those who come into it");
		hint("-p with the numbers in cgroup.procs, for who is there now");
		return 1 + EXIT_USAGE;
	}
	return 0;
}

static int check_targets_alone(const struct config *cfg)
{
	if (!cfg->user && !cfg->as_root)
		return 0;
	fail(0, "%s says who the command runs as, and there is none", cfg->user ? "-u" : "--as-root");
	return 1 + EXIT_USAGE;
}

/* The driver loads the library when a process begins to use it, if its environment says so. */
static int check_gpu_times(struct config *cfg)
{
	if (cfg->target_count) {
		fail(0, "--gpu-times goes with a command that recorder starts, not with %s: CUPTI has to be there from the beginning",
		     cfg->target->kind == TARGET_CGROUP ? "--cgroup" : "-p");
		hint("recorder --gpu-times COMMAND; what the host sees is recorded without it");
		return -EINVAL;
	}
	if (!cfg->cuda || filter_holds(cfg)) {
		fail(0, "--gpu-times: there is nothing to time %s", cfg->cuda ? "with -t and -C, which leave the calls of the driver out" :
		     "with --no-cuda");
		return -EINVAL;
	}
	cfg->cuda_asked = true;
	return 0;
}

static int check_config(struct config *cfg, char **words)
{
	const char *s;
	int err = round_ring(cfg) ?: check_cgroups(cfg) ?: filter_finish(cfg->filter) ? 1 + EXIT_USAGE : 0;

	if (err)
		return err;
	if (cfg->recover && (words[0] || cfg->replay || cfg->doctor || cfg->target_count)) {
		fail(0, "--recover '%s' finishes a file and does nothing else", cfg->recover);
		return 1 + EXIT_USAGE;
	}
	if (cfg->recover)
		return 0;
	if (cfg->replay || cfg->doctor)
		return check_without_command(cfg, words[0]);
	if (cfg->usdt_count && filter_holds(cfg)) {
		fail(0, "--usdt does not go together with -t and -C: a probe takes no time, and calls nothing");
		return 1 + EXIT_USAGE;
	}
	if (cfg->gpu_times && check_gpu_times(cfg))
		return 1 + EXIT_USAGE;
	if (filter_has_callers(cfg->filter))
		cfg->syscalls = false;
	if (!words[0] && cfg->target_count)
		return check_targets_alone(cfg);
	if (!words[0]) {
		fail(0, "no command to record");
		hint("recorder COMMAND [ARG...], recorder -p PID, or recorder --help");
		return 1 + EXIT_USAGE;
	}
	if (!cfg->functions && asks_more(cfg, &s)) {
		const char *who = asks_more(cfg, &s);

		fail(0, "%s tell%s of functions, which --no-functions leaves out", who, s);
		return 1 + EXIT_USAGE;
	}
	if (!cfg->syscalls && !cfg->functions && !cfg->libcalls)
		detail("no syscalls, no functions: only the life of tasks is recorded");
	cfg->argv = words;
	err = check_identity(cfg);
	return err ?: find_command(cfg);
}

/* 32 MiB over all CPUs: much more than comes between two drains, made in some 10 ms. But no ring below 4 MiB. */
static size_t usual_ring_bytes(void)
{
	size_t n = 32 << 20, cpus = get_nprocs();

	while (n > 4 << 20 && n * cpus > 32 << 20)
		n /= 2;
	return n;
}

/* -o names a file with the end that a format has: that is meant. */
static const struct sink_ops *usual_sink(const char *output)
{
	const char *end = output ? strrchr(output, '.') : NULL, *usual;

	for (size_t i = 0; sinks[i] && end; i++) {
		usual = sinks[i]->is_file ? strrchr(sinks[i]->path, '.') : NULL;
		if (usual && !strcmp(end, usual))
			return sinks[i];
	}
	return sinks[0];
}

void config_want_syscalls(struct config *cfg)
{
	memset(cfg->syscall_wanted, true, sizeof(cfg->syscall_wanted));
	memset(cfg->compat_wanted, true, sizeof(cfg->compat_wanted));
	cfg->other_syscalls_wanted = true;
}

static struct config *usual_config(void)
{
	struct config *cfg = calloc(1, sizeof(*cfg));

	if (!cfg || filter_create(&cfg->filter)) {
		free(cfg);
		return NULL;
	}
	cfg->syscalls = cfg->functions = cfg->libcalls = cfg->dear = cfg->follow = cfg->status = true;
	config_want_syscalls(cfg);
	cfg->cuda = CUDA_ALL;
	cfg->string_bytes = 32;
	cfg->ring_bytes = usual_ring_bytes();
	cfg->memory_bytes = 256 << 20;
	return cfg;
}

DEFINE_CLEANUP(config_destroy, struct config *)

/* Which formats have a place for one of @needs. */
static void hint_formats(uint64_t needs)
{
	char names[128] = "";
	size_t len = 0;

	for (size_t k = 0; sinks[k] && len < sizeof(names); k++)
		if (sinks[k]->wants & needs)
			len += snprintf(names + len, sizeof(names) - len, "%s%s", len ? " or " : "", sinks[k]->name);
	hint("--format %s", names);
}

static bool chooses_syscalls(const struct config *cfg)
{
	return memchr(cfg->syscall_wanted, false, sizeof(cfg->syscall_wanted));
}

/* What was asked for, and no format has a place for. */
static int check_places(const struct config *cfg, uint64_t wants)
{
	const uint64_t functions = SINK_WANTS(REC_FUNC_ENTRY), files = SINK_WANTS(REC_FILE);
	const struct sink_options *o = &cfg->sink_options;
	const struct { const char *name; bool is_given; uint64_t needs; } option[] = {
		{ "-g", cfg->callers, SINK_WANTS(REC_CALLERS) },
		{ "--functions=GLOB", cfg->function_count, functions },
		{ "-F and its like", filter_is_given(cfg->filter) && !cfg->list, functions },
		{ "-A and -R", cfg->args.count, functions },
		{ "--auto-args", cfg->auto_args, functions },
		{ "--srcline", cfg->srcline, functions },
		{ "-D", cfg->depth, functions },
		{ "-t", cfg->least_ns, functions | SINK_WANTS(REC_SYS_ENTER) },
		{ "--usdt", cfg->usdt_count, SINK_WANTS(REC_USDT) },
		{ "--cuda", cfg->cuda_asked, SINK_WANTS(REC_CUDA_ENTRY) },
		{ "--syscalls=SET", chooses_syscalls(cfg), SINK_WANTS(REC_SYS_ENTER) },
		{ "-e EVENT", cfg->events_chosen && (cfg->events || cfg->tracepoints.count), SINK_WANTS(REC_EVENT) },
		{ "--env-vars", o->env_vars, files },
		{ "--thread-names", o->thread_names, files },
		{ "--mounts", o->mounts, files },
		{ "--implicit-closes", o->implicit_closes, files },
		{ "--long-lines", o->long_lines, files },
		{ "--ignore-repeated-opens", o->ignore_repeats, files },
	};

	for (size_t i = 0; i < ARRAY_SIZE(option); i++) {
		if (!option[i].is_given || wants & option[i].needs)
			continue;
		fail(0, "%s: none of the formats to be written has a place for that", option[i].name);
		hint_formats(option[i].needs);
		return 1 + EXIT_USAGE;
	}
	return 0;
}

#define WANTS_CUDA	(SINK_WANTS(REC_CUDA_ENTRY) | SINK_WANTS(REC_CUDA_EXIT) | SINK_WANTS(REC_CUDA_TIMES) | \
			 SINK_WANTS(REC_CUDA_IMAGE) | SINK_WANTS(REC_CUDA_IMAGE_FILE))

/* What no format has a place for is not recorded; a format of nothing but CUDA calls asks for them. */
static int choose_sources(struct config *cfg)
{
	uint64_t wants = cfg->raw ? ~0ull : 0;
	int err;

	if (!cfg->sink_count)			/* raw alone is for what all can be replayed as */
		wants &= ~SINK_WANTS(REC_FILE);
	for (unsigned i = 0; i < cfg->sink_count; i++)
		wants |= cfg->sink[i]->wants;
	err = check_places(cfg, wants);
	if (err)
		return err;
	for (unsigned i = 0; i < cfg->sink_count; i++)
		if (cfg->cuda && !(cfg->sink[i]->wants & ~WANTS_CUDA))
			cfg->cuda_asked = true;
	if (!(wants & SINK_WANTS(REC_CUDA_ENTRY)) || (filter_holds(cfg) && !cfg->cuda_asked))
		cfg->cuda = cfg->cuda_asked = 0;
	if (!(wants & SINK_WANTS(REC_FUNC_ENTRY)))
		cfg->functions = false;
	if (!(wants & SINK_WANTS(REC_SYS_ENTER)))
		cfg->syscalls = false;
	cfg->files = wants & SINK_WANTS(REC_FILE);
	cfg->cuda_images = wants & SINK_WANTS(REC_CUDA_IMAGE);
	if (!wants_probes(cfg))
		cfg->cuda = 0;			/* nobody looks at what is mapped */
	if (!cfg->cuda_asked || !cfg->functions || !filter_holds(cfg))
		return 0;
	fail(0, "calls of the CUDA driver are recorded as they are made: they do not go together with functions under -t and -C");
	return 1 + EXIT_USAGE;
}

int config_parse(struct config **ret, int argc, char **argv)
{
	__cleanup(config_destroyp) struct config *cfg = usual_config();
	struct pass p = { .cfg = cfg, .argc = argc, .argv = argv, .from = "" };
	int err;

	if (!cfg)
		return fail(-ENOMEM, "cannot start"), 1 + EXIT_RECORDER;
	if (getuid() != geteuid()) {
		fail(0, "refusing to run set-uid: whoever may call it could record any program as root");
		return 1 + EXIT_RECORDER;
	}
	err = parse_environment(cfg);
	err = err ?: options_parse(&p);
	if (err)
		return err;
	log_set_level(cfg->verbosity);
	cfg->status = cfg->status && cfg->verbosity >= LOG_NORMAL && isatty(STDERR_FILENO);
	err = check_config(cfg, argv + optind);
	if (err)
		return err;
	if (!cfg->sink_count && !cfg->raw)
		cfg->sink[cfg->sink_count++] = usual_sink(cfg->output);
	for (unsigned i = 0; i < cfg->sink_count && !cfg->events_chosen; i++)
		cfg->events |= cfg->sink[i]->events;
	err = choose_sources(cfg);
	if (!err)
		*ret = TAKE(cfg);
	return err;
}

void config_destroy(struct config *cfg)
{
	if (!cfg)
		return;
	filter_destroy(cfg->filter);
	argspecs_release(&cfg->args);
	for (size_t i = 0; i < cfg->function_count; i++)
		pattern_release(&cfg->function[i]);
	free(cfg->function);
	for (size_t i = 0; i < cfg->usdt_count; i++)
		usdt_pattern_release(&cfg->usdt[i]);
	free(cfg->usdt);
	tracepoints_release(&cfg->tracepoints);
	free(cfg->exec_path);
	free(cfg->exe);
	free(cfg->target);
	free(cfg->env_words);
	free(cfg->env_argv);
	free(cfg);
}
