/*
 * gpu.c - what ran on a device, as events of the system "cuda": gpu_kernel, gpu_memcpy, gpu_memset, and where each ended
 * gpu_end.
 *
 * CUPTI tells it late. Each stream has a CPU of its own in the file, so an event can stand at the time it has on the
 * device: what a stream does is told in order. What is not (nodes of a graph that run at once) stands where the one before
 * ended; its fields say when it ran. Its task is who made the call, else the process; a gpu_end's is the idle one, so that
 * KernelShark draws a bar between them. What is not known is 0, of a launch's number all ones, and the text does not have it.
 */
#include "base.h"
#include "cuda.h"
#include "sink/tracedat/tracedat.h"

#define ADD(text, ...) do {								\
	size_t at_ = strlen(text);							\
											\
	snprintf((text) + at_, sizeof(text) - at_, __VA_ARGS__);			\
} while (0)

/* What is known of the call, and what not every time has. */
static void add_call(struct td_payload *p, uint32_t at, const struct cuda_device_time *d)
{
	const struct cuda_time *t = d->time;
	char text[160] = "";

	if (d->seq != CUDA_NO_SEQ)
		ADD(text, " seq=%lu", d->seq);
	else if (!d->entry)
		ADD(text, " call=unseen");
	else if (t->kind == CUDA_TIME_KERNEL)
		ADD(text, " seq=unseen");
	if (d->entry)
		ADD(text, " stream=0x%lx", d->stream);
	if (t->graph_node)
		ADD(text, " node=%llu", t->graph_node);
	if (t->queued)
		ADD(text, " queued=%llu.%09llu", t->queued / NSEC_PER_SEC, t->queued % NSEC_PER_SEC);
	td_text(p, at, text, strlen(text), TD_ALL);
}

/* What every event has. */
static void begin(struct td_payload *p, uint16_t id, uint32_t fixed, const struct cuda_device_time *d)
{
	const struct cuda_time *t = d->time;

	td_begin(p, id, d->tid ?: d->process->pid, fixed);
	td_u64(p, 8, t->end - MIN(t->start, t->end));
	td_u64(p, 16, t->start);
	td_u64(p, 24, t->end);
	td_u64(p, 32, d->entry);
	td_u64(p, 40, d->stream);
	td_u64(p, 48, t->graph_node);
	td_u32(p, 56, t->device);
	td_u32(p, 60, t->context);
	td_u32(p, 64, t->stream);
	td_u32(p, 68, t->correlation);
	td_u32(p, 72, d->process->pid);
	td_u32(p, 76, d->tid);
	add_call(p, 80, d);
}

static uint16_t add_kernel(struct td_payload *p, const struct cuda_device_time *d)
{
	const struct cuda_time *t = d->time;

	begin(p, TD_GPU_KERNEL, 132, d);
	td_u32(p, 84, t->regs);
	td_u64(p, 88, d->seq);
	td_u64(p, 96, t->queued);
	td_bytes(p, 104, t->grid, sizeof(t->grid));
	td_bytes(p, 116, t->block, sizeof(t->block));
	td_escaped(p, 128, d->kernel ? d->kernel->name : "");
	return TD_GPU_KERNEL;
}

/* Copies and sets. */
static uint16_t add_memory(struct td_payload *p, uint16_t id, const struct cuda_device_time *d)
{
	begin(p, id, 96, d);
	td_u32(p, 84, d->time->what);
	td_u64(p, 88, d->time->bytes);
	return id;
}

unsigned td_stream(struct td_streams *s, const struct cuda_device_time *d)
{
	const struct cuda_time *t = d->time;
	unsigned i;

	for (i = 0; i < s->count; i++)
		if (s->stream[i].pid == d->process->pid && s->stream[i].device == t->device &&
		    s->stream[i].context == t->context && s->stream[i].id == t->stream)
			return i;
	if (i == TD_STREAMS)
		return TD_STREAMS - 1;
	s->stream[i].pid = d->process->pid;
	s->stream[i].device = t->device;
	s->stream[i].context = t->context;
	s->stream[i].id = t->stream;
	return s->count++;
}

uint16_t td_gpu_end(struct td_payload *p, const struct cuda_device_time *d)
{
	td_begin(p, TD_GPU_END, 0, 24);
	td_u32(p, 8, d->time->device);
	td_u32(p, 12, d->time->stream);
	td_u32(p, 16, d->time->correlation);
	td_u32(p, 20, d->process->pid);
	return TD_GPU_END;
}

uint16_t td_gpu(struct td_payload *p, const struct cuda_device_time *d)
{
	switch (d->time->kind) {
	case CUDA_TIME_KERNEL:
		return add_kernel(p, d);
	case CUDA_TIME_COPY:
		return add_memory(p, TD_GPU_MEMCPY, d);
	case CUDA_TIME_SET:
		return add_memory(p, TD_GPU_MEMSET, d);
	default:
		return 0;
	}
}
