/*
 * test_neutrino.c - the NEUTRINO sink, told made-up calls; its files read byte by byte.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base.h"
#include "clock.h"
#include "cudadesk.h"
#include "test.h"

static const struct cuda_function graph_launch = { .name = "cuGraphLaunch", .does = CUDA_DOES_GRAPH_LAUNCH };
static const struct cuda_function alloc = { .name = "cuMemAlloc_v2", .does = CUDA_DOES_MEMORY };
static const struct cuda_function load = { .name = "cuModuleLoadData", .does = CUDA_DOES_LOAD };
static const struct cuda_function get_function = { .name = "cuModuleGetFunction", .does = CUDA_DOES_GET_FUNCTION };

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

	desk_set(&d);
	call_made(&d, &c);
	desk_close(&d);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		(void)read_file(&d, files[i]);
	/* FIPS 180-4's example: SHA-1 of "abc" */
	CHECK_STR(read_file(&d, "kernel/0_a9993e364706816aba3e25717850c26c9cd0d89d/kernel.info"), "abc\n0\n1\n1,64\n");
	CHECK(strstr(read_file(&d, "kernel/0_a9993e364706816aba3e25717850c26c9cd0d89d/process.log"), "told by the call"));
	desk_clear(&d);
}

TEST(neutrino_a_process_that_is_there_is_asked_for_its_start_and_words)
{
	struct desk d;
	char name[64];
	uint64_t boot = clock_read(CLOCK_BOOTTIME) - clock_now(), start;
	time_t seconds;
	FILE *f;

	desk_set(&d);
	d.about.utc_offset = clock_utc_offset();
	d.now = clock_now();
	d.process.pid = getpid();
	d.process.start = 0;
	launched(&d, 0);
	desk_close(&d);
	f = popen("cut -d')' -f2 /proc/$PPID/stat | cut -d' ' -f21", "r");
	CHECK(f && fscanf(f, "%lu", &start) == 1);
	pclose(f);
	start = start * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK)) - boot + d.about.utc_offset;
	seconds = start / NSEC_PER_SEC;
	strftime(name, sizeof(name), "%b%d_%H%M%S", gmtime(&seconds));
	sprintf(name + strlen(name), "_%d", getpid());
	CHECK(strstr(read_in(&d, name, "event.log"), "unit"));
	desk_clear(&d);
}

TEST(neutrino_a_process_in_a_namespace_has_the_number_it_knows)
{
	char name[64];
	time_t seconds;
	struct desk d;
	pid_t pid;

	desk_set(&d);
	pid = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0);
	if (pid < 0)
		SKIP("a PID namespace needs root");
	if (!pid) {
		pause();
		_exit(0);
	}
	d.about.utc_offset = clock_utc_offset();
	d.now = d.process.start = clock_now();
	d.process.pid = pid;
	launched(&d, 0);
	desk_close(&d);
	seconds = (d.process.start + d.about.utc_offset) / NSEC_PER_SEC;
	strftime(name, sizeof(name), "%b%d_%H%M%S_1", gmtime(&seconds));
	(void)read_in(&d, name, "event.log");
	CHECK(!strncmp(d.text, "[init] pid 1\n", 13));
	snprintf(name, sizeof(name), "[recorder] pid %d outside its namespace\n", pid);
	CHECK(strstr(d.text, name));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	desk_clear(&d);
}

TEST(neutrino_forks_have_folders_of_their_own_and_execs_have_not)
{
	struct desk d;
	struct cuda_process child = { .pid = NO_SUCH_PID + 1, .id = 2, .start = START + 1 }, parent;

	desk_set(&d);
	launched(&d, 0);
	parent = d.process;
	d.process = child;
	launched(&d, 0);
	CHECK_INT(sink_neutrino.cuda_end(d.sink, &d.process), 0);
	CHECK(!d.process.slot[0]);
	d.process = parent;
	d.process.execs++;
	launched(&d, 0);
	desk_close(&d);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 2);
	CHECK_INT(count_of(read_file(&d, "event.log"), "[recorder] exec"), 1);
	CHECK_INT(half(read_in(&d, "Nov14_221320_4194306", "result/launches.bin")), 1);
	desk_clear(&d);
}

