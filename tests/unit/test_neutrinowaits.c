/*
 * test_neutrinowaits.c - which launches the NEUTRINO sink says are complete: those that a call proves to be.
 */
#include <malloc.h>

#include "base.h"
#include "cudadesk.h"
#include "test.h"

static const struct cuda_function wait_stream = { .name = "cuStreamSynchronize",
	.does = CUDA_DOES_WAIT_STREAM, .twin = 'z' };
static const struct cuda_function wait_event = { .name = "cuEventSynchronize", .does = CUDA_DOES_WAIT_EVENT };
static const struct cuda_function query_stream = { .name = "cuStreamQuery", .does = CUDA_DOES_QUERY_STREAM };
static const struct cuda_function record_event = { .name = "cuEventRecord", .does = CUDA_DOES_RECORD_EVENT };
static const struct cuda_function new_stream = { .name = "cuStreamCreate", .does = CUDA_DOES_NEW_STREAM };
static const struct cuda_function copy_up = { .name = "cuMemcpyHtoD_v2", .does = CUDA_DOES_MEMORY, .twin = 's' };
static const struct cuda_function end_event = { .name = "cuEventDestroy_v2", .does = CUDA_DOES_OTHER };
static const struct cuda_function set_context = { .name = "cuCtxSetCurrent", .does = CUDA_DOES_OTHER };
static const struct cuda_function new_context = { .name = "cuCtxCreate_v2", .does = CUDA_DOES_OTHER };

TEST(neutrino_a_wait_for_a_stream_completes_its_launches)
{
	uint64_t first, second;
	struct desk d;

	desk_set(&d);
	launched(&d, 0x10);
	launched(&d, 0x20);
	launched(&d, 0x10);
	first = did(&d, CALL(.fn = &wait_stream, .stream = 0x10, .memory = CUDA_MEM_WAIT_STREAM));
	launched(&d, 0x10);
	second = did(&d, CALL(.fn = &wait_context, .memory = CUDA_MEM_WAIT_CONTEXT));
	launched(&d, 0x10);
	desk_close(&d);
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
	desk_clear(&d);
}

TEST(neutrino_a_wait_completes_only_what_had_returned_when_it_began)
{
	struct cuda_call wait = CALL(.fn = &wait_stream, .stream = 0x10), late;
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0x10);
	struct desk d;

	desk_set(&d);
	late = CALL(.fn = &launch_kernel, .launch = &l, .launches = 1, .tid = 5);
	launched(&d, 0x10);
	call_begins(&d, &late);
	call_begins(&d, &wait);
	call_ends(&d, &late, 10, 0);
	call_ends(&d, &wait, 10, 0);
	wait = CALL(.fn = &wait_stream, .stream = 0x10);
	call_begins(&d, &wait);
	call_ends(&d, &wait, 10, 700);	/* CUDA_ERROR_ILLEGAL_ADDRESS */
	desk_close(&d);
	CHECK(sync_of(&d, 0));
	CHECK_INT(sync_of(&d, 1), 0);
	desk_clear(&d);
}

TEST(neutrino_an_event_completes_what_was_launched_before_it)
{
	struct desk d;
	uint64_t done;

	desk_set(&d);
	launched(&d, 0x10);
	did(&d, CALL(.fn = &record_event, .stream = 0x10, .event = 0xe));
	launched(&d, 0x10);
	done = did(&d, CALL(.fn = &wait_event, .event = 0xe, .memory = CUDA_MEM_WAIT_EVENT));
	did(&d, CALL(.fn = &wait_event, .event = 0xf));		/* never recorded */
	did(&d, CALL(.fn = &record_event, .stream = 0x10, .event = 0xf));
	did(&d, CALL(.fn = &end_event, .event = 0xf));
	did(&d, CALL(.fn = &wait_event, .event = 0xf));		/* another one */
	desk_close(&d);
	CHECK_INT(sync_of(&d, 0), done);
	CHECK_INT(sync_of(&d, 1), 0);
	desk_clear(&d);
}

TEST(neutrino_of_many_events_the_late_ones_are_remembered)
{
	struct desk d;

	desk_set(&d);
	for (unsigned i = 0; i < 20000; i++) {
		if (i % 2000 == 0)
			launched(&d, 0x10);
		did(&d, CALL(.fn = &record_event, .stream = 0x10, .event = 0x1000 + 64 * i));
	}
	did(&d, CALL(.fn = &wait_event, .event = 0x1000));	/* forgotten, and not taken for another */
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	did(&d, CALL(.fn = &wait_event, .event = 0x1000 + 64 * 19999));
	desk_close(&d);
	for (unsigned i = 0; i < 10; i++)
		CHECK(sync_of(&d, i));
	desk_clear(&d);
}

