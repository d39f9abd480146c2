/*
 * test_neutrino.c - the NEUTRINO sink, told made-up calls; its files read byte by byte.
 */
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "about.h"
#include "base.h"
#include "clock.h"
#include "cuda.h"
#include "event.h"
#include "log.h"
#include "sink.h"
#include "test.h"

extern const struct sink_ops sink_neutrino;

#define NO_SUCH_PID	4194305u	/* above what a kernel gives */
#define START		1000000000ull
#define REALTIME	1700000000000000000ll	/* of START: Nov 14 22:13:20 UTC 2023 */
#define FOLDER		"Nov14_221320_4194305"

/* A recording being made up: the part of the tracker. */
struct desk {
	char		    dir[64];
	int		    dirfd;
	struct sink	   *sink;
	struct about	    about;
	struct cuda_process process;
	uint64_t	    now;
	char		   *text;	/* what was read last */
	size_t		    len;
};

static const struct cuda_function launch_kernel = { .name = "cuLaunchKernel", .does = CUDA_DOES_LAUNCH, .twin = 'z' };
static const struct cuda_function graph_launch = { .name = "cuGraphLaunch", .does = CUDA_DOES_GRAPH_LAUNCH };
static const struct cuda_function wait_stream = { .name = "cuStreamSynchronize", .does = CUDA_DOES_WAIT_STREAM, .twin = 'z' };
static const struct cuda_function wait_context = { .name = "cuCtxSynchronize", .does = CUDA_DOES_WAIT_CONTEXT };
static const struct cuda_function wait_event = { .name = "cuEventSynchronize", .does = CUDA_DOES_WAIT_EVENT };
static const struct cuda_function query_stream = { .name = "cuStreamQuery", .does = CUDA_DOES_QUERY_STREAM };
static const struct cuda_function record_event = { .name = "cuEventRecord", .does = CUDA_DOES_RECORD_EVENT };
static const struct cuda_function new_stream = { .name = "cuStreamCreate", .does = CUDA_DOES_NEW_STREAM };
static const struct cuda_function new_context = { .name = "cuCtxCreate_v2", .does = CUDA_DOES_OTHER };
static const struct cuda_function copy_down = { .name = "cuMemcpyDtoH_v2", .does = CUDA_DOES_MEMORY, .twin = 's' };
static const struct cuda_function copy_down_async = { .name = "cuMemcpyDtoHAsync_v2", .does = CUDA_DOES_MEMORY, .twin = 'z' };
static const struct cuda_function alloc = { .name = "cuMemAlloc_v2", .does = CUDA_DOES_MEMORY };
static const struct cuda_function load = { .name = "cuModuleLoadData", .does = CUDA_DOES_LOAD };
static const struct cuda_function get_function = { .name = "cuModuleGetFunction", .does = CUDA_DOES_GET_FUNCTION };

static struct cuda_kernel vadd = { .name = "_Z4vaddPf", .handle = 0xabc, .is_named = true };

/* ---- making events ---- */

static void open_sink(struct desk *d)
{
	static const struct sink_options options;
	struct sink_args args = { .dirfd = d->dirfd, .slot = 0, .about = &d->about, .options = &options };

	CHECK_INT(sink_neutrino.open(&d->sink, &args), 0);
}

static void set_desk(struct desk *d)
{
	*d = (struct desk){ .dir = "/tmp/neutrino-XXXXXX", .now = START };
	setenv("TZ", "UTC", 1);
	CHECK(mkdtemp(d->dir));
	d->dirfd = open(d->dir, O_RDONLY | O_DIRECTORY);
	d->about.utc_offset = REALTIME - (int64_t)START;
	d->process = (struct cuda_process){ .pid = NO_SUCH_PID, .id = 1, .start = START, .cmdline = "/opt/prog" };
	open_sink(d);
}

static void close_sink(struct desk *d)
{
	CHECK_INT(sink_neutrino.close(TAKE(d->sink)), 0);
}

static void clear_desk(struct desk *d)
{
	char command[96];

	if (d->sink)
		close_sink(d);
	close(d->dirfd);
	free(d->text);
	snprintf(command, sizeof(command), "rm -rf '%s'", d->dir);
	CHECK(!system(command));
}

