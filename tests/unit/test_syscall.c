/*
 * test_syscall.c - the syscall table: is it true, and does it read as people expect.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include "base.h"
#include "syscall/args.h"
#include "syscall/syscall.h"
#include "test.h"

#define TRACEFS	"/sys/kernel/tracing/events/syscalls"
#define NAMES_OF	"6.18."	/* the kernel whose argument names the table has; others differ a bit */
#define NEWEST		470	/* what later headers add is no mistake of the table */

/* The number a row gives @name under @abi; -1: none. Two rows may share a name. */
static int number(const char *name, enum abi abi)
{
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		if (!strcmp(syscall_table[i].name, name) && syscall_table[i].nr[abi] >= 0)
			return syscall_table[i].nr[abi];
	}
	return -1;
}

/* Some headers name by another name than the kernel's own definition, or than we do. */
static const char *our_name(const char *name, enum abi abi)
{
	static const struct { const char *theirs, *ours; enum abi abi; } other[] = {
		{ "mmap", "old_mmap", ABI_I386 }, { "select", "old_select", ABI_I386 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(other); i++) {
		if (other[i].abi == abi && !strcmp(other[i].theirs, name))
			return other[i].ours;
	}
	return name;
}

/* Hold each "#define __NR_name number" of a header against the table. Returns how many there were. */
static unsigned check_header(const char *path, enum abi abi)
{
	__cleanup(close_file) FILE *f = fopen(path, "r");
	char line[256], name[64];
	unsigned count = 0;
	int nr;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "#define __NR_%63s %d", name, &nr) != 2 &&
		    sscanf(line, "#define __NR3264_%63s %d", name, &nr) != 2)
			continue;
		/* the generic header has numbers for 32-bit machines and for other architectures too */
		if (abi == ABI_ARM64 && ((nr >= 403 && nr <= 423) || !strcmp(name, "arch_specific_syscall") ||
					 !strcmp(name, "sync_file_range2") || !strcmp(name, "syscalls")))
			continue;
		if (abi == ABI_ARM64 && !strcmp(name, "fstatat"))
			strcpy(name, "newfstatat");
		if (abi == ABI_ARM64 && (!strcmp(name, "stat") || !strcmp(name, "lstat")))
			continue;
		if (nr > NEWEST && nr < SYS_MAX)
			continue;
		count++;
		if (number(our_name(name, abi), abi) != nr)
			test_failed(__FILE__, __LINE__, "%s: %s is %d, not %d", path, name, nr,
				    number(our_name(name, abi), abi));
	}
	return count;
}

TEST(numbers_of_x86_64_are_those_of_the_headers)
{
	if (!check_header("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", ABI_X86_64) &&
	    !check_header("/usr/include/asm/unistd_64.h", ABI_X86_64))
		SKIP("no asm/unistd_64.h here");
}

TEST(numbers_of_i386_are_those_of_the_headers)
{
	if (!check_header("/usr/include/x86_64-linux-gnu/asm/unistd_32.h", ABI_I386) &&
	    !check_header("/usr/include/asm/unistd_32.h", ABI_I386))
		SKIP("no asm/unistd_32.h here");
}

TEST(numbers_of_arm64_are_those_of_the_generic_header)
{
	if (!check_header("/usr/include/asm-generic/unistd.h", ABI_ARM64))
		SKIP("no asm-generic/unistd.h here");
}

TEST(numbers_no_header_has_yet_are_there)
{
	CHECK_INT(number("openat", ABI_X86_64), 257);
	CHECK_INT(number("openat", ABI_ARM64), 56);
	CHECK_INT(number("open", ABI_ARM64), -1);
	CHECK_INT(number("clone", ABI_X86_64), 56);
	CHECK_INT(number("clone", ABI_ARM64), 220);
	for (enum abi abi = 0; abi < ABIS; abi++) {
		CHECK_INT(number("cachestat", abi), 451);
		CHECK_INT(number("mseal", abi), 462);
		CHECK_INT(number("file_setattr", abi), 469);
	}
}

