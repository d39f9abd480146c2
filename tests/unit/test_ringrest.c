/* The rest of a BPF ring buffer, in made-up memory laid out as the kernel does, and in one of its own. */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <unistd.h>

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

/* Puts two words of its stack, 'a' and 'b' in each byte, into the ring @map; negative: may not be loaded. */
static int load_writer(int map)
{
#define INSN(code_, dst, src, off_, imm_)	{ .code = (code_), .dst_reg = (dst), .src_reg = (src), .off = (off_), .imm = (imm_) }
#define WRITE(letter)										\
	INSN(BPF_ALU | BPF_MOV | BPF_K, BPF_REG_1, 0, 0, 0x01010101 * (letter)),		\
	INSN(BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_1, -8, 0),				\
	INSN(BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_1, -4, 0),				\
	INSN(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map), INSN(0, 0, 0, 0, 0), \
	INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),				\
	INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -8),					\
	INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, 8),					\
	INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, BPF_RB_NO_WAKEUP),			\
	INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_ringbuf_output)
	const struct bpf_insn code[] = {
		WRITE('a'), WRITE('b'),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);

	return bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "writer", "GPL", code, ARRAY_SIZE(code), &opts);
}

TEST(the_rest_of_a_ring_of_the_kernel_is_seen)
{
	size_t bytes = 4 * sysconf(_SC_PAGESIZE);
	int map = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "rest", 0, 0, bytes, NULL);
	int prog = map < 0 ? -1 : load_writer(map);
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct seen s = {};
	struct ringrest r;

	if (prog < 0)
		SKIP("BPF may not be used here");
	CHECK_INT(ringrest_open(&r, map, bytes), 0);
	CHECK(ringrest_is_empty(&r));
	CHECK_INT(bpf_prog_test_run_opts(prog, &run), 0);
	CHECK(!ringrest_is_empty(&r));
	CHECK_INT(ringrest_each(&r, see, &s), 0);
	CHECK_STR(s.text, "a8 b8 ");
	ringrest_close(&r);
	CHECK(ringrest_open(&r, prog, bytes) < 0);	/* what is no ring */
	close(prog);
	close(map);
}
