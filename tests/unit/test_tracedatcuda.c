/*
 * test_tracedatcuda.c - calls of the CUDA driver, and times of the device, told to the trace.dat sink, read back by trace-cmd.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "about.h"
#include "base.h"
#include "cuda.h"
#include "event.h"
#include "sink.h"
#include "sink/tracedat/tracedat.h"
#include "test.h"

extern const struct sink_ops sink_tracedat;

#define START	1000000000ull

/* A sink, and a task whose calls it is told. */
struct told {
	char	dir[64];
	int	dirfd, spoolfd;
	struct about   about;
	struct sink   *sink;
	struct session session;
	struct task    task;
	uint64_t       now;
	unsigned       cpus;	/* that the file is to have */
	FILE	      *report;
	char	       line[8192];
};

static void set_up(struct told *t)
{
	static const struct sink_options options = { .compression = "none" };
	struct sink_args args;

	if (system("command -v trace-cmd > /dev/null"))
		SKIP("trace-cmd is not there");
	*t = (struct told){ .dir = "/tmp/tracedatcuda-XXXXXX", .now = START, .cpus = 1 };
	CHECK(mkdtemp(t->dir));
	t->dirfd = open(t->dir, O_RDONLY | O_DIRECTORY);
	CHECK(!mkdirat(t->dirfd, "spool", 0700));
	t->spoolfd = openat(t->dirfd, "spool", O_RDONLY | O_DIRECTORY);
	t->about = (struct about){ .hostname = (char *)"host", .kernel = (char *)"Linux 6.1.0", .cpus_possible = 1 };
	t->session = (struct session){ .id = 1, .exe = "/prog", .holders = 1 };
	t->task = (struct task){ .tid = 101, .pid = 100, .comm = "prog", .session = &t->session };
	args = (struct sink_args){
		.dirfd = t->spoolfd, .about = &t->about, .options = &options,
		.file_dirfd = t->dirfd, .file_name = "trace.dat", .spool_name = "spool",
	};
	CHECK(!sink_tracedat.open(&t->sink, &args));
	CHECK(!sink_tracedat.task_begin(t->sink, &t->task));
}

static void tell(struct told *t, struct cuda_call *c, uint16_t kind, uint16_t ending, uint16_t flags)
{
	struct rec_hdr rec = { .kind = kind };
	struct call call = { .cuda = c, .kind = REC_CUDA_ENTRY, .flags = flags };
	struct event ev = { .rec = &rec, .task = &t->task, .time = t->now, .kind = kind, .ending = ending, .call = &call };

	CHECK(!sink_tracedat.event(t->sink, &ev));
}

/* A call of @api. */
static struct cuda_call call_of(const char *api)
{
	int func = cuda_find(api);

	CHECK(func >= 0);
	return (struct cuda_call){ .fn = cuda_function_of(func), .func = func, .result = CUDA_NO_RESULT };
}

static void begins(struct told *t, struct cuda_call *c)
{
	c->entry = t->now;
	tell(t, c, REC_CUDA_ENTRY, ENDED_SEEN, 0);
}

/* ... and ends 1234 ns later. */
static void made(struct told *t, struct cuda_call *c, uint32_t result)
{
	begins(t, c);
	t->now += 1234;
	c->ret = t->now;
	c->result = result;
	tell(t, c, REC_CUDA_EXIT, ENDED_SEEN, 0);
}

/* No more calls: what trace-cmd says is next. */
static void read_back(struct told *t)
{
	char command[160], cpus[32];

	CHECK(!sink_tracedat.task_end(t->sink, &t->task));
	CHECK(!sink_tracedat.close(TAKE(t->sink)));
	snprintf(command, sizeof(command), "LC_ALL=C trace-cmd report -t -i %s/trace.dat 2>&1", t->dir);
	t->report = popen(command, "r");
	snprintf(cpus, sizeof(cpus), "cpus=%u\n", t->cpus);
	CHECK(t->report && fgets(t->line, sizeof(t->line), t->report));
	CHECK_STR(t->line, cpus);
}

