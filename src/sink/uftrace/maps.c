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

#define STACK_BYTES	0x21000		/* as large as it is at first; only the upper digits are read */
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
	session_release(us->sess);
	free(us->map);
	free(us->exe);
	free(us);
}

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
	us->is_dirty = true;
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
	us->sess = sess;
	session_hold(sess);		/* its maps are written to the end */
	us->id = sess->id;
	us->pid = sess->pid;
	us->stack = sess->stack;
	snprintf(us->sid, sizeof(us->sid), "%016llx", (unsigned long long)sess->id);
	adopt(s, us);
	return 0;
}

/* Does a map that came after @map lie where it does? What its file tells of that may come late. */
static bool is_covered(const struct session *sess, const struct map *map, const struct map *without)
{
	for (const struct map *m = map + 1; m < sess->map + sess->map_count; m++)
		if (m != without && maps_collide(m, map))
			return true;
	return false;
}

/* The reader takes lines of one path for one module: the first, by which the addresses of calls are told too. */
static bool has_module(const struct uf_session *us, const struct uf_module *m)
{
	for (size_t i = 0; i < us->map_count; i++)
		if (us->map[i].module == m)
			return true;
	return false;
}

/* Take the maps of @us over as the tracker knows them now, all but @without. */
static int update(struct uf_session *us, struct uf_modules *m, const struct map *without)
{
	const struct session *sess = us->sess;

	if (!us->exe && sess->exe && *sess->exe)
		us->exe = strdup(sess->exe);
	us->stack = sess->stack;
	us->map_count = us->images = 0;
	us->is_dirty = true;
	for (size_t i = 0; i < sess->map_count; i++) {
		const struct map *map = &sess->map[i];
		struct uf_map um = { .start = map->start, .end = map->end };
		int err;

		us->images += map->image != NULL;
		if (map == without || !map->path || map->start >= map->end || is_covered(sess, map, without))
			continue;
		err = uf_module_find(m, &um.module, map->path, map->image);
		if (!err && has_module(us, um.module))
			continue;
		err = err ?: grow(&us->map, &us->map_room, us->map_count, sizeof(*us->map));
		if (err)
			return err;
		us->map[us->map_count++] = um;
	}
	return 0;
}

static bool needs_epoch(const struct session *sess, const struct map *map)
{
	for (const struct map *m = sess->map; m < sess->map + sess->map_count; m++)
		if (m != map && maps_collide(m, map))
			return true;
	return false;
}

int uf_session_map(struct uf_sessions *s, struct uf_session **ret, struct uf_modules *m,
		   const struct map *map)
{
	struct uf_session *us = *ret, *epoch;
	const struct session *sess = us->sess;
	int err;

	us->is_dirty = true;
	if (!needs_epoch(sess, map))
		return 0;
	epoch = calloc(1, sizeof(*epoch));
	if (!epoch)
		return -ENOMEM;
	epoch->sess = sess;
	epoch->id = us->id;
	epoch->pid = us->pid;
	snprintf(epoch->sid, sizeof(epoch->sid), "%08x%08llx", ++s->epochs, (unsigned long long)us->id);
	adopt(s, epoch);
	*ret = epoch;
	err = update(us, m, map);
	us->sess = NULL;
	return err;
}

#define CHECKS_FOR_IMAGES	5	/* an image is known a moment after its map, or never */

static size_t count_images(const struct session *sess)
{
	size_t images = 0;

	for (size_t i = 0; i < sess->map_count; i++)
		images += sess->map[i].image != NULL;
	return images;
}

int uf_sessions_update(struct uf_sessions *s, struct uf_modules *m, bool is_last)
{
	int err = 0;

	for (struct uf_session *us = s->all; us && !err; us = us->next) {
		if (!us->sess || (us->checks++ > CHECKS_FOR_IMAGES && !us->is_dirty && !is_last))
			continue;
		if (us->is_dirty || count_images(us->sess) != us->images)
			err = update(us, m, NULL);
	}
	return err;
}

static void put_line(struct out *o, uint64_t start, uint64_t end, const char *prot, const char *path,
		     const char *build_id)
{
	out_printf(o, "%llx-%llx %s 00000000 00:00 0                          %s%s%s\n",
		   (unsigned long long)start, (unsigned long long)end, prot, path,
		   *build_id ? " build-id:" : "", build_id);
}

static void put_module(struct out *o, const struct uf_map *m)
{
	put_line(o, m->start, m->end, "r-xp", m->module->path, uf_module_build_id(m->module));
}

static bool is_main(const struct uf_session *us, const struct uf_map *m)
{
	return us->exe && !strcmp(m->module->real_path, us->exe);
}

/*
 * The reader looks from the first line to the last: what is asked for most stands
 * first, and what has no functions, and may not lie quite where it says, last.
 */
static void put_maps(struct out *o, const struct uf_session *us)
{
	uint64_t top = us->stack ? ROUND_UP(us->stack + 1, STACK_ALIGN) : STACK_TOP;
	const struct uf_map *end = us->map + us->map_count;

	for (size_t i = 0; i < UF_UNREALS; i++)
		put_line(o, uf_unreal[i].start, uf_unreal[i].end, "r-xp", uf_unreal[i].path, "");
	for (const struct uf_map *m = us->map; m < end; m++)
		if (is_main(us, m))
			put_module(o, m);
	for (const struct uf_map *m = us->map; m < end; m++)
		if (!is_main(us, m) && m->module->image)
			put_module(o, m);
	for (const struct uf_map *m = us->map; m < end; m++)
		if (!is_main(us, m) && !m->module->image)
			put_module(o, m);
	put_line(o, top - STACK_BYTES, top, "rw-p", "[stack]", "");
}

static int write_session(struct uf_session *us, int dirfd)
{
	char name[32];
	struct out *o;
	int err;

	snprintf(name, sizeof(name), "sid-%s.map", us->sid);
	err = us->is_on_disk ? out_create_replacing(&o, dirfd, name) : out_create(&o, dirfd, name);
	if (err)
		return err;
	put_maps(o, us);
	err = out_seal(o);
	us->is_on_disk = true;
	out_destroy(o);
	return err;
}

int uf_sessions_write(struct uf_sessions *s, int dirfd)
{
	int err = 0;

	for (struct uf_session *us = s->all; us && !err; us = us->next) {
		if (us->is_dirty)
			err = write_session(us, dirfd);
		us->is_dirty = false;
	}
	return err;
}
