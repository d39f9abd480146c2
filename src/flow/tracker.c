/*
 * tracker.c - tasks by id, sessions, maps; every record brought to its place.
 *
 * A handler per kind of record; the calls of a task are kept in calls.c. A
 * task that was never announced (its fork was lost, or it was there before us)
 * is made when its first record comes.
 */
#include "base.h"
#include "cuda/process.h"
#include "event.h"
#include "flow/calls.h"
#include "flow/cudaflow.h"
#include "flow/known.h"
#include "flow/maps.h"
#include "flow/record.h"
#include "flow/segment.h"
#include "flow/session.h"
#include "flow/tracker.h"
#include "function.h"
#include "image.h"
#include "walked.h"

#define TASK_BUCKETS	4096	/* a power of two */

struct tracker {
	struct calls	      calls;
	struct segment	     *segment;
	struct tracker_counts counts;
	struct task	     *bucket[TASK_BUCKETS];
	struct task	     *latest;		/* the task of the record before */
	struct session	     *sessions;
	uint64_t	      session_ids;
	struct symbols	     *symbols;		/* lent; NULL: files that are not probed have no names */
	const char	     *exe;		/* of a session whose exec was not seen */
	struct cuda_flow      cuda;
	struct known_images   images;
	struct costs	      costs;
};

int tracker_create(struct tracker **ret, struct segment *segment, const char *exe)
{
	struct tracker *tr = calloc(1, sizeof(*tr));

	if (!tr || cuda_processes_create(&tr->cuda.of)) {
		free(tr);
		return -ENOMEM;
	}
	tr->segment = segment;
	tr->calls.segment = segment;
	tr->calls.counts = &tr->counts;
	tr->cuda.calls = &tr->calls;
	tr->exe = exe ?: "";
	*ret = tr;
	return 0;
}

void tracker_use_symbols(struct tracker *tr, struct symbols *symbols)
{
	tr->symbols = symbols;
}

/* @s: NULL for none. */
static void live_in(struct task *t, struct session *s)
{
	if (s)
		session_hold(s);
	session_release(t->session);
	t->session = s;
}

static void task_free(struct task *t)
{
	live_in(t, NULL);
	while (t->depth)
		cuda_call_free(t->call[--t->depth].cuda);
	cuda_call_free(t->gave);
	free(t->call);
	free(t);
}

void tracker_destroy(struct tracker *tr)
{
	if (!tr)
		return;
	for (size_t i = 0; i < TASK_BUCKETS; i++)
		while (tr->bucket[i])
			task_free(({ struct task *t = tr->bucket[i]; tr->bucket[i] = t->next; t; }));
	sessions_destroy(&tr->sessions);
	known_free(&tr->images);
	costs_free(&tr->costs);
	cuda_processes_destroy(tr->cuda.of);
	free(tr);
}

const struct tracker_counts *tracker_counts(const struct tracker *tr)
{
	return &tr->counts;
}

/* ---- images ---- */

int tracker_image(struct tracker *tr, struct image *img)
{
	int err = known_add(&tr->images, img);

	if (err)
		return err;
	for (struct session *s = tr->sessions; s; s = s->next)
		for (struct map *m = s->map; m < s->map + s->map_count; m++)
			if (!m->image && known_is_of(img, m)) {
				m->image = img;
				map_place(m);
			}
	return 0;
}

/* ---- sessions ---- */

static struct session *session_begin(struct tracker *tr, uint32_t pid, uint64_t time)
{
	return session_create(&tr->sessions, ++tr->session_ids, pid, time, tr->exe);
}

static int session_tell(struct tracker *tr, struct session *s)
{
	int err = segment_session_begin(tr->segment, s);

	s->is_told = true;
	for (size_t i = 0; i < s->map_count && !err; i++)
		err = segment_map_added(tr->segment, s, &s->map[i]);
	return err;
}

/*
 * The sinks hear of a task's session, then of the task in it. After an exec that
 * waits until the program's file is known, or for the first record that does not.
 */
static int tell_place(struct tracker *tr, struct task *t)
{
	struct session *s = t->session;
	bool is_new = !s->is_told;
	int err = is_new ? session_tell(tr, s) : 0;

	if (err)
		return err;
	if (!t->is_told) {
		t->is_told = true;
		return segment_task_begin(tr->segment, t);
	}
	return is_new ? segment_task_exec(tr->segment, t, s->time) : 0;
}

