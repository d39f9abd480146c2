/*
 * test_basrandom.c - the sink of bas text told events in any order, many of them lost: what must be true of every file.
 */
#include <sched.h>

#include "basdesk.h"
#include "test.h"

#define TASKS	8u		/* numbers, two to a process, which are used over and over */
#define EVENTS	4000

static unsigned upto(unsigned n)
{
	return random() % n;
}

static void any_open(struct basdesk *d)
{
	static const char *const names[] = { "/a", "b", "/c\nd", "" };
	struct rec_file *r = file(d, FILE_OPEN, upto(6), upto(100), 0644, 0);

	if (upto(4))
		with_path(r, FILE_TEXT_PATH, upto(2) ? 0 : TEXT_DELETED, "/no/a");
	if (upto(4))
		with(r, FILE_TEXT_NAME, upto(5) ? 0 : TEXT_CUT, names[upto(4)]);
	if (upto(4))
		with_path(r, FILE_TEXT_BASE, 0, "/no/cwd");
	plays(d, r);
}

static void any_exec(struct basdesk *d)
{
	uint64_t fds = upto(64);
	struct rec_exec *r = begins_exec(d, 4, upto(2) ? 4 : 0);

	exec_with(r, FILE_TEXT_NAME, "/no/x");
	exec_with(r, FILE_TEXT_INTERP, upto(2) ? "/no/x" : "/no/sh");
	if (upto(8))
		exec_with_path(r, FILE_TEXT_BASE, "/no/cwd");
	exec_with_bytes(r, FILE_TEXT_FDS, &fds, sizeof(fds));
	plays(d, r);
	for (unsigned at = 0; at < 8; at += 2)
		if (upto(9))
			piece(d, at, at % 4 ? "y" : "x", 2);
}

static void any_event(struct basdesk *d)
{
	unsigned task = 300 + upto(TASKS), other = 300 + upto(TASKS);

	turns_to(d, task & ~1u, task);
	d->cpu = upto(3);
	switch (upto(14)) {
	case 0:
		plays(d, file(d, FILE_CLONE, upto(3) ? 0 : -EAGAIN, upto(2) ? CLONE_FILES : 17, 0, 0));
		/* fall through */
	case 1:
	case 2:
		if (other != task)
			forks(d, other & ~1u, other);
		break;
	case 3:
		exits(d, upto(65536), upto(4) ? 0 : REC_F_REPLACED);
		break;
	case 4:
		d->tid = d->pid;
		execs(d, upto(2) ? d->pid : task);
		/* fall through */
	case 5:
		any_exec(d);
		break;
	case 6:
		plays(d, made(d, REC_TASK_NAME, sizeof(struct rec_task_name)));
		break;
	case 7:
		plays(d, file(d, FILE_DUP, upto(6), upto(6), 0, 0));
		break;
	case 8:
		plays(d, file(d, FILE_CLOSE_RANGE, 0, upto(6), upto(6), upto(8)));
		break;
	case 9:
		plays(d, file(d, FILE_CLOSE, 0, upto(6), 0, 0));
		break;
	case 10:
		plays(d, made(d, REC_TASK_FOUND, sizeof(struct rec_task_found)));
		break;
	default:
		any_open(d);
	}
}

/* ---- what must be true ---- */

struct seen {
	bool is_announced, has_exited;
};

static bool begins_with(const char *line, const char *word)
{
	return !strncmp(line, word, strlen(word));
}

/* Of a line of "SEQ:TID TEXT". */
static void check_line(struct seen *seen, size_t most, const char *line, const char *before)
{
	unsigned seq, tid, child;
	int n = 0;

	if (begins_with(line, "CPU:"))
		return;				/* something was lost there */
	CHECK(sscanf(line, "%u:%u %n", &seq, &tid, &n) == 2 && seq < most);
	if (!seq)
		return;				/* environments */
	CHECK(seq == 1 || seen[seq].is_announced);
	CHECK(!seen[seq].has_exited);
	if (before && strstr(before, " SysClone|")) {
		CHECK_MEM(line, before, n);
		CHECK(begins_with(line + n, "SchedFork|") || begins_with(line + n, "SysCloneFailed|"));
	}
	if (sscanf(line + n, "SchedFork|pid=%u:", &child) == 1) {
		CHECK(child < most && child > seq && !seen[child].is_announced);
		seen[child].is_announced = true;
	}
	if (begins_with(line + n, "Exit|"))
		seen[seq].has_exited = true;
}

static void check_random(unsigned seed)
{
	static struct seen seen[2 * EVENTS];
	__cleanup(free_ptr) char *copy = NULL;
	char *rest, *line, *before = NULL;
	struct basdesk d;

	srandom(seed);
	memset(seen, 0, sizeof(seen));
	seen[2].is_announced = true;		/* the command */
	basdesk_set(&d);
	d.options = (struct sink_options){
		.implicit_closes = seed & 1, .ignore_repeats = seed & 2, .env_vars = seed & 4, .thread_names = seed & 8,
	};
	basdesk_start(&d);
	for (int i = 0; i < EVENTS; i++)
		any_event(&d);
	copy = rest = strdup(lines(&d));
	while ((line = strsep(&rest, "\n")) && *line) {
		check_line(seen, ARRAY_SIZE(seen), line, before);
		before = line;
	}
	basdesk_clear(&d);
}

TEST(bas_whatever_comes_tasks_are_announced_once_and_end_once)
{
	for (unsigned seed = 0; seed < 16; seed++)
		check_random(seed);
}
