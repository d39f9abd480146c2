/*
 * seat.c - whom a number means is proven before a word is written.
 *
 * Only the task at a seat moves it away from GATE_SERVING, as the first thing it
 * does when it goes, and it has a number as long as it is there. So if it is there
 * still after memory was read, it was there then, and the number was its own. And
 * its memory it was only if it held, word for word, what BPF saw there.
 */
#include <sys/uio.h>

#include "base.h"
#include "gate.h"
#include "source/seat.h"

static bool is_seated(const struct gate_slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_SEQ_CST) == GATE_SERVING;
}

/* Does the memory of @tid hold what BPF saw? @at: where the words lie there. */
static bool holds_words(pid_t tid, const struct gate_word *word, const struct iovec *at, unsigned n)
{
	__u64 have[GATE_FRAMES];
	struct iovec to = { have, n * sizeof(*have) };

	if (process_vm_readv(tid, &to, 1, at, n, 0) != (ssize_t)to.iov_len)
		return false;
	for (unsigned i = 0; i < n; i++)
		if (have[i] != word[i].have)
			return false;
	return true;
}

bool seat_write(const struct gate_slot *s)
{
	struct iovec from[GATE_FRAMES], at[GATE_FRAMES];
	unsigned n = MIN(s->count, (__u32)GATE_FRAMES);
	pid_t tid = s->tid;

	for (unsigned i = 0; i < n; i++) {
		from[i] = (struct iovec){ (void *)&s->word[i].value, sizeof(__u64) };
		at[i] = (struct iovec){ (void *)(uintptr_t)s->word[i].addr, sizeof(__u64) };
	}
	if (!tid || !holds_words(tid, s->word, at, n) || !is_seated(s))
		return false;
	return process_vm_writev(tid, from, n, at, n, 0) == (ssize_t)(n * sizeof(__u64));
}