static const struct map *session_map_of(struct session *s, const struct image *img)
{
	if (s->last_map < s->map_count && s->map[s->last_map].image == img)
		return &s->map[s->last_map];
	for (size_t i = 0; i < s->map_count; i++)
		if (s->map[i].image == img) {
			s->last_map = i;
			return &s->map[i];
		}
	return NULL;
}

/* ---- tasks ---- */

static struct task **bucket_of(struct tracker *tr, uint32_t tid)
{
	return &tr->bucket[tid & (TASK_BUCKETS - 1)];
}

static struct task *task_find(struct tracker *tr, uint32_t tid)
{
	struct task *t = tr->latest;

	if (t && t->tid == tid)
		return t;
	for (t = *bucket_of(tr, tid); t && t->tid != tid; t = t->next)
		;
	if (t)
		tr->latest = t;
	return t;
}

/* Of all tasks the one after @t; NULL: the first, or none. */
static struct task *task_after(const struct tracker *tr, const struct task *t)
{
	size_t i = t ? (t->tid & (TASK_BUCKETS - 1)) + 1 : 0;

	if (t && t->next)
		return t->next;
	while (i < TASK_BUCKETS && !tr->bucket[i])
		i++;
	return i < TASK_BUCKETS ? tr->bucket[i] : NULL;
}

static struct task *task_create(struct tracker *tr, uint32_t pid, uint32_t tid, struct task *parent)
{
	struct task *t = calloc(1, sizeof(*t));
	struct task **bucket = bucket_of(tr, tid);

	if (!t)
		return NULL;
	t->tid = tid;
	t->pid = pid;
	t->begin = t->last = tr->calls.time;
	if (parent) {
		t->parent_tid = parent->tid;
		t->parent_pid = parent->pid;
		live_in(t, parent->session);
		t->session->is_shared |= pid != parent->pid;
	}
	t->next = *bucket;
	*bucket = t;
	tr->counts.tasks++;
	return t;
}

/* Takes it out of the table and frees it: what is not done before is never done. */
static int task_end(struct tracker *tr, struct task *t)
{
	struct task **at = bucket_of(tr, t->tid);
	int err = segment_task_end(tr->segment, t);

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	if (tr->latest == t)
		tr->latest = NULL;
	task_free(t);
	return err;
}

/* A task whose beginning was not seen: in its process's session when that is known. */
static struct task *task_unannounced(struct tracker *tr, const struct rec_hdr *rec)
{
	struct task *leader = rec->tid != rec->pid ? task_find(tr, rec->pid) : NULL;
	uint64_t begin = MIN(record_began(rec), tr->calls.time);
	struct session *s = leader ? leader->session : session_begin(tr, rec->pid, begin);
	struct task *t = s ? task_create(tr, rec->pid, rec->tid, leader) : NULL;

	if (t) {
		live_in(t, s);
		t->begin = begin;
	}
	return t;
}

/* The task of @rec, made when it is new; NULL: no memory. */
static struct task *task_of(struct tracker *tr, const struct rec_hdr *rec)
{
	return task_find(tr, rec->tid) ?: task_unannounced(tr, rec);
}

static void set_comm(struct task *t, const char comm[REC_COMM])
{
	memcpy(t->comm, comm, REC_COMM);
	t->comm[REC_COMM] = '\0';
}

/* An event that is neither the begin nor the end of a call. */
static int tell(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	struct event ev = {
		.rec = rec, .task = t, .time = tr->calls.time, .began = tr->calls.time, .kind = rec->kind, .depth = t->depth,
	};

	t->last = ev.time;
	tr->counts.events++;
	return segment_event(tr->segment, &ev);
}

static int on_file(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	tr->counts.files++;
	return tell(tr, t, rec);
}

/* ---- a handler per kind ---- */

static int on_task_new(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_task_new *r = (const void *)rec;
	struct task *old = task_find(tr, r->new_tid), *child;
	int err = old ? calls_close_all(&tr->calls, old, rec) ?: task_end(tr, old) : 0;

	if (err)
		return err;
	child = task_create(tr, r->new_pid, r->new_tid, t);
	if (!child)
		return -ENOMEM;
	set_comm(child, r->comm);
	err = tell_place(tr, child);
	return err ?: tell(tr, t, rec);
}

