/*
 * env.c - which tasks had which variables in the environment of a program: told when the recording ends.
 *
 * Each string has the upids of all tasks that started a program with it, in order, one perhaps repeatedly.
 */
#include "base.h"
#include "log.h"
#include "sink/bas/bas.h"

#define BUCKETS		4096		/* a power of two */
#define BYTES_MAX	(256ull << 20)	/* of all; what comes later is not told */

struct variable {
	struct variable *next, *later;	/* in the bucket; in the order they came */
	uint64_t	*upid;
	size_t		 count, room;
	size_t		 len;
	char		 text[];
};

struct bas_env {
	struct variable *bucket[BUCKETS];
	struct variable *first, **end;
	uint64_t	 bytes;
	uint64_t	 untold;	/* variables that had no place */
};

int bas_env_create(struct bas_env **ret)
{
	struct bas_env *env = calloc(1, sizeof(*env));

	if (!env)
		return -ENOMEM;
	env->end = &env->first;
	*ret = env;
	return 0;
}

void bas_env_destroy(struct bas_env *env)
{
	if (!env)
		return;
	while (env->first) {
		struct variable *v = env->first;

		env->first = v->later;
		free(v->upid);
		free(v);
	}
	free(env);
}

static struct variable **bucket_of(struct bas_env *env, const char *text, size_t len)
{
	uint64_t hash = 14695981039346656037ull;	/* FNV-1a */

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 1099511628211ull;
	return &env->bucket[(hash ^ hash >> 32) & (BUCKETS - 1)];
}

/* NULL: no memory, or no place. */
static struct variable *variable_of(struct bas_env *env, const char *text, size_t len)
{
	struct variable **bucket = bucket_of(env, text, len), *v = *bucket;

	while (v && (v->len != len || memcmp(v->text, text, len)))
		v = v->next;
	if (v || env->bytes + sizeof(*v) + len > BYTES_MAX)
		return v;
	v = calloc(1, sizeof(*v) + len);
	if (!v)
		return NULL;
	memcpy(v->text, text, len);
	v->len = len;
	v->next = *bucket;
	*bucket = *env->end = v;
	env->end = &v->later;
	env->bytes += sizeof(*v) + len;
	return v;
}

static bool note(struct bas_env *env, uint64_t upid, const char *text, size_t len)
{
	struct variable *v = variable_of(env, text, len);
	size_t room;

	if (!v)
		return false;
	if (v->count && v->upid[v->count - 1] == upid)
		return true;
	room = v->room;
	if (env->bytes + sizeof(upid) * MAX(room, (size_t)16) > BYTES_MAX ||
	    grow(&v->upid, &v->room, v->count, sizeof(upid)))
		return false;
	env->bytes += (v->room - room) * sizeof(upid);
	v->upid[v->count++] = upid;
	return true;
}

void bas_env_note(struct bas_env *env, uint64_t upid, const char *at, size_t len)
{
	for (const char *end = at + len; at < end; ) {
		size_t n = strnlen(at, end - at);

		env->untold += !note(env, upid, at, n);
		at += n + 1;
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A block of upid 0, which is no task's. */
static int put_variable(struct bas_text *t, struct variable *v)
{
	qsort(v->upid, v->count, sizeof(*v->upid), by_number);
	bas_begin(t, 0, 0, 0);
	for (size_t i = 0; i < v->count; i++)
		if (!i || v->upid[i] != v->upid[i - 1])
			bas_line(t, "UPID|%lu", v->upid[i]);
	bas_variable(t, v->text, v->len);
	return bas_end(t);
}

int bas_env_put(struct bas_env *env, struct bas_text *t)
{
	int err = 0;

	for (struct variable *v = env->first; v && !err; v = v->later)
		if (v->count)
			err = put_variable(t, v);
	if (env->untold)
		warn("--env-vars: %lu variables of programs are not told: there were too many", env->untold);
	return err;
}
