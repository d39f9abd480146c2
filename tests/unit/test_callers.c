/*
 * test_callers.c - stacks in a trace.dat: what of a record is taken, and what its text is.
 */
#include "base.h"
#include "event.h"
#include "flow/record.h"
#include "image.h"
#include "sink/tracedat/tracedat.h"
#include "test.h"

struct stack {
	struct rec_callers rec;
	uint64_t	   room[CALLERS_KERNEL_MAX + CALLERS_USER_MAX + 1];
	struct frame	   frame[CALLERS_USER_MAX];
	struct func	   func[CALLERS_USER_MAX];
	struct map	   map;
	struct td_payload  p;
};

static void begin(struct stack *s, uint32_t kernel, uint32_t user)
{
	memset(s, 0, sizeof(*s));
	s->rec = (struct rec_callers){
		.hdr = { .kind = REC_CALLERS, .pid = 7, .tid = 8, .size = sizeof(s->rec) + (kernel + user) * 8 },
		.kernel = kernel, .user = user,
	};
}

static void name(struct stack *s, uint32_t i, const char *name)
{
	s->func[i].name = name;
	s->frame[i].func = &s->func[i];
}

static const char *text(struct stack *s)
{
	uint32_t at;

	CHECK_INT(td_callers(&s->p, &s->rec, s->frame), TD_CALLERS);
	memcpy(&at, s->p.bytes + 16, sizeof(at));
	CHECK((at & 0xffff) + (at >> 16) <= s->p.len && s->p.len <= TD_PAYLOAD_MAX);
	CHECK_INT(s->p.bytes[(at & 0xffff) + (at >> 16) - 1], 0);
	return (const char *)s->p.bytes + (at & 0xffff);
}

TEST(callers_are_folded_the_outermost_first)
{
	struct stack s;

	begin(&s, 0, 4);
	name(&s, 0, "inner;most");
	s.map.path = "/usr/lib/libx.so.1";
	s.frame[1] = (struct frame){ .ip = 0x7000, .map = &s.map, .offset = 0x1234 };
	s.frame[2] = (struct frame){ .ip = 0xabcd };
	name(&s, 3, "main");
	CHECK_STR(text(&s), "main;0xabcd;libx.so.1+0x1234;inner:most");
}

TEST(callers_that_have_no_room_are_the_outermost)
{
	char names[CALLERS_USER_MAX][101];
	struct stack s;

	begin(&s, 0, CALLERS_USER_MAX - 1);
	for (uint32_t i = 0; i < s.rec.user; i++) {
		memset(names[i], 'a' + i % 26, 100);
		names[i][100] = '\0';
		name(&s, i, names[i]);
	}
	CHECK(!strncmp(text(&s), "...;", 4));
	CHECK_STR(strrchr(text(&s), ';') + 1, names[0]);
}

/* As many as are recorded: there may have been more. */
TEST(callers_of_which_there_may_be_more_say_so)
{
	struct stack s;

	begin(&s, 0, CALLERS_USER_MAX);
	for (uint32_t i = 0; i < s.rec.user; i++)
		name(&s, i, "f");
	CHECK(!strncmp(text(&s), "...;f;f;", 8));
	CHECK_INT(strlen(text(&s)), 4 + 2 * CALLERS_USER_MAX - 1);
}

TEST(callers_records_that_lie_are_refused)
{
	struct stack s;

	begin(&s, CALLERS_KERNEL_MAX, CALLERS_USER_MAX);
	CHECK(record_is_sane(&s.rec.hdr, sizeof(s)));
	s.rec.user++;
	s.rec.hdr.size += 8;
	CHECK(!record_is_sane(&s.rec.hdr, sizeof(s)));
	begin(&s, CALLERS_KERNEL_MAX + 1, 0);
	CHECK(!record_is_sane(&s.rec.hdr, sizeof(s)));
	begin(&s, 3, 3);
	s.rec.user++;
	CHECK(!record_is_sane(&s.rec.hdr, sizeof(s)));
}
