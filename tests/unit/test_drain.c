/*
 * test_drain.c - rings of function records in made-up memory, drained as if BPF had written them.
 */
#include <pthread.h>

#include "base.h"
#include "callring.h"
#include "clock.h"
#include "flow/drain.h"
#include "flow/round.h"
#include "flow/taken.h"
#include "record.h"
#include "test.h"

#define SLOTS	16		/* a power of two; few, so that rings come round often */
#define CPUS	2

/* The rings, and what has come out of them so far. */
struct tap {
	void	     *memory;
	uint32_t      slots;
	struct queue *queue;
	size_t	      hold_bytes;	/* 0: plenty */
	struct drain *drain;
	uint32_t      taken[CPUS];	/* records that came from each */
	unsigned      rounds;
	bool	      is_last;
};

static struct calls_head *ring(const struct tap *t, unsigned cpu)
{
	return (void *)((char *)t->memory + cpu * (sizeof(struct calls_head) + t->slots * sizeof(struct rec_func)));
}

static struct rec_func *slot(const struct tap *t, unsigned cpu, uint64_t n)
{
	return (struct rec_func *)(ring(t, cpu) + 1) + n % t->slots;
}

/* The rings have been going for @lived records before we look. */
static void set_tap(struct tap *t, uint32_t slots, uint64_t lived)
{
	*t = (struct tap){ .slots = slots };
	t->memory = calloc(CPUS, sizeof(struct calls_head) + slots * sizeof(struct rec_func));
	CHECK(t->memory != NULL);
	CHECK(queue_create(&t->queue, 64 << 20) == 0);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		ring(t, cpu)->head = ring(t, cpu)->tail = lived;
		for (uint64_t n = lived < slots ? 0 : lived - slots; n < lived; n++)
			slot(t, cpu, n)->commit = CALLS_WHOLE(n);
	}
}

static void open_tap(struct tap *t)
{
	struct drain_args args = {
		.ring_count = CPUS, .ring_bytes = 64 << 10, .calls = t->memory, .calls_slots = t->slots,
		.queue = t->queue, .hold_bytes = t->hold_bytes ?: 64 << 20,
	};

	CHECK(drain_start(&t->drain, &args) == 0);
}

/* As bpf/callring.bpf.h does: a slot is reserved by counting the head up, ... */
static uint64_t reserve(struct tap *t, unsigned cpu)
{
	return __atomic_fetch_add(&ring(t, cpu)->head, 1, __ATOMIC_ACQ_REL);
}

/* ... and its number is written into it last. */
static void commit(struct tap *t, unsigned cpu, uint64_t n)
{
	struct rec_func *r = slot(t, cpu, n);

	r->hdr = (struct rec_hdr){ .time = n, .kind = REC_FUNC_ENTRY, .size = sizeof(*r), .cpu = cpu };
	r->func = n;
	r->sp = ~n;
	__atomic_store_n(&r->commit, CALLS_WHOLE(n), __ATOMIC_RELEASE);
}

static void fill(struct tap *t, unsigned cpu, unsigned count)
{
	while (count--)
		commit(t, cpu, reserve(t, cpu));
}

/* The records of a round: each the one that follows the last that was taken from its CPU. */
static void take(struct tap *t, struct round *r, uint64_t lived)
{
	CHECK(r && !t->is_last);
	CHECK_INT(r->chunk_count, 2 * CPUS);
	t->rounds++;
	t->is_last = r->last;
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		const struct chunk *c = &r->chunk[CPUS + cpu];
		const struct rec_func *f = (const void *)c->data;

		CHECK(!r->chunk[cpu].count || r->last);		/* of the ring buffer there is none of; what was lost is told there */
		CHECK_INT(c->len, c->count * sizeof(*f));
		for (unsigned i = 0; i < c->count; i++, t->taken[cpu]++) {
			uint64_t n = lived + t->taken[cpu];

			CHECK_INT(f[i].hdr.time, n);
			CHECK_INT(f[i].hdr.cpu, cpu);
			CHECK_INT(f[i].func, (uint32_t)n);
			CHECK_INT(f[i].sp, ~n);
		}
	}
	round_destroy(r);
}

