/*
 * raw.c - blocks of a raw recording.
 */
#include <sys/stat.h>

#include "about.h"
#include "base.h"
#include "flow/raw.h"
#include "flow/record.h"
#include "flow/round.h"
#include "image.h"
#include "out.h"

#define RAW_MAGIC	"RECRAW3\n"	/* 1: loss was counted in three classes, and there were no tracepoints; 2: in four */
#define CHUNKS_MAX	4096
#define BLOCK_MAX	(1ull << 32)

enum block_type {
	BLOCK_ABOUT = 1,	/* struct raw_about, then its strings, each ended by a NUL */
	BLOCK_IMAGE,		/* as image_pack() makes it */
	BLOCK_ROUND,		/* struct raw_round, then chunk lengths (u64 each), then the chunks */
	BLOCK_TRACEPOINT,	/* of about: its system, name and format, each ended by a NUL; before that block, in order */
	BLOCK_GPU_TIMES,	/* of about: empty; before that block, when device times were asked for */
	BLOCK_PLACE,		/* of about: the pid, as a u64, then the cwd, ended by a NUL; before that block */
};

struct block_hdr {
	uint32_t type, zero;
	uint64_t bytes;
};

struct raw_round {
	uint64_t instant;
	uint32_t chunks, zero;
};

struct raw_about {
	uint64_t start, end, mem_free, mem_total;
	int64_t	 utc_offset;
	double	 load[3];
	uint32_t cpus_online, cpus_possible, string_bytes;
	int32_t	 exit_status;
	struct rusage usage;
	uint64_t lost[REC_CLASSES];	/* three of them with magic 1, four with magic 2 */
};

#define ABOUT_BYTES(classes)	(offsetof(struct raw_about, lost) + (classes) * sizeof(uint64_t))

struct raw {
	struct out *out;
};

int raw_create(struct raw **ret, int dirfd, const char *name)
{
	struct raw *raw = calloc(1, sizeof(*raw));
	int err;

	if (!raw)
		return -ENOMEM;
	err = out_create(&raw->out, dirfd, name);
	if (err) {
		free(raw);
		return err;
	}
	out_bytes(raw->out, RAW_MAGIC, 8);
	*ret = raw;
	return 0;
}

static void begin_block(struct raw *raw, uint32_t type, uint64_t bytes)
{
	struct block_hdr h = { .type = type, .bytes = bytes };

	out_bytes(raw->out, &h, sizeof(h));
}

int raw_image(struct raw *raw, const struct image *img)
{
	__cleanup(free_ptr) void *packed = NULL;
	size_t len;
	int err = image_pack(img, &packed, &len);

	if (err)
		return err;
	begin_block(raw, BLOCK_IMAGE, len);
	out_bytes(raw->out, packed, len);
	return out_error(raw->out);
}

int raw_round(struct raw *raw, const struct round *r)
{
	struct raw_round h = { .instant = r->instant, .chunks = r->chunk_count };
	uint64_t bytes = sizeof(h) + r->chunk_count * sizeof(uint64_t), records = 0;

	for (unsigned i = 0; i < r->chunk_count; i++)
		records += r->chunk[i].len;
	if (!records)
		return 0;
	begin_block(raw, BLOCK_ROUND, bytes + records);
	out_bytes(raw->out, &h, sizeof(h));
	for (unsigned i = 0; i < r->chunk_count; i++)
		out_u64(raw->out, r->chunk[i].len);
	for (unsigned i = 0; i < r->chunk_count; i++)
		out_bytes(raw->out, r->chunk[i].data, r->chunk[i].len);
	return out_error(raw->out);
}

/* The strings of an about, in the order they are stored; the words of argv follow them. */
#define ABOUT_STRINGS(a)	{ &(a)->cmdline, &(a)->exe, &(a)->hostname, &(a)->kernel, &(a)->distro, &(a)->cpu_model }

static void add_string(struct out *o, const char *s)
{
	out_bytes(o, s ?: "", strlen(s ?: "") + 1);
}

static int write_about(struct raw *raw, const struct about *a)
{
	char *const *const string[] = ABOUT_STRINGS(a);
	struct raw_about h = {
		.start = a->start, .end = a->end, .mem_free = a->mem_free, .mem_total = a->mem_total,
		.utc_offset = a->utc_offset, .load = { a->load[0], a->load[1], a->load[2] },
		.cpus_online = a->cpus_online, .cpus_possible = a->cpus_possible,
		.string_bytes = a->string_bytes, .exit_status = a->exit_status, .usage = a->usage,
	};
	struct out *o;
	int err = out_memory(&o);

	if (err)
		return err;
	memcpy(h.lost, a->lost, sizeof(h.lost));
	out_bytes(o, &h, sizeof(h));
	for (size_t i = 0; i < ARRAY_SIZE(string); i++)
		add_string(o, *string[i]);
	for (char **word = a->argv; word && *word; word++)
		add_string(o, *word);
	begin_block(raw, BLOCK_ABOUT, out_tell(o));
	out_bytes(raw->out, out_data(o), out_tell(o));
	out_destroy(o);
	return out_error(raw->out);
}