static int tell(struct desk *d, struct cuda_call *c, uint16_t kind)
{
	struct rec_hdr rec = { .kind = kind };
	struct call call = { .cuda = c, .kind = REC_CUDA_ENTRY };
	struct event ev = { .rec = &rec, .kind = kind, .call = &call };

	return sink_neutrino.event(d->sink, &ev);
}

static void begin(struct desk *d, struct cuda_call *c)
{
	c->process = &d->process;
	c->tid = c->tid ?: d->process.pid;
	c->result = CUDA_NO_RESULT;
	c->entry = d->now;
	for (size_t i = 0; i < c->launches; i++)
		c->launch[i].seq = d->process.launches++;
	CHECK_INT(tell(d, c, REC_CUDA_ENTRY), 0);
}

/* @after ns. */
static void end(struct desk *d, struct cuda_call *c, uint64_t after, uint32_t result)
{
	d->now += after;
	c->ret = d->now;
	c->result = result;
	CHECK_INT(tell(d, c, REC_CUDA_EXIT), 0);
}

static void whole(struct desk *d, struct cuda_call *c)
{
	begin(d, c);
	end(d, c, 100, 0);
}

static struct cuda_launch launch_of(struct cuda_kernel *k, uint32_t blocks, uint32_t threads, uint64_t stream)
{
	return (struct cuda_launch){
		.kernel = k, .func = k->handle, .stream = stream, .grid = { blocks, 1, 1 }, .block = { threads, 1, 1 },
	};
}

static void launch(struct desk *d, uint64_t stream)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, stream);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };

	whole(d, &c);
}

/* A call without a launch, that succeeds. Returns when it did. */
static uint64_t did(struct desk *d, struct cuda_call c)
{
	whole(d, &c);
	return c.ret;
}

#define CALL(...)	((struct cuda_call){ __VA_ARGS__ })

/* ---- looking at files ---- */

/* The file @name in the process's folder, NUL after it; its length in d->len. */
static const char *read_in(struct desk *d, const char *folder, const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", d->dir, folder, name);
	f = fopen(path, "r");
	if (!f)
		test_failed(__FILE__, __LINE__, "cannot open %s", path);
	free(d->text);
	d->text = malloc(64 << 20);
	d->len = fread(d->text, 1, (64 << 20) - 1, f);
	d->text[d->len] = '\0';
	fclose(f);
	return d->text;
}

static const char *read_file(struct desk *d, const char *name)
{
	return read_in(d, FOLDER, name);
}

