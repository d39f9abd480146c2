/*
 * session.c - sessions: made for an exec, gone when no task is in them and no sink wants to look at them any more.
 */
#include "base.h"
#include "flow/session.h"

struct session *session_create(struct session **all, uint64_t id, uint32_t pid, uint64_t time, const char *exe)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->id = id;
	s->pid = pid;
	s->time = time;
	s->exe = strdup(exe);
	if (!s->exe) {
		free(s);
		return NULL;
	}
	s->next = *all;
	s->link = all;
	if (s->next)
		s->next->link = &s->next;
	*all = s;
	return s;
}

static void session_free(struct session *s)
{
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	for (size_t i = 0; i < s->map_count; i++)
		free((char *)s->map[i].path);
	free(s->map);
	free((char *)s->exe);
	free(s);
}

static int copy_maps(struct session *s, const struct session *from)
{
	s->map = calloc(MAX(from->map_count, (size_t)1), sizeof(*s->map));
	if (!s->map)
		return -ENOMEM;
	s->map_room = MAX(from->map_count, (size_t)1);
	for (size_t i = 0; i < from->map_count; i++) {
		s->map[i] = from->map[i];
		s->map[i].path = strdup(from->map[i].path);
		s->map_count += s->map[i].path != NULL;
		if (!s->map[i].path)
			return -ENOMEM;
	}
	return 0;
}

struct session *session_copy(struct session **all, uint64_t id, uint32_t pid, uint64_t time, const struct session *from)
{
	struct session *s = session_create(all, id, pid, time, from->exe);

	if (!s)
		return NULL;
	s->stack = from->stack;
	if (copy_maps(s, from)) {
		session_free(s);
		return NULL;
	}
	return s;
}

void session_uncover(struct session *s)
{
	const struct map last = s->map[s->map_count - 1];
	size_t kept = 0;

	for (size_t i = 0; i < s->map_count - 1; i++) {
		if (maps_collide(&s->map[i], &last))
			free((char *)s->map[i].path);
		else
			s->map[kept++] = s->map[i];
	}
	s->map[kept++] = last;
	s->map_count = kept;
	s->last_map = 0;
}

void sessions_destroy(struct session **all)
{
	while (*all)
		session_free(*all);
}

void session_hold(const struct session *s)
{
	((struct session *)s)->holders++;
}

void session_release(const struct session *s)
{
	if (s && !--((struct session *)s)->holders)
		session_free((struct session *)s);
}
