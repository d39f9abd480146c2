/*
 * payload.c - the bytes of one event: the common fields, fixed fields, then texts.
 */
#include "base.h"
#include "sink/tracedat/tracedat.h"
#include "syscall/syscall.h"

#define COMMON	8	/* u16 id, u8 flags, u8 preemption count, s32 task */

void td_begin(struct td_payload *p, uint16_t id, uint32_t tid, uint32_t fixed)
{
	p->len = fixed;
	memset(p->bytes, 0, fixed);
	memcpy(p->bytes, &id, sizeof(id));
	memcpy(p->bytes + 4, &tid, sizeof(tid));
	_Static_assert(COMMON == 4 + sizeof(tid), "the task comes last");
}

void td_u32(struct td_payload *p, uint32_t at, uint32_t v)
{
	memcpy(p->bytes + at, &v, sizeof(v));
}

void td_u64(struct td_payload *p, uint32_t at, uint64_t v)
{
	memcpy(p->bytes + at, &v, sizeof(v));
}

void td_bytes(struct td_payload *p, uint32_t at, const void *data, uint32_t len)
{
	memcpy(p->bytes + at, data, len);
}

#define CUT	"..."

void td_text(struct td_payload *p, uint32_t at, const char *text, size_t len, size_t most)
{
	size_t room = TD_PAYLOAD_MAX - p->len;
	bool is_cut;

	if (!text || room <= sizeof(CUT)) {
		td_u32(p, at, p->len - 1);
		return;
	}
	most = MIN(most, room - 1);
	is_cut = len > most;
	len = MIN(len, most);
	memcpy(p->bytes + p->len, text, len);
	if (is_cut && len >= strlen(CUT))
		memcpy(p->bytes + p->len + len - strlen(CUT), CUT, strlen(CUT));
	p->bytes[p->len + len] = '\0';
	td_u32(p, at, (uint32_t)(len + 1) << 16 | p->len);
	p->len += len + 1;
}

void td_escaped(struct td_payload *p, uint32_t at, const char *text)
{
	char escaped[TD_PAYLOAD_MAX];
	size_t n = text_escape(text, strlen(text), false, escaped, sizeof(escaped));

	td_text(p, at, n ? escaped : NULL, MIN(n, sizeof(escaped) - 1), TD_ALL);
}

void td_clean(char to[REC_COMM + 1], const char *comm)
{
	unsigned i;

	for (i = 0; i < REC_COMM && comm[i]; i++)
		to[i] = (uint8_t)comm[i] < ' ' || comm[i] == 0x7f ? '?' : comm[i];
	to[i] = '\0';
}

void td_comm(struct td_payload *p, uint32_t at, const char *comm)
{
	char clean[REC_COMM + 1];

	td_clean(clean, comm);
	memcpy(p->bytes + at, clean, strnlen(clean, REC_COMM - 1));
}
