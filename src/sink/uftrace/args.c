/*
 * args.c - how a syscall is shown: what follows its two records, and the slot with the spec for it.
 *
 * An error reads ENOENT and not -ENOENT, since no enumerator can begin with a
 * minus.
 */
#include "about.h"
#include "base.h"
#include "sink/uftrace/calls.h"

#define STRING_MAX	98	/* bytes of a string, as libmcount cuts them: a reader has 1024 for a call */
#define STRINGS_MAX	392	/* of all strings of a call */

/* A call on its way into a struct uf_shown. */
struct showing {
	struct uf_calls		 *c;
	struct info		 *info;
	const struct uf_syscall	 *call;
	const struct rec_sys_exit *exit;	/* NULL: not seen */
	uint64_t		  context;	/* of all arguments with names: a text may depend on them */
	unsigned		  args;		/* shown */
	size_t			  string_bytes;	/* so far */
	uint8_t			  format[RESULT + 1];
	uint8_t			 *at;		/* where the next argument goes */
};

static struct info *info_of(struct uf_calls *c, uint32_t nr, bool is_compat)
{
	struct info **known = nr < SYS_MAX ? &c->by_nr[is_compat][nr] : NULL;
	const struct sysdef *def;
	struct info *info;

	if (known && *known)
		return *known;
	def = syscall_def(nr, is_compat);
	info = &c->info[syscall_index(def)];
	if (!info->def) {
		info->def = def;
		info->index = syscall_index(def);
		info->args = syscall_args(def);
		for (unsigned i = 0; i < info->args; i++)
			info->show[i] = syscall_arg_show(def, i);
		info->show[RESULT] = syscall_ret_show(def);
	}
	if (known)
		*known = info;
	return info;
}

/* The text of argument @i, or of the result. */
static void describe(const struct showing *sh, unsigned i, uint64_t value, char *text, size_t size)
{
	if (i == RESULT)
		syscall_ret_text(sh->info->def, value, text, size);
	else
		syscall_arg_text(sh->info->def, i, sh->call->arg[i], sh->call->arg, text, size);
}

/* How @value is written: found once, then remembered. NULL: no memory. */
static const struct seen *look_up(const struct showing *sh, unsigned i, uint64_t value)
{
	struct column **col = &sh->info->column[i];
	uint64_t key = value ^ (i == RESULT ? 0 : sh->context);
	const struct seen *s;
	size_t names;
	char text[256];

	if (!*col)
		*col = column_create();
	if (!*col)
		return NULL;
	s = column_find(*col, key);
	if (s)
		return s;
	names = (*col)->named_count;
	describe(sh, i, value, text, sizeof(text));
	s = column_add(*col, key, value, text);
	sh->c->has_new_names |= (*col)->named_count != names;
	return s;
}

/* --- payloads: each value at a multiple of 4 bytes --- */

static void put_u64(struct showing *sh, uint64_t v)
{
	memcpy(sh->at, &v, sizeof(v));
	sh->at += sizeof(v);
}

static void put_string(struct showing *sh, const char *text, uint16_t len)
{
	size_t room = ROUND_UP(sizeof(len) + len, 4);

	memset(sh->at, 0, room);
	memcpy(sh->at, &len, sizeof(len));
	memcpy(sh->at + sizeof(len), text, len);
	sh->at += room;
	sh->string_bytes += len;
}

static void put_null(struct showing *sh)
{
	put_string(sh, "\xff\xff\xff\xff", 4);	/* cmds/replay.c:get_argspec_string shows this as NULL */
}

/* Bytes of the escaped @text that may be kept so that no escape is torn and "..." fits within @room, too. */
static size_t cut_escaped(const char *text, size_t room)
{
	size_t len = 0, n;

	for (const char *s = text; *s; s += n) {
		n = 1;
		if (*s == '\\')
			n = s[1] >= '0' && s[1] <= '7' ? 1 + strspn(s + 1, "01234567") : 2;
		n = MIN(n, (size_t)4);
		if (len + n > room - 3)
			break;
		len += n;
	}
	return len;
}

