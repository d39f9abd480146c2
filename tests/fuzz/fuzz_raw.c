/*
 * fuzz_raw.c - a raw recording of any bytes at all, read and brought through merge and tracker, as --replay does; and
 * rings of torn records, as the drain takes them.
 *
 *	make && clang -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -DVERSION='"0"' -DHAVE_LZMA -DHAVE_ZSTD \
 *		-iquote include -iquote src -iquote build $(find src -name '*.c' ! -path 'src/inject*' ! -name main.c) \
 *		tests/fuzz/fuzz_raw.c -lbpf -ldw -lelf -lz -liberty -llzma -lzstd -lZydis -lpthread -o fuzz_raw
 *	mkdir corpus && RAWS=$PWD/corpus tests/golden/run ./recorder && ./fuzz_raw -max_len=16384 corpus
 *
 * What begins with 'r' is not a file but records, of which a file is made: lengths that fit are hard to guess. With 'd'
 * they are put into rings, some of them torn, and no file is made. With -DWITH_SINK=sink_uftrace (or another of
 * src/sink/sinks.c) that format is written, too.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "about.h"
#include "base.h"
#include "callring.h"
#include "flow/raw.h"
#include "flow/record.h"
#include "flow/round.h"
#include "flow/segment.h"
#include "flow/taken.h"
#include "flow/tracker.h"
#include "image.h"
#include "merge.h"
#include "sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As the writer does it. */
static int write_rounds(struct queue *q, struct merge *m, struct tracker *tracker)
{
	uint64_t until, before = 0;
	bool is_last = false;
	int err = 0;

	while (!err && !is_last) {
		struct round *r = queue_pop(q, 0);

		is_last = r->last;
		if (r->image) {
			err = tracker_image(tracker, TAKE(r->image));
			round_destroy(r);
			continue;
		}
		until = is_last ? UINT64_MAX : before;
		before = r->instant;
		err = merge_add(m, r);
		err = err ?: merge_release(m, until, tracker_record, tracker);
	}
	return err ?: tracker_finish(tracker);
}

#ifdef WITH_SINK
extern const struct sink_ops WITH_SINK;

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *where)
{
	(void)st, (void)what, (void)where;
	return remove(path);
}

/* In a directory of its own, where what was there is removed; of a format that is a file that is the spool. */
static void open_sink(struct segment *segment, const struct about *about, int dirfd[2])
{
	static const struct sink_options options;
	struct sink_args args = { .about = about, .options = &options, .file_name = "out", .spool_name = "spool" };
	char dir[32], spool[48];

	snprintf(dir, sizeof(dir), "/dev/shm/fuzz_raw-%d", getpid());
	snprintf(spool, sizeof(spool), "%s/spool", dir);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	if (mkdir(dir, 0700) || mkdir(spool, 0700))
		abort();
	args.file_dirfd = dirfd[0] = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	args.dirfd = dirfd[1] = open(spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd[0] < 0 || dirfd[1] < 0 || segment_open(segment, &WITH_SINK, &args))
		abort();
}
#else
static void open_sink(struct segment *segment, const struct about *about, int dirfd[2])
{
	(void)segment, (void)about, (void)dirfd;
}
#endif

static const struct about no_facts = {
	.cmdline = "", .exe = "", .hostname = "", .kernel = "", .distro = "", .cpu_model = "", .cpus_online = 2, .cpus_possible = 2,
	.argv = (char *[]){ NULL }, .is_replay = true,
};

/* All rounds that are in the queue, which is destroyed. */
static void write_all(struct queue *q, const struct about *about)
{
	int dirfd[2] = { -1, -1 };
	struct segment *segment;
	struct tracker *tracker;
	struct merge *m;

	if (segment_create(&segment) || merge_create(&m) || tracker_create(&tracker, segment, about->exe))
		abort();
	open_sink(segment, about, dirfd);
	if (write_rounds(q, m, tracker) || segment_close(segment))
		abort();
	merge_destroy(m);
	segment_destroy(segment);
	tracker_destroy(tracker);
	queue_destroy(q);
	close_fd(&dirfd[0]);
	close_fd(&dirfd[1]);
}

