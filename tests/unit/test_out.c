/*
 * test_out.c - files: blocks, parking, replacing, full disks; the directory they are in.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "out.h"
#include "outdir.h"
#include "test.h"

static char work[] = "/tmp/recorder-out-XXXXXX";

/* A test that fails leaves its directory to be looked at. */
static void leave(int *dir)
{
	char command[64];

	close(*dir);
	snprintf(command, sizeof(command), "rm -rf '%s'", work);
	CHECK(system(command) == 0);
}

#define IN_NEW_DIR	__cleanup(leave) int dir = in_new_dir()

/* An empty directory, open; the working directory too. */
static int in_new_dir(void)
{
	CHECK(mkdtemp(work) != NULL);
	CHECK(chdir(work) == 0);
	return open(work, O_RDONLY | O_DIRECTORY);
}

static off_t size_of(const char *name)
{
	struct stat st;

	return stat(name, &st) ? -1 : st.st_size;
}

static void put_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
}

static void check_file(const char *name, const char *want)
{
	char got[256] = "";
	FILE *f = fopen(name, "r");

	CHECK(f != NULL);
	got[fread(got, 1, sizeof(got) - 1, f)] = '\0';
	fclose(f);
	CHECK_STR(got, want);
}

TEST(out_writes_little_endian_numbers_text_and_padding)
{
	static const unsigned char want[24] = { 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0x80, 'a', 'b', '7' };
	struct out *o;

	CHECK(out_memory(&o) == 0);
	out_u16(o, 1);
	out_u32(o, 2);
	out_u64(o, 0x8000000000000003);
	out_printf(o, "ab%d", 7);
	out_pad(o, 8);
	CHECK_INT(out_tell(o), sizeof(want));
	CHECK_MEM(out_data(o), want, sizeof(want));
	CHECK(out_seal(o) == 0);
	out_destroy(o);
}

TEST(out_patches_what_is_in_memory_and_what_is_in_the_file)
{
	IN_NEW_DIR;
	struct out *o;

	CHECK(out_create(&o, dir, "f") == 0);
	out_printf(o, "12345678");
	CHECK(out_flush(o) == 0);
	out_printf(o, "abcdefgh");
	out_patch_u64(o, 0, 0x4242424242424242);
	out_patch_u64(o, 8, 0x4343434343434343);
	CHECK(out_seal(o) == 0);
	out_destroy(o);
	check_file("f", "BBBBBBBBCCCCCCCC");
}

TEST(out_makes_new_private_files_and_follows_no_link)
{
	IN_NEW_DIR;
	struct out *o;
	struct stat st;

	umask(0);
	CHECK(out_create(&o, dir, "new") == 0);
	out_destroy(o);
	CHECK(stat("new", &st) == 0 && (st.st_mode & 07777) == 0600);
	CHECK_INT(out_create(&o, dir, "new"), -EEXIST);
	CHECK(symlink("elsewhere", "link") == 0);
	CHECK_INT(out_create(&o, dir, "link"), -EEXIST);
	CHECK_INT(size_of("elsewhere"), -1);
}

TEST(out_makes_new_private_directories_for_the_owner_of_its_files)
{
	IN_NEW_DIR;
	struct stat st;
	int fd;

	umask(0);
	if (!geteuid())
		out_set_owner(65534, 65534);
	fd = out_open_new_dir(dir, "sub");
	CHECK(fd >= 0 && !fstat(fd, &st));
	CHECK_INT(st.st_mode & 07777, 0700);
	CHECK_INT(st.st_uid, geteuid() ?: 65534);
	close(fd);
	CHECK_INT(out_open_new_dir(dir, "sub"), -EEXIST);
	CHECK(!symlink("/tmp", "link"));
	CHECK_INT(out_open_new_dir(dir, "link"), -EEXIST);
}

