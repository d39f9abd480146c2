/*
 * test_raw.c - raw recordings: written, read again, cut short and damaged.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "about.h"
#include "base.h"
#include "flow/raw.h"
#include "flow/round.h"
#include "flow/segment.h"
#include "flow/tracker.h"
#include "image.h"
#include "merge.h"
#include "record.h"
#include "test.h"

#define NAME	"recording.raw"

/* A raw file in a folder of its own. */
struct shelf {
	char	      dir[40];
	int	      dirfd, fd;
	struct raw   *raw;
	struct queue *queue;
	uint8_t	     *bytes;	/* of the file, once it is written */
	size_t	      size;
};

static void set_shelf(struct shelf *s)
{
	*s = (struct shelf){ .dir = "/tmp/recorder-raw-XXXXXX", .fd = -1 };
	CHECK(mkdtemp(s->dir) != NULL);
	s->dirfd = open(s->dir, O_RDONLY | O_DIRECTORY);
	CHECK(s->dirfd >= 0);
	CHECK(queue_create(&s->queue, 64 << 20) == 0);
	CHECK(raw_create(&s->raw, s->dirfd, NAME) == 0);
}

static void clear_shelf(struct shelf *s)
{
	unlinkat(s->dirfd, NAME, 0);
	CHECK(rmdir(s->dir) == 0);
	close(s->dirfd);
	close(s->fd);
	queue_destroy(s->queue);
	free(s->bytes);
}

static void seal(struct shelf *s, const struct about *about)
{
	struct stat st;

	CHECK(raw_seal(TAKE(s->raw), about) == 0);
	s->fd = openat(s->dirfd, NAME, O_RDWR);
	CHECK(s->fd >= 0 && fstat(s->fd, &st) == 0);
	s->size = st.st_size;
	s->bytes = malloc(s->size);
	CHECK(pread(s->fd, s->bytes, s->size, 0) == (ssize_t)s->size);
}

/* The file is now these bytes, whatever it was. */
static void make_file(struct shelf *s, const void *bytes, size_t size)
{
	CHECK(ftruncate(s->fd, 0) == 0);
	CHECK(pwrite(s->fd, bytes, size, 0) == (ssize_t)size);
}

/* ---- what is in it ---- */

/* A record of @kind, @size bytes long, that no other is like. */
static void add_record(struct round *r, unsigned chunk, uint16_t kind, uint16_t size, uint64_t time)
{
	uint8_t *at = chunk_add(&r->chunk[chunk], size);
	struct rec_hdr hdr = { .time = time, .pid = 100, .tid = 100 + chunk, .kind = kind, .size = size, .cpu = chunk };

	CHECK(at != NULL);
	memset(at, 0, size);
	memcpy(at, &hdr, sizeof(hdr));
	if (kind == REC_FUNC_ENTRY || kind == REC_FUNC_EXIT)
		((struct rec_func *)at)->sp = 0x7000 + time;
}

/* Round @n, with two chunks that have records and one that has none. */
static struct round *make_round(unsigned n)
{
	struct round *r = round_create(3);

	CHECK(r != NULL);
	r->instant = 1000 * n;
	add_record(r, 0, REC_FUNC_ENTRY, sizeof(struct rec_func), 1000 * n + 1);
	add_record(r, 0, REC_FUNC_EXIT, sizeof(struct rec_func), 1000 * n + 5);
	add_record(r, 2, REC_SYS_EXIT, sizeof(struct rec_sys_exit), 1000 * n + 3);
	add_record(r, 2, REC_TASK_NAME, sizeof(struct rec_task_name), 1000 * n + 4);
	return r;
}

static void write_round(struct shelf *s, unsigned n)
{
	struct round *r = make_round(n);

	CHECK(raw_round(s->raw, r) == 0);
	round_destroy(r);
}

static char names[] = "main\0a\0puts";
static struct func funcs[] = {
	{ .addr = 0x1000, .size = 32, .site = 0x1004, .nop5_site = 0x1000, .site_class = SITE_CHEAP, .name = names },
	{ .addr = 0x1020, .size = 16, .site = 0x1020, .site_class = SITE_DEAR, .flags = FUNC_ENTRY_ONLY,
	  .sp_offset = 8, .name = names + 5 },
	{ .addr = 0x1030, .size = 16, .site = 0x1030, .site_class = SITE_REFUSED, .flags = FUNC_PLT, .name = names + 7 },
};
static const struct image prog = {
	.ino = 77, .dev = 0x800002, .gen = 5, .path = "/opt/prog", .build_id = "0123456789abcdef",
	.load_size = 0x3000, .phdr_addr = 0x40, .text_offset = 0x1000, .text_addr = 0x1000, .unwind_site = 0x1234,
	.first_func = 42, .is_pie = true, .interp = "/lib/ld.so", .func = funcs, .func_count = ARRAY_SIZE(funcs),
	.names = names, .names_len = sizeof(names),
};