static void replay(int fd)
{
	struct about *about = NULL;
	struct queue *q;
	int err = raw_about(fd, &about);

	if ((err && err != -EBADMSG && err != -ENODATA) || queue_create(&q, SIZE_MAX))
		abort();
	if (about)
		about->is_replay = true;
	err = raw_push(fd, q);
	if (err && err != -EBADMSG)
		abort();
	write_all(q, about ?: &no_facts);
	about_destroy(about);
}

/* ---- files of records that are sane ---- */

static int new_file(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

/* /prog and /lib with eight functions each, of which the ids 0 to 15 are: into @raw, or, if that is NULL, into @q. */
static void write_image(struct raw *raw, struct queue *q, const struct image *img)
{
	struct round *r;
	void *packed;
	size_t len;

	if (raw) {
		if (raw_image(raw, img))
			abort();
		return;
	}
	r = round_create(0);
	if (!r || image_pack(img, &packed, &len) || image_unpack(&r->image, packed, len))
		abort();
	free(packed);
	queue_push(q, r);
}

static void write_images(struct raw *raw, struct queue *q)
{
	static char names[] = "f0\0f1\0f2\0f3\0f4\0f5\0f6\0f7";
	struct func func[8];
	struct image img = {
		.path = "/prog", .ino = 1, .load_size = 0x3000, .phdr_addr = 0x40, .text_offset = 0x1000,
		.text_addr = 0x1000, .func = func, .func_count = 8, .names = names, .names_len = sizeof(names),
	};

	for (unsigned i = 0; i < 8; i++)
		func[i] = (struct func){ .addr = 0x1000 + 16 * i, .size = 16, .site_class = SITE_CHEAP,
					 .name = names + 3 * i };
	write_image(raw, q, &img);
	img.path = "/lib";
	img.ino = 2;
	img.first_func = 8;
	write_image(raw, q, &img);
}

/*
 * One record: a byte each for kind, task (with CPU, and whether it was held back), time, and how many more bytes than
 * the least; then its fields.
 */
struct seed {
	uint8_t kind, task, time, more;
};

static size_t make_record(uint8_t room[REC_TEXT_MAX], const uint8_t *data, size_t size, uint64_t *now)
{
	struct rec_hdr *rec = (void *)room;
	const struct seed *seed = (const void *)data;
	uint16_t kind = 1 + seed->kind % (REC_KINDS - 1);
	size_t len = ROUND_UP(record_kinds[kind].size + seed->more, 8), fields = MIN(len - sizeof(*rec), size - sizeof(*seed));

	*now += seed->time & 15;
	if (seed->task & 2)
		len += 8;
	memcpy(room + sizeof(*rec), seed + 1, fields);
	*rec = (struct rec_hdr){
		.time = *now - (seed->time >> 6), .pid = 1 + (seed->task >> 6), .tid = 1 + (seed->task >> 4),
		.kind = kind, .size = len, .cpu = seed->task & 1, .flags = seed->kind / REC_KINDS,
	};
	if (seed->task & 2) {
		rec->flags |= REC_F_HELD;
		*(uint64_t *)(room + len - 8) = rec->time - MIN(rec->time, (uint64_t)seed->more);
	}
	return sizeof(*seed) + fields;
}

static size_t add_record(struct round *r, const uint8_t *data, size_t size, uint64_t *now)
{
	_Alignas(8) uint8_t room[REC_TEXT_MAX] = {};
	struct rec_hdr *rec = (void *)room;
	size_t used = make_record(room, data, size, now);
	void *at;

	if (record_is_sane(rec, rec->size)) {
		at = chunk_add(&r->chunk[rec->cpu], rec->size);
		if (!at)
			abort();
		memcpy(at, rec, rec->size);
		chunk_note(&r->chunk[rec->cpu], rec->time);
	}
	return used;
}

static int records_file(const uint8_t *data, size_t size)
{
	__cleanup(close_fd) int dirfd = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct round *r = round_create(2);
	struct raw *raw;
	uint64_t now = 100;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "fuzz_raw-%d.raw", getpid());
	unlinkat(dirfd, name, 0);
	if (!r || raw_create(&raw, dirfd, name))
		abort();
	write_images(raw, NULL);
	while (size > sizeof(struct seed)) {
		size_t used = add_record(r, data, size, &now);

		data += used;
		size -= used;
	}
	r->instant = now;
	if (raw_round(raw, r) || raw_seal(raw, NULL))
		abort();
	round_destroy(r);
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abort();
	unlinkat(dirfd, name, 0);
	return fd;
}

