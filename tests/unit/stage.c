/*
 * stage.c - the telling sink, and the records of a made-up recording.
 */
#include "stage.h"

#include <stdarg.h>

#include "event.h"
#include "image.h"
#include "sink.h"
#include "test.h"

static char said[65536];
static size_t said_len;

static void add(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (said_len)
		said[said_len++] = ' ';
	said_len += vsnprintf(said + said_len, sizeof(said) - said_len, fmt, args);
	va_end(args);
}

static int tell_open(struct sink **ret, const struct sink_args *args)
{
	(void)args;
	*ret = calloc(1, 1);
	return 0;
}

static const char *name_of(const struct call *c)
{
	static char nr[16];

	if (c->kind == REC_FUNC_ENTRY)
		return c->func ? c->func->name : "?";
	snprintf(nr, sizeof(nr), "sys%u", c->id);
	return nr;
}

static int tell_event(struct sink *s, const struct event *ev)
{
	static const char *const ends[] = { "}", "}?", "}!" };

	(void)s;
	switch (ev->kind) {
	case REC_FUNC_ENTRY:
	case REC_SYS_ENTER:
		if (ev->began != ev->time)
			add("%lu at", ev->time);
		add("%lu %s{", ev->began, name_of(ev->call));
		break;
	case REC_FUNC_EXIT:
	case REC_SYS_EXIT:
		if (!ev->call)
			add("%lu sys%u%s", ev->time, ((const struct rec_sys_exit *)ev->rec)->nr, ends[ev->ending]);
		else
			add("%lu %s", ev->time, ends[ev->ending]);
		break;
	}
	return 0;
}

static int tell_session(struct sink *s, const struct session *sess)
{
	(void)s;
	add("session(%s)", sess->exe);
	return 0;
}

static int tell_map(struct sink *s, const struct session *sess, const struct map *map)
{
	(void)s;
	(void)sess;
	add("map(%s@%lx)", map->path, map->start);
	return 0;
}

static int tell_task(struct sink *s, struct task *t)
{
	(void)s;
	add("task(%u:%u)", t->pid, t->tid);
	return 0;
}

static int tell_exec(struct sink *s, struct task *t, uint64_t time)
{
	(void)s;
	(void)time;
	add("exec(%u)", t->tid);
	return 0;
}

static int tell_move(struct sink *s, struct task *t, uint64_t time)
{
	(void)s;
	(void)time;
	add("moves(%u)", t->tid);
	return 0;
}

static int tell_end(struct sink *s, struct task *t)
{
	(void)s;
	add("end(%u)", t->tid);
	return 0;
}

static int tell_lost(struct sink *s, unsigned cpu, uint64_t time, const uint64_t *count)
{
	(void)s;
	(void)time;
	add("lost(%u: %lu %lu %lu)", cpu, count[0], count[1], count[2]);
	return 0;
}

static int tell_close(struct sink *s)
{
	free(s);
	return 0;
}

static const struct sink_ops sink_tell = {
	.name = "tell", .wants = ~0ull,
	.open = tell_open, .session_begin = tell_session, .map_added = tell_map, .task_begin = tell_task,
	.task_exec = tell_exec, .task_moves = tell_move, .event = tell_event, .task_end = tell_end, .lost = tell_lost, .close = tell_close,
};

const char *told(struct stage *s)
{
	static char copy[sizeof(said)];

	(void)s;
	memcpy(copy, said, said_len);
	copy[said_len] = '\0';
	said_len = 0;
	return copy;
}

/* /prog, linked at 0, with eight functions of 16 bytes from 0x1000. */
static struct image *prog(void)
{
	struct image *img = calloc(1, sizeof(*img));
	static const char *const names[] = { "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7" };

	img->ino = 7;
	img->path = strdup("/prog");
	img->phdr_addr = 0x40;
	img->load_size = 0x4000;
	img->text_offset = img->text_addr = 0x1000;
	img->func_count = ARRAY_SIZE(names);
	img->func = calloc(img->func_count, sizeof(*img->func));
	for (size_t i = 0; i < img->func_count; i++)
		img->func[i] = (struct func){ .addr = 0x1000 + 16 * i, .size = 16, .name = names[i] };
	return img;
}

