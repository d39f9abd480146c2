/*
 * basdesk.c - records of what tasks did to files, and the text that came of them.
 */
#include "basdesk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "test.h"

#define TID_BITS	22
#define START		5000000000ull
#define STEP		1000

void basdesk_set(struct basdesk *d)
{
	*d = (struct basdesk){ .dir = "/tmp/bas-XXXXXX", .pid = PROG, .tid = PROG, .cpu = 1, .now = START };
	CHECK(mkdtemp(d->dir));
	d->dirfd = open(d->dir, O_RDONLY | O_DIRECTORY);
	CHECK(!mkdirat(d->dirfd, SPOOL, 0700));
	d->spoolfd = openat(d->dirfd, SPOOL, O_RDONLY | O_DIRECTORY);
	CHECK(!mknodat(d->spoolfd, ".recorder", S_IFREG | 0600, 0));
	d->about.cwd = (char *)"/w";
	d->about.pid = ROOT;
}

static void open_sink(struct basdesk *d)
{
	struct sink_args args = {
		.dirfd = d->spoolfd, .about = &d->about, .options = &d->options,
		.file_dirfd = d->dirfd, .file_name = "out", .spool_name = SPOOL,
	};

	CHECK(!segment_create(&d->segment) && !segment_open(d->segment, &sink_bas, &args));
	CHECK(!tracker_create(&d->tracker, d->segment, "/launched"));
}

void basdesk_start(struct basdesk *d)
{
	open_sink(d);
	execs(d, d->tid);
}

void basdesk_stop(struct basdesk *d)
{
	if (!d->segment)
		return;
	CHECK(!tracker_finish(d->tracker));
	CHECK(!segment_close(d->segment));
	tracker_destroy(TAKE(d->tracker));
	segment_destroy(TAKE(d->segment));
}

void basdesk_clear(struct basdesk *d)
{
	char command[96];

	basdesk_stop(d);
	close(d->dirfd);
	close(d->spoolfd);
	free(d->text);
	snprintf(command, sizeof(command), "rm -rf '%s'", d->dir);
	CHECK(!system(command));
}

/* ---- the file ---- */

char *basdesk_file(struct basdesk *d, const char *name, size_t *len)
{
	__cleanup(close_fd) int fd = openat(d->dirfd, name, O_RDONLY);
	struct stat st;
	char *all;

	if (fd < 0)
		return NULL;
	CHECK(!fstat(fd, &st));
	all = malloc(st.st_size + 1);
	CHECK(all && read(fd, all, st.st_size) == st.st_size);
	all[st.st_size] = '\0';
	if (len)
		*len = st.st_size;
	return all;
}

/* "SEQ:TID" instead of a upid. */
static int put_upid(char *to, unsigned long upid)
{
	return sprintf(to, "%lu:%lu", upid >> TID_BITS, upid & ((1ul << TID_BITS) - 1));
}

static size_t put_line(char *to, const char *line, uint64_t *last)
{
	unsigned long upid, cpu, sec, nsec, child;
	int n = 0, at;

	if (sscanf(line, "0: %lu,%lu,%lu,%lu!%n", &upid, &cpu, &sec, &nsec, &n) != 4 || !n)
		return sprintf(to, "%s\n", line);
	CHECK(nsec < NSEC_PER_SEC && sec * NSEC_PER_SEC + nsec > *last);
	*last = sec * NSEC_PER_SEC + nsec;
	at = put_upid(to, upid);
	if (sscanf(line + n, "SchedFork|pid=%lu", &child) != 1)
		return at + sprintf(to + at, " %s\n", line + n);
	at += sprintf(to + at, " SchedFork|pid=");
	at += put_upid(to + at, child);
	to[at++] = '\n';
	return at;
}

const char *lines(struct basdesk *d)
{
	__cleanup(free_ptr) char *all = NULL;
	size_t len, at = 0, skip;
	char *line, *end, *rest;
	uint64_t last = 0;

	basdesk_stop(d);
	all = basdesk_file(d, "out", &len);
	CHECK(all && !strncmp(all, "INITCWD=/w\n", 11) && all[len - 1] == '\n');
	free(d->text);
	rest = d->text = malloc(len + 1);
	for (line = all + 11; *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		at += put_line(d->text + at, line, &last);
	}
	d->text[at] = '\0';
	skip = strlen("1:100 SchedFork|pid=2:200\n");
	CHECK(!strncmp(rest, "1:100 SchedFork|pid=2:200\n", skip));
	return rest + skip;
}

/* ---- records ---- */

void *made(struct basdesk *d, uint16_t kind, size_t size)
{
	static _Alignas(8) char room[65536];
	struct rec_hdr *h = (void *)room;

	memset(room, 0, sizeof(room));
	d->now += STEP;
	*h = (struct rec_hdr){ .time = d->now, .pid = d->pid, .tid = d->tid, .kind = kind, .cpu = d->cpu,
			       .size = ROUND_UP(size, 8) };
	return room;
}

