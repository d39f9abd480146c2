/*
 * cudadesk.c - the calls of a made-up recording, and what the sink has written of them.
 */
#include "cudadesk.h"

#include <fcntl.h>

#include "base.h"
#include "event.h"
#include "test.h"

const struct cuda_function launch_kernel = { .name = "cuLaunchKernel", .does = CUDA_DOES_LAUNCH, .twin = 'z' };
const struct cuda_function wait_context = { .name = "cuCtxSynchronize", .does = CUDA_DOES_WAIT_CONTEXT };
const struct cuda_function copy_down = { .name = "cuMemcpyDtoH_v2", .does = CUDA_DOES_MEMORY, .twin = 's' };
const struct cuda_function copy_down_async = { .name = "cuMemcpyDtoHAsync_v2", .does = CUDA_DOES_MEMORY, .twin = 'z' };

struct cuda_kernel vadd = { .name = "_Z4vaddPf", .handle = 0xabc, .is_named = true };

/* ---- making events ---- */

static void desk_open(struct desk *d)
{
	static const struct sink_options options;
	struct sink_args args = { .dirfd = d->dirfd, .slot = 0, .about = &d->about, .options = &options };

	CHECK_INT(sink_neutrino.open(&d->sink, &args), 0);
}

void desk_set(struct desk *d)
{
	*d = (struct desk){ .dir = "/tmp/neutrino-XXXXXX", .now = START };
	setenv("TZ", "UTC", 1);
	CHECK(mkdtemp(d->dir));
	d->dirfd = open(d->dir, O_RDONLY | O_DIRECTORY);
	d->about.utc_offset = REALTIME - (int64_t)START;
	d->process = (struct cuda_process){ .pid = NO_SUCH_PID, .id = 1, .start = START, .cmdline = "/opt/prog" };
	desk_open(d);
}

void desk_close(struct desk *d)
{
	CHECK_INT(sink_neutrino.close(TAKE(d->sink)), 0);
}

void desk_clear(struct desk *d)
{
	char command[96];

	if (d->sink)
		desk_close(d);
	close(d->dirfd);
	free(d->text);
	snprintf(command, sizeof(command), "rm -rf '%s'", d->dir);
	CHECK(!system(command));
}

int call_told(struct desk *d, struct cuda_call *c, uint16_t kind)
{
	struct rec_hdr rec = { .kind = kind };
	struct call call = { .cuda = c, .kind = REC_CUDA_ENTRY };
	struct event ev = { .rec = &rec, .kind = kind, .call = &call };

	return sink_neutrino.event(d->sink, &ev);
}

void call_begins(struct desk *d, struct cuda_call *c)
{
	c->process = &d->process;
	c->tid = c->tid ?: d->process.pid;
	c->result = CUDA_NO_RESULT;
	c->entry = d->now;
	for (size_t i = 0; i < c->launches; i++)
		c->launch[i].seq = d->process.launches++;
	CHECK_INT(call_told(d, c, REC_CUDA_ENTRY), 0);
}

void call_ends(struct desk *d, struct cuda_call *c, uint64_t after, uint32_t result)
{
	d->now += after;
	c->ret = d->now;
	c->result = result;
	CHECK_INT(call_told(d, c, REC_CUDA_EXIT), 0);
}

void call_made(struct desk *d, struct cuda_call *c)
{
	call_begins(d, c);
	call_ends(d, c, 100, 0);
}

struct cuda_launch launch_of(struct cuda_kernel *k, uint32_t blocks, uint32_t threads, uint64_t stream)
{
	return (struct cuda_launch){
		.kernel = k, .func = k->handle, .stream = stream, .grid = { blocks, 1, 1 }, .block = { threads, 1, 1 },
	};
}

void launched(struct desk *d, uint64_t stream)
{
	struct cuda_launch l = launch_of(&vadd, 4, 64, stream);
	struct cuda_call c = { .fn = &launch_kernel, .launch = &l, .launches = 1 };

	call_made(d, &c);
}

uint64_t did(struct desk *d, struct cuda_call c)
{
	call_made(d, &c);
	return c.ret;
}

/* ---- looking at files ---- */

const char *read_in(struct desk *d, const char *folder, const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", d->dir, folder, name);
	f = fopen(path, "r");
	if (!f)
		test_failed(__FILE__, __LINE__, "cannot open %s", path);
	free(d->text);
	d->text = malloc(64 << 20);
	d->len = fread(d->text, 1, (64 << 20) - 1, f);
	d->text[d->len] = '\0';
	fclose(f);
	return d->text;
}

const char *read_file(struct desk *d, const char *name)
{
	return read_in(d, FOLDER, name);
}

uint32_t rows_of(struct desk *d, const char *table)
{
	return half(read_file(d, table));
}

uint64_t sync_of(struct desk *d, unsigned row)
{
	return word(read_file(d, "result/launches.bin") + 48 + 64 * row + SYNC);
}
