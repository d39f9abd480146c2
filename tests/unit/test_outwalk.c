/*
 * test_outwalk.c - many files written at once, in any order, against a plain model.
 *
 * The model of a file is its bytes in memory, and where each call ended. Whatever was
 * done, a file holds the model's bytes up to the end of some call: up to the last
 * one once it was flushed, at least to what was flushed before once a write failed.
 * Writes fail by RLIMIT_FSIZE lowered for one call (SIGXFSZ ignored), at any byte, or by
 * a tmpfs that is full.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "out.h"
#include "test.h"

#define FILES	40		/* more than are kept open once they are parked */
#define LONGEST	(3u << 20)	/* bytes of a file: most are long enough for the way past the page cache */

struct model {
	struct out *o;
	char	    name[8];
	size_t	    len, flushed;
	bool	    is_parked;
	uint8_t	   *bytes;
	bool	   *is_end;	/* of a call, at each length */
};

static unsigned seed = 1;
static int dir;
static int failed;		/* writes */
static uint8_t noise[LONGEST], got[LONGEST + 1];

static size_t any(size_t below)
{
	return below ? (((size_t)rand_r(&seed) << 31) | rand_r(&seed)) % below : 0;
}

static size_t size_of(const struct model *m)
{
	struct stat st;

	CHECK(stat(m->name, &st) == 0);
	return st.st_size;
}

/* The file is the model, as far as it goes. */
static void check_content(const struct model *m)
{
	int fd = open(m->name, O_RDONLY);
	size_t size = 0;

	CHECK(fd >= 0);
	for (ssize_t n; (n = read(fd, got + size, sizeof(got) - size)) > 0;)
		size += n;
	close(fd);
	CHECK(size <= m->len && m->is_end[size] && size >= m->flushed);
	CHECK_MEM(got, m->bytes, size);
}

static void begin(struct model *m)
{
	m->len = m->flushed = 0;
	m->is_parked = false;
	memset(m->is_end, 0, LONGEST + 1);
	m->is_end[0] = true;
	CHECK(out_create(&m->o, dir, m->name) == 0);
}

static void end(struct model *m)
{
	int err = out_error(m->o), sealed = out_seal(m->o);

	CHECK(!err || sealed == err);
	check_content(m);
	if (sealed)
		failed++;
	else
		CHECK_INT(size_of(m), m->len);
	out_destroy(m->o);
	CHECK(unlink(m->name) == 0);
}

static size_t any_length(void)
{
	unsigned kind = any(100);

	return 1 + any(kind < 70 ? 200 : kind < 90 ? 5000 : kind < 98 ? 70000 : 400000);
}

static void add(struct model *m)
{
	size_t len = any_length();

	if (m->len + len > LONGEST)
		return;
	memcpy(m->bytes + m->len, noise + m->len / 2, len);
	out_bytes(m->o, m->bytes + m->len, len);
	m->len += len;
	m->is_end[m->len] = true;
	if (!out_error(m->o))
		CHECK_INT(out_tell(m->o), m->len);
}

/* Where it may matter: about what was flushed last, about the last page's beginning, at the end; or anywhere. */
static size_t any_place(const struct model *m)
{
	size_t near[] = { m->flushed, m->flushed & ~4095ul, m->len, any(m->len) };
	size_t at = near[any(ARRAY_SIZE(near))] + any(8);

	return MIN(at > 8 ? at - 8 : 0, m->len - 8);
}

/* A patch that fails leaves each of its bytes as it was or as it should be. */
static void patch(struct model *m)
{
	uint8_t old[8], now[8];
	uint64_t v = any(SIZE_MAX);
	size_t at;
	int fd;

	if (m->len < 8)
		return;
	at = any_place(m);
	memcpy(old, m->bytes + at, 8);
	memcpy(m->bytes + at, &v, 8);
	out_patch_u64(m->o, at, v);
	if (!out_error(m->o))
		return;
	memcpy(now, &v, 8);
	fd = open(m->name, O_RDONLY);
	CHECK(fd >= 0 && pread(fd, now, 8, at) >= 0);
	close(fd);
	for (int i = 0; i < 8; i++)
		CHECK(now[i] == old[i] || now[i] == m->bytes[at + i]);
	memcpy(m->bytes + at, now, 8);
}

static void flush(struct model *m, bool park)
{
	m->is_parked |= park;
	if ((park ? out_park(m->o) : out_flush(m->o)) == 0)
		m->flushed = m->len;
}