static uint64_t word(const char *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static uint32_t half(const char *at)
{
	return word(at);
}

/* neutrino.md section 8: host_launch. */
enum { ENTRY = 0, RETURN = 8, SYNC = 16, FUNC = 24, STREAM = 32, SEQ = 40, TID = 48, RESULT = 52, FLAGS = 56, KERNEL = 60 };

static uint32_t rows_of(struct desk *d, const char *table)
{
	return half(read_file(d, table));
}

static uint64_t sync_of(struct desk *d, unsigned row)
{
	return word(read_file(d, "result/launches.bin") + 48 + 64 * row + SYNC);
}

static bool is_number(const char *name)
{
	return strspn(name, "0123456789.") == strlen(name) - strlen("bin");
}

/* Names of bins in order, as "0.000000.bin 0.000001.bin"; returns how many. */
static int bins(struct desk *d, char *to, size_t room)
{
	struct dirent **e;
	char path[128];
	size_t len = 0;
	int n, found = 0;

	snprintf(path, sizeof(path), "%s/%s/result", d->dir, FOLDER);
	n = scandir(path, &e, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (strstr(e[i]->d_name, ".bin") && is_number(e[i]->d_name)) {
			found++;
			if (to)
				len += snprintf(to + len, room - len, "%s%s", len ? " " : "", e[i]->d_name);
		}
		free(e[i]);
	}
	free(e);
	return found;
}

static int count_of(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* ---- the folder ---- */

TEST(neutrino_a_process_has_its_folder_named_by_its_start_and_pid)
{
	static const char *const files[] = {
		"event.log", "probe.toml", "read.py", "launches.toml", "read_launches.py", "mem.toml", "read_mem.py",
		"result/launches.bin", "result/mem.bin", "result/0.000000.bin",
	};
	struct cuda_kernel abc = { .name = "abc", .handle = 7, .is_named = true };
	struct cuda_launch l = launch_of(&abc, 1, 1, 0);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };
	struct desk d;

	set_desk(&d);
	whole(&d, &c);
	close_sink(&d);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		(void)read_file(&d, files[i]);
	/* FIPS 180-4's example: SHA-1 of "abc" */
	CHECK_STR(read_file(&d, "kernel/0_a9993e364706816aba3e25717850c26c9cd0d89d/kernel.info"), "abc\n0\n1\n1,64\n");
	CHECK(strstr(read_file(&d, "kernel/0_a9993e364706816aba3e25717850c26c9cd0d89d/process.log"), "told by the call"));
	clear_desk(&d);
}

TEST(neutrino_a_process_that_is_there_is_asked_for_its_start_and_words)
{
	struct desk d;
	char name[64];
	uint64_t boot = clock_read(CLOCK_BOOTTIME) - clock_now(), start;
	time_t seconds;
	FILE *f;

	set_desk(&d);
	d.about.utc_offset = clock_utc_offset();
	d.now = clock_now();
	d.process.pid = getpid();
	d.process.start = 0;
	launch(&d, 0);
	close_sink(&d);
	f = popen("cut -d')' -f2 /proc/$PPID/stat | cut -d' ' -f21", "r");
	CHECK(f && fscanf(f, "%lu", &start) == 1);
	pclose(f);
	start = start * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK)) - boot + d.about.utc_offset;
	seconds = start / NSEC_PER_SEC;
	strftime(name, sizeof(name), "%b%d_%H%M%S", gmtime(&seconds));
	sprintf(name + strlen(name), "_%d", getpid());
	CHECK(strstr(read_in(&d, name, "event.log"), "unit"));
	clear_desk(&d);
}

TEST(neutrino_forks_have_folders_of_their_own_and_execs_have_not)
{
	struct desk d;
	struct cuda_process child = { .pid = NO_SUCH_PID + 1, .id = 2, .start = START + 1 }, parent;

	set_desk(&d);
	launch(&d, 0);
	parent = d.process;
	d.process = child;
	launch(&d, 0);
	CHECK_INT(sink_neutrino.cuda_end(d.sink, &d.process), 0);
	CHECK(!d.process.slot[0]);
	d.process = parent;
	d.process.execs++;
	launch(&d, 0);
	close_sink(&d);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 2);
	CHECK_INT(count_of(read_file(&d, "event.log"), "[recorder] exec"), 1);
	CHECK_INT(half(read_in(&d, "Nov14_221320_4194306", "result/launches.bin")), 1);
	clear_desk(&d);
}

TEST(neutrino_two_processes_of_one_name_have_two_folders)
{
	struct desk d;

	set_desk(&d);
	launch(&d, 0);
	d.process.slot[0] = NULL;
	launch(&d, 0);
	launch(&d, 0);
	close_sink(&d);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 1);
	CHECK_INT(half(read_in(&d, FOLDER "_2", "result/launches.bin")), 2);
	clear_desk(&d);
}

/* ---- bins ---- */

TEST(neutrino_a_launch_is_a_bin_with_the_layout_of_section_2)
{
	static const uint32_t words[] = { 2, 3, 4, 8, 4, 2, 512, 1, /* section */ 64, 64, 48, 0 };
	struct cuda_launch l = launch_of(&vadd, 0, 0, 0x5500);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1, .tid = 77 };
	const char *bin;
	struct desk d;
	char line[96];

	set_desk(&d);
	memcpy(l.grid, words, sizeof(l.grid));
	memcpy(l.block, words + 3, sizeof(l.block));
	l.shared = 512;
	l.flags = CUDA_LAUNCH_EX;
	d.process.launches = 9;
	begin(&d, &c);
	end(&d, &c, 250, 0);
	close_sink(&d);

	bin = read_file(&d, "result/0.000000.bin");
	CHECK_INT(d.len, 48 + 64 * 2 * 3 * 4);
	CHECK_MEM(bin, words, sizeof(words));
	bin += 48;
	CHECK_INT(word(bin + ENTRY), START);
	CHECK_INT(word(bin + RETURN), START + 250);
	CHECK_INT(word(bin + SYNC), 0);
	CHECK_INT(word(bin + FUNC), 0xabc);
	CHECK_INT(word(bin + STREAM), 0x5500);
	CHECK_INT(word(bin + SEQ), 9);
	CHECK_INT(half(bin + TID), 77);
	CHECK_INT(half(bin + RESULT), 0);
	CHECK_INT(half(bin + FLAGS), CUDA_LAUNCH_EX);
	CHECK_INT(half(bin + KERNEL), 0);
	for (size_t i = 64; i < 64 * 24; i++)
		CHECK(!bin[i]);
	snprintf(line, sizeof(line), "[exec] save result/0.000000.bin size %d\n", 48 + 64 * 24);
	CHECK(strstr(read_file(&d, "event.log"), line));
	clear_desk(&d);
}

