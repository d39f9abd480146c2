/*
 * test_device.c - which launch a time of the device is of: calls, their numbers and kernels in any order.
 */
#include "base.h"
#include "cuda/device.h"
#include "flow/record.h"
#include "gputime.h"
#include "test.h"

static const struct cuda_function launch_kernel = { .name = "cuLaunchKernel", .does = CUDA_DOES_LAUNCH };
static const struct cuda_function graph_launch = { .name = "cuGraphLaunch", .does = CUDA_DOES_GRAPH_LAUNCH };
static const struct cuda_function copy_down = { .name = "cuMemcpyDtoH_v2", .does = CUDA_DOES_MEMORY };

/* A process in which CUPTI is ready, and what has been told: "seq@start", "-@start" of no launch, "c@start" of a call. */
struct bench {
	struct cuda_process  p;
	struct gputime_counts counts;
	char   told[256];
};

static void set(struct bench *b)
{
	*b = (struct bench){ .p.pid = 10 };
	CHECK_INT(device_create(&b->p.device, &b->counts), 0);
}

static void clear(struct bench *b)
{
	device_destroy(b->p.device);
}

static int note(void *ctx, const struct cuda_device_time *t)
{
	struct bench *b = ctx;
	char *end = b->told + strlen(b->told), what[24] = "-";

	if (t->seq != CUDA_NO_SEQ)
		snprintf(what, sizeof(what), "%lu", t->seq);
	else if (t->entry)
		strcpy(what, "c");
	snprintf(end, b->told + sizeof(b->told) - end, "%s%s@%llu", *b->told ? " " : "", what, t->time->start);
	return 0;
}

/* A call of @n kernels of 1, 2, ... blocks, from @entry to @ret. */
static void called(struct bench *b, const struct cuda_function *fn, uint32_t tid, uint64_t entry, uint64_t ret, size_t n)
{
	struct cuda_launch l[4] = {};
	struct cuda_call c = { .fn = fn, .process = &b->p, .tid = tid, .entry = entry, .launch = l, .launches = n,
			       .memory = fn == &copy_down ? CUDA_MEM_DTOH : CUDA_MEM_NONE };

	for (size_t i = 0; i < n; i++)
		l[i] = (struct cuda_launch){ .seq = b->p.launches++, .grid = { i + 1, 1, 1 }, .block = { 32, 1, 1 } };
	CHECK_INT(device_called(b->p.device, &c), 0);
	c.ret = ret;
	device_returned(b->p.device, &c);
}

static void tell(struct bench *b, const struct cuda_time *t)
{
	CHECK_INT(device_time(&b->p, t, note, b), 0);
}

static void numbered(struct bench *b, uint32_t number, uint32_t tid, uint64_t start)
{
	tell(b, &(struct cuda_time){ .kind = CUDA_TIME_CALL, .correlation = number, .tid = tid, .start = start, .end = start + 1 });
}

static void ran(struct bench *b, uint32_t number, uint64_t start, uint32_t blocks, uint64_t node)
{
	tell(b, &(struct cuda_time){ .kind = CUDA_TIME_KERNEL, .correlation = number, .start = start, .end = start + 5,
				     .grid = { blocks, 1, 1 }, .block = { 32, 1, 1 }, .graph_node = node });
}

TEST(a_kernel_is_of_the_launch_whose_call_has_its_number)
{
	struct bench b;

	set(&b);
	called(&b, &launch_kernel, 11, 100, 110, 1);
	called(&b, &launch_kernel, 12, 105, 115, 1);
	called(&b, &launch_kernel, 11, 120, 130, 1);
	numbered(&b, 1, 11, 101);
	numbered(&b, 2, 12, 106);
	numbered(&b, 3, 11, 121);
	ran(&b, 3, 300, 1, 0);
	ran(&b, 1, 200, 1, 0);
	ran(&b, 2, 210, 1, 0);
	CHECK_STR(b.told, "2@300 0@200 1@210");
	CHECK_INT(b.counts.kernels, 3);
	CHECK_INT(b.counts.matched, 3);
	clear(&b);
}

TEST(a_kernel_that_comes_before_its_calls_number_waits_for_it)
{
	struct bench b;

	set(&b);
	called(&b, &launch_kernel, 11, 100, 110, 1);
	ran(&b, 1, 200, 1, 0);
	CHECK_STR(b.told, "");
	numbered(&b, 1, 11, 101);
	CHECK_STR(b.told, "0@200");
	clear(&b);
}