/* The thread that exec'd goes on under its leader's id; its own ends without an exit record. */
static int take_over(struct tracker *tr, const struct rec_task_exec *r)
{
	struct task *old = r->old_tid != r->hdr.tid ? task_find(tr, r->old_tid) : NULL;

	if (!old)
		return 0;
	return calls_close_all(&tr->calls, old, &r->hdr) ?: task_end(tr, old);
}

static int on_task_exec(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_task_exec *r = (const void *)rec;
	int err = take_over(tr, r);

	t = task_find(tr, rec->tid);
	err = err ?: calls_close_all(&tr->calls, t, rec);
	err = err ?: cuda_flow_exec(&tr->cuda, t->pid);
	if (err)
		return err;
	if (t->session->map_count || t->session->pid != t->pid)	/* else it was made for this exec */
		live_in(t, session_begin(tr, rec->pid, tr->calls.time));
	if (!t->session)
		return -ENOMEM;
	t->session->stack = r->stack;
	set_comm(t, r->comm);
	return tell(tr, t, rec);
}

/* The sinks hear of a leader when its program is known, of the others at once. */
static int on_task_found(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_task_found *r = (const void *)rec;

	set_comm(t, r->comm);
	if (rec->size >= sizeof(*r))
		t->found_under = r->parent;
	if (!t->session->is_told)
		t->session->stack = r->stack;
	return t->session->is_told ? tell_place(tr, t) : 0;
}

static int on_task_name(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_task_name *r = (const void *)rec;

	set_comm(t, r->comm);
	return tell(tr, t, rec);
}

static bool calls_for(const struct task *t, const struct cuda_process *p)
{
	for (unsigned i = 0; i < t->depth; i++)
		if (t->call[i].cuda && t->call[i].cuda->process == p)
			return true;
	return t->gave && t->gave->process == p;
}

/* The process has ended. Of a task that is thought to be in a call of its driver the end was missed. */
static int end_cuda(struct tracker *tr, uint32_t pid, const struct rec_hdr *rec)
{
	const struct cuda_process *p = cuda_process_find(tr->cuda.of, pid);
	int err = 0;

	for (struct task *t = p ? task_after(tr, NULL) : NULL; t && !err; t = task_after(tr, t)) {
		if (!calls_for(t, p))
			continue;
		err = calls_close_all(&tr->calls, t, rec);
		cuda_call_free(TAKE(t->gave));
	}
	return err ?: cuda_flow_end(&tr->cuda, pid);
}

static int on_task_exit(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_task_exit *r = (const void *)rec;
	int err = calls_close_all(&tr->calls, t, rec);

	err = err ?: tell(tr, t, rec);
	t->is_gone = true;
	if (r->last)
		err = err ?: end_cuda(tr, t->pid, rec);
	return err ?: task_end(tr, t);
}

/* A task of another process in the session of @t; NULL: none. */
static const struct task *other_process(const struct tracker *tr, const struct task *t)
{
	const struct task *u = task_after(tr, NULL);

	while (u && (u->session != t->session || u->pid == t->pid))
		u = task_after(tr, u);
	return u;
}

/* @mapper maps a file. Who shares its session has none of that: who exec'd it keeps the session, the other side gets a copy. */
static int part(struct tracker *tr, const struct task *mapper)
{
	struct session *s = mapper->session, *own;
	const struct task *other = s->is_shared ? other_process(tr, mapper) : NULL;
	uint32_t pid = mapper->pid;
	bool stays = pid == s->pid;
	int err;

	s->is_shared = other && !stays;
	if (!other)
		return 0;
	own = session_copy(&tr->sessions, ++tr->session_ids, stays ? other->pid : pid, tr->calls.time, s);
	if (!own)
		return -ENOMEM;
	own->is_shared = stays;
	err = s->is_told ? session_tell(tr, own) : 0;
	for (struct task *t = task_after(tr, NULL); t && !err; t = task_after(tr, t)) {
		if (t->session != s || (t->pid == pid) == stays)
			continue;
		live_in(t, own);
		err = t->is_told ? segment_task_moves(tr->segment, t, tr->calls.time) : 0;
	}
	return err;
}