static struct about facts(void)
{
	static char *argv[] = { "prog", "", "two words", NULL };

	return (struct about){
		.argv = argv, .exe = "/opt/prog", .cmdline = "recorder -- prog", .hostname = "host",
		.kernel = "Linux 6.1.0", .cpu_model = "A CPU", .cpus_online = 3, .cpus_possible = 4,
		.mem_free = 5, .mem_total = 6, .load = { 0.5, 1.5, 2.5 }, .string_bytes = 64, .start = 1000,
		.end = 2000, .utc_offset = -7, .exit_status = 0x300, .usage = { .ru_maxrss = 9 }, .lost = { 1, 2, 3 },
	};
}

/* An image, three rounds, and the facts. */
static void write_all(struct shelf *s)
{
	struct about about = facts();

	set_shelf(s);
	CHECK(raw_image(s->raw, &prog) == 0);
	for (unsigned n = 1; n <= 3; n++)
		write_round(s, n);
	seal(s, &about);
}

static void check_round(struct round *got, unsigned n)
{
	struct round *want = make_round(n);

	CHECK(got != NULL);
	CHECK(!got->image && !got->last);
	CHECK_INT(got->instant, want->instant);
	CHECK_INT(got->chunk_count, want->chunk_count);
	for (unsigned i = 0; i < want->chunk_count; i++) {
		CHECK_INT(got->chunk[i].count, want->chunk[i].count);
		CHECK_INT(got->chunk[i].len, want->chunk[i].len);
		CHECK_MEM(got->chunk[i].data, want->chunk[i].data, want->chunk[i].len);
	}
	round_destroy(want);
	round_destroy(got);
}

static void check_end(struct shelf *s)
{
	struct round *r = queue_pop(s->queue, 0);

	CHECK(r && r->last && !r->image && r->instant == UINT64_MAX);
	round_destroy(r);
	CHECK(queue_pop(s->queue, 0) == NULL);
}

static void check_image(struct round *r)
{
	CHECK(r && r->image);
	CHECK_STR(r->image->path, prog.path);
	CHECK_STR(r->image->interp, prog.interp);
	CHECK_STR(r->image->build_id, prog.build_id);
	CHECK_INT(r->image->ino, prog.ino);
	CHECK_INT(r->image->dev, prog.dev);
	CHECK_INT(r->image->gen, prog.gen);
	CHECK_INT(r->image->first_func, prog.first_func);
	CHECK_INT(r->image->func_count, prog.func_count);
	for (size_t i = 0; i < prog.func_count; i++) {
		CHECK_STR(r->image->func[i].name, funcs[i].name);
		CHECK_MEM(&r->image->func[i], &funcs[i], offsetof(struct func, name));
	}
	round_destroy(r);
}

TEST(what_was_written_raw_is_read_again_record_by_record)
{
	struct shelf s;

	write_all(&s);
	CHECK(raw_push(s.fd, s.queue) == 0);
	check_image(queue_pop(s.queue, 0));
	for (unsigned n = 1; n <= 3; n++)
		check_round(queue_pop(s.queue, 0), n);
	check_end(&s);
	clear_shelf(&s);
}

TEST(images_and_rounds_are_read_in_the_order_they_were_written)
{
	struct shelf s;

	set_shelf(&s);
	write_round(&s, 1);
	CHECK(raw_image(s.raw, &prog) == 0);
	write_round(&s, 2);
	seal(&s, NULL);
	CHECK(raw_push(s.fd, s.queue) == 0);
	check_round(queue_pop(s.queue, 0), 1);
	check_image(queue_pop(s.queue, 0));
	check_round(queue_pop(s.queue, 0), 2);
	check_end(&s);
	clear_shelf(&s);
}

TEST(a_round_without_records_leaves_nothing_in_a_raw_file)
{
	struct round *r = round_create(3);
	struct shelf s;

	set_shelf(&s);
	CHECK(raw_round(s.raw, r) == 0);
	round_destroy(r);
	seal(&s, NULL);
	CHECK_INT(s.size, 8);
	CHECK(raw_push(s.fd, s.queue) == 0);
	check_end(&s);
	clear_shelf(&s);
}

