/*
 * seal.c - trace.dat from what a spool directory holds.
 *
 *	header, with the place of the options
 *	the six metadata sections
 *	the options, one section with them all
 *	the names of the sections
 *	the buffer: what each CPU's spool file holds, behind each other
 *
 * The place of the options is written last: without it the file is an empty one to every reader. Whatever of a
 * spool file is not whole, a page or a chunk, was being written when recorder was killed, and is left out.
 *
 * A full disk: all that is not events has its place before the first of them, for which room was set aside. At the end of a
 * recording what was copied is then taken out of the spool as it goes on, so that what fits once is enough. Who recovers
 * can make room first.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base.h"
#include "out.h"
#include "outdir.h"
#include "sink/tracedat/meta.h"
#include "sink/tracedat/tracedat.h"

#define STEP		(1u << 20)
#define SECTION_HEAD	16
#define PLACES_HEAD	22		/* of the buffer's option: u64 place, name, clock, u32 page, u32 CPUs */
#define PLACE		20		/* of a CPU: u32 number, u64 place, u64 bytes */
#define COMPRESSED	1
#define CHUNK_HEAD	8
#define CHUNK_MAX	(64u * TD_PAGE)

struct sealing {
	int	       spoolfd, fd;
	bool	       may_move;
	unsigned       emptied;		/* spool files of CPUs below, whose bytes have left them */
	uint64_t       at;		/* the end of the file so far */
	uint64_t       places;		/* in it: what tells where each CPU's part is */
	int	       err;		/* the first */
	struct td_meta meta;
	struct out    *options;
	struct out    *strings;
	struct td_missing missing;
	uint8_t	      *step;		/* STEP bytes */
};

/* ---- the spool ---- */

/* The blocks of it; false: it is not whole. */
static bool take_blocks(struct td_meta *m, const uint8_t *at, const uint8_t *end)
{
	while (end - at >= 16) {
		uint32_t id = get_u32(at);
		uint64_t len = get_u64(at + 8);

		at += 16;
		if (len > (uint64_t)(end - at) || id >= TD_METAS_END)
			return false;
		m->section[id] = (struct td_block){ at, len };
		at += len;
	}
	for (int id = TD_HEADER_INFO; id < TD_METAS_END; id++)
		if (!m->section[id].data)
			return false;
	return m->section[TD_OPTIONS].data && at == end;
}

static int read_meta(struct td_meta *m, int spoolfd)
{
	uint64_t size = 0;
	__cleanup(close_fd) int fd = td_spool_open(spoolfd, TD_META, O_RDONLY, &size);
	char name[16] = "";
	const uint8_t *p;
	uint32_t name_len;
	size_t len = 0;
	int err = fd < 0 ? fd : td_spool_read(fd, size, &m->all, &len);

	if (err)
		return err;
	p = m->all;
	if (len < 16 || get_u64(p) != TD_META_MAGIC)
		return -EBADMSG;
	m->cpus = get_u32(p + 8);
	name_len = get_u32(p + 12);
	if (name_len >= sizeof(name) || name_len > len - 16 || m->cpus > 1u << 16)
		return -EBADMSG;
	memcpy(name, p + 16, name_len);
	m->codec = td_codec_find(name);
	if (!m->codec)
		return -EPROTONOSUPPORT;
	return take_blocks(m, p + 16 + name_len, p + len) ? 0 : -EBADMSG;
}

/* How far a CPU's file was looked at: up to there it is whole. */
struct walked {
	uint64_t at;
	uint32_t chunks;
};

/* On to what is whole of the first @most bytes. What was passed is not read again. */
static void walk(struct walked *w, int fd, uint64_t most, bool is_packed)
{
	if (!is_packed)
		w->at = MAX(w->at, most / TD_PAGE * TD_PAGE);
	while (is_packed && most - w->at >= CHUNK_HEAD) {
		uint8_t head[CHUNK_HEAD];
		uint32_t packed, len;

		if (pread(fd, head, sizeof(head), w->at) != sizeof(head))
			break;
		packed = get_u32(head);
		len = get_u32(head + 4);
		if (!len || len % TD_PAGE || len > CHUNK_MAX || packed > 2 * CHUNK_MAX || packed > most - w->at - CHUNK_HEAD)
			break;
		w->at += CHUNK_HEAD + packed;
		w->chunks++;
	}
}

/* ---- the file ---- */

/* Returns how much of it had a place; then s->err says why no more. */
static size_t put_at(struct sealing *s, uint64_t at, const void *data, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len && !s->err) {
		n = pwrite(s->fd, (const char *)data + done, len - done, at + done);
		if (n > 0)
			done += n;
		else if (!n || errno != EINTR)
			s->err = n ? -errno : -ENOSPC;
	}
	return done;
}

