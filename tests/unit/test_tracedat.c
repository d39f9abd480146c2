/*
 * test_tracedat.c - the parts of the trace.dat sink that need no kernel, judged by trace-cmd: random events in, the same out.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "about.h"
#include "base.h"
#include "sink/tracedat/tracedat.h"
#include "syscall/syscall.h"
#include "test.h"

#define CPUS	3

/* A spool directory, and what a sink has to fill it. */
struct bench {
	char	dir[64], spool[80];
	int	dirfd, spoolfd;
	struct td_lane	   *lane[CPUS];
	struct td_used	    used;
	struct td_syscalls *calls;
	struct td_names	   *names;
	struct about	    about;
	const struct td_codec *codec;
	struct td_payload   p;
};

static void set_up(struct bench *b, const char *codec)
{
	*b = (struct bench){ .dir = "/tmp/tracedat-XXXXXX" };
	CHECK(mkdtemp(b->dir));
	snprintf(b->spool, sizeof(b->spool), "%s/spool", b->dir);
	CHECK(!mkdir(b->spool, 0700));
	b->dirfd = open(b->dir, O_RDONLY | O_DIRECTORY);
	b->spoolfd = open(b->spool, O_RDONLY | O_DIRECTORY);
	b->about.hostname = (char *)"host";
	b->about.kernel = (char *)"Linux 6.1.0";
	b->codec = td_codec_find(codec);
	CHECK(b->codec);
	CHECK(!td_syscalls_create(&b->calls, false, 32) && !td_names_create(&b->names, b->spoolfd));
	for (unsigned i = 0; i < CPUS; i++)
		CHECK(!td_lane_create(&b->lane[i], b->spoolfd, i, b->codec));
}

static void write_meta(struct bench *b)
{
	struct td_meta_args a = {
		.about = &b->about, .codec = b->codec, .used = &b->used, .calls = b->calls, .names = b->names,
		.lane = b->lane, .cpus = CPUS,
	};
	uint64_t bytes = 0;

	CHECK(!td_meta_write(&a, b->spoolfd, NULL, &bytes) && bytes > 0);
}

static void clear(struct bench *b)
{
	char command[128];

	for (unsigned i = 0; i < CPUS; i++)
		td_lane_destroy(b->lane[i]);
	td_syscalls_destroy(b->calls);
	td_names_destroy(b->names);
	close(b->dirfd);
	close(b->spoolfd);
	snprintf(command, sizeof(command), "rm -rf '%s'", b->dir);
	CHECK(!system(command));
}

static bool has_trace_cmd(void)
{
	return !system("command -v trace-cmd > /dev/null");
}

/* What trace-cmd prints of the file, one line after the other. */
static FILE *report(const struct bench *b, const char *options)
{
	char command[256];
	FILE *f;

	snprintf(command, sizeof(command), "LC_ALL=C trace-cmd report %s -t -i %s/trace.dat 2>&1", options, b->dir);
	f = popen(command, "r");
	CHECK(f);
	return f;
}

static void seal(struct bench *b)
{
	struct td_missing missing;

	for (unsigned i = 0; i < CPUS; i++)
		CHECK(!td_lane_flush(b->lane[i]));
	write_meta(b);
	CHECK(!td_seal(b->spoolfd, b->dirfd, "trace.dat", &missing));
	CHECK_INT(missing.cut, 0);
	CHECK_INT(missing.torn, 0);
}

/* ---- random events ---- */

struct made {
	uint64_t time;
	unsigned cpu, tid;
	uint64_t lost;		/* before it */
};

/* A system call with a text of @len bytes: payloads of all sizes. */
static void make_event(struct bench *b, unsigned tid, size_t len)
{
	struct {
		struct rec_sys_enter r;
		char text[4096];
	} e = { .r = { .hdr.size = sizeof(e), .nr = 1 } };
	struct rec_text *x = (void *)e.r.text;

	x->arg = 1;
	x->len = len;
	memset(x->bytes, 'a', len);
	e.r.text_len = ROUND_UP(sizeof(*x) + len, 4);
	td_syscall_enter(b->calls, &b->p, tid, &e.r, &b->used);
}