/* Rounds until @count records have come from CPU 0. */
static void wait_for(struct tap *t, unsigned count)
{
	while (t->taken[0] < count)
		take(t, queue_pop(t->queue, 5000), 0);
}

static void close_tap(struct tap *t, uint64_t lived)
{
	drain_finish(TAKE(t->drain));
	while (!t->is_last)
		take(t, queue_pop(t->queue, 0), lived);
	CHECK(queue_pop(t->queue, 0) == NULL);
	queue_destroy(t->queue);
}

TEST(function_records_come_out_in_the_order_they_were_begun)
{
	struct tap t;

	set_tap(&t, SLOTS, 0);
	fill(&t, 0, 5);
	fill(&t, 1, 7);
	open_tap(&t);
	close_tap(&t, 0);
	CHECK_INT(t.taken[0], 5);
	CHECK_INT(t.taken[1], 7);
	CHECK_INT(ring(&t, 0)->tail, 5);
	CHECK_INT(ring(&t, 1)->tail, 7);
	free(t.memory);
}

TEST(rings_without_records_give_empty_rounds_and_one_that_is_the_last)
{
	struct tap t;

	set_tap(&t, SLOTS, 0);
	open_tap(&t);
	close_tap(&t, 0);
	CHECK(t.rounds >= 1);
	CHECK_INT(t.taken[0] + t.taken[1], 0);
	free(t.memory);
}

TEST(a_full_ring_is_taken_whole_wherever_it_begins)
{
	for (unsigned lived = SLOTS; lived < 2 * SLOTS; lived++) {
		struct tap t;

		set_tap(&t, SLOTS, lived);
		fill(&t, 0, SLOTS);
		fill(&t, 1, SLOTS - 1);
		open_tap(&t);
		close_tap(&t, lived);
		CHECK_INT(t.taken[0], SLOTS);
		CHECK_INT(t.taken[1], SLOTS - 1);
		free(t.memory);
	}
}

TEST(a_slot_that_is_being_written_holds_back_those_behind_it)
{
	struct tap t;
	uint64_t n;

	set_tap(&t, SLOTS, 0);
	fill(&t, 0, 2);
	n = reserve(&t, 0);
	fill(&t, 0, 3);
	open_tap(&t);
	wait_for(&t, 2);
	for (int i = 0; i < 3; i++)		/* rounds go by */
		take(&t, queue_pop(t.queue, 5000), 0);
	CHECK_INT(t.taken[0], 2);
	CHECK_INT(__atomic_load_n(&ring(&t, 0)->tail, __ATOMIC_ACQUIRE), 2);
	commit(&t, 0, n);
	wait_for(&t, 6);
	close_tap(&t, 0);
	CHECK_INT(t.taken[0], 6);
	free(t.memory);
}

/* The instant of the next round. */
static uint64_t next_instant(struct tap *t)
{
	struct round *r = queue_pop(t->queue, 5000);
	uint64_t instant = r ? r->instant : 0;

	take(t, r, 0);
	return instant;
}

TEST(the_instant_of_rounds_stays_while_a_slot_is_being_written)
{
	uint64_t begun, instant = 0, n;
	struct tap t;

	set_tap(&t, SLOTS, 0);
	open_tap(&t);
	n = reserve(&t, 0);
	begun = clock_now();
	fill(&t, 1, 2);
	while (clock_now() < begun + 100000000)
		CHECK(next_instant(&t) <= begun);
	commit(&t, 0, n);
	for (int i = 0; i < 50 && instant <= begun; i++)
		instant = next_instant(&t);
	CHECK(instant > begun);
	CHECK_INT(t.taken[0], 1);
	close_tap(&t, 0);
	free(t.memory);
}

