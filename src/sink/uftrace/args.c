/*
 * args.c - syscalls as functions of a module that does not exist.
 *
 * uftrace shows a function's arguments as the module's .dbg file says: a spec
 * per address, so one name may stand at many addresses with a spec each. A call
 * is put at the address whose spec fits the way it is to be shown: with three
 * arguments or four, AT_FDCWD or 5, a string or the address of one that could
 * not be read, a number or an errno. Such an address is called a slot; slots
 * are made when first needed.
 *
 * A value with a name is written as an enumerator. All of an enumeration is in
 * the file when a reader comes, so each lists the values that were seen and no
 * others, whole: "O_RDONLY|O_CLOEXEC=524288". What the reader cannot hold is
 * kept out of them (utils/auto-args.c:parse_enum_string, convert_enum_val):
 * values of more than 32 bits, names that begin with a punctuation mark, so an
 * error reads ENOENT and not -ENOENT. A number never goes into one, since what
 * is not listed is shown as a sum of what is.
 */
#include <ctype.h>

#include "about.h"
#include "base.h"
#include "out.h"
#include "sink/uftrace/uftrace.h"
#include "syscall/syscall.h"

#define STRING_MAX	98	/* bytes of a string, as libmcount cuts them: readers render a call into 1024 bytes */
#define STRINGS_MAX	392	/* of all strings of a call */
#define NAME_MAX_OUT	100	/* of an enumerator: six of them must fit as well, and a token is 255 at most */
#define NAMES_MAX	1000	/* enumerators of one argument; beyond that values are shown as numbers */
#define SEEN_MAX	1024	/* values of one argument whose text is remembered */
#define SLOTS_MAX	((UF_CALLS_END - UF_CALLS_START) / UF_SLOT_BYTES)
#define SLOTS_SPARE	4096	/* kept for the plainest slot of each call */
#define SLOTS_PER_CALL	64	/* a call that is shown in more ways than that shows all else as hexadecimal */
#define FUNCS_MAX	1024	/* names of uf_calls_named() */
#define RESULT		6	/* stands behind the arguments */

/* How an argument or result is written. */
enum format { F_NONE, F_DEC, F_HEX, F_STRING, F_NAMED, F_ERRNO, FORMATS };

struct named {
	int32_t value;		/* the true one, if no other name has it and it fits */
	char   *text;
};

struct seen {
	uint64_t    key;	/* the value and what its text depends on */
	bool	    is_used;
	uint8_t	    format;
	int64_t	    value;	/* as it is written */
	char	   *text;	/* F_STRING: NULL is shown as NULL */
};

/* What was seen of one argument of one call. */
struct column {
	struct seen  *seen;	/* open addressing; a power of two */
	size_t	      seen_room, seen_count;
	struct named *named;
	size_t	      named_count, named_room;
	int32_t	      next_value;	/* for a name that cannot have its true value */
};

/* A syscall. */
struct info {
	const struct sysdef *def;
	unsigned	 index;
	uint8_t		 args;
	uint8_t		 show[RESULT + 1];	/* enum show */
	struct column	*column[RESULT + 1];	/* NULL: not needed so far */
	unsigned	 slots;			/* made so far */
	uint64_t	 last_key;		/* of the call before, and its slot + 1 */
	uint32_t	 last_slot;
};

/* A slot's key: which call, how each of its arguments and its result is written. A function's: its name. */
struct slot {
	uint64_t    key;
	const struct info *info;	/* NULL: a function */
	char	   *name;		/* of a function */
};

struct uf_calls {
	const struct about *about;
	struct info   *info;		/* by syscall_index() */
	struct info   *by_nr[2][SYS_MAX];	/* [is_compat]: the same, asked for often */
	struct slot   *slot;
	size_t	       slot_count, slot_room;
	uint32_t      *hash;		/* slot + 1 by key, open addressing */
	size_t	       hash_size;
	size_t	       funcs;
	bool	       errno_seen[4096];
	bool	       has_new_slots, has_new_names;
};