TEST(out_tears_nothing_apart_that_was_added_at_once)
{
	IN_NEW_DIR;
	char piece[1000] = "";
	struct out *o;

	CHECK(out_create(&o, dir, "f") == 0);
	for (int i = 0; i < 1000; i++) {
		out_bytes(o, piece, sizeof(piece));
		CHECK_INT(size_of("f") % sizeof(piece), 0);
	}
	CHECK(out_seal(o) == 0);
	out_destroy(o);
	CHECK_INT(size_of("f"), 1000 * sizeof(piece));
}

TEST(out_says_how_much_room_is_left_before_bytes_reach_the_file)
{
	IN_NEW_DIR;
	char byte = 0;
	struct out *o;

	CHECK(out_create(&o, dir, "f") == 0);
	while (out_room(o))
		out_bytes(o, &byte, 1);
	CHECK_INT(size_of("f"), 0);
	out_bytes(o, &byte, 1);
	CHECK_INT(size_of("f"), OUT_BLOCK);
	out_destroy(o);
}

TEST(out_takes_pieces_larger_than_a_block)
{
	IN_NEW_DIR;
	__cleanup(free_ptr) char *much = calloc(1, 5 * OUT_BLOCK);
	struct out *o;

	CHECK(out_create(&o, dir, "f") == 0);
	out_printf(o, "before");
	out_bytes(o, much, 5 * OUT_BLOCK);
	out_printf(o, "behind");
	CHECK(out_seal(o) == 0);
	CHECK_INT(size_of("f"), 5 * OUT_BLOCK + 12);
	out_destroy(o);
}

TEST(ten_thousand_parked_outs_need_no_descriptors)
{
	IN_NEW_DIR;
	struct out **o = calloc(10000, sizeof(*o));
	char name[16];

	CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 32, 32 }) == 0);
	for (int i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "%d", i);
		CHECK(out_create(&o[i], dir, name) == 0);
		CHECK(out_park(o[i]) == 0);
	}
	for (int i = 0; i < 10000; i++)
		out_printf(o[i], "one");
	for (int i = 0; i < 10000; i++)
		CHECK(out_park(o[i]) == 0);
	for (int i = 0; i < 10000; i++) {
		out_printf(o[i], " two");
		CHECK(out_seal(o[i]) == 0);
		out_destroy(o[i]);
	}
	check_file("0", "one two");
	check_file("9999", "one two");
	free(o);
}

/* Longer than what goes through the page cache, in pieces that end nowhere near a page's end, flushed at odd places. */
TEST(a_long_file_holds_every_byte_in_its_place)
{
	IN_NEW_DIR;
	size_t size = 5 << 20, at = 0;
	uint8_t *want = malloc(size), *got = malloc(size);
	unsigned seed = 1;
	struct out *o;
	int fd;

	for (size_t i = 0; i < size; i++)
		want[i] = rand_r(&seed);
	CHECK(out_create(&o, dir, "f") == 0);
	while (at < size) {
		size_t n = MIN(size - at, (size_t)(8 + 8 * (rand_r(&seed) % 100)));

		out_bytes(o, want + at, n);
		at += n;
		CHECK_INT(out_tell(o), at);
		if (rand_r(&seed) % 1000 == 0) {
			CHECK(rand_r(&seed) % 2 ? out_flush(o) == 0 : out_park(o) == 0);
			CHECK_INT(size_of("f"), at);
		}
	}
	CHECK(out_seal(o) == 0);
	out_destroy(o);
	CHECK_INT(size_of("f"), size);
	fd = open("f", O_RDONLY);
	CHECK(fd >= 0 && read(fd, got, size) == (ssize_t)size);
	CHECK_MEM(got, want, size);
	CHECK(out_total() == size);
}