/* The next event: "launch: vadd<<<..."; NULL: there is none. */
static const char *next(struct told *t)
{
	char *text, *blank;

	if (!fgets(t->line, sizeof(t->line), t->report))
		return NULL;
	t->line[strcspn(t->line, "\n")] = '\0';
	text = strstr(t->line, ": ");
	CHECK(text);
	text += 2;
	blank = strstr(text, ": ");
	CHECK(blank);
	memmove(blank + 2, blank + 1 + strspn(blank + 1, " "), strlen(blank + 1 + strspn(blank + 1, " ")) + 1);
	return text;
}

static void clear(struct told *t)
{
	char command[96];

	CHECK(!next(t));
	CHECK_INT(pclose(t->report), 0);
	close(t->dirfd);
	close(t->spoolfd);
	snprintf(command, sizeof(command), "rm -rf '%s'", t->dir);
	CHECK(!system(command));
}

static struct cuda_kernel vadd = { .name = "vadd", .handle = 0xabc, .is_named = true };

static struct cuda_launch launch_of(struct cuda_kernel *k, uint64_t seq)
{
	return (struct cuda_launch){
		.kernel = k, .func = k->handle, .seq = seq, .grid = { 64, 3, 2 }, .block = { 256, 2, 1 }, .shared = 4096,
	};
}

TEST(a_launch_is_one_line_with_its_result_and_how_long_it_took)
{
	struct cuda_call c = call_of("cuLaunchKernel_ptsz");
	struct cuda_launch l = launch_of(&vadd, 7);
	struct told t;

	set_up(&t);
	l.flags = CUDA_LAUNCH_PER_THREAD | CUDA_LAUNCH_CLUSTER | CUDA_LAUNCH_GUESSED;
	l.cluster[0] = 4, l.cluster[1] = l.cluster[2] = 1;
	l.stream = 0x7f00deadbeef;
	c.launch = &l;
	c.launches = 1;
	made(&t, &c, 719);
	read_back(&t);
	CHECK_STR(next(&t), "launch: vadd<<<(64,3,2),(256,2,1),4096>>> cluster=(4,1,1) stream=0x7f00deadbeef seq=7 func=0xabc "
		  "flags=per-thread|guessed|cluster result=CUDA_ERROR_LAUNCH_FAILED 1.234 us by cuLaunchKernel_ptsz");
	clear(&t);
}

TEST(a_graph_s_launch_is_one_line_and_one_for_each_kernel_it_has)
{
	struct cuda_launch l[2] = { launch_of(&vadd, 0), launch_of(&vadd, 1) };
	struct cuda_call c = call_of("cuGraphLaunch"), none = c;
	struct told t;

	set_up(&t);
	l[0].flags = l[1].flags = CUDA_LAUNCH_GRAPH;
	c.launch = l;
	c.launches = 2;
	c.handle = none.handle = 0x10;
	made(&t, &c, 0);
	made(&t, &none, 0);
	read_back(&t);
	CHECK_STR(next(&t), "graph_launch: exec=0x10 kernels=2 stream=0x0 result=CUDA_SUCCESS 1.234 us by cuGraphLaunch");
	for (unsigned i = 0; i < 2; i++) {
		char want[256];

		snprintf(want, sizeof(want), "launch: vadd<<<(64,3,2),(256,2,1),4096>>> stream=0x0 seq=%u func=0xabc flags=graph "
			 "result=CUDA_SUCCESS 1.234 us by cuGraphLaunch", i);
		CHECK_STR(next(&t), want);
	}
	CHECK_STR(next(&t), "graph_launch: exec=0x10 kernels=0 stream=0x0 result=CUDA_SUCCESS 1.234 us by cuGraphLaunch");
	clear(&t);
}

/* ---- what is not a launch ---- */

struct told_call {
	const char	*api;
	struct cuda_call is;	/* what the decoder makes of it */
	const char	*text;	/* up to its result */
};

