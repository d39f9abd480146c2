/*
 * test_neutrinogpu.c - device times in a NEUTRINO folder: the second map of bins and of launches.bin.
 */
#include "base.h"
#include "cudadesk.h"
#include "event.h"
#include "test.h"

/* neutrino.md section 8: gpu_kernel. */
enum { GPU_START = 0, GPU_END = 8, NODE = 24, STREAM_ID = 36, CORRELATION = 40, REGS = 44 };

static void timed(struct desk *d, uint64_t seq, uint64_t start)
{
	const struct cuda_time t = { .kind = CUDA_TIME_KERNEL, .start = start, .end = start + 500, .graph_node = 3, .stream = 7,
				     .correlation = 40 + seq, .regs = 24 };
	const struct cuda_device_time told = { .process = &d->process, .time = &t, .seq = seq, .entry = START };
	struct event ev = { .kind = REC_CUDA_TIMES, .device = &told };

	CHECK_INT(sink_neutrino.event(d->sink, &ev), 0);
}

static void check_row(const char *at, uint64_t seq, uint64_t start)
{
	CHECK_INT(word(at + GPU_START), start);
	CHECK_INT(word(at + GPU_END), start + 500);
	CHECK_INT(word(at + NODE), 3);
	CHECK_INT(half(at + STREAM_ID), 7);
	CHECK_INT(half(at + CORRELATION), 40 + seq);
	CHECK_INT(half(at + REGS), 24);
}

TEST(neutrino_device_times_are_a_second_map_of_bins)
{
	static const uint32_t sections[] = { 2, 64, 64, 64, 0, 48, 64, 64 + 4 * 64, 0 };	/* maps, then each section */
	const char *bin;
	struct desk d;

	desk_set(&d);
	d.about.gpu_times = true;
	launched(&d, 0);
	timed(&d, 0, START + 70);
	desk_close(&d);
	bin = read_file(&d, "result/0.000000.bin");
	CHECK_INT(d.len, 64 + 4 * 64 + 4 * 48);
	CHECK_MEM(bin + 28, sections, sizeof(sections));
	CHECK_INT(word(bin + 64 + ENTRY), START);
	check_row(bin + 64 + 4 * 64, 0, START + 70);
	for (size_t i = 48; i < 4 * 48; i++)
		CHECK(!bin[64 + 4 * 64 + i]);
	CHECK(strstr(read_file(&d, "probe.toml"), "[map.gpu_kernel]\nlevel = \"warp\"\ntype = \"array\"\nsize = 48\n"));
	CHECK(strstr(read_file(&d, "event.log"), "[exec] grid 4 warp  1 probe 64 total 256\n[exec] grid 4 warp  1 probe 48 total 192\n"
						 "[exec] probe-mem 448 (bytes)\n"));
	desk_clear(&d);
}

TEST(neutrino_device_times_may_come_before_the_launch_returns)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };
	struct desk d;

	desk_set(&d);
	d.about.gpu_times = true;
	call_begins(&d, &c);
	timed(&d, 0, START + 70);
	call_ends(&d, &c, 100, 0);
	desk_close(&d);
	check_row(read_file(&d, "result/0.000000.bin") + 64 + 4 * 64, 0, START + 70);
	desk_clear(&d);
}

TEST(neutrino_the_table_of_launches_gets_its_second_map_at_the_end)
{
	const char *table;
	struct desk d;

	desk_set(&d);
	d.about.gpu_times = true;
	for (int i = 0; i < 3; i++)
		launched(&d, 0);
	timed(&d, 1, START + 900);
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	table = read_file(&d, "result/launches.bin");
	CHECK_INT(d.len, 64 + 3 * 64);
	CHECK_INT(half(table + 28), 1);
	desk_close(&d);
	table = read_file(&d, "result/launches.bin");
	CHECK_INT(d.len, 64 + 3 * 64 + 3 * 48);
	CHECK_INT(half(table + 28), 2);
	CHECK_INT(half(table + 48), 48);
	CHECK_INT(half(table + 52), 1);
	CHECK_INT(word(table + 56), 64 + 3 * 64);
	CHECK_INT(word(table + 64 + 3 * 64), 0);
	check_row(table + 64 + 3 * 64 + 48, 1, START + 900);
	CHECK_INT(word(table + 64 + 3 * 64 + 2 * 48), 0);
	desk_clear(&d);
}

TEST(neutrino_a_grid_too_large_to_show_keeps_both_records)
{
	struct cuda_launch l = launch_of(&vadd, 0x7fffffff, 64, 0);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };
	struct desk d;

	desk_set(&d);
	d.about.gpu_times = true;
	call_made(&d, &c);
	timed(&d, 0, START + 70);
	desk_close(&d);
	read_file(&d, "result/0.000000.bin");
	CHECK_INT(d.len, 64 + 64 + 48);
	check_row(d.text + 64 + 64, 0, START + 70);
	desk_clear(&d);
}

TEST(neutrino_without_device_times_nothing_of_them_is_there)
{
	struct desk d;

	desk_set(&d);
	launched(&d, 0);
	timed(&d, 0, START + 70);	/* of a recording that has some, though not asked for */
	desk_close(&d);
	CHECK(!strstr(read_file(&d, "event.log"), "gpu"));
	CHECK(!strstr(read_file(&d, "probe.toml"), "gpu"));
	desk_clear(&d);
}