TEST(a_parked_out_refuses_a_file_that_was_exchanged)
{
	IN_NEW_DIR;
	struct out *o, *other[20];
	char name[16];

	for (int i = 0; i < 20; i++) {		/* so many that a parked one is closed */
		snprintf(name, sizeof(name), "%d", i);
		CHECK(out_create(&other[i], dir, name) == 0 && out_park(other[i]) == 0);
	}
	CHECK(out_create(&o, dir, "f") == 0);
	CHECK(out_park(o) == 0);
	put_file("victim", "mine");
	CHECK(unlink("f") == 0);
	CHECK(link("victim", "f") == 0);
	out_printf(o, "overwritten");
	CHECK_INT(out_flush(o), -ESTALE);
	CHECK(unlink("f") == 0 && symlink("victim", "f") == 0);
	out_destroy(o);
	check_file("victim", "mine");
}

TEST(a_full_disk_keeps_the_first_error_and_whole_blocks)
{
	IN_NEW_DIR;
	char piece[1000] = "";
	struct out *o;

	signal(SIGXFSZ, SIG_IGN);
	CHECK(out_create(&o, dir, "f") == 0);
	CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100000, 100000 }) == 0);
	for (int i = 0; i < 1000; i++)
		out_bytes(o, piece, sizeof(piece));
	CHECK_INT(out_error(o), -EFBIG);
	CHECK_INT(out_seal(o), -EFBIG);
	CHECK_INT(size_of("f"), 65000);		/* the second block did not fit and was taken back */
	out_destroy(o);
}

TEST(an_out_in_memory_can_be_full_too)
{
	struct out *o;

	CHECK(out_memory_small(&o, 10) == 0);
	out_printf(o, "0123456789");
	CHECK_INT(out_error(o), 0);
	out_printf(o, "!");
	CHECK_INT(out_error(o), -ENOSPC);
	CHECK_INT(out_seal(o), -ENOSPC);
	out_destroy(o);
}

TEST(a_replacing_out_shows_nothing_before_it_is_sealed)
{
	IN_NEW_DIR;
	struct out *o;

	put_file("info", "old");
	CHECK(out_create_replacing(&o, dir, "info") == 0);
	out_printf(o, "new");
	CHECK(out_flush(o) == 0);
	check_file("info", "old");
	CHECK(out_seal(o) == 0);
	out_destroy(o);
	check_file("info", "new");

	CHECK(out_create_replacing(&o, dir, "info") == 0);
	out_printf(o, "never");
	out_destroy(o);
	check_file("info", "new");
	CHECK_INT(size_of(".info.new"), -1);
}

/* --- the directory --- */

static int create(const char *path)
{
	int fd = -1, err = outdir_create(&fd, path, NULL, getuid(), getgid());

	if (fd >= 0)
		close(fd);
	return err;
}

TEST(outdir_is_private_and_marked)
{
	IN_NEW_DIR;
	struct stat st;

	umask(0);
	CHECK(create("rec") == 0);
	CHECK(lstat("rec", &st) == 0 && S_ISDIR(st.st_mode) && (st.st_mode & 07777) == 0700);
	CHECK_INT(size_of("rec/" OUTDIR_MARK), 0);
}

TEST(outdir_belongs_to_the_user_who_called_sudo)
{
	IN_NEW_DIR;
	struct stat st;
	struct out *o;
	int fd;

	if (getuid())
		SKIP("needs root");
	CHECK(outdir_create(&fd, "rec", NULL, 12345, 23456) == 0);
	CHECK(out_create(&o, fd, "f") == 0);
	out_destroy(o);
	CHECK(stat("rec", &st) == 0 && st.st_uid == 12345 && st.st_gid == 23456);
	CHECK(stat("rec/f", &st) == 0 && st.st_uid == 12345 && st.st_gid == 23456);
	CHECK(stat("rec/" OUTDIR_MARK, &st) == 0 && st.st_uid == 12345);
}

TEST(outdir_moves_a_recording_to_old_and_removes_an_older_one)
{
	IN_NEW_DIR;
	CHECK(create("rec/") == 0);
	put_file("rec/1.dat", "first");
	CHECK(create("rec") == 0);
	check_file("rec.old/1.dat", "first");
	CHECK_INT(size_of("rec/1.dat"), -1);
	put_file("rec/1.dat", "second");
	CHECK(mkdir("rec.old/deeper", 0700) == 0);
	put_file("rec.old/deeper/f", "");
	CHECK(create("rec") == 0);
	check_file("rec.old/1.dat", "second");
	CHECK_INT(size_of("rec.old/deeper"), -1);
}

