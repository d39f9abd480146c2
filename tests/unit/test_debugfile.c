/*
 * test_debugfile.c - names of stripped programs from separate debug files; what is none of theirs changes nothing.
 */
#include "debugfile.h"
#include "test_image.h"

static struct image *read_with(const char *path, const char *debug)
{
	__cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	__cleanup(close_fd) int debug_fd = debug ? open(debug, O_RDONLY | O_CLOEXEC) : -1;
	struct image *img = NULL;

	CHECK(fd >= 0 && (!debug || debug_fd >= 0));
	CHECK_INT(image_read_with(&img, &(struct image_files){ fd, debug_fd, -1 }, IMAGE_FUNCTIONS), 0);
	return img;
}

static void check_names(const char *path, const char *debug, bool are_there)
{
	__cleanup(image_destroyp) struct image *img = read_with(path, debug);

	CHECK_INT(img->is_stripped, !are_there);
	CHECK_INT(!!func_named(img, "inner", false), are_there);
	CHECK_INT(!!func_named(img, "main", false), are_there);
}

/* "program" with all, "stripped" with a link to its debug file "d", and the debug file. */
static bool build_split(const char *flags)
{
	return build("program", "program.c", program_c, flags) &&
	       run("cd '%s' && objcopy --only-keep-debug program d &&"
		   "objcopy --strip-all --add-gnu-debuglink=d program stripped", dir);
}

TEST(debug_file_names_functions_of_the_same_build_id)
{
	SCRATCH;

	CHECK(build_split("-O2 -g -Wl,--build-id"));
	check_names(in_dir("stripped"), NULL, false);
	check_names(in_dir("stripped"), in_dir("d"), true);
}

TEST(debug_file_of_another_build_is_not_used)
{
	SCRATCH;

	CHECK(build_split("-O2 -Wl,--build-id"));
	CHECK(run("cd '%s' && gcc -O1 -w -x c -Wl,--build-id -o other program.c && objcopy --only-keep-debug other o &&"
		  "objcopy --remove-section .note.gnu.build-id d noid", dir));
	check_names(in_dir("stripped"), in_dir("o"), false);
	check_names(in_dir("stripped"), in_dir("noid"), false);
}

TEST(debug_file_without_build_ids_needs_its_sum)
{
	SCRATCH;

	CHECK(build_split("-O2 -Wl,--build-id=none"));
	check_names(in_dir("stripped"), in_dir("d"), true);
	CHECK(run("echo >>'%s'", in_dir("d")));
	check_names(in_dir("stripped"), in_dir("d"), false);
}

TEST(debug_files_that_are_damaged_change_nothing)
{
	SCRATCH;

	CHECK(build_split("-O2 -g -Wl,--build-id"));
	for (int len = 0; len < 6000; len += 97) {
		CHECK(run("head -c %d '%s' >'%s'", len, in_dir("d"), in_dir("cut")));
		check_names(in_dir("stripped"), in_dir("cut"), false);
	}
	check_names(in_dir("stripped"), "/dev/zero", false);
}

#ifdef HAVE_LZMA
static bool add_packed(const char *file)
{
	return run("cd '%s' && xz -kf '%s' && objcopy --add-section .gnu_debugdata='%s'.xz stripped packed", dir, file, file);
}

TEST(debug_data_packed_in_the_file_names_its_functions)
{
	SCRATCH;

	need("xz");
	CHECK(build_split("-O2 -Wl,--build-id"));
	CHECK(add_packed("d"));
	check_names(in_dir("packed"), NULL, true);
}

TEST(debug_data_that_is_no_symbols_changes_nothing)
{
	SCRATCH;

	need("xz");
	CHECK(build_split("-O2 -Wl,--build-id"));
	CHECK(run("head -c 200M /dev/zero >'%s'", in_dir("bomb")));
	CHECK(add_packed("bomb"));
	check_names(in_dir("packed"), NULL, false);
	CHECK(run("cd '%s' && xz -kf d && head -c 500 d.xz >cut && objcopy --add-section .gnu_debugdata=cut stripped packed", dir));
	check_names(in_dir("packed"), NULL, false);
}
#endif

TEST(debug_file_is_looked_for_where_gdb_looks)
{
	SCRATCH;
	static const char *const want[] = { "/x/y/d", "/x/y/.debug/d", "/usr/lib/debug/x/y/d" };
	__cleanup(image_destroyp) struct image *img = NULL;
	char *place;

	CHECK(build_split("-O2 -Wl,--build-id=0xabcdef01"));
	img = read_with(in_dir("stripped"), NULL);
	CHECK_STR(img->debug_link, "d");
	place = debugfile_place(img, "/x/y/program", 0);
	CHECK_STR(place, "/usr/lib/debug/.build-id/ab/cdef01.debug");
	free(place);
	for (unsigned i = 0; i < ARRAY_SIZE(want); i++) {
		place = debugfile_place(img, "/x/y/program", i + 1);
		CHECK_STR(place, want[i]);
		free(place);
	}
}

TEST(what_dwz_moved_is_looked_for_by_its_build_id_and_beside_who_names_it)
{
	static const struct { const char *link, *beside, *want; } row[] = {
		{ "/a/common", "/x/y/program", "/a/common" },
		{ "../.dwz/p.debug", "/usr/lib/debug/.build-id/ab/c.debug", "/usr/lib/debug/.build-id/ab/../.dwz/p.debug" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct image img = { .common_link = (char *)row[i].link, .common_id = "abcdef01" };
		char *place = debugfile_common_place(&img, row[i].beside, 0);

		CHECK_STR(place, "/usr/lib/debug/.build-id/ab/cdef01.debug");
		free(place);
		place = debugfile_common_place(&img, row[i].beside, 1);
		CHECK_STR(place, row[i].want);
		free(place);
	}
}

TEST(debug_file_that_is_no_file_is_not_opened)
{
	SCRATCH;
	__cleanup(close_fd) int proc = open("/proc/self", O_PATH | O_CLOEXEC);

	CHECK(run("mkfifo '%s' && ln -s /dev/zero '%s'", in_dir("fifo"), in_dir("link")));
	CHECK_INT(debugfile_open(proc, in_dir("fifo")), -EINVAL);
	CHECK_INT(debugfile_open(proc, in_dir("link")), -EINVAL);
	CHECK_INT(debugfile_open(proc, in_dir("none")), -ENOENT);
	CHECK_INT(debugfile_open(proc, "/proc/self/exe"), -ELOOP);
}