/* A call on its way into a struct uf_shown. */
struct showing {
	struct uf_calls		 *c;
	struct info		 *info;
	const struct uf_syscall	 *call;
	const struct rec_sys_exit *exit;	/* NULL: not seen */
	const char		 *texts;
	uint32_t		  text_len;
	uint64_t		  context;	/* the values of all arguments with names: a text may depend on them */
	unsigned		  args;		/* shown */
	size_t			  string_bytes;	/* so far */
	uint8_t			  format[RESULT + 1];
	uint8_t			 *at;		/* where the next argument goes */
};

static const char *const spec_of[FORMATS] = {
	[F_DEC]	   = "i64",
	[F_HEX]	   = "x64",
	[F_STRING] = "s",
	[F_NAMED]  = "e:",
	[F_ERRNO]  = "e:errno",
};

int uf_calls_create(struct uf_calls **ret, const struct about *about)
{
	struct uf_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->about = about;
	c->hash_size = 256;
	c->hash = calloc(c->hash_size, sizeof(*c->hash));
	c->info = calloc(syscall_count(), sizeof(*c->info));
	if (!c->hash || !c->info) {
		uf_calls_destroy(c);
		return -ENOMEM;
	}
	c->has_new_slots = c->has_new_names = true;	/* there must be files, if empty ones */
	*ret = c;
	return 0;
}

static void forget_seen(struct column *col)
{
	for (size_t i = 0; i < col->seen_room; i++)
		free(col->seen[i].text);
	free(TAKE(col->seen));
	col->seen_room = col->seen_count = 0;
}

static void column_destroy(struct column *col)
{
	if (!col)
		return;
	forget_seen(col);
	for (size_t i = 0; i < col->named_count; i++)
		free(col->named[i].text);
	free(col->named);
	free(col);
}

void uf_calls_destroy(struct uf_calls *c)
{
	if (!c)
		return;
	for (unsigned i = 0; c->info && i < syscall_count(); i++)
		for (unsigned j = 0; j <= RESULT; j++)
			column_destroy(c->info[i].column[j]);
	for (size_t i = 0; i < c->slot_count; i++)
		free(c->slot[i].name);
	free(c->slot);
	free(c->hash);
	free(c->info);
	free(c);
}

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

/* --- slots --- */

static size_t hash_key(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15ull >> 32;	/* Fibonacci hashing; keys differ in few bits */
}

/* Where @key's slot is noted, or would be. */
static uint32_t *slot_entry(const struct uf_calls *c, uint64_t key)
{
	size_t i = hash_key(key) & (c->hash_size - 1);

	while (c->hash[i] && c->slot[c->hash[i] - 1].key != key)
		i = (i + 1) & (c->hash_size - 1);
	return &c->hash[i];
}

static int widen_hash(struct uf_calls *c)
{
	uint32_t *old = c->hash;

	if (c->slot_count * 2 < c->hash_size)
		return 0;
	c->hash = calloc(c->hash_size * 2, sizeof(*c->hash));
	if (!c->hash) {
		c->hash = old;
		return -ENOMEM;
	}
	c->hash_size *= 2;
	for (size_t i = 0; i < c->slot_count; i++)
		*slot_entry(c, c->slot[i].key) = i + 1;
	free(old);
	return 0;
}

/* Returns the new slot's number + 1; 0: no memory. */
static uint32_t add_slot(struct uf_calls *c, const struct slot *slot)
{
	if (grow(&c->slot, &c->slot_room, c->slot_count, sizeof(*c->slot)) || widen_hash(c))
		return 0;
	c->slot[c->slot_count++] = *slot;
	*slot_entry(c, slot->key) = c->slot_count;
	c->has_new_slots = true;
	return c->slot_count;
}

static uint64_t slot_addr(uint32_t slot)
{
	return UF_CALLS_START + (uint64_t)(slot - 1) * UF_SLOT_BYTES;
}

#define KEY_FUNC	(1ull << 63)
#define KEY_CALL	(1ull << 62)

/* 3 bits each for the arguments and the result, then the call. */
static uint64_t key_of(const struct showing *sh)
{
	uint64_t key = 0;

	for (unsigned i = 0; i <= RESULT; i++)
		key = key << 3 | sh->format[i];
	return KEY_CALL | key | (uint64_t)sh->info->index << 22 | (uint64_t)sh->call->is_compat << 21;
}