static void put(struct sealing *s, const void *data, size_t len)
{
	put_at(s, s->at, data, len);
	s->at += len;
}

static void put_out(struct sealing *s, const struct out *o)
{
	if (out_error(o))
		s->err = s->err ?: out_error(o);
	else
		put(s, out_data(o), out_tell(o));
}

/* ---- sections ---- */

static uint32_t add_string(struct sealing *s, const char *name)
{
	uint32_t at = out_tell(s->strings);

	out_bytes(s->strings, name, strlen(name) + 1);
	return at;
}

static void put_head(struct sealing *s, uint16_t id, bool is_packed, uint32_t string, uint64_t len)
{
	uint8_t head[SECTION_HEAD];
	uint16_t flags = is_packed ? COMPRESSED : 0;

	memcpy(head, &id, 2);
	memcpy(head + 2, &flags, 2);
	memcpy(head + 4, &string, 4);
	memcpy(head + 8, &len, 8);
	put(s, head, sizeof(head));
}

/* A section of metadata, compressed if the file is. */
static void put_section(struct sealing *s, uint16_t id, uint32_t string, const void *data, size_t len)
{
	const struct td_codec *codec = s->meta.codec;
	size_t room = codec->bound ? codec->bound(len) : 0, n = 0;
	uint8_t *packed = room ? malloc(room) : NULL;
	uint32_t sizes[2];

	if (packed)
		n = codec->pack(packed, room, data, len);
	if (n) {
		sizes[0] = n;
		sizes[1] = len;
		put_head(s, id, true, string, sizeof(sizes) + n);
		put(s, sizes, sizeof(sizes));
		put(s, packed, n);
	} else {
		put_head(s, id, false, string, len);
		put(s, data, len);
	}
	free(packed);
}

static void put_names(struct sealing *s, uint32_t string)
{
	struct out *o;
	bool is_whole = false;
	int err = out_memory(&o);

	if (err) {
		s->err = s->err ?: err;
		return;
	}
	err = td_logs_names(o, s->spoolfd, &s->meta.section[TD_CMDLINES], &is_whole);
	s->missing.names |= !is_whole && s->meta.section[TD_PROCESSES].data;	/* older ones have no logs */
	s->err = s->err ?: err;
	if (!err)
		put_section(s, TD_CMDLINES, string, out_data(o), out_tell(o));
	out_destroy(o);
}

static void put_metadata(struct sealing *s)
{
	static const char *const names[TD_METAS_END] = {
		[TD_HEADER_INFO] = "headers", [TD_FTRACE_EVENTS] = "ftrace events", [TD_EVENT_FORMATS] = "events format",
		[TD_KALLSYMS] = "kallsyms", [TD_PRINTK] = "printk", [TD_CMDLINES] = "command lines",
	};

	for (uint16_t id = TD_HEADER_INFO; id < TD_METAS_END; id++) {
		uint64_t at = s->at;

		td_option(s->options, id, &at, sizeof(at));
		if (id == TD_CMDLINES)
			put_names(s, add_string(s, names[id]));
		else
			put_section(s, id, add_string(s, names[id]), s->meta.section[id].data, s->meta.section[id].len);
	}
	out_bytes(s->options, s->meta.section[TD_OPTIONS].data, s->meta.section[TD_OPTIONS].len);
}

/* ---- the buffer ---- */

static int open_cpu(struct sealing *s, unsigned cpu, uint64_t *size)
{
	char name[32];

	snprintf(name, sizeof(name), "cpu%u", cpu);
	return td_spool_open(s->spoolfd, name, O_RDWR, size);
}

/* Take out of the spool what has its place in the file: @at bytes of @cpu's, @freed of which are out. False: there is no more. */
static bool move_out(struct sealing *s, unsigned cpu, int fd, uint64_t at, uint64_t *freed)
{
	uint64_t size, whole = at / TD_PAGE * TD_PAGE;
	bool some = false;

	for (; s->emptied < cpu; s->emptied++) {
		__cleanup(close_fd) int other = open_cpu(s, s->emptied, &size);

		some |= other >= 0 && size && !ftruncate(other, 0);
	}
	if (whole > *freed && !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, *freed, whole - *freed)) {
		(void)!fallocate(s->fd, FALLOC_FL_KEEP_SIZE, s->at + at, whole - *freed);	/* before somebody else takes it */
		*freed = whole;
		some = true;
	}
	return some;
}

