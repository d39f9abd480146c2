/*
 * out.c - a file being written: bytes gathered in memory, written in blocks.
 *
 * A block ends where a call ended, never inside what one out_bytes() brought,
 * so a reader of a file still being written meets whole records only. After an
 * error the file is cut back to the last whole block, for the same reason.
 * All file writes go by offset: a file that was parked and opened again is
 * continued where it was, whatever else may have happened to it.
 *
 * What is where, between any two calls: the buffer holds the bytes from @written
 * on, @used of them, up to the end. The file is @written + @tail bytes long and
 * all of them are right: the buffer's first @tail bytes are in both places. Only
 * direct mode has a tail, the part of its last page; whoever leaves direct mode
 * takes the tail out of the buffer, for good, and whoever patches a byte of it
 * does so in both.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base.h"
#include "out.h"

#define FILES_OPEN	16	/* of parked outs */
#define DIRECT_FROM	(1u << 20)	/* bytes of a file before it is written past the page cache */
#define DIRECT_BLOCK	(256u << 10)
#define DIRECT_ALIGN	4096ul		/* of addresses, offsets and lengths: no disk asks for more */
#define FIRST_ROOM	1024	/* bytes; most tasks of a fork storm never need more */

DEFINE_CLEANUP(out_destroy, struct out *)

struct out {
	uint8_t *buf;
	size_t	 used, room;	/* room is 0 once nothing more may be written */
	size_t	 limit;		/* bytes gathered at most */
	uint64_t written;	/* bytes before those of the buffer, all in the file */
	size_t	 tail;		/* bytes at the buffer's start that are in the file too: direct mode */
	int	 direct;	/* the file, past the page cache; -1: not in direct mode */
	bool	 no_direct;	/* not possible here */
	int	 err;		/* the first */
	int	 fd;		/* -1: memory, parked or sealed */
	int	 dirfd;		/* lent */
	char	*name;		/* NULL: memory */
	char	*final_name;	/* what @name is renamed to when sealed; NULL: it has its name already */
	dev_t	 dev;
	ino_t	 ino;
	bool	 is_parked, is_sealed;
	void   (*is_full)(void *ctx);	/* NULL: nothing is set aside, or no more */
	void	*ctx;
	size_t	 more;
	uint64_t aside;		/* where what is set aside ends */
	bool	 was_full;
};

static atomic_uint_fast64_t bytes_written;
static atomic_uint files_open;
static uid_t owner_uid = -1;
static gid_t owner_gid = -1;

void out_set_owner(uid_t uid, gid_t gid)
{
	owner_uid = uid;
	owner_gid = gid;
}

/* Bytes that are in the file. */
static uint64_t in_file(const struct out *o)
{
	return o->written + o->tail;
}

/* Nothing is written after an error; what was gathered is given up. */
static void set_error(struct out *o, int err)
{
	if (!o->err)
		o->err = err;
	o->written = in_file(o);
	o->used = o->room = o->tail = 0;
}

/* Parked files stay open while there are few of them: to open one for every block is most of what a write costs. */
static bool too_many_open(void)
{
	return files_open > FILES_OPEN;
}

static void leave_direct(struct out *o)
{
	close_fd(&o->direct);
	o->direct = -1;
	if (!o->tail)
		return;
	o->written = in_file(o);
	o->used -= o->tail;
	memmove(o->buf, o->buf + o->tail, o->used);
	o->tail = 0;
}

static void close_out(struct out *o)
{
	leave_direct(o);
	files_open -= o->fd >= 0;
	close_fd(&o->fd);
	o->fd = -1;
}

int out_open_new(int dirfd, const char *name)
{
	__cleanup(close_fd) int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 || fchmod(fd, 0600))		/* whatever the umask takes away */
		return -errno;
	if (owner_uid != (uid_t)-1 && fchown(fd, owner_uid, owner_gid))
		return -errno;
	return TAKE_FD(fd);
}

int out_open_new_dir(int dirfd, const char *name)
{
	__cleanup(close_fd) int fd = -1;
	struct stat st;

	if (mkdirat(dirfd, name, 0700))
		return -errno;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (st.st_uid != geteuid())	/* exchanged meanwhile */
		return -ESTALE;
	if (fchmod(fd, 0700) || (owner_uid != (uid_t)-1 && fchown(fd, owner_uid, owner_gid)))
		return -errno;
	return TAKE_FD(fd);
}

