/*
 * count.c - the truth: what was called and what ran, told at exit as lines in the file STUBCUDA_COUNT names.
 *
 *	pid N				first of each set of lines
 *	call FUNCTION COUNT		an exported function was entered
 *	launch NAME COUNT		kernels that ran, those of graphs each time
 *	captured NAME COUNT		launches that a stream recorded and did not run
 *	bytes KIND COUNT		allocated, copied and set; "graph": by the nodes of graphs
 *
 * One write() for each set, so that processes do not mix theirs. A program about to exec() has none of this done
 * for it: it calls fakecuda_tell() itself.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"

extern struct counter __start_calls[] __attribute__((visibility("hidden")));
extern struct counter __stop_calls[] __attribute__((visibility("hidden")));

__attribute__((visibility("default"))) const struct watch *fakecuda_watch;

static struct tally *tallies;
static uint64_t moved[BYTES_KINDS];

static const char *const kind_name[BYTES_KINDS] = {
	[BYTES_ALLOC] = "alloc", [BYTES_MANAGED] = "managed", [BYTES_HOST] = "hostalloc", [BYTES_HTOD] = "HtoD",
	[BYTES_DTOH] = "DtoH", [BYTES_DTOD] = "DtoD", [BYTES_HTOH] = "HtoH", [BYTES_COPY] = "copy",
	[BYTES_PEER] = "peer", [BYTES_SET] = "set", [BYTES_GRAPH] = "graph",
};

struct tally *tally_of(const char *name)
{
	struct tally *t;

	driver_lock();
	for (t = tallies; t && strcmp(t->name, name); t = t->next)
		;
	if (!t) {
		t = calloc(1, sizeof(*t));
		if (!t || !(t->name = strdup(name)))
			abort();
		t->next = tallies;
		tallies = t;
	}
	driver_unlock();
	return t;
}

__attribute__((noinline)) void count_call(struct counter *c)
{
	const struct watch *watch = __atomic_load_n(&fakecuda_watch, __ATOMIC_ACQUIRE);

	__atomic_add_fetch(&c->count, 1, __ATOMIC_RELAXED);
	if (watch)
		watch->called(c->name);
}

void count_bytes(enum bytes kind, uint64_t n)
{
	__atomic_add_fetch(&moved[kind], n, __ATOMIC_RELAXED);
}

void count_forked(void)
{
	for (struct counter *c = __start_calls; c < __stop_calls; c++)
		c->count = 0;
	for (struct tally *t = tallies; t; t = t->next)
		t->ran = t->captured = 0;
	memset(moved, 0, sizeof(moved));
}

static void lines(FILE *f)
{
	fprintf(f, "pid %d\n", getpid());
	for (struct counter *c = __start_calls; c < __stop_calls; c++)
		if (c->count)
			fprintf(f, "call %s %lu\n", c->name, c->count);
	for (struct tally *t = tallies; t; t = t->next)
		if (t->ran)
			fprintf(f, "launch %s %lu\n", t->name, t->ran);
	for (struct tally *t = tallies; t; t = t->next)
		if (t->captured)
			fprintf(f, "captured %s %lu\n", t->name, t->captured);
	for (int i = 0; i < BYTES_KINDS; i++)
		if (moved[i])
			fprintf(f, "bytes %s %llu\n", kind_name[i], (unsigned long long)moved[i]);
}

/* Tell, and begin anew. Also for programs that are about to exec(). */
__attribute__((visibility("default"))) void fakecuda_tell(void)
{
	const char *path = getenv("STUBCUDA_COUNT");
	char *text = NULL;
	size_t len = 0;
	FILE *f;
	int fd;

	if (!path || !(f = open_memstream(&text, &len)))
		return;
	lines(f);
	fclose(f);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		perror(path);
	if (fd >= 0)
		close(fd);
	free(text);
	count_forked();
}

__attribute__((destructor)) static void count_end(void)
{
	fakecuda_tell();
}
