/*
 * test_costly.c - the functions whose probes cost most are named.
 */
#include "base.h"
#include "flow/costly.h"
#include "image.h"
#include "sitecost.h"
#include "test.h"

static const struct func cheap = { .name = "cheap", .site_class = SITE_CHEAP }, dear = { .name = "dear", .site_class = SITE_DEAR };

TEST(calls_are_counted_by_function_at_the_cost_of_their_site)
{
	struct costs c = { 0 };

	for (int i = 0; i < 10; i++)
		costs_add(&c, 3, &cheap, true);
	costs_add(&c, 70000, &dear, false);
	costs_add(&c, 70000, &dear, true);
	CHECK_INT(c.func[3].calls, 10);
	CHECK_INT(c.func[3].ns, 10 * site_cost(SITE_CHEAP, true));
	CHECK_INT(c.func[70000].calls, 2);
	CHECK_INT(c.func[70000].ns, site_cost(SITE_DEAR, false) + site_cost(SITE_DEAR, true));
	CHECK_INT(c.func[0].calls + c.func[4].calls + c.func[69999].calls, 0);
	costs_free(&c);
	CHECK_INT(c.room, 0);
}

TEST(of_many_functions_the_dearest_are_kept_dearest_first)
{
	static const uint64_t ns[] = { 5, 900, 30, 700, 2, 30, 8000, 60, 1, 31 }, want[COSTLY_TOP] = { 8000, 900, 700, 60, 31 };
	struct costly top = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
		costly_take(&top, &cheap, &(struct cost){ .calls = i, .ns = ns[i] });
	CHECK_INT(top.count, COSTLY_TOP);
	CHECK_INT(top.ns, 9759);
	for (size_t i = 0; i < COSTLY_TOP; i++)
		CHECK_INT(top.func[i].cost.ns, want[i]);
	CHECK_INT(top.func[0].cost.calls, 6);
	CHECK_STR(top.func[4].name, "cheap");
}

TEST(a_name_that_is_too_long_is_cut)
{
	struct costly top = { 0 };
	char name[200];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	costly_take(&top, &(struct func){ .name = name }, &(struct cost){ 1, 1 });
	CHECK_INT(strlen(top.func[0].name), sizeof(top.func[0].name) - 1);
}

TEST(what_costs_more_than_a_tenth_of_the_run_is_named)
{
	static const struct func tiny = { .name = "tiny", .flags = FUNC_TINY };
	struct costly top = { 0 };
	char text[200] = "", cut[8];

	costly_take(&top, &cheap, &(struct cost){ 7, 400000000 });
	CHECK(!costly_text(&top, 4000000000, text, sizeof(text)));
	CHECK_STR(text, "");
	CHECK(costly_text(&top, 3999999990, text, sizeof(text)));
	CHECK_STR(text, "probes cost some 0.40 s of it, most: cheap 0.40 s (7 calls); -H FUNC leaves one out");
	costly_take(&top, &tiny, &(struct cost){ 9, 1000000000 });
	CHECK(costly_text(&top, 1, text, sizeof(text)));
	CHECK_STR(text, "probes cost some 1.40 s of it, most: tiny 1.00 s (9 calls), cheap 0.40 s (7 calls); "
		  "-H FUNC leaves one out, --no-dear those that are small and single-stepped");
	CHECK(costly_text(&top, 1, cut, sizeof(cut)));
	CHECK_STR(cut, "probes ");
}