static void write_tracepoint(struct raw *raw, const struct tracepoint *tp)
{
	begin_block(raw, BLOCK_TRACEPOINT, strlen(tp->system) + strlen(tp->name) + strlen(tp->format) + 3);
	add_string(raw->out, tp->system);
	add_string(raw->out, tp->name);
	add_string(raw->out, tp->format);
}

static void write_place(struct raw *raw, const struct about *a)
{
	if (!a->cwd)
		return;
	begin_block(raw, BLOCK_PLACE, sizeof(uint64_t) + strlen(a->cwd) + 1);
	out_u64(raw->out, a->pid);
	add_string(raw->out, a->cwd);
}

int raw_seal(struct raw *raw, const struct about *about)
{
	int err;

	for (size_t i = 0; about && i < about->tracepoints.count; i++)
		write_tracepoint(raw, &about->tracepoints.tp[i]);
	if (about && about->gpu_times)
		begin_block(raw, BLOCK_GPU_TIMES, 0);
	if (about)
		write_place(raw, about);
	err = about ? write_about(raw, about) : 0;

	err = out_seal(raw->out) ?: err;
	out_destroy(raw->out);
	free(raw);
	return err;
}

/* ---- reading ---- */

static int read_at(int fd, uint64_t at, void *to, size_t len)
{
	char *p = to;

	while (len) {
		ssize_t n = pread(fd, p, len, at);

		if (n <= 0)
			return n ? -errno : -EBADMSG;
		p += n;
		at += n;
		len -= n;
	}
	return 0;
}

/* The block at @at, its body in @ret, to be freed; @next is where the one behind it begins. 1 at the end of the file. */
static int read_block(int fd, uint64_t at, struct block_hdr *h, void **ret, uint64_t *next)
{
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (at >= (uint64_t)st.st_size)
		return 1;
	err = read_at(fd, at, h, sizeof(*h));
	if (err)
		return err;
	at += sizeof(*h);
	if (h->bytes > BLOCK_MAX || h->bytes > (uint64_t)st.st_size - at)
		return -EBADMSG;
	*next = at + h->bytes;
	*ret = malloc(h->bytes + 1);
	if (!*ret)
		return -ENOMEM;
	err = read_at(fd, at, *ret, h->bytes);
	if (err)
		free(TAKE(*ret));
	return err;
}

/* The bytes before the strings of its block of type BLOCK_ABOUT, or a negative errno. */
static int check_magic(int fd)
{
	char magic[8];
	int err = read_at(fd, 0, magic, sizeof(magic));

	if (err)
		return err;
	if (!memcmp(magic, "RECRAW1\n", sizeof(magic)))
		return ABOUT_BYTES(3);
	if (!memcmp(magic, "RECRAW2\n", sizeof(magic)))
		return ABOUT_BYTES(4);
	return memcmp(magic, RAW_MAGIC, sizeof(magic)) ? -EBADMSG : (int)sizeof(struct raw_about);
}

/* The next NUL-ended string of a block, as a copy; NULL when there is none. */
static char *next_string(const char **at, const char *end)
{
	const char *s = *at, *nul = s < end ? memchr(s, '\0', end - s) : NULL;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return strdup(s);
}

static int unpack_strings(struct about *a, const char *at, const char *end)
{
	char **const string[] = ABOUT_STRINGS(a);
	size_t words = 0, i;

	for (i = 0; i < ARRAY_SIZE(string); i++) {
		*string[i] = next_string(&at, end);
		if (!*string[i])
			return -EBADMSG;
	}
	for (const char *p = at; p < end; p++)
		words += !*p;
	a->argv = calloc(words + 1, sizeof(*a->argv));
	if (!a->argv)
		return -ENOMEM;
	for (i = 0; i < words; i++)
		a->argv[i] = next_string(&at, end);
	return 0;
}

/* @head: bytes before the strings. */
static int unpack_about(struct about *a, const void *data, size_t len, size_t head)
{
	struct raw_about copy = {}, *h = &copy;

	if (len < head)
		return -EBADMSG;
	memcpy(h, data, head);
	for (int i = 0; i < REC_CLASSES; i++)
		if (h->lost[i] > LOST_MAX)
			return -EBADMSG;
	a->start = h->start;
	a->end = h->end;
	a->mem_free = h->mem_free;
	a->mem_total = h->mem_total;
	a->utc_offset = h->utc_offset;
	memcpy(a->load, h->load, sizeof(a->load));
	a->cpus_online = h->cpus_online;
	a->cpus_possible = h->cpus_possible;
	a->string_bytes = h->string_bytes;
	a->exit_status = h->exit_status;
	a->usage = h->usage;
	memcpy(a->lost, h->lost, sizeof(a->lost));
	return unpack_strings(a, (const char *)data + head, (const char *)data + len);
}

