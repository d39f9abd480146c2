/* The rest of a BPF ring buffer, in made-up memory laid out as the kernel does. */
#include <linux/bpf.h>

#include "base.h"
#include "flow/ringrest.h"
#include "test.h"

#define BYTES	128

struct made {
	uint64_t taken, begun;
	_Alignas(8) char data[2 * BYTES];
};

static struct ringrest open_made(struct made *m, uint64_t lived)
{
	*m = (struct made){ .taken = lived, .begun = lived };
	return (struct ringrest){ .taken = &m->taken, .begun = &m->begun, .data = m->data, .bytes = BYTES };
}

/* A record of @len bytes, all @letter; @bits: BPF_RINGBUF_BUSY_BIT, BPF_RINGBUF_DISCARD_BIT. */
static void add(struct made *m, char letter, uint32_t len, uint32_t bits)
{
	uint32_t header = len | bits;
	char bytes[BYTES];

	memcpy(bytes, &header, sizeof(header));
	memset(bytes + 4, 0, 4);
	memset(bytes + 8, letter, len);
	for (uint32_t i = 0; i < 8 + len; i++)
		m->data[(m->begun + i) % BYTES] = m->data[(m->begun + i) % BYTES + BYTES] = bytes[i];
	m->begun += (8 + len + 7) & ~7u;
}

struct seen {
	char	 text[64];
	unsigned count;
	int	 answer;	/* to the second */
};

static int see(void *ctx, const void *data, size_t len, bool is_whole)
{
	struct seen *s = ctx;
	const char *byte = data;

	for (size_t i = 0; i < len; i++)
		CHECK_INT(byte[i], byte[0]);
	snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%c%zu%s ", byte[0], len, is_whole ? "" : "?");
	return ++s->count == 2 ? s->answer : 0;
}

TEST(what_lies_behind_a_record_that_is_being_written_is_seen_wherever_the_ring_begins)
{
	for (uint64_t lived = 0; lived < 2 * BYTES; lived += 8) {
		struct seen s = {};
		struct made m;
		struct ringrest r = open_made(&m, lived);

		CHECK(ringrest_is_empty(&r));
		add(&m, 'a', 16, BPF_RINGBUF_BUSY_BIT);
		add(&m, 'b', 20, 0);
		add(&m, 'c', 8, BPF_RINGBUF_DISCARD_BIT);
		add(&m, 'd', 24, BPF_RINGBUF_BUSY_BIT);
		add(&m, 'e', 1, 0);
		CHECK(!ringrest_is_empty(&r));
		CHECK_INT(ringrest_each(&r, see, &s), 0);
		CHECK_STR(s.text, "a16? b20 d24? e1 ");
	}
}

TEST(who_is_told_of_the_rest_of_a_ring_can_end_that)
{
	struct seen s = { .answer = -ENOMEM };
	struct made m;
	struct ringrest r = open_made(&m, 0);

	add(&m, 'a', 8, 0);
	add(&m, 'b', 8, 0);
	add(&m, 'c', 8, 0);
	CHECK_INT(ringrest_each(&r, see, &s), -ENOMEM);
	CHECK_INT(s.count, 2);
}

TEST(a_record_that_says_it_is_longer_than_what_was_begun_ends_the_rest_of_a_ring)
{
	struct seen s = {};
	struct made m;
	struct ringrest r = open_made(&m, 0);

	add(&m, 'a', 8, 0);
	add(&m, 'b', 8, 0);
	m.data[17] = 0x10;
	CHECK_INT(ringrest_each(&r, see, &s), -EBADMSG);
	CHECK_STR(s.text, "a8 ");
}