TEST(neutrino_the_lines_of_a_launch_stand_together)
{
	struct desk d;
	const char *log;

	set_desk(&d);
	launch(&d, 0);
	close_sink(&d);
	log = strstr(read_file(&d, "event.log"), "[exec]");
	CHECK_STR(log, "[exec] funcmap-find 0xabc fail\n"
		       "[exec] 1700000000000000000 param \n"
		       "[exec] grid 4 1 1 block 64 1 1 shared 0\n"
		       "[exec] grid 4 warp  1 probe 64 total 256\n"
		       "[exec] probe-mem 256 (bytes)\n"
		       "[exec] succeed 0\n"
		       "[exec] save result/0.000000.bin size 304\n");
	clear_desk(&d);
}

TEST(neutrino_a_thousand_launches_in_a_millisecond_have_names_in_their_order)
{
	static char names[1000 * 16], *save;
	uint64_t seq = 0;
	struct desk d;

	set_desk(&d);
	for (int i = 0; i < 1000; i++) {
		launch(&d, 0);
		d.now += 900;		/* whole() takes 100 */
	}
	d.now = START + 1000;
	launch(&d, 0);			/* of another thread, told late: after all others, too */
	close_sink(&d);
	CHECK_INT(bins(&d, names, sizeof(names)), 1001);
	for (char *n = strtok_r(names, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
		char path[64];

		snprintf(path, sizeof(path), "result/%s", n);
		CHECK_INT(word(read_file(&d, path) + 48 + SEQ), seq);
		seq++;
	}
	clear_desk(&d);
}

static void launch_shape(struct desk *d, uint32_t gx, uint32_t gy, uint32_t bx, uint32_t by, uint32_t result)
{
	struct cuda_launch l = launch_of(&vadd, gx, bx, 0);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };

	l.grid[1] = gy;
	l.block[1] = by;
	begin(d, &c);
	end(d, &c, 100, result);
}

TEST(neutrino_blocks_without_a_record_take_no_room)
{
	char path[160];
	struct stat st;
	struct desk d;

	set_desk(&d);
	launch_shape(&d, 32768, 1, 128, 1, 0);
	close_sink(&d);
	snprintf(path, sizeof(path), "%s/%s/result/0.000000.bin", d.dir, FOLDER);
	CHECK(!stat(path, &st));
	CHECK_INT(st.st_size, 48 + 32768 * 64);
	CHECK(st.st_blocks * 512 <= 8192);
	clear_desk(&d);
}

TEST(neutrino_a_grid_too_large_to_show_hides_its_units)
{
	const char *bin;
	struct desk d;

	set_desk(&d);
	launch_shape(&d, 1 << 20, 1, 1024, 1, 0);		/* just fits */
	launch_shape(&d, 1 << 20, 2, 1024, 1, 0);
	launch_shape(&d, 0, 1, 32, 1, 1);			/* what no GPU runs, but a program asked for */
	launch_shape(&d, 1, 1, 0, 1, 1);
	launch_shape(&d, ~0u, ~0u, ~0u, ~0u, 1);
	close_sink(&d);
	(void)read_file(&d, "result/0.000000.bin");
	CHECK_INT(half(d.text + 36), 1024);
	bin = read_file(&d, "result/0.000001.bin");
	CHECK_INT(d.len, 112);
	CHECK_INT(half(bin + 36), 1025);
	CHECK_INT(word(bin + 40), 48);
	CHECK_INT(word(bin + 48 + SEQ), 1);
	CHECK_INT(half(read_file(&d, "result/0.000002.bin") + 36), 33);
	CHECK_INT(half(read_file(&d, "result/0.000003.bin") + 36), 1);
	CHECK_INT(bins(&d, NULL, 0), 4);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 5);
	CHECK_INT(count_of(read_file(&d, "event.log"), "[exec] failed 1\n"), 3);
	clear_desk(&d);
}