TEST(no_number_has_two_rows_and_none_of_the_machine_is_left_out)
{
	static unsigned rows[SYS_MAX];

	for (enum abi abi = 0; abi < ABIS; abi++) {
		memset(rows, 0, sizeof(rows));
		for (unsigned i = 0; i < syscall_table_rows; i++) {
			int32_t nr = syscall_table[i].nr[abi];

			if (nr >= 0 && nr < SYS_MAX && rows[nr]++)
				test_failed(__FILE__, __LINE__, "%s: number %d is there twice",
					    syscall_table[i].name, nr);
		}
		for (unsigned nr = 424; nr <= NEWEST; nr++)		/* from here on the same for all */
			CHECK(rows[nr] || (abi == ABI_ARM && nr == 447));
	}
	memset(rows, 0, sizeof(rows));
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		if (syscall_table[i].nr[ABI_X86_64] >= 0)
			rows[syscall_table[i].nr[ABI_X86_64]] = 1;
	}
	for (unsigned nr = 0; nr <= 336; nr++)
		CHECK(rows[nr]);
}

TEST(rows_of_one_name_show_their_arguments_the_same_way)
{
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		const struct sysdef *a = &syscall_table[i], *b = syscall_named(a->name);

		for (unsigned arg = 0; arg < 6; arg++)
			CHECK_INT(a->arg[arg].kind, b->arg[arg].kind);
	}
}

/* A type as the kernel writes it: is it an address, and how many bits of the register count? */
static bool is_pointer(const char *type)
{
	return strchr(type, '*') || strstr(type, "cap_user_");
}

static bool is_wide(const char *type)
{
	static const char *const wide[] = { "long", "size_t", "loff_t", "off_t", "u64", "aio_context_t" };

	for (unsigned i = 0; i < ARRAY_SIZE(wide); i++) {
		if (strstr(type, wide[i]))
			return true;
	}
	return is_pointer(type);
}

static bool is_kernel_of_names(void)
{
	struct utsname u;

	return !uname(&u) && !strncmp(u.release, NAMES_OF, strlen(NAMES_OF));
}

static void check_arg(const struct sysdef *def, unsigned arg, const char *type, const char *name)
{
	uint64_t cut = syscall_arg_value(def, arg, 0xfffffffff) & 0xfffffffff;
	unsigned kind = def->arg[arg].kind;

	if (arg >= syscall_args(def))
		test_failed(__FILE__, __LINE__, "%s: argument '%s' is missing", def->name, name);
	if (!is_kernel_of_names())
		return;
	if (strcmp(def->arg[arg].name, name))
		test_failed(__FILE__, __LINE__, "%s: argument %u is '%s', not '%s'", def->name, arg, name,
			    def->arg[arg].name);
	if (kind == ARG_LFD || kind == ARG_LPID)
		return;
	if (is_wide(type) != (cut == 0xfffffffff && syscall_arg_value(def, arg, 1ull << 40)))
		test_failed(__FILE__, __LINE__, "%s: '%s' is declared as %s", def->name, name, type);
	if (!strncmp(type, "const char *", 12) && !strstr(type, "*const") &&
	    syscall_arg_take(def, arg) != TAKE_STRING && syscall_arg_take(def, arg) != TAKE_BUF)
		test_failed(__FILE__, __LINE__, "%s: the string '%s' is not taken along", def->name, name);
}

/* Hold the format of event sys_enter_@event against the row of that call. */
static bool check_format(const char *event, const struct sysdef *def)
{
	__cleanup(close_file) FILE *f = NULL;
	char path[256], line[256], type[128], *name, *end;
	unsigned args = 0;

	snprintf(path, sizeof(path), TRACEFS "/sys_enter_%s/format", event);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, " field:%127[^;];", type) != 1 || strstr(type, "common_") ||
		    strstr(type, "__syscall_nr"))
			continue;
		name = strrchr(type, ' ');
		*name++ = '\0';
		end = strchr(name, '[');
		if (end)
			*end = '\0';
		/* an argument by its place: its value lies at 16, 24 ... in the event */
		check_arg(def, args++, type, name);
	}
	if (f && args != syscall_args(def))
		test_failed(__FILE__, __LINE__, "%s has %u arguments, not %u", def->name, args,
			    syscall_args(def));
	return f;
}

TEST(arguments_are_those_of_this_kernel)
{
	static const char *const other_name[][2] = {
		{ "stat", "newstat" }, { "fstat", "newfstat" }, { "lstat", "newlstat" },
		{ "uname", "newuname" }, { "umount2", "umount" }, { "sendfile", "sendfile64" },
	};
	unsigned seen = 0;

	for (unsigned i = 0; i < syscall_table_rows; i++) {
		const struct sysdef *def = &syscall_table[i];
		const char *event = def->name;

		if (def->nr[ABI_NATIVE] < 0)
			continue;
		for (unsigned k = 0; k < ARRAY_SIZE(other_name); k++) {
			if (!strcmp(def->name, other_name[k][0]))
				event = other_name[k][1];
		}
		seen += check_format(event, def);
	}
	if (!seen)
		SKIP("no syscall events of tracefs can be read");
}