/* Of the file open at @fd, which is taken in any case; or @fd is a negative errno. */
static int out_of(struct out **ret, int fd, int dirfd, const char *name)
{
	__cleanup(out_destroyp) struct out *o = fd < 0 ? NULL : calloc(1, sizeof(*o));
	int err = fd < 0 ? fd : -ENOMEM;
	struct stat st;

	if (!o) {
		close_fd(&fd);
		return err;
	}
	o->fd = fd;
	files_open++;
	o->direct = -1;
	o->dirfd = dirfd;
	o->limit = OUT_BLOCK;
	o->name = strdup(name);
	if (!o->name)
		return -ENOMEM;
	if (fstat(o->fd, &st))
		return -errno;
	o->dev = st.st_dev;
	o->ino = st.st_ino;
	*ret = TAKE(o);
	return 0;
}

int out_create(struct out **ret, int dirfd, const char *name)
{
	return out_of(ret, out_open_new(dirfd, name), dirfd, name);
}

int out_create_replacing(struct out **ret, int dirfd, const char *name)
{
	__cleanup(out_destroyp) struct out *o = NULL;
	__cleanup(free_ptr) char *final_name = strdup(name), *temp = NULL;
	int err;

	if (!final_name || asprintf(&temp, ".%s.new", name) < 0)
		return -ENOMEM;
	unlinkat(dirfd, temp, 0);	/* left over by one that was killed */
	err = out_create(&o, dirfd, temp);
	if (err)
		return err;
	o->final_name = TAKE(final_name);
	*ret = TAKE(o);
	return 0;
}

int out_create_over(struct out **ret, int dirfd, const char *existing, const char *name)
{
	__cleanup(close_fd) int fd = openat(dirfd, existing, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	__cleanup(free_ptr) char *final_name = strdup(name);
	struct stat st;
	int err;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_size)
		return -ESTALE;
	if (!final_name)
		return -ENOMEM;
	err = out_of(ret, TAKE_FD(fd), dirfd, existing);
	if (!err)
		(*ret)->final_name = TAKE(final_name);
	return err;
}

int out_memory(struct out **ret)
{
	return out_memory_small(ret, SIZE_MAX);
}

int out_memory_small(struct out **ret, size_t room)
{
	struct out *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->fd = o->dirfd = o->direct = -1;
	o->limit = room;
	*ret = o;
	return 0;
}

void out_destroy(struct out *o)
{
	if (!o)
		return;
	close_out(o);
	if (o->final_name && !o->is_sealed)
		unlinkat(o->dirfd, o->name, 0);
	free(o->name);
	free(o->final_name);
	free(o->buf);
	free(o);
}

/* Open a parked file again. Whoever owns the directory may have put another in its place: not ours. */
static int open_again(struct out *o)
{
	struct stat st;

	if (o->fd >= 0)
		return 0;
	o->fd = openat(o->dirfd, o->name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (o->fd < 0)
		return -errno;
	files_open++;
	if (!fstat(o->fd, &st) && st.st_dev == o->dev && st.st_ino == o->ino)
		return 0;
	close_out(o);
	return -ESTALE;
}

static int write_at(int fd, const uint8_t *data, size_t len, uint64_t at)
{
	ssize_t n;

	for (; len; data += n, len -= n, at += n) {
		n = pwrite(fd, data, len, at);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return -errno;
		else if (n == 0)
			return -ENOSPC;
	}
	return 0;
}

bool out_is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -EFBIG;
}

static bool is_beyond_limit(uint64_t end)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur;
}

/* Before the file gets bytes up to @end: two blocks may be gathered until somebody hears that it is full. */
static void keep_aside(struct out *o, uint64_t end, size_t block)
{
	uint64_t want = end + 2 * block + o->more;
	int err = 0;

	if (!o->is_full || want <= o->aside || o->fd < 0)
		return;
	want += in_file(o) ? block : 0;		/* not for each block anew */
	if (is_beyond_limit(want))
		err = EFBIG;
	else if (fallocate(o->fd, FALLOC_FL_KEEP_SIZE, o->aside, want - o->aside))
		err = errno;
	if (!err) {
		o->aside = want;
	} else if (out_is_full(-err)) {
		o->was_full = true;
		TAKE(o->is_full)(o->ctx);
	} else {
		o->is_full = NULL;
	}
}

void out_set_aside(struct out *o, size_t more, void (*is_full)(void *ctx), void *ctx)
{
	o->is_full = is_full;
	o->ctx = ctx;
	o->more = more;
	o->aside = in_file(o);
	keep_aside(o, in_file(o), OUT_BLOCK);
}