TEST(outdir_knows_what_uftrace_itself_has_written)
{
	IN_NEW_DIR;
	CHECK(mkdir("uftrace.data", 0700) == 0);
	CHECK(system("printf 'Ftrace!\\0rest' > uftrace.data/info") == 0);
	CHECK(create("uftrace.data") == 0);
	CHECK(size_of("uftrace.data.old/info") > 0);
}

TEST(outdir_takes_an_empty_directory)
{
	IN_NEW_DIR;
	CHECK(mkdir("rec", 0755) == 0);
	CHECK(create("rec") == 0);
	CHECK_INT(size_of("rec.old"), -1);
}

TEST(outdir_leaves_alone_what_is_not_a_recording)
{
	IN_NEW_DIR;
	CHECK(mkdir("photos", 0700) == 0);
	put_file("photos/cat", "cat");
	CHECK_INT(create("photos"), -EEXIST);
	put_file("file", "text");
	CHECK_INT(create("file"), -ENOTDIR);
	CHECK(mkdir("real", 0700) == 0 && symlink("real", "link") == 0);
	CHECK_INT(create("link"), -ELOOP);
	CHECK(symlink("nowhere", "dangling") == 0);
	CHECK_INT(create("dangling"), -ELOOP);
	CHECK(create("rec") == 0 && create("rec") == 0);
	CHECK(system("rm -rf rec.old; mkdir rec.old; touch rec.old/mine") == 0);
	CHECK_INT(create("rec"), -EEXIST);
	CHECK_INT(size_of("rec.old/mine"), 0);
	CHECK_INT(size_of("rec/" OUTDIR_MARK), 0);
	check_file("photos/cat", "cat");
	CHECK_INT(size_of("real/" OUTDIR_MARK), -1);
}

TEST(outdir_removes_links_in_an_older_recording_and_not_what_they_name)
{
	IN_NEW_DIR;
	CHECK(create("rec") == 0 && create("rec") == 0);
	CHECK(mkdir("photos", 0700) == 0);
	put_file("photos/cat", "cat");
	CHECK(symlink("../photos", "rec.old/dir") == 0 && symlink("../photos/cat", "rec.old/file") == 0);
	CHECK(create("rec") == 0);
	check_file("photos/cat", "cat");
}

/* Whoever had it moved there could not have removed it. */
TEST(outdir_removes_no_directory_of_another_within_an_older_recording)
{
	IN_NEW_DIR;
	if (geteuid())
		SKIP("only root can give a directory to another");
	CHECK(create("rec") == 0 && create("rec") == 0);
	CHECK(mkdir("rec.old/theirs", 0755) == 0 && chown("rec.old/theirs", 1, 1) == 0);
	put_file("rec.old/theirs/cat", "cat");
	CHECK_INT(create("rec"), -EPERM);
	check_file("rec.old/theirs/cat", "cat");
}

TEST(outdir_removes_what_was_opened_and_not_what_has_its_name)
{
	IN_NEW_DIR;
	int dirfd = -1, parent = open(".", O_PATH);

	CHECK(outdir_create(&dirfd, "spool", NULL, getuid(), getgid()) == 0);
	CHECK(rename("spool", "away") == 0 && mkdir("spool", 0700) == 0);
	put_file("spool/" OUTDIR_MARK, "");
	put_file("spool/cat", "cat");
	CHECK_INT(outdir_remove(parent, "spool", dirfd), -ESTALE);
	check_file("spool/cat", "cat");
	CHECK(rename("spool", "other") == 0 && rename("away", "spool") == 0);
	CHECK_INT(outdir_remove(parent, "spool", dirfd), 0);
	CHECK_INT(access("spool", F_OK), -1);
	close(dirfd);
	close(parent);
}