TEST(neutrino_a_query_proves_it_when_its_result_is_0)
{
	struct cuda_call query = CALL(.fn = &query_stream, .stream = 0x10);
	struct desk d;

	desk_set(&d);
	launched(&d, 0x10);
	call_begins(&d, &query);
	call_ends(&d, &query, 10, 600);	/* CUDA_ERROR_NOT_READY */
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	did(&d, CALL(.fn = &query_stream, .stream = 0x10));
	desk_close(&d);
	CHECK(sync_of(&d, 0));
	CHECK_INT(rows_of(&d, "result/mem.bin"), 0);
	desk_clear(&d);
}

TEST(neutrino_a_copy_that_blocks_completes_the_default_stream_and_who_waits_for_it)
{
	struct desk d;

	desk_set(&d);
	did(&d, CALL(.fn = &new_stream, .out = 0x10));
	did(&d, CALL(.fn = &new_stream, .out = 0x20, .arg = { 0, 1 }));	/* CU_STREAM_NON_BLOCKING */
	launched(&d, 0);
	launched(&d, 0x10);
	launched(&d, 0x20);
	did(&d, CALL(.fn = &copy_down_async, .memory = CUDA_MEM_DTOH, .bytes = 4));
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	did(&d, CALL(.fn = &copy_down, .memory = CUDA_MEM_DTOH, .bytes = 4));
	desk_close(&d);
	CHECK(sync_of(&d, 0));
	CHECK(sync_of(&d, 1));
	CHECK_INT(sync_of(&d, 2), 0);
	desk_clear(&d);
}

TEST(neutrino_a_small_copy_to_the_device_proves_nothing)
{
	struct desk d;

	desk_set(&d);
	launched(&d, 0);
	did(&d, CALL(.fn = &copy_up, .memory = CUDA_MEM_HTOD, .bytes = 64 << 10));
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	did(&d, CALL(.fn = &copy_up, .memory = CUDA_MEM_HTOD, .bytes = (64 << 10) + 1));
	desk_close(&d);
	CHECK(sync_of(&d, 0));
	desk_clear(&d);
}

TEST(neutrino_with_several_contexts_the_current_one_proves_nothing)
{
	struct desk d;

	desk_set(&d);
	did(&d, CALL(.fn = &new_context, .out = 1));
	did(&d, CALL(.fn = &set_context, .handle = 1));
	launched(&d, 0);
	did(&d, CALL(.fn = &wait_context));
	did(&d, CALL(.fn = &set_context, .handle = 2));
	launched(&d, 0);
	launched(&d, 0x10);
	did(&d, CALL(.fn = &wait_context));
	did(&d, CALL(.fn = &copy_down, .memory = CUDA_MEM_DTOH));
	did(&d, CALL(.fn = &wait_stream, .stream = 0x10));
	desk_close(&d);
	CHECK(sync_of(&d, 0));
	CHECK_INT(sync_of(&d, 1), 0);
	CHECK(sync_of(&d, 2));
	desk_clear(&d);
}

TEST(neutrino_a_threads_own_stream_is_its_own)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, 0);
	struct cuda_call c = { .fn = &launch_kernel, .func = 1, .launch = &l, .launches = 1, .tid = 5 };
	struct desk d;

	desk_set(&d);
	l.flags = CUDA_LAUNCH_PER_THREAD;
	call_made(&d, &c);
	did(&d, CALL(.fn = &wait_stream, .func = 1, .tid = 6));
	CHECK_INT(sink_neutrino.checkpoint(d.sink), 0);
	CHECK_INT(sync_of(&d, 0), 0);
	did(&d, CALL(.fn = &wait_stream, .stream = 2, .tid = 5));
	desk_close(&d);
	CHECK(sync_of(&d, 0));
	CHECK(strstr(read_file(&d, "event.log"), "[sync] cuStreamSynchronize_ptsz 0 stream 0 ns 100\n"));
	desk_clear(&d);
}

TEST(neutrino_a_hundred_thousand_launches_may_wait_in_little_memory)
{
	struct desk d;
	size_t before;

	desk_set(&d);
	for (int i = 0; i < 10000; i++)		/* up to the cap */
		launched(&d, i & 1 ? 0x10 : 0x20);
	before = mallinfo2().uordblks;
	for (int i = 0; i < 100000; i++)
		launched(&d, i & 1 ? 0x10 : 0x20);
	CHECK(mallinfo2().uordblks < before + (6 << 20));
	did(&d, CALL(.fn = &wait_context));
	desk_close(&d);
	(void)read_file(&d, "result/launches.bin");
	CHECK_INT(half(d.text), 110000);
	CHECK_INT(d.len, 48 + 64 * 110000);
	for (int i = 0; i < 110000; i++) {
		CHECK_INT(word(d.text + 48 + 64 * i + SEQ), i);
		CHECK_INT(word(d.text + 48 + 64 * i + SYNC), d.now);
	}
	desk_clear(&d);
}