/* Copy @len bytes of @cpu's file from @start on. Returns how many whole pages or chunks of it there was room for. */
static uint64_t copy(struct sealing *s, unsigned cpu, int fd, uint64_t start, uint64_t len, uint32_t *chunks)
{
	bool is_packed = s->meta.codec->bound;
	struct walked copied = {};
	uint64_t at = 0, freed = 0;
	ssize_t n;

	while (at < len && !s->err) {
		n = pread(fd, s->step, MIN(len - at, (uint64_t)STEP), start + at);
		if (n <= 0)
			break;
		at += put_at(s, s->at + at, s->step, n);
		walk(&copied, fd, at, is_packed);
		if (out_is_full(s->err) && s->may_move && move_out(s, cpu, fd, start + copied.at, &freed))
			s->err = 0;
	}
	*chunks = copied.chunks;
	return copied.at;
}

/* What @cpu's file had at the last checkpoint, at least. */
static uint64_t had(const struct sealing *s, unsigned cpu)
{
	const struct td_block *b = &s->meta.section[TD_BUFFER];

	return cpu < b->len / sizeof(uint64_t) ? get_u64((const uint8_t *)b->data + cpu * sizeof(uint64_t)) : 0;
}

/* A recorder that was killed while it moved pages into a file has left a hole: no page begins with the time 0. */
static uint64_t hole_at_start(int fd, uint64_t size)
{
	uint64_t at = 0, time;

	while (at + TD_PAGE <= size && pread(fd, &time, sizeof(time), at) == sizeof(time) && !time)
		at += TD_PAGE;
	return at;
}

/* Of one CPU, at s->at; returns the bytes it takes there. */
static uint64_t put_cpu(struct sealing *s, unsigned cpu)
{
	bool is_packed = s->meta.codec->bound;
	uint64_t place = s->at, size = 0, start, copied;
	__cleanup(close_fd) int fd = open_cpu(s, cpu, &size);
	struct walked whole = {};
	uint32_t chunks = 0;

	start = fd < 0 || is_packed ? 0 : hole_at_start(fd, size);
	if (fd >= 0)
		walk(&whole, fd, size - start, is_packed);
	s->missing.torn += MAX(size, had(s, cpu)) - whole.at;
	if (!whole.at)
		return 0;
	if (is_packed)
		put(s, &whole.chunks, sizeof(whole.chunks));
	copied = s->err ? 0 : copy(s, cpu, fd, start, whole.at, &chunks);
	if (copied < whole.at && s->may_move && out_is_full(s->err)) {	/* somebody else's bytes have taken the place */
		s->missing.cut += whole.at - copied;
		s->err = 0;
		(void)!ftruncate(s->fd, s->at + copied);
		if (is_packed)
			put_at(s, place, &chunks, sizeof(chunks));
	}
	s->at += copied;
	return copied ? s->at - place : 0;
}

static void align(struct sealing *s, uint64_t to)
{
	static const uint8_t zeroes[TD_PAGE];
	uint64_t end = ROUND_UP(s->at, to);

	put(s, zeroes, end - s->at);
}

/* What is said of the buffer, all but where it is and each CPU's part: there are zeroes. */
static void put_places(struct sealing *s)
{
	size_t len = PLACES_HEAD + s->meta.cpus * (size_t)PLACE;
	uint8_t *option = calloc(1, len);
	uint32_t page = TD_PAGE;

	if (!option) {
		s->err = s->err ?: -ENOMEM;
		return;
	}
	memcpy(option + 8, "\0mono", 6);		/* the top buffer has no name */
	memcpy(option + 14, &page, sizeof(page));
	memcpy(option + 18, &s->meta.cpus, sizeof(s->meta.cpus));
	for (uint32_t cpu = 0; cpu < s->meta.cpus; cpu++)
		memcpy(option + PLACES_HEAD + cpu * (size_t)PLACE, &cpu, sizeof(cpu));
	td_option(s->options, TD_O_BUFFER, option, len);
	s->places = out_tell(s->options) - len;		/* until it is known where the options are */
	free(option);
}

static void put_buffer(struct sealing *s, uint32_t string)
{
	uint64_t head = s->at, len, place[2];

	put_head(s, TD_BUFFER, s->meta.codec->bound, string, 0);
	put_at(s, s->places, &head, sizeof(head));
	for (unsigned cpu = 0; cpu < s->meta.cpus && !s->err; cpu++) {
		if (!s->meta.codec->bound)
			align(s, TD_PAGE);
		place[0] = s->at;
		place[1] = put_cpu(s, cpu);
		if (!place[1])
			place[0] = head;
		put_at(s, s->places + PLACES_HEAD + cpu * (uint64_t)PLACE + sizeof(uint32_t), place, sizeof(place));
	}
	len = s->at - head - SECTION_HEAD;
	put_at(s, head + 8, &len, sizeof(len));
}

/* ---- the whole ---- */