/* @len bytes to the file's end; not in direct mode. What is in the buffer still is the caller's to drop. */
static void write_block(struct out *o, const uint8_t *data, size_t len)
{
	int err = open_again(o);

	if (!err)
		keep_aside(o, o->written + len, OUT_BLOCK);
	err = err ?: write_at(o->fd, data, len, o->written);
	if (err) {
		if (o->fd >= 0)
			(void)!ftruncate(o->fd, o->written);	/* if that fails too, a torn block is left */
		set_error(o, err);
	} else {
		o->written += len;
		atomic_fetch_add_explicit(&bytes_written, len, memory_order_relaxed);
	}
	if (o->err || (o->is_parked && too_many_open()))
		close_out(o);
}

/* ---- direct mode ---- */

static int open_direct(const struct out *o)
{
	int fd = openat(o->dirfd, o->name, O_WRONLY | O_DIRECT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_dev == o->dev && st.st_ino == o->ino)
		return fd;
	close_fd(&fd);
	return -1;
}

/*
 * A file that has become long is written past the page cache: that costs a tenth
 * of the CPU, and leaves the cache to the target. Whole pages go this way from an
 * aligned buffer; what is left of the last page stays in the buffer, to be written
 * again with its page, and goes the usual way meanwhile.
 * Between these two writes the file ends anywhere: the one moment in which being
 * killed leaves a torn record.
 */
static void enter_direct(struct out *o)
{
	size_t rest = o->written & (DIRECT_ALIGN - 1);
	uint8_t *buf;

	if (o->no_direct || o->err || o->written < DIRECT_FROM || o->used < rest || o->fd < 0 || too_many_open())
		return;
	keep_aside(o, o->written, DIRECT_BLOCK);
	if (o->was_full)
		return;
	o->direct = open_direct(o);
	buf = o->direct < 0 ? NULL : aligned_alloc(DIRECT_ALIGN, DIRECT_BLOCK);
	if (!buf) {
		leave_direct(o);
		o->no_direct = true;
		return;
	}
	memcpy(buf, o->buf + o->used - rest, rest);
	free(o->buf);
	o->buf = buf;
	o->room = o->limit = DIRECT_BLOCK;
	o->written -= rest;
	o->used = o->tail = rest;
}

/* False: this filesystem does not take it after all. */
static bool write_direct(struct out *o)
{
	size_t whole = o->used & ~(DIRECT_ALIGN - 1), rest = o->used - whole;
	int err;

	keep_aside(o, o->written + o->used, DIRECT_BLOCK);
	err = whole ? write_at(o->direct, o->buf, whole, o->written) : 0;

	if (err == -EINVAL)
		return false;
	err = err ?: open_again(o);
	err = err ?: write_at(o->fd, o->buf + whole, rest, o->written + whole);
	if (err) {
		(void)!ftruncate(o->direct, in_file(o));
		set_error(o, err);
		close_out(o);
		return true;
	}
	atomic_fetch_add_explicit(&bytes_written, o->used - o->tail, memory_order_relaxed);
	memmove(o->buf, o->buf + whole, rest);
	o->written += whole;
	o->used = o->tail = rest;
	if (o->is_parked && too_many_open())
		close_out(o);
	return true;
}

/* All of the buffer into the file. */
static void empty_buffer(struct out *o)
{
	if (o->direct >= 0) {
		if (o->used == o->tail || write_direct(o))
			return;
		leave_direct(o);
		o->no_direct = true;
	}
	write_block(o, o->buf, o->used);
	if (o->err)
		return;
	enter_direct(o);
	if (o->direct < 0)
		o->used = 0;
}

/* Make the buffer @room bytes large. */
static bool grow_to(struct out *o, size_t room)
{
	uint8_t *buf = realloc(o->buf, room);

	if (!buf) {
		set_error(o, -ENOMEM);
		return false;
	}
	o->buf = buf;
	o->room = room;
	return true;
}

/* @len bytes do not fit in what is left of the buffer. Returns false when they are dealt with. */
static bool make_room(struct out *o, const void *data, size_t len)
{
	size_t room = MAX(o->room, (size_t)FIRST_ROOM);

	if (o->err || o->is_sealed)
		return false;
	if (len > o->limit - o->used) {
		if (!o->name) {
			set_error(o, -ENOSPC);
			return false;
		}
		if (len > o->limit - (DIRECT_ALIGN - 1)) {
			leave_direct(o);
			o->no_direct = true;
		}
		empty_buffer(o);
		if (o->err)
			return false;
		if (len > o->limit - o->used) {
			write_block(o, data, len);
			return false;
		}
	}
	while (room < o->used + len)
		room *= 2;
	room = MIN(room, o->limit);
	return room == o->room || grow_to(o, room);
}

