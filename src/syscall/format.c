/*
 * format.c - arguments and results as a `print fmt` of tracefs has them: a piece of a format, and the expressions it shows.
 *
 * What a reader's evaluator can do is little, and differs between releases: comparisons are unsigned, the right
 * operand of an operator must be a plain one, a value that __print_symbolic() does not know is shown in hexadecimal.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base.h"

static bool is_narrow(unsigned kind)
{
	switch (kind) {
	case ARG_INT: case ARG_UINT: case ARG_XINT: case ARG_FD: case ARG_LFD: case ARG_DIRFD: case ARG_PID: case ARG_LPID:
	case ARG_ID: case ARG_FLAGS: case ARG_ENUM: case ARG_SIGNAL: case ARG_DEV: case ARG_IOCTL: case ARG_PROTOCOL:
	case ARG_SOCKOPT: case ARG_QUOTACTL: case ARG_IOPRIO:
		return true;
	default:
		return false;
	}
}

const char *syscall_arg_type(const struct sysdef *def, unsigned arg)
{
	switch (def->arg[arg].kind) {
	case ARG_INT: case ARG_FLAGS: case ARG_ENUM: case ARG_DIRFD: case ARG_SIGNAL: case ARG_PROTOCOL: case ARG_SOCKOPT:
		return "int";
	case ARG_UINT: case ARG_XINT: case ARG_FD: case ARG_DEV: case ARG_IOCTL: case ARG_QUOTACTL: case ARG_IOPRIO: case ARG_ID:
		return "unsigned int";
	case ARG_LONG: case ARG_LFD: case ARG_LPID:
		return "long";
	case ARG_SIZE:
		return "size_t";
	case ARG_MODE: case ARG_FILE_MODE:
		return "umode_t";
	case ARG_PID:
		return "pid_t";
	case ARG_PATH: case ARG_STRING: case ARG_BUF: case ARG_BUF_RET: case ARG_CWD:
		return "const char *";
	case ARG_PTR: case ARG_SOCKADDR: case ARG_FDS:
		return "void *";
	default:
		return "unsigned long";
	}
}

/* ---- values with names ---- */

static void add_names(struct textbuf *t, const struct name *names, bool (*takes)(const struct name *, uint64_t), uint64_t key)
{
	for (; names && names->name; names++)
		if (!names->field && takes(names, key))
			text_add(t, ", {%llu,\"%s\"}", (unsigned long long)(key && key != ~0ull ? names->value & key : names->value),
				 names->name);
}

static bool is_any(const struct name *n, uint64_t key)
{
	(void)key;
	return *n->name;
}

static bool is_bits(const struct name *n, uint64_t key)
{
	return n->mask && n->mask == n->value && !(n->mask & ~key);
}

static bool is_of_field(const struct name *n, uint64_t mask)
{
	return n->mask == mask && n->mask != n->value;
}

/* A field of several bits has values of its own: an entry whose mask is not its value, or a list. */
static bool begins_field(const struct name *names, const struct name *n)
{
	if (!n->mask || (!n->field && n->mask == n->value))
		return false;
	for (const struct name *m = names; m < n; m++)
		if (m->mask == n->mask && (m->field || m->mask != m->value))
			return false;
	return true;
}

/* Of a field the value that fills its mask is an ordinary flag's entry: O_ACCMODE has none, MAP_TYPE has 3 and 15. */
static bool is_in_field(const struct name *n, uint64_t mask)
{
	return is_of_field(n, mask) || (n->mask == mask && n->value == mask && !n->field);
}

static bool names_zero(const struct name *names, const struct name *field)
{
	const struct name *list = field->field ?: names;

	for (; list && list->name; list++)
		if (!list->value && (field->field || list->mask == field->mask))
			return true;
	return false;
}

/* @after: the bits that are shown behind it. */
static void add_field(struct textbuf *fmt, struct textbuf *expr, const struct name *names, const struct name *n,
		      const char *value, unsigned long long after)
{
	unsigned long long mask = n->mask;
	bool zero = names_zero(names, n);

	text_add(fmt, "%%s%%s");
	text_add(expr, ", ");
	if (!zero)
		text_add(expr, "%s & %llu ? ", value, mask);
	text_add(expr, "__print_symbolic(%s & %llu", value, mask);
	if (n->field)
		add_names(expr, n->field, is_any, ~0ull);
	else
		add_names(expr, names, is_in_field, mask);
	text_add(expr, zero ? "), " : ") : \"\", ");
	if (!zero)
		text_add(expr, "(%s & %llu) && ", value, mask);
	text_add(expr, "(%s & %llu) ? \"|\" : \"\"", value, after);
}