static const struct told_call told_calls[] = {
	{ "cuMemcpyDtoHAsync_v2", { .memory = CUDA_MEM_DTOH, .dst = 0x2, .src = 0x3, .bytes = 1ull << 40, .stream = 0x4 },
	  "memcpy: DtoH 1099511627776 bytes 0x3 -> 0x2 stream=0x4" },
	{ "cuMemcpyPeer", { .memory = CUDA_MEM_PEER, .dst = 0x2, .src = 0x3, .bytes = 5 },
	  "memcpy: peer 5 bytes 0x3 -> 0x2 stream=0x0" },
	{ "cuMemcpyAsync", { .memory = CUDA_MEM_UNIFIED, .bytes = 5, .is_captured = true },
	  "memcpy: unified 5 bytes 0x0 -> 0x0 stream=0x0 flags=captured" },
	{ "cuMemsetD32_v2", { .memory = CUDA_MEM_SET, .dst = 0x2, .bytes = 12 }, "memset: 12 bytes at 0x2 stream=0x0" },
	{ "cuMemAllocManaged", { .memory = CUDA_MEM_MANAGED, .dst = 0x2, .bytes = 12 },
	  "alloc: managed 12 bytes at 0x2 stream=0x0" },
	{ "cuMemFreeAsync", { .memory = CUDA_MEM_FREE_ASYNC, .dst = 0x2, .stream = 0x5 }, "free: async 0x2 stream=0x5" },
	{ "cuCtxSynchronize", { .memory = CUDA_MEM_WAIT_CONTEXT }, "sync: context 0x0" },
	{ "cuStreamSynchronize", { .memory = CUDA_MEM_WAIT_STREAM, .stream = 0x5 }, "sync: stream 0x5" },
	{ "cuEventSynchronize", { .memory = CUDA_MEM_WAIT_EVENT, .event = 0x6 }, "sync: event 0x6" },
	{ "cuModuleLoadData", { .out = 0x7, .image = CUDA_IMAGE_ELF, .image_addr = 0x8, .image_bytes = 9 },
	  "module: handle=0x7 of=0x0 image=elf at 0x8, 9 bytes" },
	{ "cuModuleLoadData", { .out = 0x7, .image = CUDA_IMAGE_UNREAD, .image_addr = 0x8 },
	  "module: handle=0x7 of=0x0 image=unread at 0x8" },
	{ "cuModuleGetFunction", { .out = 0x7, .handle = 0x8, .name = "two\nlines" }, "module: two\\nlines handle=0x7 of=0x8" },
	{ "cuModuleGetFunction", { .out = 0x7, .handle = 0x8 }, "module: handle=0x7 of=0x8" },
	{ "cuInit", {}, "call: cuInit()" },
	{ "cuLaunchHostFunc", { .stream = 0x5, .is_captured = true }, "call: cuLaunchHostFunc(stream=0x5) flags=captured" },
	{ "cuStreamEndCapture", { .stream = 0x5, .out = 0x9 }, "call: cuStreamEndCapture(stream=0x5, out=0x9)" },
	{ "cuLaunchCooperativeKernelMultiDevice", {}, "call: cuLaunchCooperativeKernelMultiDevice()" },
};

TEST(every_other_call_is_one_line_by_what_it_does)
{
	char want[512];
	struct told t;

	set_up(&t);
	for (size_t i = 0; i < ARRAY_SIZE(told_calls); i++) {
		struct cuda_call function = call_of(told_calls[i].api), c = told_calls[i].is;

		c.fn = function.fn;
		c.func = function.func;
		made(&t, &c, 0);
	}
	read_back(&t);
	for (size_t i = 0; i < ARRAY_SIZE(told_calls); i++) {
		bool is_call = !strncmp(told_calls[i].text, "call:", 5);

		snprintf(want, sizeof(want), "%s result=CUDA_SUCCESS 1.234 us%s%s", told_calls[i].text, is_call ? "" : " by ",
			 is_call ? "" : told_calls[i].api);
		CHECK_STR(next(&t), want);
	}
	clear(&t);
}

/* ---- what may come ---- */