/* Returns where the place of the options is to be written. */
static uint64_t put_header(struct sealing *s)
{
	static const uint8_t magic[] = { 0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g', '7', 0, 0, 8 };
	const char *name = s->meta.codec->name, *version = s->meta.codec->version();
	uint32_t page = TD_PAGE;
	uint64_t none = 0;

	put(s, magic, sizeof(magic));
	put(s, &page, sizeof(page));
	put(s, name, strlen(name) + 1);
	put(s, version, strlen(version) + 1);
	put(s, &none, sizeof(none));
	return s->at - sizeof(none);
}

/* One after another: they may be more than there is memory. */
static void put_maps(struct sealing *s, const struct td_maps *m)
{
	for (size_t i = 0; i < td_maps_count(m) && !s->err; i++) {
		struct out *o;
		int err = out_memory(&o);

		if (err) {
			s->err = err;
			return;
		}
		s->err = td_maps_option(m, i, o);
		put_out(s, o);
		out_destroy(o);
	}
}

/* Returns where they are. */
static uint64_t put_options(struct sealing *s, const struct td_maps *m)
{
	static const uint8_t done[14] = { 0, 0, 8 };	/* option DONE: no further section */
	uint64_t options = s->at;
	uint32_t string = add_string(s, "options"), own;

	put_places(s);
	s->places += options + SECTION_HEAD;
	put_head(s, TD_OPTIONS, false, string, out_tell(s->options) + td_maps_bytes(m) + sizeof(done));
	put_out(s, s->options);
	put_maps(s, m);
	put(s, done, sizeof(done));
	own = add_string(s, "strings");
	if (!out_error(s->strings))
		put_section(s, TD_STRINGS, own, out_data(s->strings), out_tell(s->strings));
	return options;
}

static int write_file(struct sealing *s)
{
	struct td_maps *maps;
	uint64_t patch = put_header(s), options;
	uint32_t buffer;
	bool is_whole = false;
	int err = td_maps_open(&maps, s->spoolfd, &s->meta.section[TD_PROCESSES], &is_whole);

	if (err)
		return err;
	s->missing.names = !is_whole && s->meta.section[TD_PROCESSES].data;
	put_metadata(s);
	buffer = add_string(s, "buffer flyrecord ");
	options = put_options(s, maps);
	td_maps_close(maps);
	put_buffer(s, buffer);
	put_at(s, patch, &options, sizeof(options));
	return s->err ?: out_error(s->options) ?: out_error(s->strings);
}

/* The empty file for which room was set aside; -1: there is none. */
static int take_reserve(struct sealing *s, int dirfd, const char *temp)
{
	uint64_t size = 0;
	int fd;

	if (renameat(s->spoolfd, TD_RESERVE_FILE, dirfd, temp))
		return -1;
	fd = td_spool_open(dirfd, temp, O_WRONLY, &size);
	if (fd >= 0 && !size)
		return fd;
	close_fd(&fd);
	unlinkat(dirfd, temp, 0);
	return -1;
}

/* Under a name of its own until it is whole. */
static int make_file(struct sealing *s, int dirfd, const char *name)
{
	__cleanup(free_ptr) char *temp = NULL;
	int err;

	if (asprintf(&temp, ".%s.new", name) < 0)
		return -ENOMEM;
	unlinkat(dirfd, temp, 0);		/* left over by one that was killed */
	s->fd = s->may_move ? take_reserve(s, dirfd, temp) : -1;
	if (s->fd < 0)
		s->fd = out_open_new(dirfd, temp);
	if (s->fd < 0)
		return s->fd;
	err = write_file(s);
	if (!err && !ftruncate(s->fd, s->at + 1))	/* what is set aside behind it goes */
		(void)!ftruncate(s->fd, s->at);
	if (close(TAKE_FD(s->fd)) && errno != EINTR)
		err = err ?: -errno;
	err = err ?: outdir_place(dirfd, temp, dirfd, name);
	if (err)
		unlinkat(dirfd, temp, 0);
	return err;
}

static int seal(int spoolfd, int dirfd, const char *name, bool may_move, struct td_missing *missing)
{
	struct sealing s = { .spoolfd = spoolfd, .fd = -1, .may_move = may_move };
	int err = read_meta(&s.meta, spoolfd);

	s.step = malloc(STEP);
	if (!err && !s.step)
		err = -ENOMEM;
	err = err ?: out_memory(&s.options);
	err = err ?: out_memory(&s.strings);
	err = err ?: make_file(&s, dirfd, name);
	*missing = s.missing;
	missing->file = s.at;
	out_destroy(s.options);
	out_destroy(s.strings);
	free(s.step);
	free(s.meta.all);
	return err;
}

int td_seal(int spoolfd, int dirfd, const char *name, struct td_missing *missing)
{
	td_reserves_remove(spoolfd);
	return seal(spoolfd, dirfd, name, false, missing);
}

int td_seal_moving(int spoolfd, int dirfd, const char *name, struct td_missing *missing)
{
	return seal(spoolfd, dirfd, name, true, missing);
}
