/*
 * maps.c - sid-*.map: what lies where in a session.
 *
 * One line per module, from its lowest to its highest address: the reader takes
 * the first line of a path as its base. The line of the stack is not for show:
 * from it the reader tells user addresses from the kernel's
 * (utils/symbol.c:guess_kernel_base), and without it no name is found at all.
 */
#include "base.h"
#include "image.h"
#include "out.h"
#include "sink/uftrace/uftrace.h"
#include "task.h"

#define STACK_BYTES	0x21000		/* as large as the kernel makes it first; only the upper digits are read */
#define STACK_ALIGN	0x1000
#ifdef __x86_64__
#define STACK_TOP	0x7ffffffff000ull
#else
#define STACK_TOP	0xfffffffff000ull
#endif

static void session_destroy(struct uf_session *us)
{
	if (!us)
		return;
	free(us->map);
	free(us->exe);
	free(us);
}

DEFINE_CLEANUP(session_destroy, struct uf_session *)

void uf_sessions_release(struct uf_sessions *s)
{
	while (s->all) {
		struct uf_session *us = s->all;

		s->all = us->next;
		session_destroy(us);
	}
	free(s->session);
}

struct uf_session *uf_session_at(const struct uf_sessions *s, uint64_t id)
{
	return id < s->room ? s->session[id] : NULL;
}

static void mark_dirty(struct uf_sessions *s, struct uf_session *us)
{
	if (us->is_dirty)
		return;
	us->is_dirty = true;
	us->next_dirty = s->dirty;
	s->dirty = us;
}

/* Ids count from 1, so they index an array. */
static int make_room(struct uf_sessions *s, uint64_t id)
{
	struct uf_session **session;
	size_t room = MAX(s->room, (size_t)64);

	while (room <= id)
		room *= 2;
	if (room == s->room)
		return 0;
	session = realloc(s->session, room * sizeof(*session));
	if (!session)
		return -ENOMEM;
	memset(session + s->room, 0, (room - s->room) * sizeof(*session));
	s->session = session;
	s->room = room;
	return 0;
}

static void adopt(struct uf_sessions *s, struct uf_session *us)
{
	us->next = s->all;
	s->all = us;
	s->session[us->id] = us;
	mark_dirty(s, us);
}

int uf_session_begin(struct uf_sessions *s, const struct session *sess)
{
	struct uf_session *us;
	int err = make_room(s, sess->id);

	if (err)
		return err;
	us = calloc(1, sizeof(*us));
	if (!us)
		return -ENOMEM;
	us->id = sess->id;
	us->pid = sess->pid;
	us->stack = sess->stack;
	snprintf(us->sid, sizeof(us->sid), "%016llx", (unsigned long long)sess->id);
	adopt(s, us);
	uf_session_named(us, sess->exe);
	return 0;
}

void uf_session_named(struct uf_session *us, const char *exe)
{
	if (!us->exe && exe && *exe)
		us->exe = strdup(exe);	/* no memory: its tasks are named after the first command name instead */
}

static bool overlaps(const struct uf_map *a, const struct map *b)
{
	return a->start < b->end && b->start < a->end;
}

int uf_session_make_way(struct uf_sessions *s, struct uf_session **us, const struct uf_module *mod,
			const struct map *map)
{
	__cleanup(session_destroyp) struct uf_session *epoch = NULL;
	const struct uf_session *old = *us;
	bool is_needed = false;

	for (size_t i = 0; i < old->map_count; i++)
		is_needed |= overlaps(&old->map[i], map) && old->map[i].module != mod;
	if (!is_needed)
		return 0;
	epoch = calloc(1, sizeof(*epoch));
	if (!epoch)
		return -ENOMEM;
	epoch->id = old->id;
	epoch->pid = old->pid;
	epoch->stack = old->stack;
	snprintf(epoch->sid, sizeof(epoch->sid), "%04x%012llx", ++s->epochs & 0xffff, (unsigned long long)old->id);
	uf_session_named(epoch, old->exe);
	for (size_t i = 0; i < old->map_count; i++) {
		if (overlaps(&old->map[i], map) && old->map[i].module != mod)
			continue;
		if (grow(&epoch->map, &epoch->map_room, epoch->map_count, sizeof(*epoch->map)))
			return -ENOMEM;
		epoch->map[epoch->map_count++] = old->map[i];
	}
	*us = epoch;
	adopt(s, TAKE(epoch));
	return 0;
}

int uf_session_map(struct uf_sessions *s, struct uf_session *us, struct uf_module *mod, const struct map *map)
{
	size_t at = 0;

	mark_dirty(s, us);
	for (size_t i = 0; i < us->map_count; i++) {
		struct uf_map *m = &us->map[i];

		if (m->module != mod || !overlaps(m, map))
			continue;
		m->start = MIN(m->start, map->start);
		m->end = MAX(m->end, map->end);
		return 0;
	}
	if (grow(&us->map, &us->map_room, us->map_count, sizeof(*us->map)))
		return -ENOMEM;
	while (at < us->map_count && us->map[at].start < map->start)
		at++;
	memmove(us->map + at + 1, us->map + at, (us->map_count++ - at) * sizeof(*us->map));
	us->map[at] = (struct uf_map){ .start = map->start, .end = map->end, .module = mod };
	return 0;
}

static void put_line(struct out *o, uint64_t start, uint64_t end, const char *prot, const char *path,
		     const char *build_id)
{
	out_printf(o, "%llx-%llx %s 00000000 00:00 0                          %s%s%s\n",
		   (unsigned long long)start, (unsigned long long)end, prot, path,
		   *build_id ? " build-id:" : "", build_id);
}

static bool is_main(const struct uf_session *us, const struct uf_map *m)
{
	return us->exe && !strcmp(m->module->real_path, us->exe);
}

/* The reader looks lines up from the first to the last: what is asked for most stands first. */
static void put_maps(struct out *o, const struct uf_session *us)
{
	uint64_t top = us->stack ? ROUND_UP(us->stack + 1, STACK_ALIGN) : STACK_TOP;

	put_line(o, UF_CALLS_START, UF_CALLS_END, "r-xp", UF_CALLS_PATH, "");
	for (size_t i = 0; i < us->map_count; i++)
		if (is_main(us, &us->map[i]))
			put_line(o, us->map[i].start, us->map[i].end, "r-xp", us->map[i].module->path,
				 us->map[i].module->build_id);
	for (size_t i = 0; i < us->map_count; i++)
		if (!is_main(us, &us->map[i]))
			put_line(o, us->map[i].start, us->map[i].end, "r-xp", us->map[i].module->path,
				 us->map[i].module->build_id);
	put_line(o, top - STACK_BYTES, top, "rw-p", "[stack]", "");
}

static int write_session(const struct uf_session *us, int dirfd)
{
	char name[32];
	struct out *o;
	int err;

	snprintf(name, sizeof(name), "sid-%s.map", us->sid);
	err = out_create_replacing(&o, dirfd, name);
	if (err)
		return err;
	put_maps(o, us);
	err = out_seal(o);
	out_destroy(o);
	return err;
}

int uf_sessions_write(struct uf_sessions *s, int dirfd)
{
	int err = 0;

	while (s->dirty && !err) {
		struct uf_session *us = s->dirty;

		err = write_session(us, dirfd);
		s->dirty = us->next_dirty;
		us->is_dirty = false;
	}
	return err;
}