/* What somebody else who may write in the parent could do meanwhile. */
static void *exchange_names(void *stop)
{
	while (!*(volatile bool *)stop) {
		rename("rec", "away");
		(void)!symlink("photos", "rec");
		(void)!symlink("photos", "rec.old");
		unlink("rec");
		rename("away", "rec");
		unlink("rec.old");
		(void)!symlink("photos", "rec");
		unlink("rec");
	}
	return NULL;
}

TEST(outdir_is_not_led_astray_by_names_that_change)
{
	IN_NEW_DIR;
	bool stop = false;
	pthread_t thread;
	int made = 0;

	CHECK(mkdir("photos", 0700) == 0);
	put_file("photos/cat", "cat");
	CHECK(pthread_create(&thread, NULL, exchange_names, &stop) == 0);
	for (int i = 0; i < 2000 || (!made && i < 1000000); i++)	/* however the two are scheduled */
		made += create("rec") == 0;
	stop = true;
	pthread_join(thread, NULL);
	CHECK(made > 0);
	check_file("photos/cat", "cat");
	CHECK_INT(size_of("photos/" OUTDIR_MARK), -1);
}

TEST(outdir_refuses_names_and_places_that_cannot_be_right)
{
	IN_NEW_DIR;
	CHECK_INT(create("."), -EINVAL);
	CHECK_INT(create(".."), -EINVAL);
	CHECK_INT(create("/"), -EINVAL);
	CHECK_INT(create(""), -EINVAL);
	CHECK_INT(create("no/such/place"), -ENOENT);
	CHECK(mkdir("open", 0700) == 0 && chmod("open", 0777) == 0);
	CHECK_INT(create("open/rec"), -EPERM);
	CHECK(chmod("open", 01777) == 0);
	CHECK(create("open/rec") == 0);
}

TEST(outdir_leaves_alone_what_belongs_to_another_user)
{
	IN_NEW_DIR;
	if (getuid())
		SKIP("needs root");
	CHECK(create("rec") == 0);
	CHECK(chown("rec", 4711, 4711) == 0);
	CHECK_INT(create("rec"), -EPERM);
}

static void count_full(void *times)
{
	++*(int *)times;
}

/* A limit stands for a disk that becomes full. */
TEST(what_is_taken_until_a_disk_is_said_to_be_full_has_its_place)
{
	struct rlimit limit = { .rlim_cur = 1 << 20, .rlim_max = 1 << 20 };
	char block[4096];
	int full = 0, blocks = 0;
	struct out *o;

	IN_NEW_DIR;
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	memset(block, 'x', sizeof(block));
	CHECK(!out_create(&o, dir, "f"));
	out_set_aside(o, sizeof(block), count_full, &full);
	for (; !full && blocks < 1000; blocks++)
		out_bytes(o, block, sizeof(block));
	CHECK_INT(full, 1);
	out_bytes(o, block, sizeof(block));	/* and what was asked for beyond */
	CHECK(!out_flush(o));
	CHECK_INT(full, 1);
	CHECK_INT(size_of("f"), (blocks + 1) * sizeof(block));
	CHECK(blocks * sizeof(block) > limit.rlim_cur / 2);
	out_destroy(o);
}

TEST(a_file_is_written_over_an_empty_one_of_ours)
{
	struct out *o;

	IN_NEW_DIR;
	put_file("next", "");
	put_file("it", "old");
	CHECK(!out_create_over(&o, dir, "next", "it"));
	out_bytes(o, "new", 3);
	CHECK(!out_seal(o));
	out_destroy(o);
	check_file("it", "new");
	CHECK_INT(size_of("next"), -1);
	CHECK(out_create_over(&o, dir, "next", "it") == -ENOENT);
	put_file("next", "somebody's");
	CHECK(out_create_over(&o, dir, "next", "it") == -ESTALE);
	check_file("next", "somebody's");
	CHECK(!unlink("next") && !symlink("it", "next"));
	CHECK(out_create_over(&o, dir, "next", "it") == -ELOOP);
	check_file("it", "new");
}