TEST(bits_with_names_are_bits_their_argument_has)
{
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		for (unsigned arg = 0; arg < syscall_args(&syscall_table[i]); arg++) {
			const struct sysarg *a = &syscall_table[i].arg[arg];

			if (a->kind != ARG_FLAGS)
				continue;
			for (const struct name *n = a->names; n->name; n++) {
				if (n->mask >> 32 || n->value & ~n->mask)
					test_failed(__FILE__, __LINE__, "%s: %s does not fit",
						    syscall_table[i].name, n->name);
			}
		}
	}
}

TEST(names_are_words)
{
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		for (unsigned arg = 0; arg < syscall_args(&syscall_table[i]); arg++) {
			const struct name *n = syscall_table[i].arg[arg].names;

			for (; n && n->name; n++) {
				/* a macro expanded before it became a name has signs in it */
				if (strpbrk(n->name, " ()|+-*<>"))
					test_failed(__FILE__, __LINE__, "%s: '%s'", syscall_table[i].name,
						    n->name);
			}
		}
	}
}

static char text[512];

/* An argument of @name as it is shown, all others being 0. */
static const char *shown(const char *name, unsigned arg, uint64_t value)
{
	syscall_arg_text(syscall_named(name), arg, value, NULL, text, sizeof(text));
	return text;
}

/* ... beside the first two arguments. */
static const char *shown_beside(const char *name, uint64_t first, uint64_t second,
				unsigned arg, uint64_t value)
{
	uint64_t args[6] = { first, second };

	args[arg] = value;
	syscall_arg_text(syscall_named(name), arg, value, args, text, sizeof(text));
	return text;
}

TEST(flags_are_shown_by_name)
{
	CHECK_STR(shown("openat", 2, 0), "O_RDONLY");
	CHECK_STR(shown("openat", 2, O_RDONLY | O_CLOEXEC), "O_RDONLY|O_CLOEXEC");
	CHECK_STR(shown("openat", 2, O_WRONLY | O_CREAT | O_TRUNC), "O_WRONLY|O_CREAT|O_TRUNC");
	CHECK_STR(shown("openat", 2, O_RDWR | O_SYNC), "O_RDWR|O_SYNC");
	CHECK_STR(shown("openat", 2, O_RDWR | O_DSYNC), "O_RDWR|O_DSYNC");
	CHECK_STR(shown("openat", 2, O_RDWR | O_TMPFILE), "O_RDWR|O_TMPFILE");
	CHECK_STR(shown("openat", 2, O_RDONLY | O_DIRECTORY), "O_RDONLY|O_DIRECTORY");
	CHECK_STR(shown("mmap", 2, PROT_READ | PROT_WRITE), "PROT_READ|PROT_WRITE");
	CHECK_STR(shown("mmap", 2, PROT_NONE), "PROT_NONE");
	CHECK_STR(shown("mmap", 3, MAP_PRIVATE | MAP_ANONYMOUS), "MAP_PRIVATE|MAP_ANONYMOUS");
	CHECK_STR(shown("access", 1, 4), "R_OK");
	CHECK_STR(shown("access", 1, 0), "F_OK");
	CHECK_STR(shown("wait4", 2, 0), "0");
	CHECK_STR(shown("getrandom", 2, 1), "GRND_NONBLOCK");
	CHECK_STR(shown("newfstatat", 3, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH),
		  "AT_SYMLINK_NOFOLLOW|AT_EMPTY_PATH");
	CHECK_STR(shown("socket", 1, SOCK_STREAM | SOCK_CLOEXEC), "SOCK_STREAM|SOCK_CLOEXEC");
}

TEST(bits_without_a_name_are_kept)
{
	CHECK_STR(shown("getrandom", 2, 0x101), "GRND_NONBLOCK|0x100");
	CHECK_STR(shown("getrandom", 2, 0x100), "0x100");
	CHECK_STR(shown("mmap", 2, 1ull << 40 | PROT_READ), "PROT_READ|0x10000000000");
}

TEST(flags_hold_a_field_of_another_meaning)
{
	CHECK_STR(shown("clone", 0, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD),
		  "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD");
	CHECK_STR(shown("unshare", 0, CLONE_NEWTIME | CLONE_NEWNS), "CLONE_NEWTIME|CLONE_NEWNS");
	CHECK_STR(shown("futex", 1, FUTEX_WAIT_PRIVATE), "FUTEX_WAIT_PRIVATE");
	CHECK_STR(shown("futex", 1, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME),
		  "FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME");
	CHECK_STR(shown("sched_setscheduler", 1, 0x40000001), "SCHED_FIFO|SCHED_RESET_ON_FORK");
}