TEST(the_instant_of_rounds_goes_on_when_too_much_waits_for_it)
{
	uint64_t begun, instant = 0;
	struct tap t;

	set_tap(&t, SLOTS, 0);
	t.hold_bytes = 1;
	open_tap(&t);
	reserve(&t, 0);
	begun = clock_now();
	fill(&t, 1, 2);
	for (int i = 0; i < 50 && instant <= begun; i++)
		instant = next_instant(&t);
	CHECK(instant > begun);
	CHECK_INT(t.taken[0], 0);
	close_tap(&t, 0);
	free(t.memory);
}

/* What comes out at the end, of ring 0; the records of the last round, and what it says was lost. */
static unsigned last_of(struct tap *t, struct rec_lost *lost)
{
	unsigned count = 0;
	struct round *r;

	drain_finish(TAKE(t->drain));
	*lost = (struct rec_lost){};
	while ((r = queue_pop(t->queue, 0))) {
		count += r->chunk[CPUS].count;
		if (r->chunk[0].count)
			*lost = *(const struct rec_lost *)r->chunk[0].data;
		round_destroy(r);
	}
	queue_destroy(t->queue);
	free(t->memory);
	return count;
}

TEST(a_slot_that_was_written_a_lap_ago_is_not_taken_again)
{
	struct rec_lost lost;
	struct tap t;

	set_tap(&t, SLOTS, SLOTS + 3);
	reserve(&t, 0);
	fill(&t, 0, 4);
	open_tap(&t);
	for (int i = 0; i < 3; i++)
		take(&t, queue_pop(t.queue, 5000), SLOTS + 3);
	CHECK_INT(t.taken[0], 0);
	CHECK_INT(ring(&t, 0)->tail, SLOTS + 3);
	CHECK_INT(last_of(&t, &lost), 4);
	CHECK_INT(lost.count[CLASS_FUNCTION], 1);
}

/* A launch: two slots begun at once, the second committed first. */
static void launch(struct tap *t, unsigned cpu, uint64_t kernel)
{
	uint64_t n = __atomic_fetch_add(&ring(t, cpu)->head, 2, __ATOMIC_ACQ_REL);
	struct launch_words *second = (void *)slot(t, cpu, n + 1);
	struct rec_func *first = slot(t, cpu, n);

	*second = (struct launch_words){ .kernel = kernel, .stream = ~kernel };
	__atomic_store_n(&second->commit, CALLS_SECOND(n + 1), __ATOMIC_RELEASE);
	first->hdr = (struct rec_hdr){ .time = n, .kind = REC_CUDA_LAUNCH, .size = sizeof(struct rec_cuda_launch), .cpu = cpu };
	__atomic_store_n(&first->commit, CALLS_WHOLE(n), __ATOMIC_RELEASE);
}

TEST(a_record_of_two_slots_is_one_and_whole_wherever_it_begins)
{
	for (unsigned lived = SLOTS; lived < 2 * SLOTS; lived++) {
		const struct rec_cuda_launch *r;
		struct round *round;
		struct tap t;

		set_tap(&t, SLOTS, lived);
		fill(&t, 0, 1);
		launch(&t, 0, 77);
		launch(&t, 0, 78);
		fill(&t, 0, 1);
		open_tap(&t);
		round = queue_pop(t.queue, 5000);
		CHECK_INT(round->chunk[CPUS].count, 4);
		CHECK_INT(round->chunk[CPUS].len, 2 * sizeof(struct rec_func) + 2 * sizeof(*r));
		r = (const void *)(round->chunk[CPUS].data + sizeof(struct rec_func));
		for (unsigned i = 0; i < 2; i++) {
			CHECK_INT(r[i].hdr.size, sizeof(*r));
			CHECK_INT(r[i].words.kernel, 77 + i);
			CHECK_INT(r[i].words.stream, ~(uint64_t)(77 + i));
		}
		CHECK_INT(ring(&t, 0)->tail, lived + 6);
		CHECK(!round->chunk[CPUS].is_unordered);
		t.is_last = round->last;
		round_destroy(round);
		close_tap(&t, lived);
		free(t.memory);
	}
}