static bool may_add_slot(const struct uf_calls *c, const struct info *info)
{
	return info->slots < SLOTS_PER_CALL && c->slot_count < SLOTS_MAX - SLOTS_SPARE;
}

uint64_t uf_calls_named(struct uf_calls *c, const char *name)
{
	struct slot slot = { .key = KEY_FUNC };
	uint32_t *entry;

	if (c->funcs >= FUNCS_MAX)
		name = "unknown";
	for (const char *s = name; *s; s++)
		slot.key = (slot.key ^ (unsigned char)*s) * 1099511628211ull | KEY_FUNC;
	entry = slot_entry(c, slot.key);
	if (*entry)
		return slot_addr(*entry);
	slot.name = strdup(name);
	c->funcs++;
	return slot.name ? slot_addr(add_slot(c, &slot) ?: 1) : UF_CALLS_START;
}

/* --- values with names --- */

static struct column *column_of(struct info *info, unsigned i)
{
	if (!info->column[i]) {
		info->column[i] = calloc(1, sizeof(*info->column[i]));
		if (info->column[i])
			info->column[i]->next_value = 0x40000000;	/* far from what flags and commands use */
	}
	return info->column[i];
}

static struct seen *seen_entry(const struct column *col, uint64_t key)
{
	size_t i = hash_key(key) & (col->seen_room - 1);

	while (col->seen[i].is_used && col->seen[i].key != key)
		i = (i + 1) & (col->seen_room - 1);
	return &col->seen[i];
}

/* Double the memory of values, or begin anew when it is as large as it may be. */
static int widen_seen(struct column *col)
{
	struct column wide = { .seen_room = col->seen_room ? col->seen_room * 2 : 16 };

	if (col->seen_count * 2 < col->seen_room)
		return 0;
	if (wide.seen_room > SEEN_MAX) {
		forget_seen(col);
		wide.seen_room = 16;
	}
	wide.seen = calloc(wide.seen_room, sizeof(*wide.seen));
	if (!wide.seen)
		return -ENOMEM;
	for (size_t i = 0; i < col->seen_room; i++)
		if (col->seen[i].is_used)
			*seen_entry(&wide, col->seen[i].key) = col->seen[i];
	free(col->seen);
	col->seen = wide.seen;
	col->seen_room = wide.seen_room;
	return 0;
}

/* Make @text an enumerator. False: it cannot be one. */
static bool tame_name(char *text)
{
	size_t len = strlen(text);

	if (!isalnum((unsigned char)*text) && *text != '_')
		return false;
	if (len >= NAME_MAX_OUT)
		strcpy(text + NAME_MAX_OUT - 4, "...");
	for (; *text; text++)
		if (*text <= ' ' || *text > '~' || strchr("=,{};\"\\", *text))
			*text = '_';
	return true;
}

static bool value_is_taken(const struct column *col, int32_t value)
{
	for (size_t i = 0; i < col->named_count; i++)
		if (col->named[i].value == value)
			return true;
	return false;
}

/* The number that stands for @text in the enumeration of @col. False: it has no room. */
static bool name_value(struct uf_calls *c, struct column *col, const char *text, int64_t value, int64_t *ret)
{
	struct named *n;

	for (n = col->named; n < col->named + col->named_count; n++)
		if (!strcmp(n->text, text)) {
			*ret = n->value;
			return true;
		}
	if (col->named_count >= NAMES_MAX || grow(&col->named, &col->named_room, col->named_count, sizeof(*n)))
		return false;
	n = &col->named[col->named_count];
	n->text = strdup(text);
	if (!n->text)
		return false;
	n->value = value;
	if (value != n->value || value_is_taken(col, value)) {
		while (value_is_taken(col, col->next_value))
			col->next_value++;
		n->value = col->next_value++;
	}
	col->named_count++;
	c->has_new_names = true;
	*ret = n->value;
	return true;
}