TEST(single_values_are_shown_by_name)
{
	CHECK_STR(shown("openat", 0, (uint32_t)AT_FDCWD), "AT_FDCWD");
	CHECK_STR(shown("openat", 0, (uint64_t)AT_FDCWD), "AT_FDCWD");
	CHECK_STR(shown("openat", 0, 5), "5");
	CHECK_STR(shown("kill", 1, SIGINT), "SIGINT");
	CHECK_STR(shown("kill", 1, 0), "0");
	CHECK_STR(shown("tgkill", 2, 34), "SIGRT_2");
	CHECK_STR(shown("lseek", 2, 2), "SEEK_END");
	CHECK_STR(shown("lseek", 2, 99), "99");
	CHECK_STR(shown("fcntl", 1, F_DUPFD_CLOEXEC), "F_DUPFD_CLOEXEC");
	CHECK_STR(shown("prlimit64", 1, 7), "RLIMIT_NOFILE");
	CHECK_STR(shown("clock_gettime", 0, 1), "CLOCK_MONOTONIC");
	CHECK_STR(shown("arch_prctl", 0, 0x1002), "ARCH_SET_FS");
	CHECK_STR(shown("rt_sigprocmask", 0, 2), "SIG_SETMASK");
	CHECK_STR(shown("reboot", 2, 0xcdef0123), "LINUX_REBOOT_CMD_HALT");
	CHECK_STR(shown("ptrace", 0, 0x4206), "PTRACE_SEIZE");
	CHECK_STR(shown("keyctl", 0, 11), "KEYCTL_READ");
}

TEST(an_ioctl_no_list_has_is_shown_by_its_parts)
{
	CHECK_STR(shown("ioctl", 1, 0x5401), "TCGETS");
	CHECK_STR(shown("ioctl", 1, 0x5413), "TIOCGWINSZ");
	CHECK_STR(shown("ioctl", 1, 0x541b), "FIONREAD");
	CHECK_STR(shown("ioctl", 1, 0xc0085599), "_IOC(_IOC_READ|_IOC_WRITE, 0x55, 0x99, 0x8)");
}

TEST(an_argument_may_be_read_beside_another)
{
	CHECK_STR(shown_beside("fcntl", 3, F_SETFL, 2, O_RDWR | O_NONBLOCK), "O_RDWR|O_NONBLOCK");
	CHECK_STR(shown_beside("fcntl", 3, F_SETFD, 2, FD_CLOEXEC), "FD_CLOEXEC");
	CHECK_STR(shown_beside("fcntl", 3, F_DUPFD, 2, 10), "10");
	CHECK_STR(shown_beside("fcntl", 3, F_SETLK, 2, 0x7ffc0010), "0x7ffc0010");
	CHECK_STR(shown_beside("socket", AF_INET, SOCK_STREAM, 2, 6), "IPPROTO_TCP");
	CHECK_STR(shown_beside("socket", AF_NETLINK, SOCK_RAW, 2, 0), "NETLINK_ROUTE");
	CHECK_STR(shown_beside("socket", AF_UNIX, SOCK_STREAM, 2, 0), "0");
	CHECK_STR(shown_beside("setsockopt", 3, SOL_SOCKET, 2, 2), "SO_REUSEADDR");
	CHECK_STR(shown_beside("setsockopt", 3, 6, 2, 1), "TCP_NODELAY");
}

TEST(numbers_are_shown_as_they_are_written)
{
	CHECK_STR(shown("chmod", 1, 0644), "0644");
	CHECK_STR(shown("mkdir", 1, 0), "000");
	CHECK_STR(shown("mknod", 1, 0100644), "S_IFREG|0644");
	CHECK_STR(shown("mknod", 2, 0x801), "makedev(0x8, 0x1)");
	CHECK_STR(shown("mmap", 0, 0), "NULL");
	CHECK_STR(shown("mmap", 4, (uint32_t)-1), "-1");
	CHECK_STR(shown("mmap", 1, 8192), "8192");
	CHECK_STR(shown("munmap", 0, 0x7f0000001000), "0x7f0000001000");
	CHECK_STR(shown("chown", 1, (uint32_t)-1), "-1");
	CHECK_STR(shown("lseek", 1, (uint64_t)-10), "-10");
	CHECK_STR(shown("poll", 2, 0xffffffff), "-1");
	CHECK_STR(shown("prctl", 1, 3), "3");
	CHECK_STR(shown("prctl", 1, 0x7f0000001000), "0x7f0000001000");
	CHECK_STR(shown("ioprio_set", 2, 2 << 13 | 4), "IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4)");
	CHECK_STR(shown("quotactl", 0, 0x80000700), "QCMD(Q_GETQUOTA, USRQUOTA)");
}