TEST(at_the_end_what_is_still_being_written_counts_as_lost_and_what_lies_behind_it_is_taken)
{
	struct rec_lost lost;
	struct tap t;

	set_tap(&t, SLOTS, SLOTS + 3);
	fill(&t, 0, 2);
	reserve(&t, 0);
	fill(&t, 0, 3);
	reserve(&t, 0);
	reserve(&t, 0);
	open_tap(&t);
	CHECK_INT(last_of(&t, &lost), 5);
	CHECK_INT(lost.count[CLASS_FUNCTION], 3);
}

TEST(at_the_end_a_record_of_two_slots_of_which_the_second_is_written_counts_as_one)
{
	struct rec_lost lost;
	struct tap t;

	set_tap(&t, SLOTS, SLOTS + 3);
	launch(&t, 0, 77);
	slot(&t, 0, SLOTS + 3)->commit = CALLS_WHOLE(3);	/* as it was a lap ago */
	fill(&t, 0, 2);
	open_tap(&t);
	CHECK_INT(last_of(&t, &lost), 2);
	CHECK_INT(lost.count[CLASS_FUNCTION], 1);
}

TEST(records_are_counted_past_32_bits)
{
	const uint64_t lived = UINT32_MAX - 5;
	struct tap t;

	set_tap(&t, SLOTS, lived);
	fill(&t, 0, 12);
	fill(&t, 1, 6);
	reserve(&t, 1);				/* number 2^32: its word will be 1 */
	open_tap(&t);
	close_tap(&t, lived);
	CHECK_INT(t.taken[0], 12);
	CHECK_INT(t.taken[1], 6);
	free(t.memory);
}

TEST(rings_are_left_alone_while_the_queue_is_full)
{
	struct round *r;
	struct tap t;

	set_tap(&t, SLOTS, 0);
	queue_destroy(t.queue);
	CHECK(queue_create(&t.queue, 1) == 0);
	queue_push(t.queue, round_create(2 * CPUS));
	open_tap(&t);
	fill(&t, 0, SLOTS);
	usleep(100000);
	CHECK_INT(__atomic_load_n(&ring(&t, 0)->tail, __ATOMIC_ACQUIRE), 0);
	r = queue_pop(t.queue, 0);		/* room again */
	CHECK(r != NULL);
	round_destroy(r);
	wait_for(&t, SLOTS);
	close_tap(&t, 0);
	CHECK_INT(t.taken[0], SLOTS);
	free(t.memory);
}

/* ---- records that are garbled ---- */

static void garble(struct tap *t, unsigned cpu, uint64_t n, uint16_t kind, uint16_t size)
{
	slot(t, cpu, n)->hdr.kind = kind;
	slot(t, cpu, n)->hdr.size = size;
}

/* The kinds of the function records of CPU 0, a digit each; other kinds are 9. What was lost comes into @lost. */
static const char *kinds_taken(const struct round *r, struct rec_lost *lost)
{
	static char kinds[64];
	const struct chunk *c = &r->chunk[CPUS];
	size_t at = 0, n = 0;

	for (; at < c->len; at += ((const struct rec_hdr *)(c->data + at))->size)
		kinds[n++] = '0' + MIN(((const struct rec_hdr *)(c->data + at))->kind, 9);
	kinds[n] = '\0';
	CHECK_INT(at, c->len);
	CHECK_INT(n, c->count);
	if (r->chunk[0].count)
		*lost = *(const struct rec_lost *)r->chunk[0].data;
	return kinds;
}

/* A ring with six entries, of which the third is made to say @kind and @size; how it comes out. */
static const char *taken_with(uint16_t kind, uint16_t size, struct rec_lost *lost)
{
	const char *kinds;
	struct round *r;
	struct tap t;

	*lost = (struct rec_lost){};
	set_tap(&t, SLOTS, 0);
	fill(&t, 0, 6);
	garble(&t, 0, 2, kind, size);
	open_tap(&t);
	r = queue_pop(t.queue, 5000);
	CHECK(r != NULL);
	kinds = kinds_taken(r, lost);
	CHECK_INT(ring(&t, 0)->tail, 6);
	t.is_last = r->last;
	round_destroy(r);
	CHECK_INT(drain_finish(TAKE(t.drain)), lost->hdr.kind ? 1 : 0);
	queue_destroy(t.queue);
	free(t.memory);
	return kinds;
}