static bool is_same_place(const struct map *a, const struct map *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->gen == b->gen && a->start == b->start;
}

static int map_added(struct tracker *tr, struct task *t, const struct map *m)
{
	struct session *s = t->session;

	if (m->at == IMAGE_PHDR) {
		free((char *)s->exe);
		s->exe = strdup(m->path);
		if (!s->exe)
			return -ENOMEM;
		if (!s->is_told)
			return tell_place(tr, t);
	}
	return s->is_told ? segment_map_added(tr->segment, s, m) : 0;
}

static int on_image(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_image *r = (const void *)rec;
	struct map m = {
		.dev = r->dev, .gen = r->gen, .ino = r->ino, .time = rec->time,
		.addr = r->addr, .len = r->len, .offset = r->offset, .at = r->at,
	};
	int err = part(tr, t);
	struct session *s = t->session;

	err = err ?: grow(&s->map, &s->map_room, s->map_count, sizeof(*s->map));
	m.path = err ? NULL : walked_path(r->path, strnlen(r->path, r->path_len) ? r->path_len : 0, "");
	if (!m.path)
		return -ENOMEM;
	m.image = known_of_map(&tr->images, &m);
	map_place(&m);
	for (size_t i = 0; i < s->map_count; i++)
		if (is_same_place(&s->map[i], &m)) {	/* another segment of a file that is known */
			free((char *)m.path);
			return 0;
		}
	s->map[s->map_count++] = m;
	err = map_added(tr, t, &s->map[s->map_count - 1]);
	session_uncover(s);
	return err;
}

static int on_sys_enter(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_sys_enter *r = (const void *)rec;
	struct call call = { .kind = REC_SYS_ENTER, .id = r->nr, .flags = rec->flags };

	tr->counts.syscalls++;
	if (t->depth)
		call.sp = t->call[t->depth - 1].sp;	/* where its caller is, as far as is known */
	return calls_enter(&tr->calls, t, rec, &call) ?: rec->flags & REC_F_NO_EXIT ?
	       calls_exit_syscall(&tr->calls, t, rec, r->nr) : 0;
}

static int on_sys_exit(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	return calls_exit_syscall(&tr->calls, t, rec, ((const struct rec_sys_exit *)rec)->nr);
}

static uint64_t func_ip(const struct rec_hdr *rec)
{
	return rec->size >= sizeof(struct rec_func_at) ? ((const struct rec_func_at *)rec)->ip : 0;
}

/* The function a probe without a cookie was hit in. */
static const struct func *func_at(const struct session *s, uint64_t ip, struct call *call)
{
	for (const struct map *m = s->map; m < s->map + s->map_count; m++) {
		const struct func *f = m->image && ip - m->start < m->end - m->start ?
				       image_func_at(m->image, ip - m->start) : NULL;

		if (!f)
			continue;
		call->id = m->image->first_func + (f - m->image->func);
		call->addr = m->start + f->addr;
		return f;
	}
	return NULL;
}

static int on_func_entry(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_func *r = (const void *)rec;
	const struct image *img = known_by_func(&tr->images, r->func);
	const struct map *m = img ? session_map_of(t->session, img) : NULL;
	struct call call = { .kind = REC_FUNC_ENTRY, .id = r->func, .sp = r->sp, .flags = rec->flags };

	tr->counts.functions++;
	if (rec->flags & REC_F_BY_IP) {
		call.func = func_at(t->session, func_ip(rec), &call);
	} else if (img) {
		call.func = &img->func[r->func - img->first_func];
		call.addr = m ? m->start + call.func->addr : 0;
	}
	if (call.func)
		costs_add(&tr->costs, call.id, call.func, !(rec->flags & REC_F_NO_EXIT));
	return calls_enter(&tr->calls, t, rec, &call);
}

static int on_func_exit(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_func *r = (const void *)rec;
	uint32_t id = rec->flags & REC_F_BY_IP ? CALL_ANY : r->func;

	if (id == NO_FUNC)
		return calls_leave(&tr->calls, t, rec, r->sp);
	return calls_exit_function(&tr->calls, t, rec, REC_FUNC_ENTRY, id, r->sp);
}

