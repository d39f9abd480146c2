/*
 * session.h - making sessions, for the tracker. What others do with them: task.h.
 */
#ifndef FLOW_SESSION_H
#define FLOW_SESSION_H

#include "task.h"

/* First of @all; nobody holds it yet. NULL: no memory. */
struct session *session_create(struct session **all, uint64_t id, uint32_t pid, uint64_t time, const char *exe);
/* The same of what @from has mapped. */
struct session *session_copy(struct session **all, uint64_t id, uint32_t pid, uint64_t time, const struct session *from);
/* What the last map of @s lies on is there no more. */
void session_uncover(struct session *s);
/* Whoever holds them. */
void sessions_destroy(struct session **all);

#endif