/* How @text, which says all about @value, is best written. */
static void choose(struct uf_calls *c, struct column *col, struct seen *s, char *text, uint64_t value)
{
	char number[32];

	s->value = value;
	s->text = NULL;
	snprintf(number, sizeof(number), "%lld", (long long)value);
	if (!strcmp(text, number)) {
		s->format = F_DEC;
		return;
	}
	snprintf(number, sizeof(number), "%#llx", (unsigned long long)value);
	if (!strcmp(text, number)) {
		s->format = F_HEX;
		return;
	}
	s->format = F_STRING;
	if (!strcmp(text, "NULL"))
		return;
	if (!tame_name(text)) {
		s->text = strdup(text);
	} else if (name_value(c, col, text, value, &s->value)) {
		s->format = F_NAMED;
	} else {
		s->format = F_HEX;
	}
}

/* The text of argument @i, or of the result. */
static void describe(const struct showing *sh, unsigned i, uint64_t value, char *text, size_t size)
{
	if (i == RESULT)
		syscall_ret_text(sh->info->def, value, text, size);
	else
		syscall_arg_text(sh->info->def, i, sh->call->arg[i], sh->call->arg, text, size);
}

/* How @value is written; found once, then remembered. NULL: no memory. */
static const struct seen *look_up(const struct showing *sh, unsigned i, uint64_t value)
{
	struct column *col = column_of(sh->info, i);
	uint64_t key = value ^ (i == RESULT ? 0 : sh->context);
	struct seen *s;
	char text[256];

	if (!col)
		return NULL;
	if (col->seen_room) {
		s = seen_entry(col, key);
		if (s->is_used)
			return s;
	}
	if (widen_seen(col))
		return NULL;
	describe(sh, i, value, text, sizeof(text));
	s = seen_entry(col, key);
	s->key = key;
	s->is_used = true;
	col->seen_count++;
	choose(sh->c, col, s, text, value);
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
	put_string(sh, "\xff\xff\xff\xff", 4);		/* cmds/replay.c:get_argspec_string shows this as NULL */
}

/* Bytes of the escaped @text that may be kept so that no escape is torn and "..." fits within @room behind them. */
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
static const struct rec_text *text_of(const struct showing *sh, unsigned i)
{
	const struct rec_text *t = NULL;

	while ((t = syscall_next_text(sh->texts, sh->text_len, t)))
		if (t->arg == i && !(t->flags & TEXT_FAULT))
			return t;
	return NULL;
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
		text_escape(t->bytes, MIN(t->len, wanted), t->len > wanted || t->flags & TEXT_CUT, text, sizeof(text));
	} else {
		syscall_taken_text(sh->info->def, t, text, sizeof(text));
	}
	put_text(sh, text);
}

static enum format put_taken(struct showing *sh, unsigned i, uint64_t value)
{
	const struct rec_text *t = text_of(sh, i);

