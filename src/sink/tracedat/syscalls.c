/*
 * syscalls.c - events of system calls, as the kernel's: syscalls:sys_enter_NAME and sys_exit_NAME, one pair for each call
 * that occurs.
 *
 * Each argument is 8 bytes, the register as it was. Texts that were taken along follow, each in a field that is
 * called as its argument: __filename_val. A call without a row in the table, and with --raw-syscalls every one, is
 * an event of raw_syscalls. What has names is shown by them, of errors those that occurred.
 */
#include "base.h"
#include "out.h"
#include "sink/tracedat/tracedat.h"
#include "syscall/syscall.h"

#define ERRNOS		544	/* names are known of numbers below: errno.c */
#define FIRST_ARG	16
#define RET_END		24	/* of an exit's fixed fields */

struct call_info {
	const struct sysdef *def;
	uint16_t id;			/* of its entry; the exit's is one more; 0: raw */
	uint8_t	 args;
	uint8_t	 taken[6];		/* 1 + which of its texts an argument's is; 0: none is taken */
	uint8_t	 texts;
	uint32_t fixed;			/* bytes of its entry without texts */
	uint64_t errno_seen[ERRNOS / 64 + 1];
};

struct td_syscalls {
	bool		  raw;
	unsigned	  string_bytes;
	struct call_info *info;		/* by syscall_index() */
	struct call_info *by_nr[2][SYS_MAX];	/* [is_compat] */
};