/* 0 to 5 s, mostly short: some need more than the 27 bits an event has for it. */
static uint64_t some_time(void)
{
	uint64_t r = random();

	return r % 50 == 0 ? r % 5000000000ull : r % 3 ? r % 2000 : 0;
}

static void add_random(struct bench *b, struct made *m, uint64_t *now)
{
	*now += some_time();
	*m = (struct made){ *now, random() % CPUS, 1000 + random() % 5, 0 };
	if (random() % 40 == 0) {
		m->lost = 1 + random() % 1000;
		CHECK(!td_lane_lost(b->lane[m->cpu], m->lost));
	}
	make_event(b, m->tid, random() % 8 ? random() % 60 : random() % 2000);
	CHECK(!td_lane_add(b->lane[m->cpu], m->time, &b->p));
}

/* Events of one time are told in order of their CPUs. */
static int by_time(const void *a, const void *b)
{
	const struct made *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void check_report(const struct bench *b, const struct made *made, size_t count)
{
	FILE *f = report(b, "");
	uint64_t lost[CPUS] = {};
	char line[8192];
	size_t n = 0;

	CHECK(fgets(line, sizeof(line), f) && !strncmp(line, "cpus=", 5));
	while (fgets(line, sizeof(line), f)) {
		unsigned cpu, tid;
		unsigned long sec, ns, dropped;

		if (sscanf(line, "CPU:%u [%lu EVENTS DROPPED]", &cpu, &dropped) == 2) {
			lost[cpu] = dropped;
			continue;
		}
		CHECK(sscanf(line, " <...>-%u [%u] %lu.%lu:", &tid, &cpu, &sec, &ns) == 4);
		CHECK(n < count);
		CHECK_INT(sec * NSEC_PER_SEC + ns, made[n].time);
		CHECK_INT(cpu, made[n].cpu);
		CHECK_INT(tid, made[n].tid);
		CHECK_INT(lost[cpu], made[n].lost);
		CHECK(strstr(line, "sys_enter_write:"));
		lost[cpu] = 0;
		n++;
	}
	CHECK_INT(pclose(f), 0);
	CHECK_INT(n, count);
}

static void round_trip(const char *codec, unsigned seed, size_t count)
{
	struct made *made = calloc(count, sizeof(*made));
	uint64_t now = 1000000000;
	struct bench b;

	srandom(seed);
	set_up(&b, codec);
	for (size_t i = 0; i < count; i++)
		add_random(&b, &made[i], &now);
	seal(&b);
	/* A stable sort by time and CPU: within a CPU they are in order already. */
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k && by_time(&made[k - 1], &made[k]) > 0; k--) {
			struct made swap = made[k];

			made[k] = made[k - 1];
			made[k - 1] = swap;
		}
	check_report(&b, made, count);
	clear(&b);
	free(made);
}

TEST(trace_cmd_reads_back_the_events_that_were_written)
{
	if (!has_trace_cmd())
		SKIP("trace-cmd is not there");
	for (unsigned seed = 1; seed <= 4; seed++)
		round_trip("none", seed, 3000);
}

TEST(trace_cmd_reads_them_back_compressed)
{
	if (!has_trace_cmd())
		SKIP("trace-cmd is not there");
	if (!td_codec_find("zstd"))
		SKIP("built without libzstd");
	for (unsigned seed = 11; seed <= 14; seed++)
		round_trip("zstd", seed, 3000);
}

TEST(a_file_without_events_is_one)
{
	struct bench b;

	if (!has_trace_cmd())
		SKIP("trace-cmd is not there");
	set_up(&b, "none");
	seal(&b);
	check_report(&b, NULL, 0);
	clear(&b);
}

