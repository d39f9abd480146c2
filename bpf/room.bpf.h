/*
 * room.bpf.h - memory of a task that is more than its storage may have: some 8 KiB since 7.0, where the kernel allocates
 * that by kmalloc_nolock().
 *
 * A hash by task. Its values begin with a struct room, and whoever makes some gives them up when the task exits; of a task
 * whose exit was missed they are not taken for those of the next at its address.
 */
#ifndef ROOM_BPF_H
#define ROOM_BPF_H

#include "recorder.bpf.h"

#define ROOMS_MAX	65536	/* tasks that have one at a time */

struct room {
	__u64	born;		/* the task's start_time */
};

#define ROOMS(name, what)					\
	struct {						\
		__uint(type, BPF_MAP_TYPE_HASH);		\
		__uint(map_flags, BPF_F_NO_PREALLOC);		\
		__uint(max_entries, ROOMS_MAX);			\
		__type(key, __u64);				\
		__type(value, what);				\
	} name __weak SEC(".maps");				\
	struct {						\
		__uint(type, BPF_MAP_TYPE_ARRAY);		\
		__uint(max_entries, 1);				\
		__type(key, __u32);				\
		__type(value, what);				\
	} name##_blank __weak SEC(".maps")

/* NULL: it has none. */
static __always_inline void *room_of(void *rooms, struct task_struct *task)
{
	__u64 key = (__u64)task;
	struct room *r = bpf_map_lookup_elem(rooms, &key);

	return r && r->born == task->start_time ? r : NULL;
}

/* As @from is, which may be another task's. NULL: there is no memory. */
static __always_inline void *room_copy(void *rooms, const void *from, struct task_struct *task)
{
	__u64 key = (__u64)task;
	struct room *r;

	if (bpf_map_update_elem(rooms, &key, from, BPF_ANY))
		return NULL;
	r = bpf_map_lookup_elem(rooms, &key);
	if (r)
		r->born = task->start_time;
	return r;
}

/* What it has, or a new one, all zero: @blank is rooms##_blank. */
static __always_inline void *room_make(void *rooms, void *blank, struct task_struct *task)
{
	void *r = room_of(rooms, task), *from;
	__u32 zero = 0;

	if (r)
		return r;
	from = bpf_map_lookup_elem(blank, &zero);
	return from ? room_copy(rooms, from, task) : NULL;
}

/* At an exec: a thread that is not the leader, @old_tid its number until then, has been given the leader's start_time. */
static __always_inline void room_keep(void *rooms, struct task_struct *task, pid_t old_tid)
{
	__u64 key = (__u64)task;
	struct room *r = old_tid == task->pid ? NULL : bpf_map_lookup_elem(rooms, &key);

	if (r)
		r->born = task->start_time;
}

static __always_inline void room_leave(void *rooms, struct task_struct *task)
{
	__u64 key = (__u64)task;

	bpf_map_delete_elem(rooms, &key);
}

#endif