TEST(the_facts_of_a_recording_come_back)
{
	struct about *got = NULL, want = facts();
	struct shelf s;

	write_all(&s);
	CHECK(raw_about(s.fd, &got) == 0);
	CHECK_STR(got->exe, want.exe);
	CHECK_STR(got->cmdline, want.cmdline);
	CHECK_STR(got->hostname, want.hostname);
	CHECK_STR(got->kernel, want.kernel);
	CHECK_STR(got->distro, "");		/* there was none */
	CHECK_STR(got->cpu_model, want.cpu_model);
	for (int i = 0; i < 4; i++)
		CHECK_STR(got->argv[i], want.argv[i]);
	CHECK_INT(got->start, want.start);
	CHECK_INT(got->end, want.end);
	CHECK_INT(got->utc_offset, want.utc_offset);
	CHECK_INT(got->exit_status, want.exit_status);
	CHECK_INT(got->string_bytes, want.string_bytes);
	CHECK_INT(got->cpus_online, want.cpus_online);
	CHECK_INT(got->cpus_possible, want.cpus_possible);
	CHECK_INT(got->mem_total, want.mem_total);
	CHECK_INT(got->usage.ru_maxrss, want.usage.ru_maxrss);
	CHECK(got->load[2] == want.load[2]);
	CHECK_MEM(got->lost, want.lost, sizeof(want.lost));
	about_destroy(got);
	clear_shelf(&s);
}

TEST(a_raw_file_that_is_there_is_not_written_over)
{
	struct raw *second;
	struct shelf s;

	set_shelf(&s);
	CHECK_INT(raw_create(&second, s.dirfd, NAME), -EEXIST);
	seal(&s, NULL);
	clear_shelf(&s);
}

TEST(a_raw_file_that_cannot_grow_is_told_of_when_it_is_sealed)
{
	struct rlimit limit = { .rlim_cur = 4096, .rlim_max = 4096 };
	struct shelf s;

	signal(SIGXFSZ, SIG_IGN);
	set_shelf(&s);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	for (unsigned n = 1; n < 100; n++) {
		struct round *r = make_round(n);

		(void)raw_round(s.raw, r);
		round_destroy(r);
	}
	CHECK_INT(raw_seal(TAKE(s.raw), NULL), -EFBIG);
	clear_shelf(&s);
}

/* ---- a queue that is full ---- */

static void *pop_slowly(void *ctx)
{
	struct shelf *s = ctx;
	intptr_t rounds = 0;
	bool is_last = false;

	while (!is_last) {
		struct round *r = queue_pop(s->queue, 1000);

		if (!r)
			break;
		is_last = r->last;
		rounds++;
		round_destroy(r);
		usleep(3000);
	}
	return (void *)rounds;
}

TEST(reading_a_raw_file_waits_while_the_queue_is_full)
{
	pthread_t reader;
	void *rounds;
	struct shelf s;

	write_all(&s);
	queue_destroy(s.queue);
	CHECK(queue_create(&s.queue, 1) == 0);		/* full with the first round */
	CHECK(pthread_create(&reader, NULL, pop_slowly, &s) == 0);
	CHECK(raw_push(s.fd, s.queue) == 0);
	CHECK(pthread_join(reader, &rounds) == 0);
	CHECK_INT((intptr_t)rounds, 5);
	clear_shelf(&s);
}

/* ---- damage ---- */

static int count_record(void *ctx, const struct rec_hdr *rec)
{
	(void)rec;
	++*(size_t *)ctx;
	return 0;
}

/* What raw_push() brought: its records, all the way through merge and, if there is one, @tracker. */
static size_t records_pushed(struct shelf *s, struct tracker *tracker)
{
	struct merge *m = NULL;
	size_t records = 0;
	bool is_last = false;

	CHECK(merge_create(&m) == 0);
	for (struct round *r; (r = queue_pop(s->queue, 0)); ) {
		CHECK(!is_last);
		is_last = r->last;
		if (r->image) {
			CHECK(!tracker || tracker_image(tracker, TAKE(r->image)) == 0);
			round_destroy(r);
		} else {
			CHECK(merge_add(m, r) == 0);
		}
	}
	CHECK(is_last);
	if (tracker)
		CHECK(merge_release(m, UINT64_MAX, tracker_record, tracker) == 0);
	else
		CHECK(merge_release(m, UINT64_MAX, count_record, &records) == 0);
	merge_destroy(m);
	return records;
}

