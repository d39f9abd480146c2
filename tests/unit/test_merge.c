/*
 * test_merge.c - the records of many CPUs in one order of time.
 */
#include "base.h"
#include "flow/round.h"
#include "merge.h"
#include "record.h"
#include "test.h"

DEFINE_CLEANUP(merge_destroy, struct merge *)

static void put(struct round *r, unsigned cpu, uint64_t time)
{
	struct rec_hdr *h = chunk_add(&r->chunk[cpu], sizeof(*h));

	*h = (struct rec_hdr){ .time = time, .cpu = cpu, .size = sizeof(*h), .kind = REC_TASK_NAME };
	chunk_note(&r->chunk[cpu], time);
}

static int note(void *ctx, const struct rec_hdr *rec)
{
	char *seen = ctx;

	sprintf(seen + strlen(seen), "%s%llu", *seen ? " " : "", rec->time);
	return 0;
}

TEST(merge_puts_two_cpus_in_order_of_time)
{
	__cleanup(merge_destroyp) struct merge *m = NULL;
	struct round *r = round_create(2);
	char seen[64] = "";

	CHECK(merge_create(&m) == 0);
	put(r, 0, 100);
	put(r, 0, 300);
	put(r, 1, 200);
	CHECK(merge_add(m, r) == 0);
	CHECK(merge_release(m, 1000, note, seen) == 0);

	CHECK_STR(seen, "100 200 300");
	CHECK(merge_pending(m) == 0);
}

TEST(merge_keeps_back_what_another_cpu_may_still_precede)
{
	__cleanup(merge_destroyp) struct merge *m = NULL;
	struct round *r = round_create(2);
	char seen[64] = "";

	CHECK(merge_create(&m) == 0);
	put(r, 0, 100);
	put(r, 0, 300);
	CHECK(merge_add(m, r) == 0);
	CHECK(merge_release(m, 300, note, seen) == 0);

	CHECK_STR(seen, "100");
	CHECK(merge_pending(m) == 1);
}

TEST(merge_mends_a_record_that_comes_late_on_its_cpu)
{
	__cleanup(merge_destroyp) struct merge *m = NULL;
	struct round *r = round_create(1);
	char seen[64] = "";

	CHECK(merge_create(&m) == 0);
	put(r, 0, 100);
	put(r, 0, 300);
	put(r, 0, 200);
	put(r, 0, 400);
	CHECK(merge_add(m, r) == 0);
	CHECK(merge_release(m, 1000, note, seen) == 0);

	CHECK_STR(seen, "100 200 300 400");
}

TEST(merge_lets_a_later_round_precede_what_an_earlier_one_left)
{
	__cleanup(merge_destroyp) struct merge *m = NULL;
	struct round *first = round_create(2), *second = round_create(2);
	char seen[64] = "";

	CHECK(merge_create(&m) == 0);
	put(first, 0, 100);
	put(first, 0, 500);
	CHECK(merge_add(m, first) == 0);
	CHECK(merge_release(m, 200, note, seen) == 0);
	put(second, 1, 400);
	put(second, 0, 600);
	CHECK(merge_add(m, second) == 0);
	CHECK(merge_release(m, 1000, note, seen) == 0);

	CHECK_STR(seen, "100 400 500 600");
}

struct order {
	uint64_t last;
	unsigned count, wrong;
};

static int check_order(void *ctx, const struct rec_hdr *rec)
{
	struct order *o = ctx;

	o->wrong += rec->time < o->last;
	o->last = rec->time;
	o->count++;
	return 0;
}

TEST(merge_of_many_cpus_hands_out_every_record_once_in_order)
{
	__cleanup(merge_destroyp) struct merge *m = NULL;
	struct order order = {};
	unsigned seed = 1;

	CHECK(merge_create(&m) == 0);
	for (unsigned n = 0; n < 10; n++) {
		struct round *r = round_create(64);

		for (unsigned i = 0; i < 1000; i++)
			put(r, rand_r(&seed) % 64, n * 1000 + rand_r(&seed) % 1000);
		CHECK(merge_add(m, r) == 0);
		CHECK(merge_release(m, n * 1000, check_order, &order) == 0);
	}
	CHECK(merge_release(m, UINT64_MAX, check_order, &order) == 0);
	CHECK_INT(order.count, 10000);
	CHECK_INT(order.wrong, 0);
}

static int refuse_200(void *ctx, const struct rec_hdr *rec)
{
	(void)ctx;
	return rec->time == 200 ? -ENOSPC : 0;
}

TEST(merge_stops_at_the_first_error_and_frees_what_is_left)
{
	__cleanup(merge_destroyp) struct merge *m = NULL;
	struct round *r = round_create(1);

	CHECK(merge_create(&m) == 0);
	put(r, 0, 100);
	put(r, 0, 200);
	put(r, 0, 300);
	CHECK(merge_add(m, r) == 0);
	CHECK(merge_release(m, 1000, refuse_200, NULL) == -ENOSPC);
	CHECK(merge_pending(m) == 2);
}
