/*
 * fuzz_raw.c - a raw recording of any bytes at all, read and brought through merge and tracker, as --replay does.
 *
 *	clang -std=gnu11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -iquote include -iquote src \
 *		$(find src/flow src/image -name '*.c' ! -name drain.c) src/about.c src/base/{out,log}.c \
 *		tests/fuzz/fuzz_raw.c -lZydis -lz -liberty -lpthread -o fuzz_raw
 *	mkdir corpus && RAWS=$PWD/corpus tests/golden/run ./recorder && ./fuzz_raw -max_len=16384 corpus
 *
 * What begins with 'r' is not a file but records, of which a file is made: lengths that fit are hard to guess. With
 * -DWITH_SINK and the files of src/sink and src/syscall what uftrace.data is made of it is looked at, too.
 */
#include <fcntl.h>
#include <sys/mman.h>

#include "about.h"
#include "base.h"
#include "flow/raw.h"
#include "flow/record.h"
#include "flow/round.h"
#include "flow/segment.h"
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
extern const struct sink_ops sink_uftrace;

static void open_sink(struct segment *segment, const struct about *about, int *dirfd)
{
	char dir[32], command[128];

	snprintf(dir, sizeof(dir), "/dev/shm/fuzz_raw-%d", getpid());
	snprintf(command, sizeof(command), "rm -rf %s && mkdir %s", dir, dir);
	if (system(command))
		abort();
	*dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dirfd < 0 || segment_open(segment, &sink_uftrace, *dirfd, about))
		abort();
}
#else
static void open_sink(struct segment *segment, const struct about *about, int *dirfd)
{
	(void)segment, (void)about, (void)dirfd;
}
#endif

static void replay(int fd)
{
	static const struct about no_facts;
	__cleanup(close_fd) int dirfd = -1;
	struct about *about = NULL;
	struct segment *segment;
	struct tracker *tracker;
	struct merge *m;
	struct queue *q;
	int err = raw_about(fd, &about);

	if (err && err != -EBADMSG && err != -ENODATA)
		abort();
	if (queue_create(&q, SIZE_MAX) || segment_create(&segment) || merge_create(&m) ||
	    tracker_create(&tracker, segment, about ? about->exe : NULL))
		abort();
	open_sink(segment, about ?: &no_facts, &dirfd);
	err = raw_push(fd, q);
	if ((err && err != -EBADMSG) || write_rounds(q, m, tracker))
		abort();
	merge_destroy(m);
	segment_destroy(segment);
	tracker_destroy(tracker);
	queue_destroy(q);
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

/* /prog and /lib with eight functions each, of which the ids 0 to 15 are. */
static void write_images(struct raw *raw)
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
	if (raw_image(raw, &img))
		abort();
	img.path = "/lib";
	img.ino = 2;
	img.first_func = 8;
	if (raw_image(raw, &img))
		abort();
}

/*
 * One record: a byte each for kind, task (with CPU, and whether it was held back), time, and how many more bytes than
 * the least; then its fields.
 */
struct seed {
	uint8_t kind, task, time, more;
};

static size_t add_record(struct round *r, const uint8_t *data, size_t size, uint64_t *now)
{
	_Alignas(8) uint8_t room[REC_TEXT_MAX] = {};
	struct rec_hdr *rec = (void *)room;
	const struct seed *seed = (const void *)data;
	uint16_t kind = 1 + seed->kind % (REC_KINDS - 1);
	size_t len = ROUND_UP(record_kinds[kind].size + seed->more, 8), fields = MIN(len - sizeof(*rec), size - sizeof(*seed));
	void *at;

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
	if (record_is_sane(rec, len)) {
		at = chunk_add(&r->chunk[rec->cpu], len);
		if (!at)
			abort();
		memcpy(at, rec, len);
	}
	return sizeof(*seed) + fields;
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
	write_images(raw);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = size && data[0] == 'r' ? records_file(data + 1, size - 1) : new_file(data, size);

	replay(fd);
	close(fd);
	return 0;
}
