/*
 * test_about.c - facts of the host and the command.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "about.h"
#include "base.h"
#include "test.h"

DEFINE_CLEANUP(about_destroy, struct about *)

TEST(about_tells_the_host_and_its_clocks)
{
	__cleanup(about_destroyp) struct about *a = NULL;
	char host[256] = "";

	CHECK(about_create(&a, NULL, NULL) == 0);
	gethostname(host, sizeof(host) - 1);
	CHECK_STR(a->hostname, host);
	CHECK(!strncmp(a->kernel, "Linux ", 6));
	CHECK(*a->distro && *a->cpu_model);
	CHECK(a->cpus_online >= 1 && a->cpus_possible >= a->cpus_online);
	CHECK(a->mem_total >= a->mem_free && a->mem_free > 0);
	CHECK(a->start > 0 && a->utc_offset > 0);
	CHECK(a->argv == NULL && a->exe == NULL);
}

TEST(about_finds_the_command_as_execvp_does)
{
	static char *argv[] = { "sh", "-c", "exit 0", NULL }, *none[] = { "no-such-command", NULL };
	static char *self[] = { "recorder", "--", "sh", NULL };
	struct about *a;

	CHECK(about_create(&a, argv, self) == 0);
	CHECK(a->exe[0] == '/' && access(a->exe, X_OK) == 0);
	CHECK_STR(a->argv[2], "exit 0");
	CHECK(a->argv != argv && a->argv[3] == NULL);
	CHECK_STR(a->cmdline, "recorder -- sh");
	about_destroy(a);

	CHECK(about_create(&a, none, self) == 0);
	CHECK_STR(a->exe, "no-such-command");
	about_destroy(a);
}

TEST(about_reads_its_own_command_line)
{
	__cleanup(about_destroyp) struct about *a = NULL;

	CHECK(about_create(&a, NULL, NULL) == 0);
	CHECK(*a->cmdline && !strchr(a->cmdline, '\n') && a->cmdline[strlen(a->cmdline) - 1] != ' ');
}