TEST(a_function_record_that_is_garbled_is_left_out_and_counted_as_lost)
{
	struct rec_lost lost;

	CHECK_STR(taken_with(REC_FUNC_ENTRY, sizeof(struct rec_func), &lost), "888888");
	CHECK_INT(lost.hdr.kind, 0);
	CHECK_STR(taken_with(REC_KINDS, sizeof(struct rec_func), &lost), "88888");
	CHECK_INT(lost.hdr.kind, REC_LOST);
	CHECK_INT(lost.count[CLASS_TASK], 1);		/* nobody knows what it was */
	CHECK_STR(taken_with(REC_NONE, sizeof(struct rec_func), &lost), "88888");
	CHECK_STR(taken_with(REC_FUNC_ENTRY, 0, &lost), "88888");
	CHECK_INT(lost.count[CLASS_FUNCTION], 1);
	CHECK_INT(lost.count[CLASS_TASK], 0);
	CHECK_STR(taken_with(REC_FUNC_ENTRY, sizeof(struct rec_func) - 8, &lost), "88888");
	CHECK_STR(taken_with(REC_SYS_ENTER, sizeof(struct rec_func), &lost), "88888");	/* one of those has 80 bytes or more */
	CHECK_INT(lost.count[CLASS_SYSCALL], 1);
	CHECK_STR(taken_with(REC_FUNC_ENTRY, 0xfff8, &lost), "8888");		/* two slots, it seems, are all that it can have */
	CHECK_INT(lost.count[CLASS_FUNCTION], 1);
}

TEST(a_function_record_that_says_it_goes_beyond_the_last_is_garbled)
{
	struct rec_lost lost = {};
	struct round *r;
	struct tap t;

	set_tap(&t, SLOTS, 0);
	fill(&t, 0, 3);
	garble(&t, 0, 2, REC_CUDA_LAUNCH, sizeof(struct rec_cuda_launch));
	open_tap(&t);
	r = queue_pop(t.queue, 5000);
	CHECK_STR(kinds_taken(r, &lost), "88");
	CHECK_INT(lost.count[CLASS_CUDA], 1);
	round_destroy(r);
	CHECK_INT(drain_finish(t.drain), 1);
	queue_destroy(t.queue);
	free(t.memory);
}

/* Bytes taken of a sample, a REC_TASK_NAME that says it has @size, @len in the ring. */
static size_t sample_taken(uint16_t size, size_t len, struct tally *garbled)
{
	struct rec_task_name name = { .hdr = { .time = 7, .kind = REC_TASK_NAME, .size = size } };
	uint8_t sample[1u << 17] = {};
	struct chunk c = {};

	memcpy(sample, &name, sizeof(name));
	CHECK_INT(taken_sample(&c, sample, len, garbled), 0);
	CHECK_INT(c.count, c.len ? 1 : 0);
	CHECK_INT(c.latest, c.len ? 7 : 0);
	free(c.data);
	return c.len;
}

TEST(a_sample_is_taken_when_it_is_as_long_as_it_says)
{
	const size_t whole = sizeof(struct rec_task_name);
	struct tally garbled = {};

	CHECK_INT(sample_taken(whole, whole, &garbled), whole);
	CHECK_INT(garbled.lost[CLASS_TASK], 0);
	CHECK_INT(sample_taken(whole, whole + 8, &garbled), 0);
	CHECK_INT(sample_taken(whole + 8, whole, &garbled), 0);
	CHECK_INT(sample_taken(0, whole, &garbled), 0);
	CHECK_INT(sample_taken(16, 16, &garbled), 0);
	CHECK_INT(sample_taken(0, 0, &garbled), 0);
	CHECK_INT(sample_taken(whole, (1u << 16) + whole, &garbled), 0);
	CHECK_INT(garbled.lost[CLASS_TASK], 6);
}