TEST(neutrino_bins_end_at_the_cap_and_the_table_goes_on)
{
	struct desk d;

	set_desk(&d);
	for (int i = 0; i < 10002; i++)
		launch(&d, 0);
	close_sink(&d);
	CHECK_INT(bins(&d, NULL, 0), 10000);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 10002);
	CHECK_INT(count_of(read_file(&d, "event.log"), "bins-capped"), 1);
	CHECK(strstr(d.text, "[recorder] bins-capped at seq 10000\n"));
	CHECK_INT(count_of(d.text, "[exec] save "), 10000);
	CHECK_INT(count_of(d.text, "[exec] funcmap-find "), 10002);
	clear_desk(&d);
}

/* ---- what waits prove ---- */

TEST(neutrino_a_wait_for_a_stream_completes_its_launches)
{
	uint64_t first, second;
	struct desk d;

	set_desk(&d);
	launch(&d, 0x10);
	launch(&d, 0x20);
	launch(&d, 0x10);
	first = did(&d, CALL(.fn = &wait_stream, .stream = 0x10, .memory = CUDA_MEM_WAIT_STREAM));
	launch(&d, 0x10);
	second = did(&d, CALL(.fn = &wait_context, .memory = CUDA_MEM_WAIT_CONTEXT));
	launch(&d, 0x10);
	close_sink(&d);
	CHECK_INT(sync_of(&d, 0), first);
	CHECK_INT(sync_of(&d, 1), second);
	CHECK_INT(sync_of(&d, 2), first);
	CHECK_INT(sync_of(&d, 3), second);
	CHECK_INT(sync_of(&d, 4), 0);
	CHECK_INT(word(read_file(&d, "result/0.000000.bin") + 48 + SYNC), first);
	CHECK_INT(word(read_file(&d, "result/0.000001.bin") + 48 + SYNC), second);
	CHECK(strstr(read_file(&d, "event.log"), "[sync] cuStreamSynchronize 0 stream 10 ns 100\n"));
	CHECK(strstr(d.text, "[sync] cuCtxSynchronize 0 ns 100\n"));
	CHECK_INT(rows_of(&d, "result/mem.bin"), 2);
	clear_desk(&d);
}

TEST(neutrino_a_wait_completes_only_what_had_returned_when_it_began)
{
	struct cuda_call wait = CALL(.fn = &wait_stream, .stream = 0x10), late;
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0x10);
	struct desk d;

	set_desk(&d);
	late = CALL(.fn = &launch_kernel, .launch = &l, .launches = 1, .tid = 5);
	launch(&d, 0x10);
	begin(&d, &late);
	begin(&d, &wait);
	end(&d, &late, 10, 0);
	end(&d, &wait, 10, 0);
	wait = CALL(.fn = &wait_stream, .stream = 0x10);
	begin(&d, &wait);
	end(&d, &wait, 10, 700);	/* CUDA_ERROR_ILLEGAL_ADDRESS */
	close_sink(&d);
	CHECK(sync_of(&d, 0));
	CHECK_INT(sync_of(&d, 1), 0);
	clear_desk(&d);
}

TEST(neutrino_an_event_completes_what_was_launched_before_it)
{
	struct desk d;
	uint64_t done;

	set_desk(&d);
	launch(&d, 0x10);
	did(&d, CALL(.fn = &record_event, .stream = 0x10, .event = 0xe));
	launch(&d, 0x10);
	done = did(&d, CALL(.fn = &wait_event, .event = 0xe, .memory = CUDA_MEM_WAIT_EVENT));
	did(&d, CALL(.fn = &wait_event, .event = 0xf));		/* never recorded */
	close_sink(&d);
	CHECK_INT(sync_of(&d, 0), done);
	CHECK_INT(sync_of(&d, 1), 0);
	clear_desk(&d);
}