TEST(a_raw_file_cut_at_any_byte_gives_what_came_before_the_cut)
{
	size_t records = 0, n;
	struct shelf s;

	write_all(&s);
	for (size_t size = 0; size < s.size; size++) {
		struct about *about = NULL;
		int err;

		make_file(&s, s.bytes, size);
		CHECK_INT(raw_about(s.fd, &about), size < 8 ? -EBADMSG : -ENODATA);
		err = raw_push(s.fd, s.queue);
		CHECK(err == 0 || err == -EBADMSG);
		CHECK(err || size >= 8);
		n = records_pushed(&s, NULL);
		CHECK(n >= records && n % 4 == 0);	/* never less than of a shorter one; whole rounds */
		records = n;
	}
	CHECK_INT(records, 12);
	clear_shelf(&s);
}

static void replay_damaged(struct shelf *s)
{
	struct segment *segment;
	struct tracker *tracker;
	struct about *about = NULL;
	int err = raw_about(s->fd, &about);

	CHECK(err == 0 || err == -EBADMSG || err == -ENODATA);
	about_destroy(about);
	err = raw_push(s->fd, s->queue);
	CHECK(err == 0 || err == -EBADMSG);
	CHECK(segment_create(&segment) == 0);
	CHECK(tracker_create(&tracker, segment, NULL) == 0);
	records_pushed(s, tracker);
	CHECK(tracker_finish(tracker) == 0);
	tracker_destroy(tracker);
	segment_destroy(segment);
}

TEST(a_raw_file_with_any_byte_wrong_harms_nobody)
{
	static const uint8_t wrong[] = { 0xff, 0x01, 0x80 };
	struct shelf s;

	write_all(&s);
	for (size_t at = 0; at < s.size; at++)
		for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
			uint8_t byte = s.bytes[at] ^ wrong[i];

			make_file(&s, s.bytes, s.size);
			CHECK(pwrite(s.fd, &byte, 1, at) == 1);
			replay_damaged(&s);
		}
	clear_shelf(&s);
}

TEST(what_is_no_raw_file_is_refused)
{
	static const struct { const char *bytes; size_t size; } files[] = {
		{ "", 0 }, { "RECRAW1", 7 }, { "RECRAW4\n", 8 }, { "\x7f" "ELF\2\1\1\0\0\0\0\0", 12 },
		{ "a text of some length, in which nothing is a record", 51 },
	};
	struct about *about = NULL;
	struct shelf s;

	write_all(&s);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		make_file(&s, files[i].bytes, files[i].size);
		CHECK_INT(raw_about(s.fd, &about), -EBADMSG);
		CHECK_INT(raw_push(s.fd, s.queue), -EBADMSG);
		CHECK_INT(records_pushed(&s, NULL), 0);
	}
	clear_shelf(&s);
}

/* A file of one round with one chunk with one record of @kind and @size; bytes of each are then made wild. */
static void write_one(struct shelf *s, uint16_t kind, uint16_t size)
{
	struct round *r = round_create(1);

	set_shelf(s);
	add_record(r, 0, kind, size, 1);
	CHECK(raw_round(s->raw, r) == 0);
	round_destroy(r);
	seal(s, NULL);
}

/* Where things lie in such a file. */
enum { BLOCK_TYPE = 8, BLOCK_BYTES = 16, CHUNKS = 32, CHUNK_LEN = 40, RECORD = 48 };

static const struct wild {
	const char *what;
	uint16_t    kind, size;		/* the record's */
	size_t	    at, bytes;
	uint64_t    value;
} wild[] = {
	{ "a block larger than any",	REC_TASK_NAME, 40, BLOCK_BYTES, 8, UINT64_MAX },
	{ "a block larger than the file", REC_TASK_NAME, 40, BLOCK_BYTES, 8, 65 },
	{ "a block smaller than a round", REC_TASK_NAME, 40, BLOCK_BYTES, 8, 15 },
	{ "a block that ends in its lengths", REC_TASK_NAME, 40, BLOCK_BYTES, 8, 20 },
	{ "a block that ends in a record's head", REC_TASK_NAME, 40, BLOCK_BYTES, 8, 16 + 8 + 10 },
	{ "chunks without end",		REC_TASK_NAME, 40, CHUNKS, 4, UINT32_MAX },
	{ "more chunks than it holds",	REC_TASK_NAME, 40, CHUNKS, 4, 100 },
	{ "a chunk without end",	REC_TASK_NAME, 40, CHUNK_LEN, 8, UINT64_MAX },
	{ "a chunk longer than its block", REC_TASK_NAME, 40, CHUNK_LEN, 8, 41 },
	{ "a chunk of half a head",	REC_TASK_NAME, 40, CHUNK_LEN, 8, 12 },
	{ "a record of no bytes",	REC_TASK_NAME, 40, RECORD + 18, 2, 0 },
	{ "a record of a head only",	REC_TASK_NAME, 40, RECORD + 18, 2, 24 },
	{ "a record longer than its chunk", REC_TASK_NAME, 40, RECORD + 18, 2, 48 },
	{ "a record of odd length",	REC_TASK_NAME, 40, RECORD + 18, 2, 39 },
	{ "a record of no kind",	REC_TASK_NAME, 40, RECORD + 16, 2, REC_NONE },
	{ "a record of an unknown kind", REC_TASK_NAME, 40, RECORD + 16, 2, REC_KINDS },
	{ "a record of the largest kind", REC_TASK_NAME, 40, RECORD + 16, 2, UINT16_MAX },
	{ "texts longer than their record", REC_SYS_EXIT, 48, RECORD + 28, 4, 16 },
	{ "texts without end",		REC_SYS_EXIT, 48, RECORD + 28, 4, UINT32_MAX },
	{ "texts at entry without end",	REC_SYS_ENTER, 88, RECORD + 28, 4, UINT32_MAX },
	{ "a path longer than its record", REC_IMAGE, 80, RECORD + 66, 2, 9 },
	{ "a task that makes itself",	REC_TASK_NEW, 48, RECORD + 28, 4, 100 },
	{ "more lost than can be",	REC_LOST, 48, RECORD + 24, 8, UINT64_MAX },
};