TEST(neutrino_two_processes_of_one_name_have_two_folders)
{
	struct desk d;

	desk_set(&d);
	launched(&d, 0);
	d.process.slot[0] = NULL;
	launched(&d, 0);
	launched(&d, 0);
	desk_close(&d);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 1);
	CHECK_INT(half(read_in(&d, FOLDER "_2", "result/launches.bin")), 2);
	desk_clear(&d);
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

	desk_set(&d);
	memcpy(l.grid, words, sizeof(l.grid));
	memcpy(l.block, words + 3, sizeof(l.block));
	l.shared = 512;
	l.flags = CUDA_LAUNCH_EX;
	d.process.launches = 9;
	call_begins(&d, &c);
	call_ends(&d, &c, 250, 0);
	desk_close(&d);

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
	desk_clear(&d);
}

TEST(neutrino_the_lines_of_a_launch_stand_together)
{
	struct desk d;
	const char *log;

	desk_set(&d);
	launched(&d, 0);
	desk_close(&d);
	log = strstr(read_file(&d, "event.log"), "[exec]");
	CHECK_STR(log, "[exec] funcmap-find 0xabc fail\n"
		       "[exec] 1700000000000000000 param \n"
		       "[exec] grid 4 1 1 block 64 1 1 shared 0\n"
		       "[exec] grid 4 warp  1 probe 64 total 256\n"
		       "[exec] probe-mem 256 (bytes)\n"
		       "[exec] succeed 0\n"
		       "[exec] save result/0.000000.bin size 304\n");
	desk_clear(&d);
}

TEST(neutrino_a_thousand_launches_in_a_millisecond_have_names_in_their_order)
{
	static char names[1000 * 16], *save;
	uint64_t seq = 0;
	struct desk d;

	desk_set(&d);
	for (int i = 0; i < 1000; i++) {
		launched(&d, 0);
		d.now += 900;		/* call_made() takes 100 */
	}
	d.now = START + 1000;
	launched(&d, 0);			/* of another thread, told late: after all others, too */
	desk_close(&d);
	CHECK_INT(bins(&d, names, sizeof(names)), 1001);
	for (char *n = strtok_r(names, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
		char path[64];

		snprintf(path, sizeof(path), "result/%s", n);
		CHECK_INT(word(read_file(&d, path) + 48 + SEQ), seq);
		seq++;
	}
	desk_clear(&d);
}

static void launch_shape(struct desk *d, uint32_t gx, uint32_t gy, uint32_t bx, uint32_t by, uint32_t result)
{
	struct cuda_launch l = launch_of(&vadd, gx, bx, 0);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };

	l.grid[1] = gy;
	l.block[1] = by;
	call_begins(d, &c);
	call_ends(d, &c, 100, result);
}

TEST(neutrino_blocks_without_a_record_take_no_room)
{
	char path[160];
	struct stat st;
	struct desk d;

	desk_set(&d);
	launch_shape(&d, 32768, 1, 128, 1, 0);
	desk_close(&d);
	snprintf(path, sizeof(path), "%s/%s/result/0.000000.bin", d.dir, FOLDER);
	CHECK(!stat(path, &st));
	CHECK_INT(st.st_size, 48 + 32768 * 64);
	CHECK(st.st_blocks * 512 <= 8192);
	desk_clear(&d);
}

TEST(neutrino_a_grid_too_large_to_show_hides_its_units)
{
	const char *bin;
	struct desk d;

	desk_set(&d);
	launch_shape(&d, 1 << 20, 1, 1024, 1, 0);		/* just fits */
	launch_shape(&d, 1 << 20, 2, 1024, 1, 0);
	launch_shape(&d, 0, 1, 32, 1, 1);			/* what no GPU runs, but a program asked for */
	launch_shape(&d, 1, 1, 0, 1, 1);
	launch_shape(&d, ~0u, ~0u, ~0u, ~0u, 1);
	desk_close(&d);
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
	desk_clear(&d);
}