TEST(a_value_is_cut_to_what_the_kernel_looks_at)
{
	const struct sysdef *close = syscall_named("close"), *lseek = syscall_named("lseek");

	CHECK_INT(syscall_arg_value(close, 0, 0xdeadbeef00000003), 3);
	CHECK_INT(syscall_arg_value(close, 0, 0x00000000ffffffff), -1);
	CHECK_INT(syscall_arg_value(lseek, 1, 0x123456789a), 0x123456789a);
	CHECK_INT(syscall_arg_show(close, 0), SHOW_DEC);
	CHECK(syscall_arg_is_fd(close, 0) && !syscall_arg_is_fd(lseek, 1));
}

TEST(text_that_does_not_fit_is_cut_and_its_length_told)
{
	const struct sysdef *openat = syscall_named("openat");
	char small[8];

	CHECK_INT(syscall_arg_text(openat, 2, O_RDWR | O_CLOEXEC, NULL, small, sizeof(small)), 16);
	CHECK_STR(small, "O_RDWR|");
	CHECK_INT(text_escape("abcdefghij", 10, true, small, sizeof(small)), 13);
	CHECK_STR(small, "abcdefg");
	CHECK_INT(text_escape("abc", 3, false, NULL, 0), 3);
}

static const char *ret(const char *name, int64_t value)
{
	syscall_ret_text(syscall_named(name), value, text, sizeof(text));
	return text;
}

TEST(results_name_their_error)
{
	CHECK_STR(ret("openat", 3), "3");
	CHECK_STR(ret("openat", -2), "-ENOENT");
	CHECK_STR(ret("read", -11), "-EAGAIN");
	CHECK_STR(ret("read", -512), "-ERESTARTSYS");
	CHECK_STR(ret("nanosleep", -516), "-ERESTART_RESTARTBLOCK");
	CHECK_STR(ret("read", -4000), "-4000");
	CHECK_STR(ret("mmap", 0x7f0000001000), "0x7f0000001000");
	CHECK_STR(ret("mmap", -12), "-ENOMEM");
	CHECK_STR(ret("umask", 022), "022");
	CHECK_STR(errno_name(1), "EPERM");
	CHECK(!errno_name(0) && !errno_name(5000));
	CHECK_STR(signal_name(9), "SIGKILL");
	CHECK_STR(signal_name(99), NULL);
}

static const char *escaped(const char *s, size_t len, bool is_cut)
{
	text_escape(s, len, is_cut, text, sizeof(text));
	return text;
}

TEST(special_characters_are_escaped)
{
	CHECK_STR(escaped("plain text", 10, false), "plain text");
	CHECK_STR(escaped("a\nb\tc\rd", 7, false), "a\\nb\\tc\\rd");
	CHECK_STR(escaped("say \"hi\\\"", 9, false), "say \\\"hi\\\\\\\"");
	CHECK_STR(escaped("\0", 1, false), "\\0");
	CHECK_STR(escaped("\0x", 2, false), "\\0x");
	CHECK_STR(escaped("\0" "1", 2, false), "\\0001");
	CHECK_STR(escaped("\033[31m", 5, false), "\\33[31m");
	CHECK_STR(escaped("\303\251", 2, false), "\\303\\251");
	CHECK_STR(escaped("\177", 1, false), "\\177");
	CHECK_STR(escaped("", 0, false), "");
	CHECK_STR(escaped("long", 4, true), "long...");
}

/* A call with the texts BPF brought along: entry, exit. */
struct recorded {
	struct rec_sys_enter enter;
	char		     enter_text[256];
	struct rec_sys_exit  exit;
	char		     exit_text[256];
};

static struct recorded call(const char *name, int64_t ret, const uint64_t args[6])
{
	struct recorded r = { .enter.nr = number(name, ABI_NATIVE), .exit.ret = ret };

	r.exit.nr = r.enter.nr;
	memcpy(r.enter.arg, args, sizeof(r.enter.arg));
	return r;
}

