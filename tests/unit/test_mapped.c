/*
 * test_mapped.c - what a process has mapped: which of it is told, whether it still is, and what cannot be told.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "mapped.h"
#include "test.h"

static char folder[] = "/tmp/mapped-XXXXXX", maps[64];

/* A process's folder whose maps are @text; NULL: they lead to themselves, so that nobody reads them. */
static int folder_with(const char *text)
{
	FILE *f;

	CHECK(mkdtemp(folder));
	snprintf(maps, sizeof(maps), "%s/maps", folder);
	if (text) {
		f = fopen(maps, "w");
		CHECK(f && fputs(text, f) >= 0 && !fclose(f));
	} else {
		CHECK(!symlink("maps", maps));
	}
	return open(folder, O_PATH | O_CLOEXEC);
}

static void remove_folder(void)
{
	unlink(maps);
	rmdir(folder);
}

struct seen {
	int count;
	struct mapping last;
};

static int see(void *ctx, const struct mapping *m)
{
	struct seen *s = ctx;

	s->count++;
	s->last = *m;
	return 1;
}

static const char some_maps[] =
	"1000-3000 r-xp 00001000 fe:01 77 /bin/code\n"
	"3000-4000 r--p 00003000 fe:01 77 /bin/code\n"
	"5000-6000 r--s 00000000 fe:01 77 /bin/code\n"
	"6000-7000 rw-p 00000000 fe:01 77 /bin/code\n"
	"8000-9000 ---p 00000000 fe:01 78 /bin/not to be read\n"
	"a000-b000 r-xp 00000000 00:00 0 [vdso]\n"
	"c000-d000 r--p 00000000 00:00 0\n";

TEST(files_with_code_are_told_with_where_and_what_they_are)
{
	__cleanup(close_fd) int proc = folder_with(some_maps);
	struct seen s = {};

	CHECK_INT(mapped_each(proc, MAPPED_CODE, see, &s), 1);
	remove_folder();
	CHECK_INT(s.count, 1);
	CHECK_INT(s.last.start, 0x1000);
	CHECK_INT(s.last.end, 0x3000);
	CHECK_INT(s.last.offset, 0x1000);
	CHECK_INT(s.last.dev, 0xfe << 20 | 1);
	CHECK_INT(s.last.ino, 77);
}

TEST(what_is_neither_run_nor_written_to_nor_shared_is_text_readable_or_not)
{
	__cleanup(close_fd) int proc = folder_with(some_maps);
	struct seen s = {};

	CHECK_INT(mapped_each(proc, MAPPED_TEXT, see, &s), 1);
	remove_folder();
	CHECK_INT(s.count, 2);
	CHECK_INT(s.last.ino, 78);
	CHECK(!s.last.is_readable);
}

TEST(a_process_that_has_gone_has_nothing_mapped)
{
	__cleanup(close_fd) int proc = folder_with("");
	struct seen s = {};

	remove_folder();
	CHECK_INT(mapped_each(proc, MAPPED_CODE, see, &s), 0);
	CHECK_INT(s.count, 0);
}

TEST(maps_that_cannot_be_read_are_not_taken_for_none)
{
	__cleanup(close_fd) int proc = folder_with(NULL);
	struct seen s = {};

	CHECK_INT(mapped_each(proc, MAPPED_CODE, see, &s), MAPPED_UNREADABLE);
	remove_folder();
	CHECK_INT(s.count, 0);
}

/* Ours, of which another takes the place. */
static void *replaced;
static bool was_still, is_still;

static int replace(void *ctx, const struct mapping *m)
{
	(void)ctx;
	if (m->start != (uintptr_t)replaced)
		return 0;
	was_still = mapped_still(m);
	CHECK(mmap(replaced, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == replaced);
	is_still = mapped_still(m);
	return 1;
}

TEST(a_mapping_is_no_more_what_it_was_when_another_took_its_place)
{
	__cleanup(close_fd) int proc = open("/proc/self", O_PATH | O_CLOEXEC), file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	replaced = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	CHECK(replaced != MAP_FAILED);
	CHECK_INT(mapped_each(proc, MAPPED_TEXT, replace, NULL), 1);
	CHECK(was_still);
	if (is_still)
		SKIP("this kernel cannot be asked what is mapped at an address");
}
