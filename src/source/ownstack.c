/*
 * ownstack.c - reads "stack depth 40+8+48" out of what the verifier says: a figure for each function of a program.
 */
#include <bpf/libbpf.h>

#include "base.h"
#include "source/ownstack.h"

#define ASKED_MAX	16
#define LOG_STATS	4	/* BPF_LOG_STATS of <linux/bpf_verifier.h>: only the closing lines */
#define LOG_BYTES	4096
#define DEPTH_MAX	48	/* 64 is too much: BPF_PRIV_STACK_MIN_SIZE; depths are rounded up to 16 before they are compared */

static struct {
	struct bpf_program *prog;
	char		    log[LOG_BYTES];
} asked[ASKED_MAX];

void ownstack_ask(struct bpf_program *prog)
{
	for (int i = 0; i < ASKED_MAX; i++) {
		if (asked[i].prog)
			continue;
		asked[i].prog = prog;
		bpf_program__set_log_level(prog, LOG_STATS);
		bpf_program__set_log_buf(prog, asked[i].log, LOG_BYTES);
		return;
	}
}

static bool is_small(const char *log)
{
	const char *at = strstr(log, "stack depth ");
	char *end;

	if (!at)
		return false;
	at += strlen("stack depth ");
	for (;; at = end + 1) {
		if (strtoul(at, &end, 10) > DEPTH_MAX || end == at)
			return false;
		if (*end != '+')
			return true;
	}
}

bool ownstack_has(const struct bpf_program *prog)
{
	for (int i = 0; i < ASKED_MAX && asked[i].prog; i++)
		if (asked[i].prog == prog)
			return is_small(asked[i].log);
	return false;
}
