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
