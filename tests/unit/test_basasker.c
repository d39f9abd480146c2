/*
 * test_basasker.c - the process that walks paths for recorder: it answers, is stopped, goes on, is killed.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <time.h>

#include "base.h"
#include "identity.h"
#include "sink/bas/asker.h"
#include "test.h"

struct desk {
	struct identity	  self;
	struct bas_asker *asker;
	int		  root;
};

static void desk_set(struct desk *d)
{
	*d = (struct desk){ .root = open("/", O_PATH | O_DIRECTORY) };
	CHECK(d->root >= 0 && !bas_asker_create(&d->asker, &d->self));
}

static void desk_clear(struct desk *d)
{
	bas_asker_destroy(d->asker);
	close(d->root);
}

/* The error, 0 when /usr/. was found to be /usr. */
static int asks(struct desk *d)
{
	int err;
	__cleanup(free_ptr) char *found = bas_ask(d->asker, d->root, "/usr/.", O_PATH, RESOLVE_IN_ROOT, &err);

	CHECK(!found == !!err && (err || !strcmp(found, "/usr")));
	return err;
}

/* Ours; 0: /proc does not tell. */
static pid_t child(void)
{
	char path[64];
	FILE *f;
	int pid = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", gettid());
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

TEST(basasker_says_where_a_path_leads_and_why_not)
{
	struct desk d;
	int err;

	desk_set(&d);
	CHECK_INT(asks(&d), 0);
	CHECK(!bas_ask(d.asker, d.root, "/no/such", O_PATH, RESOLVE_IN_ROOT, &err));
	CHECK_INT(err, -ENOENT);
	CHECK_INT(asks(&d), 0);
	desk_clear(&d);
}

TEST(basasker_that_does_not_answer_is_not_waited_for_twice)
{
	struct timespec before, after, pause = { 0, 10000000 };
	struct desk d;
	pid_t pid;
	int err;

	desk_set(&d);
	CHECK_INT(asks(&d), 0);
	pid = child();
	if (!pid)
		SKIP("this kernel does not tell of children");
	CHECK(!kill(pid, SIGSTOP));
	CHECK_INT(asks(&d), -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 100; i++)
		CHECK_INT(asks(&d), -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK(after.tv_sec - before.tv_sec < 20);	/* 100 waits are 30 s */
	CHECK(!kill(pid, SIGCONT));
	for (int i = 0; (err = asks(&d)) == -ETIMEDOUT && i < 1000; i++)
		nanosleep(&pause, NULL);
	CHECK_INT(err, 0);
	CHECK_INT(child(), pid);
	desk_clear(&d);
}

TEST(basasker_that_was_killed_is_made_anew)
{
	struct desk d;
	pid_t pid;

	desk_set(&d);
	CHECK_INT(asks(&d), 0);
	pid = child();
	if (!pid)
		SKIP("this kernel does not tell of children");
	CHECK(!kill(pid, SIGKILL));
	CHECK_INT(asks(&d), -EPIPE);
	CHECK_INT(asks(&d), 0);
	CHECK(child() != pid);
	desk_clear(&d);
}
