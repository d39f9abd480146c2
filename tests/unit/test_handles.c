/*
 * test_handles.c - the table of handles, against a plain array.
 */
#include "base.h"
#include "cuda/handles.h"
#include "test.h"

#define NUMBERS	301u	/* as many handles come and go; no multiple of 3, by which it is told what is done */
#define STEPS	20000u

static uint64_t number_of(unsigned i)
{
	return 0x7f0000000000ull + 16 * ((uint64_t)i * i * i % 1048573);	/* irregular: evenly spaced ones never meet */
}

TEST(handles_are_found_until_they_are_taken)
{
	struct handles h = {};
	char *is[NUMBERS] = {};
	static char thing[NUMBERS];
	unsigned seed = 1, count = 0;

	for (unsigned step = 0; step < STEPS; step++) {
		unsigned i = (seed = seed * 1103515245u + 12345u) >> 16 & 0x7fff;

		if (i % 3) {
			i %= NUMBERS;
			count += !is[i];
			is[i] = &thing[i];
			CHECK(!handles_put(&h, number_of(i), is[i]));
		} else {
			i %= NUMBERS;
			count -= is[i] != NULL;
			CHECK(handles_take(&h, number_of(i)) == is[i]);
			is[i] = NULL;
		}
		CHECK(h.count == count);
		for (i = step % 7; i < NUMBERS; i += 7)
			CHECK(handles_get(&h, number_of(i)) == is[i]);
	}
	handles_clear(&h, NULL);
	CHECK(!handles_get(&h, number_of(0)) && !h.count);
}

TEST(no_handle_is_the_number_0)
{
	struct handles h = {};
	char thing;

	CHECK(!handles_get(&h, 0) && !handles_take(&h, 0));
	CHECK(!handles_put(&h, 0, &thing) && !h.count);
	CHECK(!handles_get(&h, 0));
	handles_clear(&h, NULL);
}