static int unpack_tracepoint(struct about *a, const char *at, size_t len)
{
	const char *end = at + len;
	struct tracepoint tp = {};
	int err = -EBADMSG;

	tp.system = next_string(&at, end);
	tp.name = next_string(&at, end);
	tp.format = next_string(&at, end);
	if (tp.system && tp.name && tp.format && a->tracepoints.count < TRACEPOINTS_MAX)
		err = tracepoints_add(&a->tracepoints, &tp);
	free(tp.system);
	free(tp.name);
	free(tp.format);
	return err;
}

static int unpack_place(struct about *a, const char *at, size_t len)
{
	const char *end = at + len;

	if (len < sizeof(uint64_t) || a->cwd)
		return -EBADMSG;
	a->pid = *(const uint64_t *)at;
	at += sizeof(uint64_t);
	a->cwd = next_string(&at, end);
	return a->cwd ? 0 : -EBADMSG;
}

DEFINE_CLEANUP(about_destroy, struct about *)

/* They are the last block; a recording that was cut short has none. */
int raw_about(int fd, struct about **ret)
{
	__cleanup(about_destroyp) struct about *a = NULL;
	int head = check_magic(fd), err = MIN(head, 0);
	uint64_t at = 8, next = 8;
	struct block_hdr h;

	if (err)
		return err;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	for (; !err; at = next) {
		__cleanup(free_ptr) void *body = NULL;

		err = read_block(fd, at, &h, &body, &next);
		if (!err && h.type == BLOCK_TRACEPOINT)
			err = unpack_tracepoint(a, body, h.bytes);
		if (!err && h.type == BLOCK_PLACE)
			err = unpack_place(a, body, h.bytes);
		a->gpu_times |= !err && h.type == BLOCK_GPU_TIMES;
		if (err || h.type != BLOCK_ABOUT)
			continue;
		err = unpack_about(a, body, h.bytes, head);
		if (err)
			break;
		*ret = TAKE(a);
		return 0;
	}
	return err == 1 || err == -EBADMSG ? -ENODATA : err;
}

/* The chunk's bytes are taken over record by record: what is not a record ends it. */
static int fill_chunk(struct chunk *c, const uint8_t *data, uint64_t len)
{
	while (len) {
		const struct rec_hdr *rec = (const void *)data;
		void *at;

		if (!record_is_sane(rec, len))
			return -EBADMSG;
		at = chunk_add(c, rec->size);
		if (!at)
			return -ENOMEM;
		memcpy(at, rec, rec->size);
		chunk_note(c, rec->time);
		data += rec->size;
		len -= rec->size;
	}
	return 0;
}

static int push_round(struct queue *q, const uint8_t *data, uint64_t len)
{
	const struct raw_round *h = (const void *)data;
	const uint64_t *lens = (const void *)(h + 1);
	struct round *r;
	int err = 0;

	if (len < sizeof(*h) || h->chunks > CHUNKS_MAX || len - sizeof(*h) < h->chunks * sizeof(*lens))
		return -EBADMSG;
	r = round_create(h->chunks);
	if (!r)
		return -ENOMEM;
	r->instant = h->instant;
	data += sizeof(*h) + h->chunks * sizeof(*lens);
	len -= sizeof(*h) + h->chunks * sizeof(*lens);
	for (unsigned i = 0; i < h->chunks && !err; i++) {
		err = lens[i] > len ? -EBADMSG : fill_chunk(&r->chunk[i], data, lens[i]);
		if (!err) {
			data += lens[i];
			len -= lens[i];
		}
	}
	queue_push(q, r);			/* what was whole of it too */
	return err;
}

static int push_image(struct queue *q, const void *data, size_t len)
{
	struct round *r = round_create(0);
	int err = r ? image_unpack(&r->image, data, len) : -ENOMEM;

	if (!err && !r->image->path)
		err = -EBADMSG;			/* in a recording every image has one */
	if (err)
		round_destroy(r);
	else
		queue_push(q, r);
	return err;
}

int raw_push(int fd, struct queue *q)
{
	uint64_t at = 8, next = 0;
	struct block_hdr h;
	struct round *end;
	int err = MIN(check_magic(fd), 0);

	while (!err) {
		__cleanup(free_ptr) void *body = NULL;

		err = read_block(fd, at, &h, &body, &next);
		if (!err && h.type == BLOCK_ROUND)
			err = push_round(q, body, h.bytes);
		else if (!err && h.type == BLOCK_IMAGE)
			err = push_image(q, body, h.bytes);
		at = next;
		while (!err && queue_is_full(q))
			usleep(1000);
	}
	end = round_create(0);
	if (!end)
		return -ENOMEM;
	end->instant = UINT64_MAX;
	end->last = true;
	queue_push(q, end);
	return err == 1 ? 0 : err;
}
