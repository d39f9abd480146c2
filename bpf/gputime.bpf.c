/*
 * gputime.bpf.c - device times: a batch that librecorder_cupti.so hands over, copied as it is.
 *
 * The batch lies in memory that was just written. What is lost is counted by what it holds.
 */
#include "user.bpf.h"
#include "point.bpf.h"

struct gpu_batch {
	struct rec_cuda_times rec;
	struct cuda_time      time[CUDA_TIMES_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct gpu_batch);
} gpu_batches SEC(".maps");

static __always_inline void lose(struct task_state *t, __u32 count)
{
	count_lost_many(t, CLASS_CUDA, count);
}

/* As rec_send(), but that a loss is as many as the batch holds. */
static __noinline int send(struct task_state *t, struct gpu_batch *b, __u32 count)
{
	__u32 size = sizeof(b->rec) + count * sizeof(b->time[0]);
	void *ring = ring_of_this_cpu();

	if (!t || !b)
		return 0;
	if (t->flags & TASK_HAS_LOST)
		report_lost(t);
	b->rec.count = count;
	b->rec.pad = 0;
	rec_fill(&b->rec.hdr, REC_CUDA_TIMES, size);
	asm volatile("" : "+r"(size));
	if (size > sizeof(*b))
		return 0;
	if (!ring || (lose_one_in && bpf_get_prandom_u32() % lose_one_in == 0) ||
	    bpf_ringbuf_output(ring, b, size, BPF_RB_NO_WAKEUP))
		lose(t, count);
	return 0;
}

/* recorder_cupti_batch(time, count) */
UPROBE(gpu_batch, ctx)
{
	__u32 count = PT_REGS_PARM2(ctx), bytes;
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *t = state_of(task);
	struct gpu_batch *b;

	if (!t || !count)
		return 0;
	if (count > CUDA_TIMES_MAX)
		count = CUDA_TIMES_MAX;
	b = bpf_task_storage_get(&gpu_batches, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	bytes = count * sizeof(b->time[0]);
	asm volatile("" : "+r"(bytes));
	if (!b || bytes > sizeof(b->time) || read_bytes(b->time, bytes, PT_REGS_PARM1(ctx))) {
		lose(t, count);
		return 0;
	}
	return send(t, b, count);
}

char LICENSE[] SEC("license") = "GPL";