TEST(a_kernel_s_name_is_text_on_one_line_whatever_the_program_calls_it)
{
	static char longest[4096];
	static const struct { const char *name, *shown; } row[] = {
		{ "a\nb\x01\x7f", "a\\nb\\1\\177" }, { "\xff\xc3\xa9", "\\377\\303\\251" }, { "%s%n", "%s%n" },
		{ "quoted \"name\\", "quoted \\\"name\\\\" }, { "", "" }, { "_ZN1a1bEv", "_ZN1a1bEv" },
	};
	struct told t;
	const char *text;

	memset(longest, '\n', sizeof(longest) - 1);
	set_up(&t);
	for (size_t i = 0; i <= ARRAY_SIZE(row); i++) {
		struct cuda_kernel k = { .name = i < ARRAY_SIZE(row) ? row[i].name : longest };
		struct cuda_launch l = launch_of(&k, i);
		struct cuda_call c = call_of("cuLaunchKernel");

		c.launch = &l;
		c.launches = 1;
		made(&t, &c, 0);
	}
	read_back(&t);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		char want[128];
		size_t n = snprintf(want, sizeof(want), "launch: %s<<<(64,3,2)", row[i].shown);

		text = next(&t);
		CHECK(text && !strncmp(text, want, n));
	}
	text = next(&t);
	CHECK(text && !strncmp(text, "launch: \\n\\n\\n", 14) && strstr(text, "...<<<(64,3,2),(256,2,1),4096>>> stream=0x0 seq=6"));
	CHECK(strstr(text, " by cuLaunchKernel"));
	clear(&t);
}

TEST(a_call_whose_end_was_not_seen_has_its_line)
{
	struct cuda_call c = call_of("cuCtxSynchronize");
	struct told t;

	set_up(&t);
	c.memory = CUDA_MEM_WAIT_CONTEXT;
	for (uint16_t ending = ENDED_INFERRED; ending <= ENDED_WITH_TASK; ending++) {
		begins(&t, &c);
		t.now += 5000;
		tell(&t, &c, REC_CUDA_EXIT, ending, 0);
	}
	c.entry = t.now;
	tell(&t, &c, REC_CUDA_ENTRY, ENDED_SEEN, REC_F_NO_EXIT);
	t.now += 5000;
	tell(&t, &c, REC_CUDA_EXIT, ENDED_INFERRED, REC_F_NO_EXIT);
	read_back(&t);
	CHECK_STR(next(&t), "sync: context 0x0 result=unseen 5.000 us (end not seen) by cuCtxSynchronize");
	CHECK_STR(next(&t), "sync: context 0x0 result=unseen 5.000 us (no end) by cuCtxSynchronize");
	CHECK_STR(next(&t), "sync: context 0x0 result=unseen 0.000 us (return not probed) by cuCtxSynchronize");
	clear(&t);
}

TEST(a_result_has_the_driver_s_name_for_it_or_is_a_number)
{
	static const struct { uint32_t result; const char *name; } row[] = {
		{ 0, "CUDA_SUCCESS" }, { 1, "CUDA_ERROR_INVALID_VALUE" }, { 600, "CUDA_ERROR_NOT_READY" },
		{ 910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE" }, { 999, "CUDA_ERROR_UNKNOWN" }, { 1000, "0x3e8" },
	};
	struct cuda_call c = call_of("cuInit");
	struct told t;

	set_up(&t);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		made(&t, &c, row[i].result);
	read_back(&t);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		char want[128];

		snprintf(want, sizeof(want), "call: cuInit() result=%s 1.234 us", row[i].name);
		CHECK_STR(next(&t), want);
	}
	clear(&t);
}

/* ---- times of the device ---- */

static struct cuda_process process = { .pid = 100, .id = 1 };

/* On a CPU that there is not: it ran on none. One is enough unless a test says otherwise. */
static void ran(struct told *t, struct cuda_device_time d, const struct cuda_time *time)
{
	struct event ev = { .time = t->now, .began = t->now, .kind = REC_CUDA_TIMES, .device = &d };

	d.process = &process;
	d.time = time;
	CHECK(!sink_tracedat.event(t->sink, &ev));
	t->cpus = MAX(t->cpus, 2u);
}

static const struct cuda_time kernel_time = {
	.kind = CUDA_TIME_KERNEL, .start = 900000001, .end = 900070235, .device = 1, .context = 2, .stream = 7, .correlation = 17,
	.regs = 24, .grid = { 64, 3, 2 }, .block = { 256, 2, 1 },
};

#define END_OF_KERNEL	"gpu_end: dev=1 stream_id=7 corr=17"