TEST(neutrino_a_query_proves_it_when_its_result_is_0)
{
	struct cuda_call query = CALL(.fn = &query_stream, .stream = 0x10);
	struct desk d;

	set_desk(&d);
	launch(&d, 0x10);
	begin(&d, &query);
	end(&d, &query, 10, 600);	/* CUDA_ERROR_NOT_READY */
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	did(&d, CALL(.fn = &query_stream, .stream = 0x10));
	close_sink(&d);
	CHECK(sync_of(&d, 0));
	CHECK_INT(rows_of(&d, "result/mem.bin"), 0);
	clear_desk(&d);
}

TEST(neutrino_a_copy_that_blocks_completes_the_default_stream_and_who_waits_for_it)
{
	struct desk d;

	set_desk(&d);
	did(&d, CALL(.fn = &new_stream, .out = 0x10));
	did(&d, CALL(.fn = &new_stream, .out = 0x20, .arg = { 0, 1 }));	/* CU_STREAM_NON_BLOCKING */
	launch(&d, 0);
	launch(&d, 0x10);
	launch(&d, 0x20);
	did(&d, CALL(.fn = &copy_down_async, .memory = CUDA_MEM_DTOH, .bytes = 4));
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	did(&d, CALL(.fn = &copy_down, .memory = CUDA_MEM_DTOH, .bytes = 4));
	close_sink(&d);
	CHECK(sync_of(&d, 0));
	CHECK(sync_of(&d, 1));
	CHECK_INT(sync_of(&d, 2), 0);
	clear_desk(&d);
}

TEST(neutrino_with_several_contexts_the_current_one_proves_nothing)
{
	struct desk d;

	set_desk(&d);
	did(&d, CALL(.fn = &new_context, .out = 1));
	did(&d, CALL(.fn = &new_context, .out = 2));
	launch(&d, 0);
	launch(&d, 0x10);
	did(&d, CALL(.fn = &wait_context));
	did(&d, CALL(.fn = &copy_down, .memory = CUDA_MEM_DTOH));
	did(&d, CALL(.fn = &wait_stream, .stream = 0x10));
	close_sink(&d);
	CHECK_INT(sync_of(&d, 0), 0);
	CHECK(sync_of(&d, 1));
	clear_desk(&d);
}

TEST(neutrino_a_threads_own_stream_is_its_own)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0);
	struct cuda_call c = { .fn = &launch_kernel, .func = 1, .launch = &l, .launches = 1, .tid = 5 };
	struct desk d;

	set_desk(&d);
	l.flags = CUDA_LAUNCH_PER_THREAD;
	whole(&d, &c);
	did(&d, CALL(.fn = &wait_stream, .func = 1, .tid = 6));
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	did(&d, CALL(.fn = &wait_stream, .stream = 2, .tid = 5));
	close_sink(&d);
	CHECK(sync_of(&d, 0));
	CHECK(strstr(read_file(&d, "event.log"), "[sync] cuStreamSynchronize_ptsz 0 stream 0 ns 100\n"));
	clear_desk(&d);
}

TEST(neutrino_a_hundred_thousand_launches_may_wait_in_little_memory)
{
	struct desk d;
	size_t before;

	set_desk(&d);
	for (int i = 0; i < 10000; i++)		/* up to the cap */
		launch(&d, i & 1 ? 0x10 : 0x20);
	before = mallinfo2().uordblks;
	for (int i = 0; i < 100000; i++)
		launch(&d, i & 1 ? 0x10 : 0x20);
	CHECK(mallinfo2().uordblks < before + (6 << 20));
	did(&d, CALL(.fn = &wait_context));
	close_sink(&d);
	(void)read_file(&d, "result/launches.bin");
	CHECK_INT(half(d.text), 110000);
	CHECK_INT(d.len, 48 + 64 * 110000);
	for (int i = 0; i < 110000; i++) {
		CHECK_INT(word(d.text + 48 + 64 * i + SEQ), i);
		CHECK_INT(word(d.text + 48 + 64 * i + SYNC), d.now);
	}
	clear_desk(&d);
}

/* ---- graphs ---- */