TEST(nodes_of_a_graph_have_the_places_of_their_kernels)
{
	struct bench b;

	set(&b);
	called(&b, &graph_launch, 11, 100, 110, 3);
	numbered(&b, 7, 11, 101);
	ran(&b, 7, 202, 3, 53);
	ran(&b, 7, 200, 1, 51);
	CHECK_STR(b.told, "");
	ran(&b, 7, 201, 2, 52);
	CHECK_STR(b.told, "0@200 1@201 2@202");
	ran(&b, 7, 203, 4, 54);
	CHECK_STR(b.told, "0@200 1@201 2@202 c@203");
	clear(&b);
}

TEST(a_kernel_of_another_shape_than_its_launch_is_not_of_it)
{
	struct bench b;

	set(&b);
	called(&b, &graph_launch, 11, 100, 110, 2);
	called(&b, &launch_kernel, 11, 120, 130, 1);
	numbered(&b, 7, 11, 101);
	numbered(&b, 8, 11, 121);
	ran(&b, 7, 200, 2, 51);
	ran(&b, 7, 201, 1, 52);
	ran(&b, 8, 202, 9, 0);
	CHECK_STR(b.told, "c@200 c@201 c@202");
	CHECK_INT(b.counts.unlike, 3);
	CHECK_INT(b.counts.matched, 0);
	clear(&b);
}

TEST(what_was_captured_takes_no_other_calls_number)
{
	struct cuda_call captured = { .fn = &launch_kernel, .tid = 11, .entry = 120, .is_captured = true };
	struct bench b;

	set(&b);
	called(&b, &launch_kernel, 11, 100, 0, 1);	/* its return is not seen */
	captured.process = &b.p;
	CHECK_INT(device_called(b.p.device, &captured), 0);
	numbered(&b, 2, 11, 121);
	numbered(&b, 1, 11, 101);
	ran(&b, 1, 200, 1, 0);
	CHECK_STR(b.told, "0@200");
	clear(&b);
}

TEST(threads_counted_otherwise_are_told_by_when_they_called)
{
	struct bench b;

	set(&b);
	called(&b, &launch_kernel, 11, 100, 110, 1);
	called(&b, &launch_kernel, 12, 120, 135, 1);
	called(&b, &launch_kernel, 11, 130, 140, 1);
	numbered(&b, 1, 3, 101);
	numbered(&b, 2, 4, 132);			/* of one of two */
	ran(&b, 1, 200, 1, 0);
	ran(&b, 2, 210, 1, 0);
	CHECK_INT(device_finish(&b.p, note, &b), 0);
	CHECK_STR(b.told, "0@200 -@210");
	clear(&b);
}

TEST(copies_have_a_call_and_no_launch)
{
	struct bench b;

	set(&b);
	called(&b, &copy_down, 11, 100, 110, 0);
	numbered(&b, 1, 11, 101);
	tell(&b, &(struct cuda_time){ .kind = CUDA_TIME_COPY, .correlation = 1, .start = 105, .end = 106 });
	tell(&b, &(struct cuda_time){ .kind = CUDA_TIME_COPY, .correlation = 1, .start = 107, .end = 108 });
	CHECK_STR(b.told, "c@105 c@107");
	CHECK_INT(b.counts.matched_copies, 2);
	clear(&b);
}

TEST(at_the_end_what_waits_is_told_as_it_is)
{
	struct bench b;

	set(&b);
	called(&b, &graph_launch, 11, 100, 110, 2);
	numbered(&b, 7, 11, 101);
	ran(&b, 7, 200, 1, 51);
	ran(&b, 9, 201, 1, 0);
	CHECK_INT(device_finish(&b.p, note, &b), 0);
	CHECK_STR(b.told, "c@200 -@201");
	CHECK_INT(b.counts.kernels - b.counts.matched, 2);
	clear(&b);
}

TEST(many_calls_that_never_get_a_number_are_given_up)
{
	struct bench b;

	set(&b);
	for (uint64_t i = 0; i < 200000; i++)
		called(&b, &launch_kernel, 11, 100 + 10 * i, 105 + 10 * i, 1);
	numbered(&b, 1, 11, 101);
	numbered(&b, 2, 11, 101 + 10 * 199999);
	ran(&b, 1, 5000000, 1, 0);
	ran(&b, 2, 5000001, 1, 0);
	CHECK_STR(b.told, "199999@5000001");
	clear(&b);
}

TEST(a_batch_that_says_more_than_it_holds_is_not_sane)
{
	struct {
		struct rec_cuda_times rec;
		struct cuda_time      time[2];
	} r = { .rec.hdr = { .kind = REC_CUDA_TIMES, .size = sizeof(r) }, .rec.count = 2 };

	CHECK(record_is_sane(&r.rec.hdr, sizeof(r)));
	r.rec.count = 3;
	CHECK(!record_is_sane(&r.rec.hdr, sizeof(r)));
	r.rec.count = UINT32_MAX;
	CHECK(!record_is_sane(&r.rec.hdr, sizeof(r)));
}