TEST(a_kernel_on_the_device_stands_when_it_ran_and_is_whose_it_is)
{
	struct cuda_time node = kernel_time;
	struct cuda_call c = call_of("cuInit");
	struct told t;

	set_up(&t);
	made(&t, &c, 0);
	ran(&t, (struct cuda_device_time){ .kernel = &vadd, .seq = 3, .entry = 5, .stream = 0xabc, .tid = 101 }, &kernel_time);
	node.start = node.end + 9000;
	node.end = node.start + 1000;
	node.graph_node = 9;
	node.queued = 7000000008;
	ran(&t, (struct cuda_device_time){ .kernel = &vadd, .seq = 4, .entry = 5, .tid = 101 }, &node);
	made(&t, &c, 0);
	read_back(&t);
	CHECK_STR(next(&t), "gpu_kernel: vadd<<<(64,3,2),(256,2,1)>>> dev=1 ctx=2 stream_id=7 start=0.900000001 end=0.900070235 "
		  "took=70.234us seq=3 stream=0xabc corr=17 regs=24");
	CHECK(strstr(t.line, "prog-101 ") && strstr(t.line, " [001] ") && strstr(t.line, " 0.900000001: "));
	CHECK_STR(next(&t), END_OF_KERNEL);
	CHECK(strstr(t.line, "<idle>-0 ") && strstr(t.line, " [001] ") && strstr(t.line, " 0.900070235: "));
	CHECK_STR(next(&t), "gpu_kernel: vadd<<<(64,3,2),(256,2,1)>>> dev=1 ctx=2 stream_id=7 start=0.900079235 end=0.900080235 "
		  "took=1.000us seq=4 stream=0x0 node=9 queued=7.000000008 corr=17 regs=24");
	CHECK_STR(next(&t), END_OF_KERNEL);
	CHECK_STR(next(&t), "call: cuInit() result=CUDA_SUCCESS 1.234 us");
	CHECK(strstr(t.line, " [000] "));
	CHECK_STR(next(&t), "call: cuInit() result=CUDA_SUCCESS 1.234 us");
	CHECK(strstr(t.line, " [000] "));
	clear(&t);
}

/* Whose line it is, where and when. */
static void is_at(struct told *t, const char *begins, const char *cpu, const char *time)
{
	const char *line = next(t);

	CHECK(!strncmp(line, begins, strlen(begins)));
	CHECK(strstr(t->line, cpu) && strstr(t->line, time));
}

TEST(each_stream_has_a_cpu_of_its_own_whose_times_never_decrease)
{
	const struct cuda_device_time made = { .kernel = &vadd, .seq = 3, .tid = 101 };
	struct cuda_time early = kernel_time, other = kernel_time, inside = kernel_time;
	struct told t;

	set_up(&t);
	other.stream = 8;
	early.start -= 500;
	inside.start += 1000;
	inside.end -= 1000;
	ran(&t, made, &kernel_time);
	ran(&t, made, &other);
	ran(&t, made, &inside);			/* and told late: it stands where the one before ended */
	ran(&t, made, &early);
	t.cpus = 3;
	read_back(&t);
	is_at(&t, "gpu_kernel: ", " [001] ", " 0.900000001: ");
	is_at(&t, "gpu_kernel: ", " [002] ", " 0.900000001: ");
	for (int i = 0; i < 5; i++)
		is_at(&t, i % 2 ? "gpu_kernel: " : "gpu_end: ", " [001] ", " 0.900070235: ");
	is_at(&t, "gpu_end: ", " [002] ", " 0.900070235: ");
	clear(&t);
}

TEST(streams_beyond_those_that_have_a_cpu_of_their_own_share_one)
{
	struct cuda_time time = kernel_time;
	struct told t;

	set_up(&t);
	for (uint32_t i = 0; i < 3 * TD_STREAMS; i++) {
		time.context = i;
		ran(&t, (struct cuda_device_time){ .kernel = &vadd, .seq = i, .tid = 101 }, &time);
	}
	t.cpus = 1 + TD_STREAMS;
	read_back(&t);
	for (uint32_t i = 0; i < 2 * 3 * TD_STREAMS; i++)
		CHECK(!strncmp(next(&t), "gpu_", 4));
	clear(&t);
}