static void put_text(struct showing *sh, char *text)
{
	size_t room = MIN((size_t)STRING_MAX, STRINGS_MAX - MIN(sh->string_bytes, (size_t)STRINGS_MAX - 3));
	size_t len = strlen(text);

	if (len > room) {
		len = cut_escaped(text, room);
		strcpy(text + len, "...");
		len += 3;
	}
	put_string(sh, text, len);
}

/* What BPF took along from argument @i; NULL: nothing. */
static const struct rec_text *text_in(const char *texts, uint32_t len, unsigned i)
{
	const struct rec_text *t = NULL;

	while ((t = syscall_next_text(texts, len, t)))
		if (t->arg == i && !(t->flags & TEXT_FAULT))
			return t;
	return NULL;
}

static const struct rec_text *text_of(const struct showing *sh, unsigned i)
{
	const struct rec_text *t = text_in(sh->call->text, sh->call->text_len, i);

	return t || !sh->exit ? t : text_in(sh->exit->text, sh->exit->text_len, i);
}

/* Most texts are names of files that need no escape: those are copied. */
static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

/* Argument @i as the text @t, escaped, at most as long as the user wants strings to be. */
static void put_taken_text(struct showing *sh, unsigned i, const struct rec_text *t)
{
	unsigned wanted = sh->c->about->string_bytes ?: STRING_MAX;
	char text[512];

	if (syscall_arg_take(sh->info->def, i) == TAKE_STRING) {
		if (t->len <= MIN(wanted, (unsigned)STRING_MAX) && !(t->flags & TEXT_CUT) &&
		    sh->string_bytes + STRING_MAX <= STRINGS_MAX && is_plain(t->bytes, t->len)) {
			put_string(sh, t->bytes, t->len);
			return;
		}
		text_escape(t->bytes, MIN(t->len, wanted), t->len > wanted || t->flags & TEXT_CUT,
			    text, sizeof(text));
	} else {
		syscall_taken_text(sh->info->def, t, text, sizeof(text));
	}
	put_text(sh, text);
}

/* A call that failed has filled nothing: what BPF found in its buffer was there before. */
static bool was_filled(const struct showing *sh, unsigned i)
{
	enum sys_take take = syscall_arg_take(sh->info->def, i);

	return (take != TAKE_BUF_RET && take != TAKE_FDS) || (sh->exit && sh->exit->ret >= 0);
}

static enum format put_taken(struct showing *sh, unsigned i, uint64_t value)
{
	const struct rec_text *t = text_of(sh, i);

	if (t && was_filled(sh, i)) {
		put_taken_text(sh, i, t);
	} else if (value) {
		put_u64(sh, value);
		return F_HEX;
	} else {
		put_null(sh);
	}
	return F_STRING;
}

static enum format put_named(struct showing *sh, unsigned i, uint64_t value)
{
	const struct seen *s = look_up(sh, i, value);
	char text[512];

	if (!s || s->format != F_STRING) {
		put_u64(sh, s ? (uint64_t)s->value : value);
		return s ? s->format : F_HEX;
	}
	if (s->text) {
		snprintf(text, sizeof(text), "%s", s->text);
		put_text(sh, text);
	} else {
		put_null(sh);
	}
	return F_STRING;
}

static enum format put_number(struct showing *sh, uint64_t value, enum format format)
{
	put_u64(sh, value);
	return format;
}

static enum format put_arg(struct showing *sh, unsigned i)
{
	uint64_t value = syscall_arg_value(sh->info->def, i, sh->call->arg[i]);

	switch (sh->info->show[i]) {
	case SHOW_DEC:
		return put_number(sh, value, F_DEC);
	case SHOW_UDEC:
		return put_number(sh, value, value <= INT64_MAX ? F_DEC : F_HEX);
	case SHOW_HEX:		/* 0 may read NULL */
		return value ? put_number(sh, value, F_HEX) : put_named(sh, i, value);
	case SHOW_TEXT:
	case SHOW_FDS:
		return put_taken(sh, i, value);
	default:
		return put_named(sh, i, value);
	}
}

static enum format put_result(struct showing *sh)
{
	const struct seen *s;
	int64_t ret;