int td_syscalls_create(struct td_syscalls **ret, bool raw, unsigned string_bytes)
{
	struct td_syscalls *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->raw = raw;
	c->string_bytes = string_bytes;
	c->info = calloc(syscall_count(), sizeof(*c->info));
	if (!c->info) {
		free(c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

void td_syscalls_destroy(struct td_syscalls *c)
{
	if (!c)
		return;
	free(c->info);
	free(c);
}

static void learn(struct call_info *info, const struct sysdef *def)
{
	info->def = def;
	info->args = syscall_args(def);
	if (def->nr[ABI_NATIVE] >= 0 || def->nr[ABI_COMPAT] >= 0)
		info->id = TD_SYSCALLS + 2 * syscall_index(def);
	for (unsigned i = 0; i < info->args; i++)
		if (syscall_arg_take(def, i) != TAKE_NONE)
			info->taken[i] = ++info->texts;
	info->fixed = FIRST_ARG + 8 * info->args + 4 * info->texts;
}

static struct call_info *info_of(struct td_syscalls *c, uint32_t nr, bool is_compat)
{
	struct call_info **known = nr < SYS_MAX ? &c->by_nr[is_compat][nr] : NULL, *info;
	const struct sysdef *def;

	if (known && *known)
		return *known;
	def = syscall_def(nr, is_compat);
	info = &c->info[syscall_index(def)];
	if (!info->def)
		learn(info, def);
	if (known)
		*known = info;
	return info;
}

/* ---- payloads ---- */

static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	return true;
}

static void put_text(const struct td_syscalls *c, struct td_payload *p, uint32_t at, const struct sysdef *def,
		     const struct rec_text *x, size_t most)
{
	bool is_string = syscall_arg_take(def, x->arg) == TAKE_STRING;
	size_t wanted = is_string && c->string_bytes ? c->string_bytes : SIZE_MAX;
	char text[TD_PAYLOAD_MAX + 1];
	int n;

	if (is_string && x->len <= wanted && !(x->flags & TEXT_CUT) && is_plain(x->bytes, x->len)) {
		td_text(p, at, x->bytes, x->len, most);
		return;
	}
	if (is_string)
		n = text_escape(x->bytes, MIN(x->len, wanted), x->len > wanted || x->flags & TEXT_CUT, text, sizeof(text));
	else
		n = syscall_taken_text(def, x, text, sizeof(text));
	td_text(p, at, text, MIN((size_t)MAX(n, 0), sizeof(text) - 1), most);
}

/* The texts of a record; @at: where the places of an event's texts are noted. Of a call that failed nothing is filled in. */
static void put_texts(const struct td_syscalls *c, struct td_payload *p, uint32_t at, const struct call_info *info,
		      const char *texts, uint32_t len, bool is_filled)
{
	const struct rec_text *x = NULL;
	size_t most = info->texts ? (TD_PAYLOAD_MAX - p->len) / info->texts - 1 : 0;	/* each has its part */

	for (unsigned i = 0; i < info->texts; i++)
		td_text(p, at + 4 * i, NULL, 0, TD_ALL);
	while ((x = syscall_next_text(texts, len, x))) {
		enum sys_take take = x->arg < info->args ? syscall_arg_take(info->def, x->arg) : TAKE_NONE;

		if (take == TAKE_NONE || x->flags & TEXT_FAULT || (!is_filled && (take == TAKE_FDS || take == TAKE_BUF_RET)))
			continue;
		put_text(c, p, at + 4 * (info->taken[x->arg] - 1), info->def, x, most);
	}
}

void td_syscall_enter(struct td_syscalls *c, struct td_payload *p, uint32_t tid, const struct rec_sys_enter *rec,
		      struct td_used *used)
{
	struct call_info *info = info_of(c, rec->nr, rec->hdr.flags & REC_F_COMPAT);

	if (c->raw || !info->id) {
		td_begin(p, TD_SYS_ENTER, tid, 64);
		td_u64(p, 8, rec->nr);
		td_bytes(p, 16, rec->arg, sizeof(rec->arg));
		td_use(used, TD_SYS_ENTER);
		return;
	}
	td_begin(p, info->id, tid, info->fixed);
	td_u32(p, 8, rec->nr);
	td_bytes(p, FIRST_ARG, rec->arg, 8 * info->args);
	put_texts(c, p, FIRST_ARG + 8 * info->args, info, rec->text, rec->text_len, false);
	td_use(used, info->id);
}

static void note_errno(struct call_info *info, int64_t ret)
{
	if (ret < 0 && ret > -ERRNOS)
		info->errno_seen[-ret / 64] |= 1ull << -ret % 64;
}

void td_syscall_exit(struct td_syscalls *c, struct td_payload *p, uint32_t tid, const struct rec_sys_exit *rec,
		     struct td_used *used)
{
	struct call_info *info = info_of(c, rec->nr, rec->hdr.flags & REC_F_COMPAT);

	if (c->raw || !info->id) {
		td_begin(p, TD_SYS_EXIT, tid, 24);
		td_u64(p, 8, rec->nr);
		td_u64(p, 16, rec->ret);
		td_use(used, TD_SYS_EXIT);
		return;
	}
	td_begin(p, info->id + 1, tid, RET_END + 4 * info->texts);
	td_u32(p, 8, rec->nr);
	td_u64(p, 16, rec->ret);
	put_texts(c, p, RET_END, info, rec->text, rec->text_len, rec->ret >= 0);
	note_errno(info, rec->ret);
	td_use(used, info->id + 1);
}

bool td_syscall_is_exec(uint32_t nr, bool is_compat)
{
	return !strncmp(syscall_def(nr, is_compat)->name, "execve", strlen("execve"));
}

/* ---- formats ---- */

#define FMT_MAX		4096
#define EXPR_MAX	32768

struct print {
	char   fmt[FMT_MAX], expr[EXPR_MAX];
	size_t fmt_len, expr_len;
};

static void print_add(struct print *t, const char *fmt, const char *expr)
{
	t->fmt_len += snprintf(t->fmt + t->fmt_len, sizeof(t->fmt) - t->fmt_len, "%s", fmt);
	t->fmt_len = MIN(t->fmt_len, sizeof(t->fmt) - 1);
	t->expr_len += snprintf(t->expr + t->expr_len, sizeof(t->expr) - t->expr_len, "%s", expr);
	t->expr_len = MIN(t->expr_len, sizeof(t->expr) - 1);
}

/* A text in quotes; an empty one also where there is none. */
static void print_text(struct print *t, const char *name)
{
	char expr[128];

	snprintf(expr, sizeof(expr), ", __get_str(__%s_val)", name);
	print_add(t, " \\\"%s\\\"", expr);
}

/* A text that is rarely there, without quotes: in what a choice leads to a reader does not understand them. */
static void print_rare_text(struct print *t, const char *name)
{
	char expr[256];

	snprintf(expr, sizeof(expr), ", __get_dynamic_array_len(__%s_val) ? \" %s: \" : \"\", __get_str(__%s_val)",
		 name, name, name);
	print_add(t, "%s%s", expr);
}

/* What the program gives, at entry; what could not be read then comes with the exit, as does what it gets. */
static bool is_given(const struct sysdef *def, unsigned arg)
{
	enum sys_take take = syscall_arg_take(def, arg);

	return take == TAKE_STRING || take == TAKE_BUF;
}

static void write_text_fields(struct out *o, const struct call_info *info, unsigned at)
{
	char declaration[96];

	for (unsigned i = 0; i < info->args; i++) {
		if (!info->taken[i])
			continue;
		snprintf(declaration, sizeof(declaration), "__data_loc char[] __%s_val", info->def->arg[i].name);
		td_format_field(o, declaration, at + 4 * (info->taken[i] - 1), 4, false);
	}
}

static void write_print(struct out *o, const struct print *t)
{
	out_printf(o, "\nprint fmt: \"%s\"%s\n", t->fmt, t->expr);
}

static void write_enter(struct out *o, const struct call_info *info, struct print *t)
{
	char declaration[96], fmt[256], expr[EXPR_MAX / 2];

	*t = (struct print){};
	snprintf(declaration, sizeof(declaration), "sys_enter_%s", info->def->name);
	td_format_begin(o, declaration, info->id);
	td_format_field(o, "int __syscall_nr", 8, 4, true);
	for (unsigned i = 0; i < info->args; i++) {
		const struct sysarg *a = &info->def->arg[i];

		snprintf(declaration, sizeof(declaration), "%s %s", syscall_arg_type(info->def, i), a->name);
		td_format_field(o, declaration, FIRST_ARG + 8 * i, 8, false);
		snprintf(declaration, sizeof(declaration), "%s%s: ", i ? ", " : "", a->name);
		print_add(t, declaration, "");
		if (!syscall_arg_format(info->def, i, fmt, sizeof(fmt), expr, sizeof(expr)) &&
		    t->expr_len + strlen(expr) < sizeof(t->expr) - 2048) {
			print_add(t, fmt, expr);
		} else {
			snprintf(expr, sizeof(expr), ", REC->%s", a->name);
			print_add(t, "0x%lx", expr);
		}
		if (info->taken[i] && is_given(info->def, i))
			print_text(t, a->name);
	}
	write_text_fields(o, info, FIRST_ARG + 8 * info->args);
	if (!info->args)
		print_add(t, " ", "");
	write_print(o, t);
}

static void print_errnos(struct print *t, const struct call_info *info)
{
	const char *name;
	char expr[96];

	print_add(t, "%s%s", ", REC->ret > 18446744073709547520 ? \" \" : \"\", REC->ret > 18446744073709547520 ? "
		  "__print_symbolic(REC->ret");
	for (unsigned e = 1; e < ERRNOS; e++) {
		name = info->errno_seen[e / 64] >> e % 64 & 1 ? errno_name(e) : NULL;
		if (!name)
			continue;
		snprintf(expr, sizeof(expr), ", {%llu,\"%s\"}", -(unsigned long long)e, name);
		print_add(t, "", expr);
	}
	print_add(t, "", ") : \"\"");
}

static bool has_errno(const struct call_info *info)
{
	for (size_t i = 0; i < ARRAY_SIZE(info->errno_seen); i++)
		if (info->errno_seen[i])
			return true;
	return false;
}

static void write_exit(struct out *o, const struct call_info *info, struct print *t)
{
	char name[96];

	*t = (struct print){};
	snprintf(name, sizeof(name), "sys_exit_%s", info->def->name);
	td_format_begin(o, name, info->id + 1);
	td_format_field(o, "int __syscall_nr", 8, 4, true);
	td_format_field(o, "long ret", 16, 8, true);
	write_text_fields(o, info, RET_END);
	print_add(t, syscall_ret_show(info->def) == SHOW_HEX ? "0x%lx" : "%ld", ", REC->ret");
	if (has_errno(info))
		print_errnos(t, info);
	for (unsigned i = 0; i < info->args; i++) {
		if (!info->taken[i])
			continue;
		if (is_given(info->def, i)) {
			print_rare_text(t, info->def->arg[i].name);
			continue;
		}
		snprintf(name, sizeof(name), " %s:", info->def->arg[i].name);
		print_add(t, name, "");
		print_text(t, info->def->arg[i].name);
	}
	write_print(o, t);
}

unsigned td_syscalls_count(const struct td_used *used)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 2 * syscall_count(); i++)
		n += td_is_used(used, TD_SYSCALLS + i);
	return n;
}

int td_syscalls_formats(struct out *o, const struct td_used *used, const struct td_syscalls *calls)
{
	__cleanup(free_ptr) struct print *t = malloc(sizeof(*t));
	int err = t ? 0 : -ENOMEM;

	for (unsigned i = 0; i < 2 * syscall_count() && !err; i++) {
		struct out *text;

		if (!td_is_used(used, TD_SYSCALLS + i))
			continue;
		err = out_memory(&text);
		if (err)
			break;
		(i % 2 ? write_exit : write_enter)(text, &calls->info[i / 2], t);
		err = td_put_text(o, text);
	}
	return err;
}
