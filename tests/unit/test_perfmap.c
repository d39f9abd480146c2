/*
 * test_perfmap.c - what a process tells of the code it has made: read as it grows, and believed as far as it makes sense.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "image.h"
#include "perfmap.h"
#include "printed.h"
#include "test.h"

#define LATER_US	120000	/* when a map is looked at again */

DEFINE_CLEANUP(perfmaps_destroy, struct perfmaps *)

static char path[64];

static void remove_map(FILE **f)
{
	fclose(*f);
	unlink(path);
}

#define MAP FILE *map __cleanup(remove_map) = open_map()
#define NAMES struct perfmaps *names __cleanup(perfmaps_destroyp) = new_names()

static FILE *open_map(void)
{
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	CHECK(f);
	setbuf(f, NULL);
	return f;
}

static struct perfmaps *new_names(void)
{
	struct perfmaps *p;

	CHECK_INT(perfmaps_create(&p), 0);
	return p;
}

static const char *name_at(struct perfmaps *p, uint64_t ip)
{
	const struct func *f = perfmaps_at(p, getpid(), ip);

	return f ? f->name : NULL;
}

static void put(FILE *f, char c, unsigned times)
{
	while (times--)
		fputc(c, f);
}

TEST(a_perf_map_names_what_lies_in_a_range)
{
	MAP;
	NAMES;

	fputs("2000 10 second\n0x1000 20 first one\n", map);
	CHECK_STR(name_at(names, 0x1000), "first one");
	CHECK_STR(name_at(names, 0x101f), "first one");
	CHECK_STR(name_at(names, 0x1020), NULL);
	CHECK_STR(name_at(names, 0x200f), "second");
	CHECK_STR(name_at(names, 0xfff), NULL);
	CHECK_INT(perfmaps_at(names, getpid(), 0x2004)->addr, 0x2000);
}

TEST(a_perf_map_is_read_on_and_half_a_line_when_it_is_whole)
{
	MAP;
	NAMES;

	fputs("1000 10 one\n2000 10 tw", map);
	CHECK_STR(name_at(names, 0x2000), NULL);
	fputs("o\n3000 10 three\n", map);
	usleep(LATER_US);
	CHECK_STR(name_at(names, 0x2000), "two");
	CHECK_STR(name_at(names, 0x3000), "three");
	CHECK_STR(name_at(names, 0x1000), "one");
}

TEST(of_ranges_of_a_perf_map_that_overlap_the_last_counts)
{
	MAP;
	NAMES;

	fputs("1000 100 outer\n1040 10 inner\n2000 10 old\n2000 20 new\n", map);
	CHECK_STR(name_at(names, 0x1048), "inner");
	CHECK_STR(name_at(names, 0x1050), "outer");
	CHECK_STR(name_at(names, 0x2008), "new");
}

TEST(lines_of_a_perf_map_that_are_none_are_passed_over)
{
	MAP;
	NAMES;

	fputs("\nnonsense\n1000\n1000 10\n1000 10 \nffffffffffffffff 10 end\n3000 0 empty\n", map);
	put(map, '5', 5000);
	fputs("\n4000 10 long_", map);
	put(map, 'x', 5000);
	fputs(" 5000 10 within\n6000 10 last\n", map);
	CHECK_STR(name_at(names, 0x6000), "last");
	CHECK_STR(name_at(names, 0x1000), NULL);
	CHECK_STR(name_at(names, 0x3000), NULL);
	CHECK_STR(name_at(names, 0x5000), NULL);
	CHECK_STR(name_at(names, UINT64_MAX), NULL);
	CHECK(!strncmp(name_at(names, 0x4000), "long_xxx", 8));
}

TEST(the_rest_of_a_long_line_of_a_perf_map_is_none_also_when_its_end_comes_later)
{
	MAP;
	NAMES;

	fputs("1000 10 ", map);
	put(map, 'x', 1015);			/* as much as is read at once */
	fputs("5000 10 within", map);
	CHECK(name_at(names, 0x1000) != NULL);
	fputs("\n6000 10 last\n", map);
	usleep(LATER_US);
	CHECK_STR(name_at(names, 0x6000), "last");
	CHECK_STR(name_at(names, 0x5000), NULL);
}

TEST(a_perf_map_of_terabytes_is_read_no_further_than_makes_sense)
{
	MAP;
	NAMES;

	printed();
	fputs("1000 10 first\n", map);
	if (ftruncate(fileno(map), 1l << 42))
		SKIP("the file system has no files that large");
	CHECK_STR(name_at(names, 0x1000), "first");
	CHECK_STR(name_at(names, 0x2000), NULL);
	CHECK(strstr(printed(), "names 1 ranges in more than 256 MB") != NULL);
}

TEST(of_a_perf_map_of_millions_of_names_the_first_are_known_and_the_rest_is_said)
{
	MAP;
	NAMES;

	setvbuf(map, NULL, _IOFBF, 1 << 16);
	for (unsigned i = 1; i <= (1u << 20) + 1; i++)
		fprintf(map, "%x000 10 f%u\n", i, i);
	fflush(map);
	printed();
	CHECK_STR(name_at(names, 0x100000000), "f1048576");
	CHECK_STR(name_at(names, 0x100001000), NULL);
	CHECK(strstr(printed(), "its first 1048576 ranges") != NULL);
	usleep(LATER_US);
	CHECK_STR(name_at(names, 0x100001000), NULL);
	CHECK_STR(printed(), "");
}

TEST(what_is_no_file_is_no_perf_map)
{
	NAMES;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	CHECK_INT(mkfifo(path, 0600), 0);
	CHECK_STR(name_at(names, 0x1000), NULL);
	unlink(path);
	CHECK_STR(name_at(names, 0x1000), NULL);
	CHECK(!perfmaps_at(names, 0, 0x1000));
}

TEST(another_users_file_is_no_perf_map)
{
	MAP;
	NAMES;

	if (geteuid())
		SKIP("a file is given away: needs root");
	fputs("1000 10 planted\n", map);
	CHECK_INT(fchown(fileno(map), 65534, 65534), 0);
	CHECK_STR(name_at(names, 0x1000), NULL);
}
