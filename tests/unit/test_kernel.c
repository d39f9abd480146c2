/* The feature table: names, and denial. What the kernel answers is not the tests' business. */
#include "base.h"
#include "kernel.h"
#include "test.h"

TEST(every_feature_has_a_name_of_its_own)
{
	for (int f = 0; f < KERNEL_FEATURES; f++)
		CHECK_INT(kernel_feature_by_name(kernel_feature_name(f)), f);
	CHECK_INT(kernel_feature_by_name("nonsense"), -1);
	CHECK_INT(kernel_feature_by_name(""), -1);
}

TEST(a_denied_feature_is_not_there)
{
	kernel_deny((1ull << KERNEL_FEATURES) - 1);
	for (int f = 0; f < KERNEL_FEATURES; f++)
		CHECK(!kernel_has(f));
}

TEST(without_types_of_the_kernel_that_is_the_obstacle)
{
	const char *hint = NULL, *why;

	if (geteuid() != 0)
		SKIP("the obstacle is not being root");
	kernel_deny(1ull << HAVE_BTF);
	why = kernel_obstacle(&hint);
	CHECK(why && hint);
}

TEST(the_doctor_has_a_line_for_every_feature)
{
	__cleanup(free_ptr) char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	kernel_deny((1ull << KERNEL_FEATURES) - 1);
	CHECK_INT(kernel_doctor(to, NULL, NULL), 1);
	fclose(to);
	for (int f = 0; f < KERNEL_FEATURES; f++)
		CHECK(strstr(text, kernel_feature_name(f)));
	CHECK(strstr(text, "recording is not possible: "));
}