/* ---- rings of torn records ---- */

#define SLOTS	32		/* of the ring of function records */

struct rings {
	struct calls_head head;
	struct rec_func	  slot[SLOTS];
	struct tally	  garbled;
};

static void call_slot(struct rings *rings, const void *data, bool is_second)
{
	struct rec_func *slot = &rings->slot[rings->head.head % SLOTS];

	memcpy(slot, data, sizeof(*slot));
	slot->commit = is_second ? CALLS_SECOND(rings->head.head) : CALLS_WHOLE(rings->head.head);
	rings->head.head++;
}

/* @tear: where it is torn: one byte is another, and it may be shorter or longer in its ring than it says. */
static void add_torn(struct round *r, struct rings *rings, uint8_t room[REC_TEXT_MAX], const uint8_t tear[3])
{
	struct rec_hdr *rec = (void *)room;
	size_t len = rec->size + 8 * ((tear[0] & 3) - 1);
	bool is_call = tear[0] & 4 && rec->size <= 2 * sizeof(struct rec_func);

	if (!(tear[0] & 2))
		len = rec->size;
	if (tear[0] & 8)
		room[tear[1] % len] = tear[2];
	if (!is_call) {
		__cleanup(free_ptr) void *sample = malloc(len);

		memcpy(sample, room, len);
		if (taken_sample(&r->chunk[tear[0] >> 7], sample, len, &rings->garbled))
			abort();
		return;
	}
	for (size_t at = 0; at < len; at += sizeof(struct rec_func))
		call_slot(rings, room + at, at);
	if (tear[0] & 16 || rings->head.head - rings->head.tail > SLOTS - 2)
		taken_calls(&r->chunk[2], &rings->head, SLOTS, &rings->garbled, NULL);
}

static struct round *new_round(void)
{
	struct round *r = round_create(3);

	if (!r)
		abort();
	return r;
}

static void drain(const uint8_t *data, size_t size)
{
	struct rings rings = {};
	struct round *r = new_round();
	uint64_t now = 100;
	struct queue *q;

	if (queue_create(&q, SIZE_MAX))
		abort();
	write_images(NULL, q);
	while (size > 3 + sizeof(struct seed)) {
		_Alignas(8) uint8_t room[REC_TEXT_MAX] = {};
		size_t used = 3 + make_record(room, data + 3, size - 3, &now);

		add_torn(r, &rings, room, data);
		if (data[0] & 32) {		/* the next round */
			r->instant = now;
			queue_push(q, r);
			r = new_round();
		}
		data += used;
		size -= used;
	}
	taken_calls(&r->chunk[2], &rings.head, SLOTS, &rings.garbled, &rings.garbled);
	r->instant = now;
	r->last = true;
	queue_push(q, r);
	write_all(q, &no_facts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;

	if (size && data[0] == 'd') {
		drain(data + 1, size - 1);
		return 0;
	}
	fd = size && data[0] == 'r' ? records_file(data + 1, size - 1) : new_file(data, size);

	replay(fd);
	close(fd);
	return 0;
}
