/*
 * show.c - arguments and results as text, by their kind.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base.h"
#include "args.h"

/* What each kind of argument is. Without a text function it is shown as @show says. */
static const struct kind {
	enum show     show;
	enum sys_take take;
	uint8_t	      bits;		/* of the register that count */
	bool	      is_signed;
	void	    (*text)(struct textbuf *t, const struct argtext *a);
} kinds[ARG_KINDS] = {
	[ARG_NONE]	= { SHOW_HEX,	TAKE_NONE,    64, false, NULL },
	[ARG_INT]	= { SHOW_DEC,	TAKE_NONE,    32, true,  NULL },
	[ARG_UINT]	= { SHOW_UDEC,	TAKE_NONE,    32, false, NULL },
	[ARG_XINT]	= { SHOW_HEX,	TAKE_NONE,    32, false, NULL },
	[ARG_LONG]	= { SHOW_DEC,	TAKE_NONE,    64, true,  NULL },
	[ARG_ULONG]	= { SHOW_UDEC,	TAKE_NONE,    64, false, NULL },
	[ARG_HEX]	= { SHOW_HEX,	TAKE_NONE,    64, false, NULL },
	[ARG_SIZE]	= { SHOW_UDEC,	TAKE_NONE,    64, false, NULL },
	[ARG_PTR]	= { SHOW_HEX,	TAKE_NONE,    64, false, show_ptr },
	[ARG_WORD]	= { SHOW_HEX,	TAKE_NONE,    64, false, show_word },
	[ARG_MODE]	= { SHOW_OCT,	TAKE_NONE,    16, false, NULL },
	[ARG_FILE_MODE]	= { SHOW_NAMED, TAKE_NONE,    16, false, show_file_mode },
	[ARG_FD]	= { SHOW_DEC,	TAKE_NONE,    32, true,  NULL },
	[ARG_LFD]	= { SHOW_DEC,	TAKE_NONE,    32, true,  NULL },
	[ARG_DIRFD]	= { SHOW_NAMED, TAKE_NONE,    32, true,  show_dirfd },
	[ARG_PID]	= { SHOW_DEC,	TAKE_NONE,    32, true,  NULL },
	[ARG_LPID]	= { SHOW_DEC,	TAKE_NONE,    32, true,  NULL },
	[ARG_ID]	= { SHOW_DEC,	TAKE_NONE,    32, true,  NULL },
	[ARG_PATH]	= { SHOW_TEXT,	TAKE_STRING,  64, false, show_ptr },
	[ARG_STRING]	= { SHOW_TEXT,	TAKE_STRING,  64, false, show_ptr },
	[ARG_BUF]	= { SHOW_TEXT,	TAKE_BUF,     64, false, show_ptr },
	[ARG_BUF_RET]	= { SHOW_TEXT,	TAKE_BUF_RET, 64, false, show_ptr },
	[ARG_CWD]	= { SHOW_TEXT,	TAKE_BUF_RET, 64, false, show_ptr },
	[ARG_SOCKADDR]	= { SHOW_TEXT,	TAKE_BUF,     64, false, show_ptr },
	[ARG_FDS]	= { SHOW_FDS,	TAKE_FDS,     64, false, show_ptr },
	[ARG_FLAGS]	= { SHOW_NAMED, TAKE_NONE,    32, false, show_flags },
	[ARG_LFLAGS]	= { SHOW_NAMED, TAKE_NONE,    64, false, show_flags },
	[ARG_ENUM]	= { SHOW_NAMED, TAKE_NONE,    32, true,  show_value },
	[ARG_LENUM]	= { SHOW_NAMED, TAKE_NONE,    64, true,  show_value },
	[ARG_SIGNAL]	= { SHOW_NAMED, TAKE_NONE,    32, true,  show_signal },
	[ARG_DEV]	= { SHOW_NAMED, TAKE_NONE,    32, false, show_dev },
	[ARG_IOCTL]	= { SHOW_NAMED, TAKE_NONE,    32, false, show_ioctl },
	[ARG_FCNTL_ARG]	= { SHOW_NAMED, TAKE_NONE,    64, false, show_fcntl_arg },
	[ARG_PROTOCOL]	= { SHOW_NAMED, TAKE_NONE,    32, true,  show_protocol },
	[ARG_SOCKOPT]	= { SHOW_NAMED, TAKE_NONE,    32, true,  show_sockopt },
	[ARG_QUOTACTL]	= { SHOW_NAMED, TAKE_NONE,    32, false, show_quotactl },
	[ARG_IOPRIO]	= { SHOW_NAMED, TAKE_NONE,    32, true,  show_ioprio },
};