/* When the process was made, if that was seen: else 0. */
static uint64_t process_start(struct tracker *tr, uint32_t pid)
{
	const struct task *leader = task_find(tr, pid);

	return leader && leader->parent_tid ? leader->begin : 0;
}

static struct cuda_process *cuda_process_of(struct tracker *tr, const struct task *t)
{
	struct cuda_process *p = cuda_process_find(tr->cuda.of, t->pid);

	p = p ?: cuda_process_make(tr->cuda.of, t->pid, process_start(tr, t->pid));
	if (p && p->cmdline != t->session->exe) {
		session_hold(t->session);	/* for as long as the process is known */
		p->cmdline = t->session->exe;
	}
	return p;
}

static int on_cuda_entry(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	struct cuda_process *p;

	if (!cuda_function_of(((const struct rec_cuda_entry *)rec)->func))	/* of a later recorder */
		return 0;
	p = cuda_process_of(tr, t);
	return p ? cuda_flow_entry(&tr->cuda, p, t, rec) : -ENOMEM;
}

/* What one by the functions' ring stands for: words as they were passed. */
static int on_cuda_launch(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_cuda_launch *r = (const void *)rec;
	const struct launch_words *l = &r->words;
	struct rec_cuda_entry entry = {
		.hdr = *rec, .func = r->func, .sp = r->sp,
		.arg = { l->kernel, l->grid_x, l->grid_y, l->grid_z, l->block[0], l->block[1], l->block[2], l->shared,
			 l->stream },
	};

	entry.hdr.kind = REC_CUDA_ENTRY;
	entry.hdr.size = sizeof(entry);
	return on_cuda_entry(tr, t, &entry.hdr);
}

static int on_cuda_exit(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	return cuda_flow_exit(&tr->cuda, t, rec);
}

static int on_cuda_image(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	return cuda_flow_image(&tr->cuda, t, rec);
}

/* What one by the functions' ring stands for. */
static int on_cuda_return(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	const struct rec_cuda_return *r = (const void *)rec;
	struct rec_cuda_exit exit = {
		.hdr = *rec, .func = r->func & CUDA_RETURN_FUNC, .result = r->func >> CUDA_RETURN_SHIFT, .sp = r->sp,
	};

	exit.hdr.kind = REC_CUDA_EXIT;
	exit.hdr.size = sizeof(exit);
	return on_cuda_exit(tr, t, &exit.hdr);
}

static int on_cuda_given(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	(void)tr;
	return cuda_flow_given(t, rec);
}

static int on_cuda_times(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	struct cuda_process *p = cuda_process_of(tr, t);

	return p ? cuda_flow_times(&tr->cuda, p, rec) : -ENOMEM;
}

/* An event within the call it is in: what its stack pointer shows to have been left is closed first. */
static int on_usdt(struct tracker *tr, struct task *t, const struct rec_hdr *rec)
{
	int err = calls_pass(&tr->calls, t, rec, ((const struct rec_usdt *)rec)->sp);

	tr->counts.probes++;
	return err ?: tell(tr, t, rec);
}

/* As a kernel event is. What was mapped there, only the session of a task tells that is recorded. */
static int on_callers(struct tracker *tr, const struct rec_hdr *rec)
{
	const struct rec_callers *r = (const void *)rec;
	const struct task *t = task_find(tr, rec->tid);
	struct frame frame[CALLERS_USER_MAX];
	struct event ev = {
		.rec = rec, .time = tr->calls.time, .began = tr->calls.time, .kind = rec->kind, .frame = frame,
	};

	if (!segment_wants(tr->segment, rec->kind))
		return 0;
	frames_find(frame, r, t ? t->session : NULL, tr->symbols);
	return segment_event(tr->segment, &ev);
}

/* Told as it comes: it may be of a task that is not recorded, or that has just exited. */
static int on_kernel_event(struct tracker *tr, const struct rec_hdr *rec)
{
	struct event ev = { .rec = rec, .time = tr->calls.time, .began = tr->calls.time, .kind = rec->kind };

	tr->counts.kernel_events++;
	return segment_event(tr->segment, &ev);
}