void stage_set(struct stage *s)
{
	struct sink_args args = {};

	*s = (struct stage){ .pid = 100, .tid = 100 };
	said_len = 0;
	CHECK(segment_create(&s->segment) == 0);
	CHECK(segment_open(s->segment, &sink_tell, &args) == 0);
	CHECK(tracker_create(&s->tracker, s->segment, "/launched") == 0);
	CHECK(tracker_image(s->tracker, prog()) == 0);
	execed(s, 1, "/prog");
	(void)told(s);
}

void stage_clear(struct stage *s)
{
	tracker_destroy(s->tracker);
	segment_destroy(s->segment);
}

void *record(struct stage *s, uint16_t kind, size_t size, uint64_t time)
{
	static _Alignas(8) char room[8192];
	struct rec_hdr *h = (void *)room;

	memset(room, 0, sizeof(room));
	*h = (struct rec_hdr){ .time = time, .pid = s->pid, .tid = s->tid, .kind = kind, .size = ROUND_UP(size, 8) };
	return room;
}

void play(struct stage *s, const void *rec)
{
	CHECK(tracker_record(s->tracker, rec) == 0);
}

static void func(struct stage *s, uint16_t kind, uint64_t time, unsigned id, uint64_t sp, uint16_t flags)
{
	struct rec_func *r = record(s, kind, sizeof(*r), time);

	r->func = id;
	r->sp = sp;
	r->hdr.flags = flags;
	play(s, r);
}

void entered(struct stage *s, uint64_t time, unsigned id, uint64_t sp)
{
	func(s, REC_FUNC_ENTRY, time, id, sp, 0);
}

void held(struct stage *s, uint64_t time, uint64_t began, unsigned id, uint64_t sp)
{
	struct rec_func_held *r = record(s, REC_FUNC_ENTRY, sizeof(*r), time);

	r->f.hdr.flags = REC_F_HELD;
	r->f.func = id;
	r->f.sp = sp;
	r->began = began;
	play(s, r);
}

void entered_without_exit(struct stage *s, uint64_t time, unsigned id, uint64_t sp)
{
	func(s, REC_FUNC_ENTRY, time, id, sp, REC_F_NO_EXIT);
}

void returned(struct stage *s, uint64_t time, unsigned id, uint64_t sp)
{
	func(s, REC_FUNC_EXIT, time, id, sp, 0);
}

void sys_entered(struct stage *s, uint64_t time, uint32_t nr)
{
	struct rec_sys_enter *r = record(s, REC_SYS_ENTER, sizeof(*r), time);

	r->nr = nr;
	play(s, r);
}

void sys_returned(struct stage *s, uint64_t time, uint32_t nr)
{
	struct rec_sys_exit *r = record(s, REC_SYS_EXIT, sizeof(*r), time);

	r->nr = nr;
	play(s, r);
}

void forked(struct stage *s, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct rec_task_new *r = record(s, REC_TASK_NEW, sizeof(*r), time);

	r->new_pid = pid;
	r->new_tid = tid;
	play(s, r);
}

/* "/a/b" as "b\0a\0", the way BPF writes it. */
static size_t leaf_first(char *to, const char *path)
{
	size_t n = 0;

	for (const char *end = path + strlen(path); end > path; ) {
		const char *slash = memrchr(path, '/', end - path);

		memcpy(to + n, slash + 1, end - slash - 1);
		n += end - slash - 1;
		to[n++] = '\0';
		end = slash;
	}
	return n;
}

void mapped(struct stage *s, uint64_t time, const char *file, uint64_t addr, uint64_t offset, uint16_t at)
{
	struct rec_image *r = record(s, REC_IMAGE, sizeof(*r) + strlen(file), time);

	r->ino = strcmp(file, "/prog") ? 8 : 7;
	r->addr = addr;
	r->len = 0x1000;
	r->offset = offset;
	r->at = at;
	r->path_len = leaf_first(r->path, file);
	play(s, r);
}

void execed(struct stage *s, uint64_t time, const char *file)
{
	struct rec_task_exec *r = record(s, REC_TASK_EXEC, sizeof(*r), time);

	r->old_tid = s->tid;
	play(s, r);
	mapped(s, time, file, 0x5000040, 0, IMAGE_PHDR);
}

void exited(struct stage *s, uint64_t time)
{
	play(s, record(s, REC_TASK_EXIT, sizeof(struct rec_task_exit), time));
}