enum show syscall_arg_show(const struct sysdef *def, unsigned arg)
{
	return kinds[def->arg[arg].kind].show;
}

enum sys_take syscall_arg_take(const struct sysdef *def, unsigned arg)
{
	return kinds[def->arg[arg].kind].take;
}

bool syscall_arg_is_fd(const struct sysdef *def, unsigned arg)
{
	unsigned kind = def->arg[arg].kind;

	return kind == ARG_FD || kind == ARG_LFD || kind == ARG_DIRFD;
}

uint64_t syscall_arg_value(const struct sysdef *def, unsigned arg, uint64_t value)
{
	const struct kind *k = &kinds[def->arg[arg].kind];
	unsigned unused = 64 - k->bits;

	return k->is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

static void add_number(struct textbuf *t, enum show show, uint64_t v)
{
	static const char *const formats[] = {
		[SHOW_DEC] = "%lld", [SHOW_UDEC] = "%llu", [SHOW_HEX] = "%#llx", [SHOW_OCT] = "%#03llo",
	};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	text_add(t, formats[show], (unsigned long long)v);
#pragma GCC diagnostic pop
}

static void add_arg(struct textbuf *t, const struct sysdef *def, unsigned arg, const uint64_t *args)
{
	const struct kind *k = &kinds[def->arg[arg].kind];
	struct argtext a = { &def->arg[arg], syscall_arg_value(def, arg, args[arg]), args, arg };

	if (k->text)
		k->text(t, &a);
	else
		add_number(t, k->show, a.value);
}

int syscall_arg_text(const struct sysdef *def, unsigned arg, uint64_t value, const uint64_t *args,
		     char *buf, size_t size)
{
	struct textbuf t = { buf, size, 0 };
	uint64_t all[6] = { 0 };

	if (args)
		memcpy(all, args, sizeof(all));
	all[arg] = value;
	add_arg(&t, def, arg, all);
	return t.len;
}

/* A program gives the length of the whole struct sockaddr_un: what is behind the path's NUL is not missed. */
static bool is_whole_path(const struct rec_text *text)
{
	uint16_t family = 0;

	memcpy(&family, text->bytes, MIN((size_t)text->len, sizeof(family)));
	return family == AF_UNIX && text->len > sizeof(family) && text->bytes[sizeof(family)] &&
	       memchr(text->bytes + sizeof(family), '\0', text->len - sizeof(family));
}

static bool is_cut(const struct sysdef *def, const struct rec_text *text)
{
	return text->flags & TEXT_CUT && !(text->arg < 6 && def->arg[text->arg].kind == ARG_SOCKADDR && is_whole_path(text));
}

static void add_taken(struct textbuf *t, const struct sysdef *def, const struct rec_text *text)
{
	unsigned kind = def->arg[text->arg].kind;
	size_t len = text->len;
	int fds[2];

	if (kind == ARG_SOCKADDR) {
		show_sockaddr(t, text->bytes, len);
	} else if (kind == ARG_FDS && len == sizeof(fds)) {
		memcpy(fds, text->bytes, sizeof(fds));
		text_add(t, "[%d, %d]", fds[0], fds[1]);
	} else {
		if (kind == ARG_CWD && len && !text->bytes[len - 1])
			len--;
		text_add_escaped(t, text->bytes, len);
	}
}

int syscall_taken_text(const struct sysdef *def, const struct rec_text *text, char *buf, size_t size)
{
	struct textbuf t = { buf, size, 0 };

	text_add(&t, "%s", "");
	if (text->arg < 6)
		add_taken(&t, def, text);
	if (is_cut(def, text))
		text_add(&t, "...");
	return t.len;
}

const struct rec_text *syscall_next_text(const char *texts, uint32_t text_len, const struct rec_text *last)
{
	size_t at = last ? (const char *)last - texts + ROUND_UP(sizeof(*last) + last->len, 4) : 0;
	const struct rec_text *text = (const void *)(texts + at);

	if (at + sizeof(*text) > text_len || at + sizeof(*text) + text->len > text_len)
		return NULL;
	return text;
}

static void add_ret(struct textbuf *t, const struct sysdef *def, int64_t ret)
{
	const char *name = ret < 0 && ret >= -4095 ? errno_name(-ret) : NULL;
	enum show show = syscall_ret_show(def);

	if (name)
		text_add(t, "-%s", name);
	else if (show == SHOW_NEVER || (ret < 0 && ret >= -4095))
		text_add(t, "%lld", (long long)ret);
	else
		add_number(t, show, ret);
}

enum show syscall_ret_show(const struct sysdef *def)
{
	static const enum show shows[] = {
		[RET_DEC] = SHOW_DEC, [RET_HEX] = SHOW_HEX, [RET_OCT] = SHOW_OCT, [RET_EXEC] = SHOW_DEC,
		[RET_NEVER] = SHOW_NEVER,
	};

	return shows[def->ret];
}

int syscall_ret_text(const struct sysdef *def, int64_t ret, char *buf, size_t size)
{
	struct textbuf t = { buf, size, 0 };

	add_ret(&t, def, ret);
	return t.len;
}

const char *signal_name(unsigned sig)
{
	return names_find(names_signals, sig);
}

/* The text of argument @arg, if BPF brought it along; those of the exit are the better ones. */
static const struct rec_text *find_text(const struct rec_sys_enter *enter, const struct rec_sys_exit *exit,
					unsigned arg)
{
	const struct rec_text *text = NULL;

	while (exit && (text = syscall_next_text(exit->text, exit->text_len, text))) {
		if (text->arg == arg && !(text->flags & TEXT_FAULT))
			return text;
	}
	text = NULL;
	while ((text = syscall_next_text(enter->text, enter->text_len, text))) {
		if (text->arg == arg && !(text->flags & TEXT_FAULT))
			return text;
	}
	return NULL;
}

/* What the kernel was to fill in is nothing when the call failed: then its address says more. */
static bool was_filled(const struct sysdef *def, const struct rec_text *text, const struct rec_sys_exit *exit)
{
	enum sys_take take = syscall_arg_take(def, text->arg);

	return (take != TAKE_FDS && take != TAKE_BUF_RET) || (exit && exit->ret >= 0);
}

static void add_text(struct textbuf *t, const struct sysdef *def, const struct rec_text *text)
{
	unsigned kind = def->arg[text->arg].kind;
	const char *quote = kind == ARG_FDS || kind == ARG_SOCKADDR ? "" : "\"";

	text_add(t, "%s", quote);
	add_taken(t, def, text);
	text_add(t, "%s%s", quote, is_cut(def, text) ? "..." : "");
}

int syscall_text(const struct rec_sys_enter *enter, const struct rec_sys_exit *exit, char *buf, size_t size)
{
	const struct sysdef *def = syscall_def(enter->nr, enter->hdr.flags & REC_F_COMPAT);
	struct textbuf t = { buf, size, 0 };
	const struct rec_text *text;
	uint64_t args[6];

	memcpy(args, enter->arg, sizeof(args));
	text_add(&t, "%s(", def->name);
	for (unsigned i = 0; i < syscall_args_used(def, args); i++) {
		text = find_text(enter, exit, i);
		text_add(&t, "%s", i ? ", " : "");
		if (text && was_filled(def, text, exit))
			add_text(&t, def, text);
		else
			add_arg(&t, def, i, args);
	}
	text_add(&t, ") = ");
	if (exit && def->ret != RET_NEVER)
		add_ret(&t, def, exit->ret);
	else
		text_add(&t, "?");
	return t.len;
}