/* The name of no flag at all. */
static const char *zero_name(const struct name *names)
{
	for (; names && names->name; names++)
		if (!names->value && !names->mask && !names->field)
			return names->name;
	return "0";
}

static void add_flags(struct textbuf *fmt, struct textbuf *expr, const struct name *names, const char *value, bool narrow)
{
	uint64_t rest = narrow ? UINT32_MAX : UINT64_MAX;
	bool has_zero = false, has_fields;

	for (const struct name *n = names; n->name; n++) {
		if (!begins_field(names, n))
			continue;
		rest &= ~n->mask;
		has_zero = has_zero || names_zero(names, n);
		add_field(fmt, expr, names, n, value, rest);
	}
	text_add(fmt, "%%s");
	text_add(expr, ", %s & %llu ? __print_flags(%s & %llu, \"|\"", value, (unsigned long long)rest, value,
		 (unsigned long long)rest);
	add_names(expr, names, is_bits, rest);
	has_fields = rest != (narrow ? UINT32_MAX : UINT64_MAX);
	text_add(expr, ") : \"%s\"", has_fields ? "" : zero_name(names));
	if (has_zero || !has_fields)
		return;
	text_add(fmt, "%%s");			/* one choice inside another is not understood */
	text_add(expr, ", %s ? \"\" : \"%s\"", value, zero_name(names));
}

static void add_symbols(struct textbuf *fmt, struct textbuf *expr, const struct name *names, const char *value)
{
	text_add(fmt, "%%s");
	text_add(expr, ", __print_symbolic(%s", value);
	for (; names && names->name; names++)
		if (!names->field)
			text_add(expr, ", {%u,\"%s\"}", (uint32_t)names->value, names->name);
	text_add(expr, ")");
}

/* ---- an argument ---- */

static void add_number(struct textbuf *fmt, struct textbuf *expr, const char *name, const char *format, const char *cast)
{
	text_add(fmt, "%s", format);
	if (*cast)
		text_add(expr, ", ((%s)(REC->%s))", cast, name);
	else
		text_add(expr, ", REC->%s", name);
}

static void add_arg(struct textbuf *fmt, struct textbuf *expr, const struct sysarg *a)
{
	bool narrow = is_narrow(a->kind);
	char value[96];

	snprintf(value, sizeof(value), narrow ? "(unsigned int)(REC->%s)" : "REC->%s", a->name);
	switch (a->kind) {
	case ARG_INT: case ARG_FD: case ARG_LFD: case ARG_PID: case ARG_LPID: case ARG_ID: case ARG_PROTOCOL: case ARG_SOCKOPT:
		add_number(fmt, expr, a->name, "%d", "int");
		return;
	case ARG_DIRFD:
		add_number(fmt, expr, a->name, "%d%s", "int");
		text_add(expr, ", %s == %u ? \" AT_FDCWD\" : \"\"", value, (uint32_t)-100);
		return;
	case ARG_UINT:
		add_number(fmt, expr, a->name, "%u", "unsigned int");
		return;
	case ARG_LONG:
		add_number(fmt, expr, a->name, "%ld", "");
		return;
	case ARG_ULONG: case ARG_SIZE:
		add_number(fmt, expr, a->name, "%lu", "");
		return;
	case ARG_MODE: case ARG_FILE_MODE:
		text_add(fmt, "0%%03o");
		text_add(expr, ", REC->%s & 65535", a->name);
		return;
	case ARG_FLAGS: case ARG_LFLAGS:
		add_flags(fmt, expr, a->names, value, narrow);
		return;
	case ARG_ENUM:
		add_symbols(fmt, expr, a->names, value);
		return;
	case ARG_SIGNAL:
		add_symbols(fmt, expr, names_signals, value);
		return;
	case ARG_IOCTL:
		add_symbols(fmt, expr, names_ioctls, value);
		return;
	case ARG_XINT: case ARG_DEV: case ARG_QUOTACTL: case ARG_IOPRIO:
		add_number(fmt, expr, a->name, "0x%x", "unsigned int");
		return;
	default:
		add_number(fmt, expr, a->name, "0x%lx", "");
		return;
	}
}

int syscall_arg_format(const struct sysdef *def, unsigned arg, char *fmt, size_t fmt_size, char *expr, size_t expr_size)
{
	struct textbuf f = { fmt, fmt_size, 0 }, e = { expr, expr_size, 0 };

	add_arg(&f, &e, &def->arg[arg]);
	return MAX(f.len < fmt_size ? 0 : f.len, e.len < expr_size ? 0 : e.len) ? -ENOSPC : 0;
}