TEST(what_a_killed_recorder_left_is_sealed_without_its_torn_end)
{
	struct made made[200];
	struct td_missing missing;
	uint64_t now = 1000000000;
	char path[128];
	struct bench b;
	size_t kept = 0;
	FILE *f;

	if (!has_trace_cmd())
		SKIP("trace-cmd is not there");
	set_up(&b, NULL);
	srandom(5);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		add_random(&b, &made[i], &now);
	for (unsigned i = 0; i < CPUS; i++)
		CHECK(!td_lane_flush(b.lane[i]));
	write_meta(&b);
	for (unsigned i = 0; i < CPUS; i++) {
		snprintf(path, sizeof(path), "%s/cpu%u", b.spool, i);
		f = fopen(path, "a");
		CHECK(f && fwrite("torn", 4, 1, f) == 1 && !fclose(f));
	}
	CHECK(!td_seal(b.spoolfd, b.dirfd, "trace.dat", &missing));
	CHECK_INT(missing.torn, CPUS * strlen("torn"));
	f = report(&b, "");
	while (fgets(path, sizeof(path), f))
		kept += strstr(path, "sys_enter_write:") != NULL;
	CHECK_INT(pclose(f), 0);
	CHECK_INT(kept, ARRAY_SIZE(made));
	clear(&b);
}

static int cannot(void *times)
{
	++*(int *)times;
	return -EIO;
}

static void never(void *ctx)
{
	(void)ctx;
}

/* What tells of the loss comes after the error. */
TEST(a_lane_whose_events_could_not_be_described_takes_more)
{
	uint64_t now = 1000000000;
	int failed = 0, err = 0;
	struct bench b;

	set_up(&b, "none");
	srandom(9);
	for (unsigned i = 0; i < CPUS; i++)
		td_lane_set_hooks(b.lane[i], cannot, never, &failed);
	for (unsigned i = 0; i < 5000 && !failed; i++) {
		make_event(&b, 1, 900);
		err = td_lane_add(b.lane[0], now += 1000, &b.p);
	}
	CHECK_INT(err, -EIO);
	CHECK(!td_lane_lost(b.lane[0], 7));
	for (unsigned i = 0; i < 40; i++) {	/* fewer than a chunk has pages for */
		make_event(&b, 1, 100);
		CHECK(!td_lane_add(b.lane[0], now += 1000, &b.p));
	}
	CHECK_INT(failed, 1);
	clear(&b);
}

/* A limit of files stands for a disk on which others have taken the room meanwhile. */
static void cut_short(const char *codec)
{
	struct made *made = calloc(20000, sizeof(*made));
	struct td_missing missing;
	struct rlimit limit = { .rlim_max = RLIM_INFINITY };
	uint64_t now = 1000000000, spooled = 0;
	struct bench b;
	char line[8192];
	size_t kept = 0;
	FILE *f;

	CHECK(made);
	set_up(&b, codec);
	srandom(7);
	for (size_t i = 0; i < 20000; i++)
		add_random(&b, &made[i], &now);
	for (unsigned i = 0; i < CPUS; i++) {
		CHECK(!td_lane_flush(b.lane[i]));
		spooled += td_lane_bytes(b.lane[i]);
	}
	write_meta(&b);
	CHECK(!getrlimit(RLIMIT_FSIZE, &limit));
	limit.rlim_cur = spooled / 2;
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	CHECK(td_seal(b.spoolfd, b.dirfd, "trace.dat", &missing) == -EFBIG);
	CHECK(!td_seal_moving(b.spoolfd, b.dirfd, "trace.dat", &missing));
	limit.rlim_cur = limit.rlim_max;
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	CHECK(missing.cut > spooled / 4 && missing.cut < spooled);
	f = report(&b, "");
	while (fgets(line, sizeof(line), f))
		kept += strstr(line, "sys_enter_write:") != NULL;
	CHECK_INT(pclose(f), 0);
	CHECK(kept > 20000 / 8 && kept < 20000 * 3 / 4);
	clear(&b);
	free(made);
}