TEST(neutrino_what_is_captured_has_a_row_and_no_bin)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0x10);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1, .is_captured = true };
	struct desk d;

	set_desk(&d);
	l.flags = CUDA_LAUNCH_CAPTURED;
	whole(&d, &c);
	did(&d, CALL(.fn = &wait_context));
	close_sink(&d);
	CHECK_INT(bins(&d, NULL, 0), 0);
	CHECK_INT(half(read_file(&d, "result/launches.bin") + 48 + FLAGS), CUDA_LAUNCH_CAPTURED);
	CHECK_INT(sync_of(&d, 0), 0);
	CHECK(!strstr(read_file(&d, "event.log"), "[exec]"));
	CHECK(strstr(d.text, "[recorder] captured _Z4vaddPf grid 4 1 1 block 64 1 1 shared 0 stream 10"));
	clear_desk(&d);
}

TEST(neutrino_each_node_of_a_graph_is_a_launch)
{
	struct cuda_kernel other = { .name = "other", .handle = 0xdef, .index = 1 };
	struct cuda_launch l[] = { launch_of(&vadd, 4, 64, 0x10), launch_of(&other, 2, 32, 0x10) };
	struct cuda_call c = { .fn = &graph_launch, .handle = 0x99, .stream = 0x10, .launch = l, .launches = 2 };
	struct desk d;
	char names[64];

	set_desk(&d);
	l[0].flags = l[1].flags = CUDA_LAUNCH_GRAPH;
	whole(&d, &c);
	close_sink(&d);
	CHECK_INT(bins(&d, names, sizeof(names)), 2);
	CHECK_STR(names, "0.000000.bin 0.000001.bin");
	CHECK_INT(half(read_file(&d, "result/0.000001.bin") + 48 + KERNEL), 1);
	CHECK_INT(half(d.text + 48 + FLAGS), CUDA_LAUNCH_GRAPH);
	CHECK(strstr(read_file(&d, "event.log"), "[graph] launch 99 stream 10 nodes 2\n[exec] funcmap-find 0xabc fail\n"));
	CHECK_INT(count_of(d.text, "[exec] save "), 2);
	clear_desk(&d);
}

/* ---- the rest ---- */

TEST(neutrino_memory_is_a_row_and_a_line)
{
	const char *row;
	struct desk d;
	uint64_t ret;

	set_desk(&d);
	did(&d, CALL(.fn = &alloc, .memory = CUDA_MEM_ALLOC, .dst = 0x7f00, .bytes = 4096));
	ret = did(&d, CALL(.fn = &copy_down, .func = 1, .tid = 3, .memory = CUDA_MEM_DTOH, .dst = 0x1, .src = 0x7f00, .bytes = 9,
			   .stream = 0));
	did(&d, CALL(.fn = &copy_down_async, .memory = CUDA_MEM_DTOH, .bytes = 8, .is_captured = true));
	close_sink(&d);
	CHECK_INT(rows_of(&d, "result/mem.bin"), 3);
	row = d.text + 48 + 64;
	CHECK_INT(word(row + 8), ret);
	CHECK_INT(word(row + 16), 1);
	CHECK_INT(word(row + 24), 0x7f00);
	CHECK_INT(word(row + 32), 9);
	CHECK_INT(half(row + 48), 2);
	CHECK_INT(half(row + 56), 3);
	CHECK_INT(half(row + 60), 1 << 2);
	CHECK_INT(half(row + 64 + 60), 1 << 3);
	CHECK(strstr(read_file(&d, "event.log"), "[mem] cuMemAlloc_v2 0 dptr 7f00 bytesize 4096\n"
						 "[mem] cuMemcpyDtoH_v2_ptds 0 dst 1 src 7f00 bytesize 9\n"
						 "[recorder] captured cuMemcpyDtoHAsync_v2 0 "));
	clear_desk(&d);
}

TEST(neutrino_modules_are_told_in_its_words)
{
	struct desk d;

	set_desk(&d);
	did(&d, CALL(.fn = &load, .image = CUDA_IMAGE_WRAPPED, .image_addr = 0x500, .image_bytes = 807, .out = 0xd0));
	did(&d, CALL(.fn = &load, .image = CUDA_IMAGE_UNREAD, .image_addr = 0x600, .out = 0xd1));
	did(&d, CALL(.fn = &get_function, .handle = 0xd0, .out = 0xf0, .name = (char *)"vadd"));
	close_sink(&d);
	CHECK(strstr(read_file(&d, "event.log"), "[mod] cuModuleLoadData 0 module 0xd0 image 0x500 \n"
						 "[bin] type warpped_fatbin size 807\n"
						 "[mod] cuModuleLoadData 0 module 0xd1 image 0x600 \n"
						 "[recorder] image at 0x600 could not be read\n"
						 "[mod] cuModuleGetFunction func 0xf0 mod 0xd0 name vadd\n"));
	clear_desk(&d);
}