TEST(neutrino_bins_end_at_the_cap_and_the_table_goes_on)
{
	struct desk d;

	desk_set(&d);
	for (int i = 0; i < 10002; i++)
		launched(&d, 0);
	desk_close(&d);
	CHECK_INT(bins(&d, NULL, 0), 10000);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 10002);
	CHECK_INT(count_of(read_file(&d, "event.log"), "bins-capped"), 1);
	CHECK(strstr(d.text, "[recorder] bins-capped at seq 10000\n"));
	CHECK_INT(count_of(d.text, "[exec] save "), 10000);
	CHECK_INT(count_of(d.text, "[exec] funcmap-find "), 10002);
	desk_clear(&d);
}

/* ---- graphs ---- */

TEST(neutrino_what_is_captured_has_a_row_and_no_bin)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0x10);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1, .is_captured = true };
	struct desk d;

	desk_set(&d);
	l.flags = CUDA_LAUNCH_CAPTURED;
	call_made(&d, &c);
	did(&d, CALL(.fn = &wait_context));
	desk_close(&d);
	CHECK_INT(bins(&d, NULL, 0), 0);
	CHECK_INT(half(read_file(&d, "result/launches.bin") + 48 + FLAGS), CUDA_LAUNCH_CAPTURED);
	CHECK_INT(sync_of(&d, 0), 0);
	CHECK(!strstr(read_file(&d, "event.log"), "[exec]"));
	CHECK(strstr(d.text, "[recorder] captured _Z4vaddPf grid 4 1 1 block 64 1 1 shared 0 stream 10"));
	desk_clear(&d);
}

TEST(neutrino_each_node_of_a_graph_is_a_launch)
{
	struct cuda_kernel other = { .name = "other", .handle = 0xdef, .index = 1 };
	struct cuda_launch l[] = { launch_of(&vadd, 4, 64, 0x10), launch_of(&other, 2, 32, 0x10) };
	struct cuda_call c = { .fn = &graph_launch, .handle = 0x99, .stream = 0x10, .launch = l, .launches = 2 };
	struct desk d;
	char names[64];

	desk_set(&d);
	l[0].flags = l[1].flags = CUDA_LAUNCH_GRAPH;
	call_made(&d, &c);
	desk_close(&d);
	CHECK_INT(bins(&d, names, sizeof(names)), 2);
	CHECK_STR(names, "0.000000.bin 0.000001.bin");
	CHECK_INT(half(read_file(&d, "result/0.000001.bin") + 48 + KERNEL), 1);
	CHECK_INT(half(d.text + 48 + FLAGS), CUDA_LAUNCH_GRAPH);
	CHECK(strstr(read_file(&d, "event.log"), "[graph] launch 99 stream 10 nodes 2\n[exec] funcmap-find 0xabc fail\n"));
	CHECK_INT(count_of(d.text, "[exec] save "), 2);
	desk_clear(&d);
}

/* ---- the rest ---- */

TEST(neutrino_memory_is_a_row_and_a_line)
{
	const char *row;
	struct desk d;
	uint64_t ret;

	desk_set(&d);
	did(&d, CALL(.fn = &alloc, .memory = CUDA_MEM_ALLOC, .dst = 0x7f00, .bytes = 4096));
	ret = did(&d, CALL(.fn = &copy_down, .func = 1, .tid = 3, .memory = CUDA_MEM_DTOH, .dst = 1, .src = 0x7f00,
			   .bytes = 9));
	did(&d, CALL(.fn = &copy_down_async, .memory = CUDA_MEM_DTOH, .bytes = 8, .is_captured = true));
	desk_close(&d);
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
	desk_clear(&d);
}