	if (!sh->exit)
		return F_NONE;
	ret = sh->exit->ret;
	put_u64(sh, ret);
	if (ret < 0 && ret > -(int64_t)ARRAY_SIZE(sh->c->errno_seen) && errno_name(-ret)) {
		sh->c->has_new_names |= !sh->c->errno_seen[-ret];
		sh->c->errno_seen[-ret] = true;
		return F_ERRNO;
	}
	if (ret < 0 || sh->info->show[RESULT] == SHOW_DEC || sh->info->show[RESULT] == SHOW_UDEC)
		return F_DEC;
	if (sh->info->show[RESULT] == SHOW_HEX)
		return F_HEX;
	s = look_up(sh, RESULT, ret);
	if (!s || s->format == F_STRING)
		return F_DEC;
	sh->at -= sizeof(uint64_t);
	put_u64(sh, s->value);
	return s->format;
}

static size_t pad_payload(uint8_t *start, uint8_t *end)
{
	size_t len = end - start, room = ROUND_UP(len, 8);

	memset(end, 0, room - len);
	return room;
}

/* Fill in both payloads, and the formats that they have. */
static void put_payloads(struct showing *sh, struct uf_shown *ret)
{
	sh->at = ret->entry;
	for (unsigned i = 0; i < sh->args; i++)
		sh->format[i] = put_arg(sh, i);
	ret->entry_len = pad_payload(ret->entry, sh->at);
	sh->at = ret->exit;
	sh->format[RESULT] = put_result(sh);
	ret->exit_len = sh->format[RESULT] ? sizeof(ret->exit) : 0;
}

/* There is no slot left for the way this call wants to be shown: all numbers, then. */
static void put_plain(struct showing *sh, struct uf_shown *ret)
{
	int64_t result = sh->exit ? sh->exit->ret : 0;

	memset(sh->format, 0, sizeof(sh->format));
	sh->at = ret->entry;
	for (unsigned i = 0; i < sh->info->args; i++) {
		put_u64(sh, sh->call->arg[i]);
		sh->format[i] = F_HEX;
	}
	ret->entry_len = sh->at - ret->entry;
	memcpy(ret->exit, &result, sizeof(result));
	sh->format[RESULT] = sh->exit ? F_DEC : F_NONE;
	ret->exit_len = sh->exit ? sizeof(ret->exit) : 0;
}

static uint32_t find_slot(struct showing *sh, struct uf_shown *ret)
{
	struct slot slot = { .key = slot_key(sh->info, sh->call->is_compat, sh->format), .info = sh->info };
	uint32_t found;

	if (slot.key == sh->info->last_key)
		return sh->info->last_slot;
	found = slot_find(sh->c, slot.key);
	if (!found && !slot_may_be_added(sh->c, sh->info)) {
		put_plain(sh, ret);
		slot.key = slot_key(sh->info, sh->call->is_compat, sh->format);
		found = slot_find(sh->c, slot.key);
	}
	if (!found) {
		found = slot_add(sh->c, &slot);
		sh->info->slots++;
	}
	sh->info->last_key = slot.key;
	sh->info->last_slot = found;
	return found;
}

int uf_calls_show(struct uf_calls *c, struct uf_shown *ret, const struct uf_syscall *call,
		  const struct rec_sys_exit *exit)
{
	struct showing sh = {
		.c = c, .info = info_of(c, call->nr, call->is_compat), .call = call, .exit = exit,
	};
	uint32_t slot;

	sh.args = syscall_args_used(sh.info->def, call->arg);
	for (unsigned i = 0; i < sh.args; i++)
		if (sh.info->show[i] == SHOW_NAMED || sh.info->show[i] == SHOW_OCT)
			sh.context = (sh.context + call->arg[i]) * 0x9e3779b97f4a7c15ull;
	put_payloads(&sh, ret);
	slot = find_slot(&sh, ret);
	if (!slot)
		return -ENOMEM;
	ret->addr = slot_addr(c, slot);
	return 0;
}

bool uf_calls_is_exec(const struct uf_syscall *call)
{
	return !strncmp(syscall_def(call->nr, call->is_compat)->name, "execve", strlen("execve"));
}
