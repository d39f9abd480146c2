/*
 * user.bpf.h - reading what a value points to in the task's own memory: nothing that is there or not harms the task.
 */
#ifndef USER_BPF_H
#define USER_BPF_H

#include "recorder.bpf.h"
#include "funcargs.h"

#define PAGE_BYTES	4096

extern const volatile bool args_may_fault;	/* the programs are sleepable: what is not in memory yet is fetched */

static __always_inline bool fetch_page(__u64 addr)
{
	char byte;

	return !bpf_copy_from_user(&byte, sizeof(byte), (void *)addr);
}

/* A string of less than @room bytes. It may begin in a page that is not in memory yet, or go on in one. */
static __always_inline long read_text(char *to, const __u32 room, __u64 from)
{
	long n = bpf_probe_read_user_str(to, room, (void *)from);

	if (n > 0 || !args_may_fault || !from)
		return n;
	if (!fetch_page(from))
		return -1;
	n = bpf_probe_read_user_str(to, room, (void *)from);
	if (n > 0 || !fetch_page((from | (PAGE_BYTES - 1)) + 1))
		return n;
	return bpf_probe_read_user_str(to, room, (void *)from);
}

static __always_inline long read_string(char *to, __u64 from)
{
	return read_text(to, VALUE_STRING_MAX + 2, from);
}

/* What is not in memory yet is fetched; it may lie in two pages. */
static __always_inline long read_bytes(void *to, __u32 size, __u64 from)
{
	if (!bpf_probe_read_user(to, size, (void *)from))
		return 0;
	return args_may_fault ? bpf_copy_from_user(to, size, (void *)from) : -1;
}

#endif