TEST(neutrino_modules_are_told_in_its_words)
{
	struct desk d;

	desk_set(&d);
	did(&d, CALL(.fn = &load, .image = CUDA_IMAGE_WRAPPED, .image_addr = 0x500, .image_bytes = 807, .out = 0xd0));
	did(&d, CALL(.fn = &load, .image = CUDA_IMAGE_UNREAD, .image_addr = 0x600, .out = 0xd1));
	did(&d, CALL(.fn = &get_function, .handle = 0xd0, .out = 0xf0, .name = (char *)"vadd"));
	desk_close(&d);
	CHECK(strstr(read_file(&d, "event.log"), "[mod] cuModuleLoadData 0 module 0xd0 image 0x500 \n"
						 "[bin] type warpped_fatbin size 807\n"
						 "[mod] cuModuleLoadData 0 module 0xd1 image 0x600 \n"
						 "[recorder] image at 0x600 could not be read\n"
						 "[mod] cuModuleGetFunction func 0xf0 mod 0xd0 name vadd\n"));
	desk_clear(&d);
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
	desk_set(&d);
	did(&d, CALL(.fn = &get_function, .handle = 2, .out = 1, .name = text));
	l.flags = CUDA_LAUNCH_CAPTURED;
	call_made(&d, &c);
	desk_close(&d);
	(void)read_file(&d, "event.log");
	CHECK(strstr(d.text, "name ../../x\\n\\x5bexec]\\x201\\x20param\\x20f\\x1b\\x5b2J\\n"));
	CHECK(!strchr(d.text, '\033'));
	CHECK(!strstr(d.text, "[exec]"));
	CHECK_INT(count_of(d.text, "\n"), 7);
	desk_clear(&d);
}

TEST(neutrino_a_call_that_never_returned_says_so)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };
	struct desk d;

	desk_set(&d);
	call_begins(&d, &c);
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(half(read_file(&d, "result/launches.bin") + 48 + RESULT), 0xffffffffu);
	CHECK_INT(call_told(&d, &c, REC_CUDA_EXIT), 0);		/* inferred */
	did(&d, CALL(.fn = &wait_context));
	desk_close(&d);
	CHECK_INT(word(read_file(&d, "result/launches.bin") + 48 + RETURN), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	CHECK(strstr(read_file(&d, "event.log"), "[recorder] return-not-seen\n[exec] save "));
	desk_clear(&d);
}

TEST(neutrino_what_a_killed_recorder_leaves_is_whole_up_to_the_checkpoint)
{
	struct desk d;

	desk_set(&d);
	launched(&d, 0);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 0);
	CHECK_INT(d.len, 48);
	launched(&d, 0);
	did(&d, CALL(.fn = &wait_context, .memory = CUDA_MEM_WAIT_CONTEXT));
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	launched(&d, 0);
	CHECK_INT(rows_of(&d, "result/launches.bin"), 2);
	CHECK_INT(d.len, 48 + 2 * 64);
	CHECK_INT(rows_of(&d, "result/mem.bin"), 1);
	CHECK(strstr(read_file(&d, "event.log"), "[sync] cuCtxSynchronize"));
	desk_clear(&d);
}

TEST(neutrino_a_full_disk_ends_it_with_an_error)
{
	struct rlimit limit = { 100000, 100000 };
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0);
	int err = 0;
	struct desk d;

	desk_set(&d);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	for (int i = 0; i < 3000 && !err; i++) {
		struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1, .process = &d.process };

		c.entry = d.now++;
		err = call_told(&d, &c, REC_CUDA_ENTRY) ?: call_told(&d, &c, REC_CUDA_EXIT);
	}
	CHECK_INT(err, -EFBIG);
	CHECK_INT(sink_neutrino.close(TAKE(d.sink)), -EFBIG);
	CHECK(rows_of(&d, "result/launches.bin") <= (d.len - 48) / 64);
	desk_clear(&d);
}