/* ---- with a writer that does not wait for us ---- */

#define MANY	100000u
#define MANY_SLOTS	1024

static void *write_many(void *ctx)
{
	struct tap *t = ctx;

	for (unsigned i = 0; i < MANY; i++) {
		uint64_t n, pair[2];

		while (ring(t, 0)->head + 2 - __atomic_load_n(&ring(t, 0)->tail, __ATOMIC_ACQUIRE) > MANY_SLOTS)
			sched_yield();
		n = pair[0] = reserve(t, 0);
		if (i % 7 == 0 && ++i < MANY) {		/* one that interrupts another is done before it */
			pair[1] = reserve(t, 0);
			commit(t, 0, pair[1]);
		}
		if (i % 1000 == 0)
			usleep(100);
		commit(t, 0, n);
	}
	return NULL;
}

TEST(records_are_taken_once_each_while_they_are_written)
{
	pthread_t writer;
	struct tap t;

	set_tap(&t, MANY_SLOTS, 0);
	open_tap(&t);
	CHECK(pthread_create(&writer, NULL, write_many, &t) == 0);
	wait_for(&t, MANY);
	CHECK(pthread_join(writer, NULL) == 0);
	close_tap(&t, 0);
	CHECK_INT(t.taken[0], MANY);
	CHECK_INT(ring(&t, 0)->head, MANY);
	CHECK_INT(ring(&t, 0)->tail, MANY);
	free(t.memory);
}

/* ---- what was lost ---- */

static void lose(struct tally *tallies, uint64_t functions, uint64_t syscalls)
{
	__atomic_store_n(&tallies[0].lost[CLASS_FUNCTION], functions, __ATOMIC_RELAXED);
	__atomic_store_n(&tallies[CPUS - 1].lost[CLASS_SYSCALL], syscalls, __ATOMIC_RELAXED);
}

/* Adds up the LOST records of a round; returns how many there were. */
static unsigned add_lost(const struct round *r, uint64_t sum[REC_CLASSES])
{
	unsigned records = 0;

	for (unsigned i = 0; i < r->chunk_count; i++) {
		const struct rec_lost *lost = (const void *)r->chunk[i].data;

		for (unsigned j = 0; j < r->chunk[i].count; j++, lost++, records++) {
			CHECK_INT(lost->hdr.kind, REC_LOST);
			CHECK_INT(lost->hdr.size, sizeof(*lost));
			CHECK_INT(lost->hdr.cpu, i);
			CHECK(lost->hdr.time >= r->instant && lost->hdr.time <= clock_now());
			for (int k = 0; k < REC_CLASSES; k++)
				sum[k] += lost->count[k];
		}
	}
	return records;
}

TEST(what_a_cpu_lost_is_told_once_and_to_the_unit)
{
	struct tally tallies[CPUS] = {};
	uint64_t sum[REC_CLASSES] = {};
	struct drain_args args = { .ring_count = CPUS, .ring_bytes = 64 << 10, .tallies = tallies };
	unsigned records = 0;
	struct drain *d;
	bool is_last = false;

	CHECK(queue_create(&args.queue, 64 << 20) == 0);
	lose(tallies, 5, 2);
	CHECK(drain_start(&d, &args) == 0);
	while (records < 2) {
		struct round *r = queue_pop(args.queue, 5000);

		CHECK(r != NULL);
		records += add_lost(r, sum);
		round_destroy(r);
	}
	lose(tallies, 12, 2);			/* counts of all that was ever lost */
	drain_finish(d);
	while (!is_last) {
		struct round *r = queue_pop(args.queue, 0);

		CHECK(r != NULL);
		is_last = r->last;
		records += add_lost(r, sum);
		round_destroy(r);
	}
	CHECK_INT(sum[CLASS_FUNCTION], 12);
	CHECK_INT(sum[CLASS_SYSCALL], 2);
	CHECK_INT(sum[CLASS_TASK], 0);
	CHECK_INT(records, 3);
	queue_destroy(args.queue);
}
