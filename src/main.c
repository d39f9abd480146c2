/*
 * main.c - the choice of what to do.
 */
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "apart.h"
#include "base.h"
#include "config.h"
#include "kernel.h"
#include "launch.h"
#include "log.h"
#include "output.h"
#include "recording.h"

#define FILES_WANTED	(128 << 10)

/* Recording needs a kernel and rights; say which is missing. */
static int check_kernel(void)
{
	const char *help = NULL;
	const char *obstacle = kernel_obstacle(&help);

	if (!obstacle)
		return 0;
	fail(0, "%s", obstacle);
	if (help)
		hint("%s", help);
	return -EPERM;
}

/* Targets take a file each. The command gets what was saved before (launch.c). */
static void want_files(void)
{
	struct rlimit limit = {};

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max < FILES_WANTED)
		limit.rlim_max = FILES_WANTED;		/* which only who may raise limits may */
	limit.rlim_cur = limit.rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &limit))
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/*
 * A breakpoint that a program copies, with the code it is in, to memory of no file kills it: the kernel looks for its
 * probes by file. Nothing can be done about it but to say so.
 */
static void explain_death(const struct config *cfg, int status)
{
	if (!cfg->functions || !WIFSIGNALED(status) || WTERMSIG(status) != SIGTRAP)
		return;
	warn("the command died of SIGTRAP: perhaps of our probes, in a copy of its own code (huge pages for code)");
	hint("without probes in its code: --no-functions");
}

static int doctor(const struct config *cfg)
{
	want_files();
	return kernel_doctor(stdout, recording_try, cfg);
}

static int record(const struct config *cfg, char **argv)
{
	struct recording_result result = {};

	if (cfg->functions && cfg->libraries)
		apart_go(argv);
	launch_hold_signals(cfg);
	if (check_kernel())
		return EXIT_RECORDER;
	want_files();
	recording_run(cfg, &result);
	if (result.has_command)
		explain_death(cfg, result.status);
	if (!result.exit_status && result.has_command)
		launch_exit_like_child(result.status);
	return result.exit_status;
}

/* Rounds come and go by the megabyte: keep their memory instead of getting it anew, zeroed, from the kernel. */
static void keep_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

int main(int argc, char **argv)
{
	struct config *cfg = NULL;
	int status;

	apart_arrive();
	keep_memory();
	launch_save_signals();
	status = config_parse(&cfg, argc, argv);
	if (status)
		return status - 1;
	kernel_deny(cfg->denied_features);
	if (cfg->recover)
		status = output_recover(cfg->recover);
	else if (cfg->doctor)
		status = doctor(cfg);
	else if (cfg->replay)
		status = recording_replay(cfg);
	else if (cfg->dry_run || cfg->list)
		status = recording_dry_run(cfg);
	else
		status = record(cfg, argv);
	config_destroy(cfg);
	return status;
}