	if (t) {
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
	struct slot slot = { .key = key_of(sh), .info = sh->info };
	uint32_t found;

	if (slot.key == sh->info->last_key)
		return sh->info->last_slot;
	found = *slot_entry(sh->c, slot.key);
	if (!found && !may_add_slot(sh->c, sh->info)) {
		put_plain(sh, ret);
		slot.key = key_of(sh);
		found = *slot_entry(sh->c, slot.key);
	}
	if (!found) {
		found = add_slot(sh->c, &slot);
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
		.texts = exit && exit->text_len ? exit->text : call->text,
		.text_len = exit && exit->text_len ? exit->text_len : call->text_len,
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
	ret->addr = slot_addr(slot);
	return 0;
}

bool uf_calls_is_exec(const struct uf_syscall *call)
{
	return !strncmp(syscall_def(call->nr, call->is_compat)->name, "execve", strlen("execve"));
}

/* --- the files: syscall.sym and syscall.dbg --- */

static void put_name(struct out *o, const struct slot *slot)
{
	char clean[512];

	if (slot->info) {
		out_printf(o, "%ssys_%s\n", slot->key >> 21 & 1 ? "compat_" : "", slot->info->def->name);
		return;
	}
	uf_clean(clean, sizeof(clean), slot->name, UF_LINE);
	out_printf(o, "%s\n", *clean ? clean : "_");
}

static int write_symbols(const struct uf_calls *c, int dirfd)
{
	struct out *o;
	int err = out_create_replacing(&o, dirfd, "syscall.sym");

	if (err)
		return err;
	out_printf(o, "# symbols: %zu\n# path name: " UF_CALLS_PATH "\n", c->slot_count + 1);
	for (size_t i = 0; i < c->slot_count; i++) {
		out_printf(o, "%016llx T ", (unsigned long long)(i * UF_SLOT_BYTES));
		put_name(o, &c->slot[i]);
	}
	if (!c->slot_count)
		out_printf(o, "%016x T __no_symbols\n", 0);
	out_printf(o, "%016llx ? __sym_end\n", (unsigned long long)MAX(c->slot_count, (size_t)1) * UF_SLOT_BYTES);
	err = out_seal(o);
	out_destroy(o);
	return err;
}

/* Two rows of the syscall table may bear one name: their enumerations must not. */
static void put_enum_name(struct out *o, const struct info *info, unsigned i)
{
	out_printf(o, "%s_%s", info->def->name, i == RESULT ? "ret" : info->def->arg[i].name);
	if (syscall_named(info->def->name) != info->def)
		out_printf(o, "_%u", info->index);
}

static void put_spec(struct out *o, const struct slot *slot, unsigned i, enum format format)
{
	if (i == RESULT)
		out_printf(o, "retval/%s", spec_of[format]);
	else
		out_printf(o, "arg%u/%s", i + 1, spec_of[format]);
	if (format == F_NAMED)
		put_enum_name(o, slot->info, i);
}

static enum format format_at(const struct slot *slot, unsigned i)
{
	return slot->key >> 3 * (RESULT - i) & 7;
}

static void put_specs(struct out *o, const struct slot *slot)
{
	for (unsigned i = 0; i < RESULT && format_at(slot, i); i++) {
		out_printf(o, i ? "," : "A: @");
		put_spec(o, slot, i, format_at(slot, i));
	}
	if (format_at(slot, 0))
		out_printf(o, "\n");
	if (format_at(slot, RESULT)) {
		out_printf(o, "R: @");
		put_spec(o, slot, RESULT, format_at(slot, RESULT));
		out_printf(o, "\n");
	}
}

static void put_enum(struct out *o, const struct info *info, unsigned i)
{
	const struct column *col = info->column[i];

	if (!col || !col->named_count)
		return;
	out_printf(o, "E: enum ");
	put_enum_name(o, info, i);
	for (size_t j = 0; j < col->named_count; j++)
		out_printf(o, "%s%s=%d", j ? "," : " {", col->named[j].text, col->named[j].value);
	out_printf(o, "}\n");
}

static void put_errnos(struct out *o, const struct uf_calls *c)
{
	const char *before = "E: enum errno {";

	for (unsigned i = 0; i < ARRAY_SIZE(c->errno_seen); i++)
		if (c->errno_seen[i]) {
			out_printf(o, "%s%s=-%u", before, errno_name(i), i);
			before = ",";
		}
	if (*before == ',')
		out_printf(o, "}\n");
}

static int write_specs(const struct uf_calls *c, int dirfd)
{
	struct out *o;
	int err = out_create_replacing(&o, dirfd, "syscall.dbg");

	if (err)
		return err;
	out_printf(o, "# path name: " UF_CALLS_PATH "\n");
	put_errnos(o, c);
	for (unsigned i = 0; i < syscall_count(); i++)
		for (unsigned j = 0; j <= RESULT; j++)
			put_enum(o, &c->info[i], j);
	for (size_t i = 0; i < c->slot_count; i++) {
		if (!c->slot[i].info)
			continue;
		out_printf(o, "F: %llx ", (unsigned long long)(i * UF_SLOT_BYTES));
		put_name(o, &c->slot[i]);
		put_specs(o, &c->slot[i]);
	}
	err = out_seal(o);
	out_destroy(o);
	return err;
}

bool uf_calls_must_write(const struct uf_calls *c)
{
	return c->has_new_slots;
}

int uf_calls_write(struct uf_calls *c, int dirfd)
{
	int err = 0;

	if (c->has_new_slots)
		err = write_symbols(c, dirfd);
	if (!err && (c->has_new_slots || c->has_new_names))
		err = write_specs(c, dirfd);
	if (!err)
		c->has_new_slots = c->has_new_names = false;
	return err;
}