TEST(wild_lengths_in_a_raw_file_are_refused)
{
	for (const struct wild *w = wild; w < wild + ARRAY_SIZE(wild); w++) {
		struct shelf s;

		printf("%s\n", w->what);
		write_one(&s, w->kind, w->size);
		CHECK(raw_push(s.fd, s.queue) == 0);
		CHECK_INT(records_pushed(&s, NULL), 1);
		CHECK(pwrite(s.fd, &w->value, w->bytes, w->at) == (ssize_t)w->bytes);
		CHECK_INT(raw_push(s.fd, s.queue), -EBADMSG);
		CHECK_INT(records_pushed(&s, NULL), 0);
		clear_shelf(&s);
	}
}

TEST(an_image_without_a_path_is_refused)
{
	struct image img = prog;
	struct shelf s;

	img.path = NULL;
	set_shelf(&s);
	CHECK(raw_image(s.raw, &img) == 0);
	seal(&s, NULL);
	CHECK_INT(raw_push(s.fd, s.queue), -EBADMSG);
	check_end(&s);
	clear_shelf(&s);
}

TEST(one_text_that_leaves_its_record_is_refused)
{
	struct rec_text text = { .arg = 1, .len = 100 };
	uint32_t text_len = 8;
	struct shelf s;

	write_one(&s, REC_SYS_EXIT, 48);
	CHECK(pwrite(s.fd, &text_len, 4, RECORD + 28) == 4);
	CHECK(raw_push(s.fd, s.queue) == 0);		/* two empty texts */
	CHECK(pwrite(s.fd, &text, 4, RECORD + 40) == 4);
	CHECK_INT(raw_push(s.fd, s.queue), -EBADMSG);
	clear_shelf(&s);
}

static int read_with_flags(struct shelf *s, uint16_t flags)
{
	CHECK(pwrite(s->fd, &flags, 2, RECORD + 22) == 2);
	return raw_push(s->fd, s->queue);
}

TEST(a_held_entry_has_a_time_that_is_not_later_than_its_own)
{
	uint64_t began = UINT64_MAX;
	struct shelf s;

	write_one(&s, REC_FUNC_ENTRY, 48);
	CHECK_INT(read_with_flags(&s, REC_F_HELD), 0);
	CHECK(pwrite(s.fd, &began, 8, RECORD + 40) == 8);
	CHECK_INT(read_with_flags(&s, 0), 0);			/* not held: it says nothing */
	CHECK_INT(read_with_flags(&s, REC_F_HELD), -EBADMSG);
	clear_shelf(&s);
	write_one(&s, REC_FUNC_ENTRY, 40);			/* without it */
	CHECK_INT(read_with_flags(&s, REC_F_HELD), -EBADMSG);
	clear_shelf(&s);
	write_one(&s, REC_FUNC_EXIT, 48);
	CHECK_INT(read_with_flags(&s, REC_F_HELD), -EBADMSG);
	clear_shelf(&s);
}

TEST(blocks_of_a_type_that_is_not_known_are_passed_over)
{
	uint32_t type = 99;
	struct shelf s;

	write_all(&s);
	CHECK(pwrite(s.fd, &type, 4, BLOCK_TYPE) == 4);		/* the image's */
	CHECK(raw_push(s.fd, s.queue) == 0);
	for (unsigned n = 1; n <= 3; n++)
		check_round(queue_pop(s.queue, 0), n);
	check_end(&s);
	clear_shelf(&s);
}