TEST(neutrino_a_bin_that_somebody_exchanged_is_left_alone)
{
	char path[128], other[96];
	struct desk d;
	struct stat st;

	desk_set(&d);
	launched(&d, 0);
	launched(&d, 0);
	snprintf(path, sizeof(path), "%s/%s/result/0.000000.bin", d.dir, FOLDER);
	snprintf(other, sizeof(other), "%s/other", d.dir);
	CHECK(!unlink(path));
	close(open(other, O_WRONLY | O_CREAT, 0600));
	CHECK(!link(other, path));
	snprintf(path, sizeof(path), "%s/%s/result/0.000001.bin", d.dir, FOLDER);
	CHECK(!unlink(path) && !symlink(other, path));
	did(&d, CALL(.fn = &wait_context));
	desk_close(&d);
	CHECK(!stat(other, &st));
	CHECK_INT(st.st_size, 0);
	CHECK(sync_of(&d, 0));
	desk_clear(&d);
}

TEST(neutrino_losses_are_told_where_they_happened)
{
	uint64_t count[REC_CLASSES] = { [CLASS_CUDA] = 12 };
	struct desk d;

	desk_set(&d);
	launched(&d, 0);
	CHECK_INT(sink_neutrino.lost(d.sink, 3, d.now, count), 0);
	desk_close(&d);
	CHECK(strstr(read_file(&d, "event.log"), "[recorder] lost 12 records of CUDA calls on CPU 3, of any process\n"));
	desk_clear(&d);
}

/* ---- for tests/live/neutrino.sh ---- */

static void launch_all_shapes(struct desk *d)
{
	static const uint32_t blocks[][3] = { { 1, 1, 1 }, { 32, 1, 1 }, { 48, 1, 1 }, { 8, 4, 2 }, { 1024, 1, 1 } };
	static const uint32_t grids[][3] = { { 1, 1, 1 }, { 3, 1, 1 }, { 2, 3, 4 } };

	for (size_t i = 0; i < ARRAY_SIZE(blocks) * ARRAY_SIZE(grids); i++) {
		struct cuda_launch l = launch_of(&vadd, 0, 0, 0x10);
		struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };

		memcpy(l.block, blocks[i / ARRAY_SIZE(grids)], sizeof(l.block));
		memcpy(l.grid, grids[i % ARRAY_SIZE(grids)], sizeof(l.grid));
		l.shared = i;
		call_made(d, &c);
	}
	launch_shape(d, 1 << 20, 2, 64, 1, 0);
}

/* In $NEUTRINO_OUT/neutrino, if that is set: all shapes, a captured launch, one beyond what fits. */
TEST(neutrino_folder_for_readers)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0x10), huge = launch_of(&vadd, ~0u, ~0u, 0x10);
	struct cuda_call captured = { .fn = &launch_kernel, .launch = &l, .launches = 1, .is_captured = true };
	struct cuda_call refused = { .fn = &launch_kernel, .launch = &huge, .launches = 1 };
	const char *to = getenv("NEUTRINO_OUT");
	char command[512];
	struct desk d;

	desk_set(&d);
	did(&d, CALL(.fn = &alloc, .memory = CUDA_MEM_ALLOC, .dst = 0x7f00, .bytes = 4096));
	d.now = START;
	launch_all_shapes(&d);
	l.flags = CUDA_LAUNCH_CAPTURED;
	call_made(&d, &captured);
	huge.block[1] = huge.grid[1] = ~0u;
	call_begins(&d, &refused);
	call_ends(&d, &refused, 100, 1);	/* CUDA_ERROR_INVALID_VALUE */
	did(&d, CALL(.fn = &copy_down_async, .memory = CUDA_MEM_DTOH, .bytes = 8));
	did(&d, CALL(.fn = &wait_context, .memory = CUDA_MEM_WAIT_CONTEXT));
	desk_close(&d);
	if (to) {
		snprintf(command, sizeof(command), "cp -r '%s' '%s/neutrino'", d.dir, to);
		CHECK(!system(command));
	}
	CHECK_INT(bins(&d, NULL, 0), 16);
	desk_clear(&d);
}