#define ARGS(...)	((const uint64_t[6]) { __VA_ARGS__ })

static void add_text(char *texts, uint32_t *text_len, unsigned arg, const char *s, size_t len, unsigned flags)
{
	struct rec_text *t = (void *)(texts + *text_len);

	t->arg = arg;
	t->flags = flags;
	t->len = len;
	memcpy(t->bytes, s, len);
	*text_len += ROUND_UP(sizeof(*t) + len, 4);
}

static void brought(struct recorded *r, unsigned arg, const char *s, size_t len, unsigned flags)
{
	add_text(r->exit.text, &r->exit.text_len, arg, s, len, flags);
}

static const char *line(const struct recorded *r)
{
	syscall_text(&r->enter, &r->exit, text, sizeof(text));
	return text;
}

TEST(a_call_on_one_line)
{
	struct recorded r = call("openat", 3, ARGS(AT_FDCWD, 0x1000, O_CLOEXEC, 0));

	brought(&r, 1, "/etc/passwd", 11, 0);
	CHECK_STR(line(&r), "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC) = 3");

	r = call("openat", -2, ARGS(AT_FDCWD, 0x1000, O_WRONLY | O_CREAT, 0600));
	brought(&r, 1, "x\ny", 3, 0);
	CHECK_STR(line(&r), "openat(AT_FDCWD, \"x\\ny\", O_WRONLY|O_CREAT, 0600) = -ENOENT");

	r = call("getpid", 42, ARGS(0));
	CHECK_STR(line(&r), "getpid() = 42");
}

TEST(a_call_with_two_texts_has_each_in_its_place)
{
	struct recorded r = call("renameat2", 0, ARGS(AT_FDCWD, 0x1000, 5, 0x2000, 1));

	brought(&r, 1, "old", 3, 0);
	brought(&r, 3, "new one", 7, 0);
	CHECK_STR(line(&r), "renameat2(AT_FDCWD, \"old\", 5, \"new one\", RENAME_NOREPLACE) = 0");
}

TEST(buffers_and_descriptors_are_shown)
{
	struct recorded r = call("read", 5, ARGS(0, 0x1000, 4096));
	const int fds[2] = { 3, 4 };

	brought(&r, 1, "hell", 4, TEXT_CUT);
	CHECK_STR(line(&r), "read(0, \"hell\"..., 4096) = 5");

	r = call("pipe2", 0, ARGS(0x1000, O_CLOEXEC));
	brought(&r, 0, (const char *)fds, sizeof(fds), 0);
	CHECK_STR(line(&r), "pipe2([3, 4], O_CLOEXEC) = 0");

	r = call("pipe2", -24, ARGS(0x1000, 0));
	brought(&r, 0, "", 0, 0);
	CHECK_STR(line(&r), "pipe2(0x1000, 0) = -EMFILE");

	r = call("read", 0, ARGS(0, 0x1000, 4096));
	brought(&r, 1, "", 0, 0);
	CHECK_STR(line(&r), "read(0, \"\", 4096) = 0");

	r = call("read", -9, ARGS(0, 0x1000, 4096));
	brought(&r, 1, "", 0, 0);
	CHECK_STR(line(&r), "read(0, 0x1000, 4096) = -EBADF");

	r = call("getcwd", 5, ARGS(0x1000, 4096));
	brought(&r, 0, "/tmp", 5, 0);
	CHECK_STR(line(&r), "getcwd(\"/tmp\", 4096) = 5");
}