TEST(neutrino_names_may_be_anything)
{
	static const char evil[] = "../../x\n[exec] 1 param f\033[2J";
	char text[4096];
	struct cuda_kernel k = { .name = text, .handle = 1 };
	struct cuda_launch l = launch_of(&k, 1, 1, 0);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };
	struct desk d;

	memset(text, '\n', sizeof(text) - 1);
	memcpy(text, evil, strlen(evil));
	text[sizeof(text) - 1] = '\0';
	set_desk(&d);
	did(&d, CALL(.fn = &get_function, .handle = 2, .out = 1, .name = text));
	l.flags = CUDA_LAUNCH_CAPTURED;
	whole(&d, &c);
	close_sink(&d);
	(void)read_file(&d, "event.log");
	CHECK(strstr(d.text, "name ../../x\\n\\x5bexec]\\x201\\x20param\\x20f\\x1b\\x5b2J\\n"));
	CHECK(!strchr(d.text, '\033'));
	CHECK(!strstr(d.text, "[exec]"));
	CHECK_INT(count_of(d.text, "\n"), 6);
	clear_desk(&d);
}

TEST(neutrino_a_call_that_never_returned_says_so)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };
	struct desk d;

	set_desk(&d);
	begin(&d, &c);
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(half(read_file(&d, "result/launches.bin") + 48 + RESULT), 0xffffffffu);
	CHECK_INT(tell(&d, &c, REC_CUDA_EXIT), 0);		/* inferred */
	did(&d, CALL(.fn = &wait_context));
	close_sink(&d);
	CHECK_INT(word(read_file(&d, "result/launches.bin") + 48 + RETURN), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	CHECK(strstr(read_file(&d, "event.log"), "[recorder] return-not-seen\n[exec] save "));
	clear_desk(&d);
}

TEST(neutrino_what_a_killed_recorder_leaves_is_whole_up_to_the_checkpoint)
{
	struct desk d;

	set_desk(&d);
	launch(&d, 0);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 0);
	CHECK_INT(d.len, 48);
	launch(&d, 0);
	did(&d, CALL(.fn = &wait_context, .memory = CUDA_MEM_WAIT_CONTEXT));
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	launch(&d, 0);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 2);
	CHECK_INT(d.len, 48 + 2 * 64);
	CHECK_INT(rows_of(&d, "result/mem.bin"), 1);
	CHECK(strstr(read_file(&d, "event.log"), "[sync] cuCtxSynchronize"));
	clear_desk(&d);
}

TEST(neutrino_a_full_disk_ends_it_with_an_error)
{
	struct rlimit limit = { 100000, 100000 };
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0);
	int err = 0;
	struct desk d;

	set_desk(&d);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	for (int i = 0; i < 3000 && !err; i++) {
		struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1, .process = &d.process };

		c.entry = d.now++;
		err = tell(&d, &c, REC_CUDA_ENTRY) ?: tell(&d, &c, REC_CUDA_EXIT);
	}
	CHECK_INT(err, -EFBIG);
	CHECK_INT(sink_neutrino.close(TAKE(d.sink)), -EFBIG);
	CHECK(rows_of(&d, "result/launches.bin") <= (d.len - 48) / 64);
	clear_desk(&d);
}

TEST(neutrino_losses_are_told_where_they_happened)
{
	uint64_t count[REC_CLASSES] = { [CLASS_CUDA] = 12 };
	struct desk d;

	set_desk(&d);
	launch(&d, 0);
	CHECK_INT(sink_neutrino.lost(d.sink, 3, d.now, count), 0);
	close_sink(&d);
	CHECK(strstr(read_file(&d, "event.log"), "[recorder] lost 12 records of CUDA calls on CPU 3, of any process\n"));
	clear_desk(&d);
}