void out_bytes(struct out *o, const void *data, size_t len)
{
	if (!len)
		return;
	if (len > o->room - o->used && !make_room(o, data, len))
		return;
	memcpy(o->buf + o->used, data, len);
	o->used += len;
}

void out_u16(struct out *o, uint16_t v)
{
	uint8_t b[] = { v, v >> 8 };

	out_bytes(o, b, sizeof(b));
}

void out_u32(struct out *o, uint32_t v)
{
	uint8_t b[] = { v, v >> 8, v >> 16, v >> 24 };

	out_bytes(o, b, sizeof(b));
}

static void le64(uint8_t b[8], uint64_t v)
{
	for (int i = 0; i < 8; i++)
		b[i] = v >> 8 * i;
}

void out_u64(struct out *o, uint64_t v)
{
	uint8_t b[8];

	le64(b, v);
	out_bytes(o, b, sizeof(b));
}

void out_printf(struct out *o, const char *fmt, ...)
{
	__cleanup(free_ptr) char *text = NULL;
	char few[512];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(few, sizeof(few), fmt, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(few)) {
		out_bytes(o, few, n);
		return;
	}
	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		set_error(o, -ENOMEM);
		return;
	}
	out_bytes(o, text, n);
}

void out_pad(struct out *o, size_t to)
{
	static const uint8_t zeroes[4096];
	size_t len = ROUND_UP(out_tell(o), to) - out_tell(o);

	for (size_t n; len; len -= n) {
		n = MIN(len, sizeof(zeroes));
		out_bytes(o, zeroes, n);
	}
}

/* Each byte where it is: in the file, in the buffer, or in both. */
void out_patch_u64(struct out *o, uint64_t at, uint64_t v)
{
	uint64_t from = MAX(at, o->written), end = at + sizeof(v);
	uint8_t b[8];
	int err;

	le64(b, v);
	if (o->err || o->is_sealed)
		return;
	if (end > from)
		memcpy(o->buf + (from - o->written), b + (from - at), end - from);
	if (at >= in_file(o))
		return;
	err = open_again(o);
	err = err ?: write_at(o->fd, b, MIN(end, in_file(o)) - at, at);
	if (err)
		set_error(o, err);
	if (o->is_parked && too_many_open())
		close_out(o);
}

int out_flush(struct out *o)
{
	if (o->name && o->used && !o->err)
		empty_buffer(o);
	return o->err;
}

int out_park(struct out *o)
{
	if (!o->name || o->is_sealed)
		return o->err;
	o->is_parked = true;
	if (too_many_open())
		leave_direct(o);
	out_flush(o);
	if (o->fd >= 0 && !too_many_open())
		return o->err;
	close_out(o);
	free(TAKE(o->buf));
	o->used = o->room = 0;
	return o->err;
}

int out_seal(struct out *o)
{
	if (o->is_sealed)
		return o->err;
	out_flush(o);
	leave_direct(o);
	if (o->fd >= 0) {
		files_open--;
		if (close(TAKE_FD(o->fd)) && errno != EINTR)
			set_error(o, -errno);
	}
	if (o->final_name && !o->err && renameat(o->dirfd, o->name, o->dirfd, o->final_name))
		set_error(o, -errno);
	if (o->final_name && o->err)
		unlinkat(o->dirfd, o->name, 0);
	o->is_sealed = true;
	if (o->name) {
		free(TAKE(o->buf));
		o->used = o->room = 0;
	} else {
		o->room = o->used;	/* a memory out keeps its bytes to be looked at */
	}
	return o->err;
}

size_t out_room(const struct out *o)
{
	return o->limit - o->used;
}

uint64_t out_tell(const struct out *o)
{
	return o->written + o->used;
}

int out_error(const struct out *o)
{
	return o->err;
}

const void *out_data(const struct out *o)
{
	return o->buf;
}

void out_count(size_t bytes)
{
	atomic_fetch_add_explicit(&bytes_written, bytes, memory_order_relaxed);
}

void out_uncount(size_t bytes)
{
	atomic_fetch_sub_explicit(&bytes_written, bytes, memory_order_relaxed);
}

uint64_t out_total(void)
{
	return atomic_load_explicit(&bytes_written, memory_order_relaxed);
}