TEST(socket_addresses_are_shown)
{
	struct recorded r = call("connect", 0, ARGS(3, 0x1000, 16));

	brought(&r, 1, "\2\0\0\120\177\0\0\1\0\0\0\0\0\0\0\0", 16, 0);
	CHECK_STR(line(&r), "connect(3, 127.0.0.1:80, 16) = 0");

	r = call("bind", 0, ARGS(3, 0x1000, 28));
	brought(&r, 1, "\12\0\37\220\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 28, 0);
	CHECK_STR(line(&r), "bind(3, [::1]:8080, 28) = 0");

	r = call("connect", -2, ARGS(3, 0x1000, 110));
	brought(&r, 1, "\1\0/run/nscd\0", 12, TEXT_CUT);
	CHECK_STR(line(&r), "connect(3, unix:/run/nscd, 110) = -ENOENT");

	r = call("connect", -2, ARGS(3, 0x1000, 110));
	brought(&r, 1, "\1\0/run/ns", 9, TEXT_CUT);
	CHECK_STR(line(&r), "connect(3, unix:/run/ns..., 110) = -ENOENT");
}

TEST(a_text_that_could_not_be_read_is_an_address)
{
	struct recorded r = call("openat", -14, ARGS(AT_FDCWD, 0x10, 0));

	brought(&r, 1, "", 0, TEXT_FAULT);
	CHECK_STR(line(&r), "openat(AT_FDCWD, 0x10, O_RDONLY) = -EFAULT");

	r = call("openat", -14, ARGS(AT_FDCWD, 0, 0));
	CHECK_STR(line(&r), "openat(AT_FDCWD, NULL, O_RDONLY) = -EFAULT");
}

TEST(calls_that_do_not_come_back)
{
	struct recorded r = call("execve", 0, ARGS(0x1000, 0x2000, 0x3000));

	add_text(r.enter.text, &r.enter.text_len, 0, "/bin/true", 9, 0);
	CHECK_STR(line(&r), "execve(\"/bin/true\", 0x2000, 0x3000) = 0");

	r = call("exit_group", 0, ARGS(1));
	syscall_text(&r.enter, NULL, text, sizeof(text));
	CHECK_STR(text, "exit_group(1) = ?");
}

TEST(arguments_that_mean_nothing_are_left_out)
{
	struct recorded r = call("fcntl", 0x8000, ARGS(3, F_GETFL, 0x1234));

	CHECK_STR(line(&r), "fcntl(3, F_GETFL) = 32768");
	r = call("futex", 1, ARGS(0x1000, FUTEX_WAKE_PRIVATE, 1, 2, 3, 4));
	CHECK_STR(line(&r), "futex(0x1000, FUTEX_WAKE_PRIVATE, 1) = 1");
}

TEST(a_broken_text_is_not_read_beyond_its_record)
{
	struct recorded r = call("openat", 3, ARGS(AT_FDCWD, 0x1000, 0));

	brought(&r, 1, "/etc", 4, 0);
	r.exit.text_len = 6;
	CHECK(!syscall_next_text(r.exit.text, r.exit.text_len, NULL));
	CHECK_STR(line(&r), "openat(AT_FDCWD, 0x1000, O_RDONLY) = 3");
}

TEST(a_number_without_a_row_has_a_name)
{
	const struct sysdef *def = syscall_def(500, false);
	struct recorded r = { .enter.nr = 500, .enter.arg = { 1, 2 }, .exit.nr = 500, .exit.ret = -38 };

	CHECK_STR(def->name, "syscall_500");
	CHECK(syscall_at(syscall_index(def)) == def);
	CHECK_STR(line(&r), "syscall_500(0x1, 0x2, 0, 0, 0, 0) = -ENOSYS");
	CHECK_STR(syscall_def(0xffffffff, false)->name, "syscall_other");
	CHECK(syscall_index(syscall_def(0xffffffff, true)) < syscall_count());
}

TEST(every_row_is_found_by_its_index_and_number)
{
	for (unsigned i = 0; i < syscall_count(); i++)
		CHECK_INT(syscall_index(syscall_at(i)), i);
	for (unsigned i = 0; i < syscall_table_rows; i++) {
		for (enum abi abi = 0; abi < ABIS; abi++) {
			int32_t nr = syscall_table[i].nr[abi];

			CHECK(nr < 0 || syscall_def_abi(nr, abi) == &syscall_table[i]);
		}
	}
}

TEST(a_32_bit_call_is_found_in_its_own_table)
{
	CHECK_STR(syscall_def_abi(5, ABI_I386)->name, "open");
	CHECK_STR(syscall_def_abi(192, ABI_I386)->name, "mmap2");
	CHECK_STR(syscall_def_abi(322, ABI_ARM)->name, "openat");
	CHECK_STR(syscall_def_abi(0xf0002, ABI_ARM)->name, "ARM_cacheflush");
	CHECK_STR(syscall_def(1, true)->name, "exit");
}

static bool wanted[SYS_MAX];
static char bad[32];
static const char *nearest;

static bool wants(const char *name)
{
	return wanted[number(name, ABI_NATIVE)];
}

static int parse(const char *set)
{
	return syscall_set_parse(wanted, set, bad, sizeof(bad), &nearest);
}

TEST(a_set_of_names)
{
	CHECK(!parse("read,write"));
	CHECK(wants("read") && wants("write") && !wants("close"));
	CHECK(!parse("sys_close"));
	CHECK(wants("close") && !wants("read"));
}

TEST(a_set_of_classes)
{
	CHECK(!parse("%file"));
	CHECK(wants("openat") && wants("execve") && !wants("read") && !wants("socket"));
	CHECK(!parse("%process,%network"));
	CHECK(wants("clone3") && wants("exit_group") && wants("socket") && !wants("openat"));
	CHECK(!parse("%memory,%desc,%signal"));
	CHECK(wants("mmap") && wants("read") && wants("kill") && !wants("getpid"));
	CHECK(!parse("%net"));
	CHECK(wants("connect"));
}

TEST(a_set_of_all_others)
{
	CHECK(!parse("!%desc,futex"));
	CHECK(!wants("read") && !wants("futex") && wants("getpid"));
	CHECK(wanted[500]);			/* a call newer than the table is among the others */
	CHECK(!parse("!all"));
	CHECK(!wants("getpid"));
}

TEST(a_set_by_expression)
{
	CHECK(!parse("/^get.*id$"));
	CHECK(wants("getpid") && wants("getuid") && !wants("getrandom"));
	CHECK(!parse("read,/stat"));
	CHECK(wants("read") && wants("statx") && wants("newfstatat"));
	CHECK_INT(parse("/("), -EINVAL);
	CHECK_STR(bad, "/(");
	CHECK_STR(nearest, NULL);
}

TEST(all_and_none_are_sets)
{
	CHECK(!parse("all"));
	CHECK(wants("read") && wanted[500]);
	CHECK(!parse("none"));
	CHECK(!wants("read") && !wanted[500]);
	CHECK(!parse("%all"));
	CHECK(wants("read"));
}

TEST(the_kernels_own_calls_are_in_no_set)
{
	bool x86[SYS_MAX];

	CHECK(!syscall_set_parse_abi(ABI_X86_64, x86, "all", bad, sizeof(bad), &nearest));
	CHECK(!x86[335] && !x86[336] && x86[334]);
	CHECK(!syscall_set_parse_abi(ABI_X86_64, x86, "uprobe", bad, sizeof(bad), &nearest));
	CHECK(!x86[335] && !x86[336]);
}

TEST(an_unknown_word_is_told_with_the_nearest)
{
	CHECK_INT(parse("read,opnat"), -EINVAL);
	CHECK_STR(bad, "opnat");
	CHECK_STR(nearest, "openat");
	CHECK_INT(parse("exceve"), -EINVAL);
	CHECK_STR(nearest, "execve");
	CHECK_INT(parse("%files"), -EINVAL);
	CHECK_STR(nearest, "%file");
	CHECK_INT(parse("file"), -EINVAL);
	CHECK_STR(nearest, "%file");
	CHECK_INT(parse("zzzzzzzzzz"), -EINVAL);
	CHECK_STR(nearest, NULL);
	CHECK_INT(parse(""), -EINVAL);
	CHECK_INT(parse("read,,write"), -EINVAL);
}

TEST(an_unknown_word_may_be_allowed)
{
	CHECK(!parse("?no_such_call,read"));
	CHECK(wants("read"));
}

TEST(a_call_of_another_architecture_is_known_and_chooses_nothing)
{
	bool arm64[SYS_MAX];

	CHECK(!syscall_set_parse_abi(ABI_ARM64, arm64, "open,openat", bad, sizeof(bad), &nearest));
	CHECK(arm64[56]);
}

TEST(plans_say_what_bpf_takes_along)
{
	struct sys_plan plan[SYS_MAX], *p;

	CHECK(!parse("!close"));
	syscall_plans(plan, wanted);

	p = &plan[number("openat", ABI_NATIVE)];
	CHECK(p->wanted && !p->at_entry && p->take[0] == TAKE_NONE && p->take[1] == TAKE_STRING);
	p = &plan[number("execve", ABI_NATIVE)];
	CHECK(p->wanted && p->at_entry && p->take[0] == TAKE_STRING && p->take[1] == TAKE_NONE);
	p = &plan[number("exit_group", ABI_NATIVE)];
	CHECK(p->wanted && p->at_entry && p->take[0] == TAKE_NONE);
	p = &plan[number("write", ABI_NATIVE)];
	CHECK(p->take[1] == TAKE_BUF);
	p = &plan[number("read", ABI_NATIVE)];
	CHECK(p->take[1] == TAKE_BUF_RET);
	p = &plan[number("socketpair", ABI_NATIVE)];
	CHECK(p->take[3] == TAKE_FDS);
	CHECK(!plan[number("close", ABI_NATIVE)].wanted);
	CHECK(plan[500].wanted && plan[500].take[0] == TAKE_NONE);
}