TEST(where_there_is_no_room_the_file_holds_what_fits)
{
	if (!has_trace_cmd())
		SKIP("trace-cmd is not there");
	cut_short("none");
	cut_short("zstd");
}

TEST(a_spool_that_is_not_whole_is_refused)
{
	struct td_missing missing;
	struct bench b;
	int fd;

	set_up(&b, "none");
	CHECK(td_seal(b.spoolfd, b.dirfd, "trace.dat", &missing) == -ENOENT);
	write_meta(&b);
	fd = openat(b.spoolfd, TD_META, O_WRONLY);
	CHECK(fd >= 0 && !ftruncate(fd, 300));
	close(fd);
	CHECK(td_seal(b.spoolfd, b.dirfd, "trace.dat", &missing) == -EBADMSG);
	CHECK(faccessat(b.dirfd, "trace.dat", F_OK, 0));
	clear(&b);
}

/* ---- what can be said of an argument ---- */

static bool has_balanced_parentheses(const char *text)
{
	int open = 0;
	bool quoted = false;

	for (; *text && open >= 0; text++) {
		quoted ^= *text == '"';
		open += quoted ? 0 : (*text == '(') - (*text == ')');
	}
	return !open && !quoted;
}

/* A piece shows as many expressions as it has conversions. */
static unsigned conversions(const char *fmt)
{
	unsigned n = 0;

	for (; (fmt = strchr(fmt, '%')); fmt++)
		n++;
	return n;
}

static unsigned expressions(const char *expr)
{
	unsigned n = 0;
	int open = 0;
	bool quoted = false;

	for (; *expr; expr++) {
		quoted ^= *expr == '"';
		if (quoted)
			continue;
		open += (*expr == '(' || *expr == '{') - (*expr == ')' || *expr == '}');
		n += *expr == ',' && !open;
	}
	return n;
}

TEST(every_argument_of_every_system_call_can_be_printed)
{
	static char expr[32768];
	char fmt[256];

	for (unsigned i = 0; i < syscall_count(); i++) {
		const struct sysdef *def = syscall_at(i);

		for (unsigned k = 0; k < syscall_args(def); k++) {
			CHECK(!syscall_arg_format(def, k, fmt, sizeof(fmt), expr, sizeof(expr)));
			CHECK(has_balanced_parentheses(expr));
			CHECK_INT(conversions(fmt), expressions(expr));
		}
	}
}

/* All of them in one file: each format is parsed, and shows something. */
TEST(trace_cmd_understands_the_format_of_every_system_call)
{
	struct rec_sys_enter enter = { .hdr.size = sizeof(enter) };
	struct rec_sys_exit leave = { .hdr.size = sizeof(leave), .ret = -2 };
	uint64_t now = 1000000000;
	char line[8192];
	size_t n = 0;
	struct bench b;
	FILE *f;

	if (!has_trace_cmd())
		SKIP("trace-cmd is not there");
	set_up(&b, "none");
	for (unsigned nr = 0; nr < SYS_MAX; nr++) {
		enter.nr = leave.nr = nr;
		for (int i = 0; i < 6; i++)
			enter.arg[i] = random();
		td_syscall_enter(b.calls, &b.p, 100, &enter, &b.used);
		CHECK(!td_lane_add(b.lane[0], now++, &b.p));
		td_syscall_exit(b.calls, &b.p, 100, &leave, &b.used);
		CHECK(!td_lane_add(b.lane[0], now++, &b.p));
	}
	seal(&b);
	f = report(&b, "");
	while (fgets(line, sizeof(line), f)) {
		n += strstr(line, "sys_e") != NULL;
		if (strstr(line, "FAILED") || strstr(line, "UNKNOWN") || strstr(line, "[FAIL")) {
			puts(line);
			CHECK(!"understood");
		}
	}
	CHECK_INT(pclose(f), 0);
	CHECK_INT(n, 2 * SYS_MAX);
	clear(&b);
}
