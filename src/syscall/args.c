/*
 * args.c - the arguments that need more than a list of names to be shown.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <linux/quota.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "args.h"

void show_ptr(struct textbuf *t, const struct argtext *a)
{
	if (a->value)
		text_add(t, "%#llx", (unsigned long long)a->value);
	else
		text_add(t, "NULL");
}

/* Small is a number, large an address: no page is mapped that low. */
void show_word(struct textbuf *t, const struct argtext *a)
{
	int64_t v = a->value;

	if (v >= -4095 && v < 4096)
		text_add(t, "%d", (int)v);
	else
		text_add(t, "%#llx", (unsigned long long)v);
}

void show_flags(struct textbuf *t, const struct argtext *a)
{
	names_add_flags(t, a->arg->names, a->value);
}

void show_value(struct textbuf *t, const struct argtext *a)
{
	names_add_value(t, a->arg->names, a->value);
}

void show_dirfd(struct textbuf *t, const struct argtext *a)
{
	names_add_value(t, names_dirfds, a->value);
}

void show_signal(struct textbuf *t, const struct argtext *a)
{
	names_add_value(t, names_signals, a->value);
}

void show_file_mode(struct textbuf *t, const struct argtext *a)
{
	unsigned mode = a->value;

	if (mode & S_IFMT) {
		names_add_flags(t, names_file_types, mode & S_IFMT);
		text_add(t, "|");
	}
	text_add(t, "%#03o", mode & ~S_IFMT);
}

void show_dev(struct textbuf *t, const struct argtext *a)
{
	text_add(t, "makedev(%#x, %#x)", major(a->value), minor(a->value));
}

static const struct name ioctl_directions[] = {
	VALUE(_IOC_NONE, "_IOC_NONE"), VALUE(_IOC_READ, "_IOC_READ"), VALUE(_IOC_WRITE, "_IOC_WRITE"),
	VALUE(_IOC_READ | _IOC_WRITE, "_IOC_READ|_IOC_WRITE"), {}
};

void show_ioctl(struct textbuf *t, const struct argtext *a)
{
	unsigned cmd = a->value;
	const char *name = names_find(names_ioctls, cmd);

	if (name)
		text_add(t, "%s", name);
	else
		text_add(t, "_IOC(%s, %#x, %#x, %#x)", names_find(ioctl_directions, _IOC_DIR(cmd)),
			 _IOC_TYPE(cmd), _IOC_NR(cmd), _IOC_SIZE(cmd));
}

/* What the third argument of fcntl() is, by the second: flags of a list, or with none a number. */
static const struct name fcntl_args[] = {
	UNDER(F_SETFL, names_open_flags), UNDER(F_SETFD, names_fd_flags), UNDER(F_ADD_SEALS, names_seals),
	UNDER(F_SETLEASE, names_lease_types), UNDER(F_SETSIG, names_signals), UNDER(F_DUPFD, NULL),
	UNDER(F_DUPFD_CLOEXEC, NULL), UNDER(F_SETOWN, NULL), UNDER(F_SETPIPE_SZ, NULL), {}
};

void show_fcntl_arg(struct textbuf *t, const struct argtext *a)
{
	uint32_t cmd = a->args[1];
	const struct name *names = names_under(fcntl_args, cmd);

	if (cmd == F_SETLEASE || cmd == F_SETSIG)
		names_add_value(t, names, a->value);
	else if (names)
		names_add_flags(t, names, (uint32_t)a->value);
	else if (names_find(fcntl_args, cmd))
		text_add(t, "%d", (int)a->value);
	else
		show_ptr(t, a);
}

void show_protocol(struct textbuf *t, const struct argtext *a)
{
	names_add_value(t, names_under(names_protocols_by_family, a->args[0]), a->value);
}

void show_sockopt(struct textbuf *t, const struct argtext *a)
{
	names_add_value(t, names_under(names_options_by_level, a->args[1]), a->value);
}

void show_quotactl(struct textbuf *t, const struct argtext *a)
{
	uint32_t cmd = a->value;

	text_add(t, "QCMD(");
	names_add_value(t, names_quota_commands, cmd >> SUBCMDSHIFT);
	text_add(t, ", ");
	names_add_value(t, names_quota_types, cmd & SUBCMDMASK);
	text_add(t, ")");
}

void show_ioprio(struct textbuf *t, const struct argtext *a)
{
	unsigned prio = a->value;

	text_add(t, "IOPRIO_PRIO_VALUE(");
	names_add_value(t, names_ioprio_classes, prio >> IOPRIO_CLASS_SHIFT);
	text_add(t, ", %u)", prio & ((1u << IOPRIO_CLASS_SHIFT) - 1));
}

/* The path of a struct sockaddr_un: a name that begins with NUL is no file's. */
static void show_unix_path(struct textbuf *t, const uint8_t *path, size_t len)
{
	text_add(t, "unix:");
	if (len && !path[0]) {
		text_add(t, "@");
		text_add_escaped(t, path + 1, len - 1);
	} else {
		text_add_escaped(t, path, strnlen((const char *)path, len));
	}
}

void show_sockaddr(struct textbuf *t, const void *bytes, size_t len)
{
	const uint8_t *s = bytes;
	char addr[INET6_ADDRSTRLEN];
	uint16_t family;
	uint32_t nl[2];

	if (len < sizeof(family))
		return;
	memcpy(&family, s, sizeof(family));
	if (family == AF_INET && len >= 8) {
		text_add(t, "%s:%u", inet_ntop(AF_INET, s + 4, addr, sizeof(addr)), s[2] << 8 | s[3]);
	} else if (family == AF_INET6 && len >= 24) {
		text_add(t, "[%s]:%u", inet_ntop(AF_INET6, s + 8, addr, sizeof(addr)), s[2] << 8 | s[3]);
	} else if (family == AF_UNIX) {
		show_unix_path(t, s + 2, len - 2);
	} else if (family == AF_NETLINK && len >= 12) {
		memcpy(nl, s + 4, sizeof(nl));
		text_add(t, "netlink:%u groups=%#x", nl[0], nl[1]);
	} else {
		names_add_value(t, names_socket_families, family);
	}
}