void plays(struct basdesk *d, const void *rec)
{
	CHECK(!tracker_record(d->tracker, rec));
}

void turns_to(struct basdesk *d, uint32_t pid, uint32_t tid)
{
	d->pid = pid;
	d->tid = tid;
}

void forks(struct basdesk *d, uint32_t pid, uint32_t tid)
{
	struct rec_task_new *r = made(d, REC_TASK_NEW, sizeof(*r));

	r->new_pid = pid;
	r->new_tid = tid;
	plays(d, r);
}

void exits(struct basdesk *d, uint32_t status, uint16_t flags)
{
	struct rec_task_exit *r = made(d, REC_TASK_EXIT, sizeof(*r));

	r->status = status;
	r->hdr.flags = flags;
	plays(d, r);
}

/* ---- files ---- */

struct rec_file *file(struct basdesk *d, enum file_op op, int ret, uint64_t a, uint64_t b, uint64_t c)
{
	struct rec_file *r = made(d, REC_FILE, sizeof(*r));

	r->op = op;
	r->ret = ret;
	r->arg[0] = a;
	r->arg[1] = b;
	r->arg[2] = c;
	return r;
}

static size_t put_text(char *to, enum file_text which, unsigned flags, const void *bytes, size_t len)
{
	struct rec_text *x = (void *)to;

	x->arg = which;
	x->flags = flags;
	x->len = len;
	memcpy(x->bytes, bytes, len);
	return ROUND_UP(sizeof(*x) + len, 4);
}

void with_bytes(struct rec_file *r, enum file_text which, unsigned flags, const void *bytes, size_t len)
{
	r->text_len += put_text(r->text + r->text_len, which, flags, bytes, len);
	r->hdr.size = ROUND_UP(sizeof(*r) + r->text_len, 8);
}

void with(struct rec_file *r, enum file_text which, unsigned flags, const char *text)
{
	with_bytes(r, which, flags, text, strlen(text));
}

/* "/a/b" as "b\0a\0", the way BPF writes it. */
static size_t leaf_first(char *to, const char *path)
{
	size_t n = 0;

	for (const char *end = path + strlen(path); end > path + !path[1]; ) {
		const char *slash = memrchr(path, '/', end - path);

		memcpy(to + n, slash + 1, end - slash - 1);
		n += end - slash - 1;
		to[n++] = '\0';
		end = slash;
	}
	return n;
}

void with_path(struct rec_file *r, enum file_text which, unsigned flags, const char *path)
{
	char walked[8192];

	with_bytes(r, which, flags, walked, leaf_first(walked, path));
}

/* ---- execs ---- */

void execs(struct basdesk *d, uint32_t old_tid)
{
	struct rec_task_exec *r = made(d, REC_TASK_EXEC, sizeof(*r));

	r->old_tid = old_tid;
	plays(d, r);
}

struct rec_exec *begins_exec(struct basdesk *d, uint64_t args, uint64_t env)
{
	struct rec_exec *r = made(d, REC_EXEC, sizeof(*r));

	r->args = args;
	r->env = env;
	return r;
}

void exec_with_bytes(struct rec_exec *r, enum file_text which, const void *bytes, size_t len)
{
	r->text_len += put_text(r->text + r->text_len, which, 0, bytes, len);
	r->hdr.size = ROUND_UP(sizeof(*r) + r->text_len, 8);
}

void exec_with(struct rec_exec *r, enum file_text which, const char *text)
{
	exec_with_bytes(r, which, text, strlen(text));
}

void exec_with_path(struct rec_exec *r, enum file_text which, const char *path)
{
	char walked[8192];

	exec_with_bytes(r, which, walked, leaf_first(walked, path));
}

void piece(struct basdesk *d, uint64_t at, const char *bytes, size_t len)
{
	struct rec_exec_piece *r = made(d, REC_EXEC_PIECE, sizeof(*r) + len);

	r->at = at;
	r->len = len;
	memcpy(r->bytes, bytes, len);
	plays(d, r);
}

void starts(struct basdesk *d, const char *name, const char *interp, const char *args, size_t len, size_t most)
{
	struct rec_exec *r = begins_exec(d, len, 0);

	exec_with(r, FILE_TEXT_NAME, name);
	exec_with(r, FILE_TEXT_INTERP, interp);
	exec_with_path(r, FILE_TEXT_BASE, "/no/cwd");
	exec_with_path(r, FILE_TEXT_PATH, "/no/what/runs");
	plays(d, r);
	for (size_t at = 0; at < len; at += most)
		piece(d, at, args + at, MIN(most, len - at));
}