static void step(struct model *m)
{
	switch (any(10)) {
	case 0:
		flush(m, false);
		break;
	case 1: case 2:
		flush(m, true);
		break;
	case 3: case 4:
		patch(m);
		break;
	default:
		add(m);
	}
	CHECK(m->is_end[size_of(m)]);
	if (!out_error(m->o) && m->flushed == m->len)
		CHECK_INT(size_of(m), m->len);
}

/* Nothing can be written at @at and behind; -1: everything can. */
static void limit(rlim_t at)
{
	CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ at, RLIM_INFINITY }) == 0);
}

/* @steps in any order over many files; one in @fails has no room on the disk (0: none). */
static void walk(int steps, int fails)
{
	static struct model model[FILES];

	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < LONGEST; i++)
		noise[i] = rand_r(&seed);
	for (int i = 0; i < FILES; i++) {
		snprintf(model[i].name, sizeof(model[i].name), "%d", i);
		model[i].bytes = malloc(LONGEST);
		model[i].is_end = malloc(LONGEST + 1);
		begin(&model[i]);
	}
	for (int i = 0; i < steps; i++) {
		struct model *m = &model[any(FILES)];

		if (fails && any(fails) == 0)
			limit(any(m->len + 2000));
		step(m);
		limit(RLIM_INFINITY);
		if (out_error(m->o) || any(500) == 0) {
			end(m);
			begin(m);
		}
	}
	for (int i = 0; i < FILES; i++)
		end(&model[i]);
}

/* An empty directory to walk in; on a filesystem of its own when @type says which. */
static void enter_new_dir(const char *type, const char *options)
{
	static char work[] = "/tmp/recorder-walk-XXXXXX";

	if (type && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)))
		SKIP("needs root, for a filesystem of its own");
	CHECK(mkdtemp(work) != NULL);
	if (type && mount("none", work, type, 0, options)) {
		rmdir(work);
		SKIP("this filesystem cannot be mounted here");
	}
	CHECK(chdir(work) == 0);
	dir = open(".", O_RDONLY | O_DIRECTORY);
	CHECK(dir >= 0);
}

/* A test that fails leaves its directory to be looked at. */
static void leave_dir(void)
{
	char path[64];

	CHECK(getcwd(path, sizeof(path)) != NULL);
	close(dir);
	CHECK(chdir("/") == 0);
	umount2(path, MNT_DETACH);
	CHECK(rmdir(path) == 0);
}

TEST(many_files_at_once_hold_every_byte_in_its_place)
{
	enter_new_dir(NULL, NULL);
	walk(20000, 0);
	CHECK_INT(failed, 0);
	leave_dir();
}

TEST(a_write_that_fails_leaves_whole_records_and_no_other_file_harmed)
{
	enter_new_dir(NULL, NULL);
	walk(20000, 30);
	CHECK(failed > 50);
	leave_dir();
}

TEST(a_full_disk_leaves_whole_records_and_no_other_file_harmed)
{
	enter_new_dir("tmpfs", "size=24m");
	walk(20000, 0);
	CHECK(failed > 10);
	leave_dir();
}

TEST(many_files_are_whole_where_the_page_cache_cannot_be_passed_by)
{
	enter_new_dir("ramfs", NULL);
	walk(20000, 60);
	CHECK(failed > 20);
	leave_dir();
}

/* 8 bytes, of which so many lie before the last page, in it, and behind what was flushed. */
TEST(a_patch_may_lie_across_any_boundary)
{
	static const size_t flushed[] = { (1 << 20) + 4096, (1 << 20) + 4096 + 3, (1 << 20) + 4096 + 100 };
	static struct model m = { .name = "f" };

	enter_new_dir(NULL, NULL);
	m.bytes = calloc(1, LONGEST);
	m.is_end = malloc(LONGEST + 1);
	for (size_t i = 0; i < ARRAY_SIZE(flushed); i++) {
		for (int off = -9; off <= 9; off++) {
			for (int page = 0; page < 2; page++) {
				uint64_t v = any(SIZE_MAX);
				size_t at = (page ? (1 << 20) + 4096 : flushed[i]) + off;

				begin(&m);
				for (size_t len; m.len < flushed[i]; m.len += len) {
					len = MIN(flushed[i] - m.len, (size_t)4000);
					out_bytes(m.o, m.bytes + m.len, len);
				}
				CHECK(out_flush(m.o) == 0);
				out_bytes(m.o, m.bytes + m.len, 50);
				m.is_end[m.len += 50] = true;
				memcpy(m.bytes + at, &v, 8);
				out_patch_u64(m.o, at, v);
				end(&m);
			}
		}
	}
	leave_dir();
}