TEST(times_that_cannot_be_are_told_where_they_became_known)
{
	static const struct { uint64_t start, end; } row[] = { { 0, 0 }, { 900, 899 }, { 1, START + 2 * NSEC_PER_SEC },
		{ 1ull << 62, 1ull << 63 } };
	struct cuda_time time = kernel_time;
	struct told t;

	set_up(&t);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		time.start = row[i].start;
		time.end = row[i].end;
		ran(&t, (struct cuda_device_time){ .kernel = &vadd, .seq = i, .tid = 101 }, &time);
	}
	read_back(&t);
	for (size_t i = 0; i < 2 * ARRAY_SIZE(row); i++)
		is_at(&t, i % 2 ? "gpu_end: " : "gpu_kernel: ", " [001] ", " 1.000000000: ");
	clear(&t);
}

TEST(what_is_not_known_of_a_kernel_on_the_device_is_said)
{
	struct cuda_kernel odd = { .name = "a\nb" };
	struct told t;

	set_up(&t);
	ran(&t, (struct cuda_device_time){ .seq = CUDA_NO_SEQ }, &kernel_time);
	ran(&t, (struct cuda_device_time){ .seq = CUDA_NO_SEQ, .entry = 5, .tid = 101 }, &kernel_time);
	ran(&t, (struct cuda_device_time){ .kernel = &odd, .seq = 0, .entry = 5, .tid = 101 }, &kernel_time);
	read_back(&t);
	CHECK_STR(next(&t), "gpu_kernel: unknown<<<(64,3,2),(256,2,1)>>> dev=1 ctx=2 stream_id=7 start=0.900000001 end=0.900070235 "
		  "took=70.234us call=unseen corr=17 regs=24");
	CHECK(strstr(t.line, "-100 "));
	CHECK_STR(next(&t), END_OF_KERNEL);
	CHECK_STR(next(&t), "gpu_kernel: unknown<<<(64,3,2),(256,2,1)>>> dev=1 ctx=2 stream_id=7 start=0.900000001 end=0.900070235 "
		  "took=70.234us seq=unseen stream=0x0 corr=17 regs=24");
	CHECK(strstr(t.line, "-101 "));
	CHECK_STR(next(&t), END_OF_KERNEL);
	CHECK_STR(next(&t), "gpu_kernel: a\\nb<<<(64,3,2),(256,2,1)>>> dev=1 ctx=2 stream_id=7 start=0.900000001 end=0.900070235 "
		  "took=70.234us seq=0 stream=0x0 corr=17 regs=24");
	CHECK_STR(next(&t), END_OF_KERNEL);
	clear(&t);
}

TEST(copies_and_sets_on_the_device_have_their_bytes_and_copies_their_way)
{
	static const struct { uint16_t what; const char *name; } row[] = {
		{ 0, "unknown" }, { 1, "HtoD" }, { 2, "DtoH" }, { 8, "DtoD" }, { 9, "HtoH" }, { 10, "PtoP" }, { 99, "0x63" },
	};
	struct cuda_time time = { .kind = CUDA_TIME_SET, .start = 1, .end = 1000000002, .bytes = 1ull << 40, .stream = 7 };
	const struct cuda_device_time made = { .seq = CUDA_NO_SEQ, .entry = 5, .stream = 0x2, .tid = 101 };
	struct told t;

	set_up(&t);
	ran(&t, made, &time);
	time.kind = CUDA_TIME_COPY;
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		time.what = row[i].what;
		ran(&t, made, &time);
	}
	time.kind = CUDA_TIME_STATE;		/* is no time */
	ran(&t, made, &time);
	read_back(&t);
	CHECK_STR(next(&t), "gpu_memset: 1099511627776 bytes dev=0 ctx=0 stream_id=7 start=0.000000001 end=1.000000002 "
		  "took=1000000.001us stream=0x2 corr=0");
	CHECK_STR(next(&t), "gpu_end: dev=0 stream_id=7 corr=0");
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		char want[160];

		snprintf(want, sizeof(want), "gpu_memcpy: %s 1099511627776 bytes dev=0 ctx=0 stream_id=7 start=0.000000001 "
			 "end=1.000000002 took=1000000.001us stream=0x2 corr=0", row[i].name);
		CHECK_STR(next(&t), want);
		CHECK_STR(next(&t), "gpu_end: dev=0 stream_id=7 corr=0");
	}
	clear(&t);
}