/* As a kernel event is. */
static int on_mark(struct tracker *tr, const struct rec_hdr *rec)
{
	const struct rec_mark *r = (const void *)rec;
	const struct image *img = r->signal ? NULL : known_by_func(&tr->images, r->func);
	struct event ev = {
		.rec = rec, .time = tr->calls.time, .began = tr->calls.time, .kind = rec->kind,
		.func = img ? &img->func[r->func - img->first_func] : NULL,
	};

	tr->counts.marks++;
	return segment_event(tr->segment, &ev);
}

static int (*const handlers[REC_KINDS])(struct tracker *, struct task *, const struct rec_hdr *) = {
	[REC_TASK_NEW]	 = on_task_new,
	[REC_TASK_EXEC]	 = on_task_exec,
	[REC_TASK_NAME]	 = on_task_name,
	[REC_TASK_EXIT]	 = on_task_exit,
	[REC_IMAGE]	 = on_image,
	[REC_SYS_ENTER]	 = on_sys_enter,
	[REC_SYS_EXIT]	 = on_sys_exit,
	[REC_FUNC_ENTRY] = on_func_entry,
	[REC_FUNC_EXIT]	 = on_func_exit,
	[REC_TASK_LOST]	 = tell,
	[REC_TASK_FOUND] = on_task_found,
	[REC_FUNC_ENTRY_ARGS] = on_func_entry,
	[REC_FUNC_EXIT_ARGS]  = on_func_exit,
	[REC_USDT]	 = on_usdt,
	[REC_CUDA_ENTRY] = on_cuda_entry,
	[REC_CUDA_EXIT]	 = on_cuda_exit,
	[REC_CUDA_TIMES] = on_cuda_times,
	[REC_CUDA_IMAGE] = on_cuda_image,
	[REC_CUDA_IMAGE_FILE] = on_cuda_image,
	[REC_CUDA_RETURN] = on_cuda_return,
	[REC_CUDA_LAUNCH] = on_cuda_launch,
	[REC_CUDA_GIVEN] = on_cuda_given,
	[REC_FILE]	 = on_file,
	[REC_EXEC]	 = tell,
	[REC_EXEC_PIECE] = tell,
};

static int on_lost(struct tracker *tr, const struct rec_lost *r)
{
	uint64_t count[REC_CLASSES];

	for (int i = 0; i < REC_CLASSES; i++) {
		count[i] = rec_lost_count(r, i);
		tr->counts.lost[i] += count[i];
	}
	return segment_lost(tr->segment, r->hdr.cpu, tr->calls.time, count);
}

/* Does the sinks' hearing of a new session wait for what comes next? */
static bool waits_for_image(uint16_t kind)
{
	return kind == REC_IMAGE || kind == REC_TASK_EXEC || kind == REC_TASK_FOUND;
}

int tracker_record(void *tracker, const struct rec_hdr *rec)
{
	struct tracker *tr = tracker;
	struct task *t;
	int err;

	if (rec->time > tr->calls.time)
		tr->calls.time = rec->time;
	else if (rec->time < tr->calls.time)
		tr->counts.late++;
	if (rec->kind == REC_LOST)
		return on_lost(tr, (const void *)rec);
	if (rec->kind == REC_EVENT)
		return on_kernel_event(tr, rec);
	if (rec->kind == REC_CALLERS)
		return on_callers(tr, rec);
	if (rec->kind == REC_MARK)
		return on_mark(tr, rec);
	t = task_of(tr, rec);
	if (!t)
		return -ENOMEM;
	if (!waits_for_image(rec->kind) && !(t->is_told && t->session->is_told)) {
		err = tell_place(tr, t);
		if (err)
			return err;
	}
	return handlers[rec->kind](tr, t, rec);
}

static void sum_costs(struct tracker *tr)
{
	for (uint32_t id = 0; id < tr->costs.room; id++) {
		const struct image *img = tr->costs.func[id].calls ? known_by_func(&tr->images, id) : NULL;

		if (img)
			costly_take(&tr->counts.costly, &img->func[id - img->first_func], &tr->costs.func[id]);
	}
}

int tracker_finish(struct tracker *tr)
{
	int err = 0;

	for (size_t i = 0; i < TASK_BUCKETS; i++)
		while (tr->bucket[i] && !err)
			err = tell_place(tr, tr->bucket[i]) ?: task_end(tr, tr->bucket[i]);
	sum_costs(tr);
	return err ?: cuda_flow_finish(&tr->cuda);
}
