/*
 * libcalls.c - the table of library functions: arguments and results as their manual pages have them.
 *
 * One row each, in uftrace's grammar. What a function only writes into is shown as
 * a pointer: its bytes are not there yet. Optional arguments (open()'s mode) are
 * not shown, since they may not have been passed.
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base.h"
#include "debug.h"
#include "image.h"
#include "libcalls.h"

/* By name, as strcmp() orders them: searched by halving. */
const struct libcall libcalls[] = {
	{ "__fprintf_chk", "arg1/p,arg2/i32,arg3/s", "retval/i32" },
	{ "__memcpy_chk", "arg1/p,arg2/p,arg3/u64", "retval/p" },
	{ "__printf_chk", "arg1/i32,arg2/s", "retval/i32" },
	{ "__snprintf_chk", "arg1/p,arg2/u64,arg3/i32,arg4/u64,arg5/s", "retval/i32" },
	{ "__sprintf_chk", "arg1/p,arg2/i32,arg3/u64,arg4/s", "retval/i32" },
	{ "_exit", "arg1/i32", "" },
	{ "_setjmp", "arg1/p", "" },
	{ "accept", "arg1/i32,arg2/p,arg3/p", "retval/i32" },
	{ "accept4", "arg1/i32,arg2/p,arg3/p,arg4/x32", "retval/i32" },
	{ "access", "arg1/s,arg2/x32", "retval/i32" },
	{ "aligned_alloc", "arg1/u64,arg2/u64", "retval/p" },
	{ "atoi", "arg1/s", "retval/i32" },
	{ "atol", "arg1/s", "retval/i64" },
	{ "bind", "arg1/i32,arg2/p,arg3/u32", "retval/i32" },
	{ "bsearch", "arg1/p,arg2/p,arg3/u64,arg4/u64,arg5/p", "retval/p" },
	{ "calloc", "arg1/u64,arg2/u64", "retval/p" },
	{ "chdir", "arg1/s", "retval/i32" },
	{ "chmod", "arg1/s,arg2/x32", "retval/i32" },
	{ "chown", "arg1/s,arg2/u32,arg3/u32", "retval/i32" },
	{ "clock_gettime", "arg1/i32,arg2/p", "retval/i32" },
	{ "close", "arg1/i32", "retval/i32" },
	{ "closedir", "arg1/p", "retval/i32" },
	{ "connect", "arg1/i32,arg2/p,arg3/u32", "retval/i32" },
	{ "creat", "arg1/s,arg2/x32", "retval/i32" },
	{ "dlclose", "arg1/p", "retval/i32" },
	{ "dlopen", "arg1/s,arg2/x32", "retval/p" },
	{ "dlsym", "arg1/p,arg2/s", "retval/p" },
	{ "dprintf", "arg1/i32,arg2/s", "retval/i32" },
	{ "dup", "arg1/i32", "retval/i32" },
	{ "dup2", "arg1/i32,arg2/i32", "retval/i32" },
	{ "dup3", "arg1/i32,arg2/i32,arg3/e:rec_open_flags", "retval/i32" },
	{ "epoll_create1", "arg1/x32", "retval/i32" },
	{ "epoll_ctl", "arg1/i32,arg2/i32,arg3/i32,arg4/p", "retval/i32" },
	{ "epoll_wait", "arg1/i32,arg2/p,arg3/i32,arg4/i32", "retval/i32" },
	{ "execl", "arg1/s,arg2/s", "retval/i32" },
	{ "execlp", "arg1/s,arg2/s", "retval/i32" },
	{ "execv", "arg1/s,arg2/p", "retval/i32" },
	{ "execve", "arg1/s,arg2/p,arg3/p", "retval/i32" },
	{ "execvp", "arg1/s,arg2/p", "retval/i32" },
	{ "exit", "arg1/i32", "" },
	{ "fclose", "arg1/p", "retval/i32" },
	{ "fcntl", "arg1/i32,arg2/e:rec_fcntl", "retval/i32" },
	{ "fcntl64", "arg1/i32,arg2/e:rec_fcntl", "retval/i32" },
	{ "fdopen", "arg1/i32,arg2/s", "retval/p" },
	{ "feof", "arg1/p", "retval/i32" },
	{ "ferror", "arg1/p", "retval/i32" },
	{ "fflush", "arg1/p", "retval/i32" },
	{ "fgetc", "arg1/p", "retval/i32" },
	{ "fgets", "arg1/p,arg2/i32,arg3/p", "retval/s" },
	{ "fileno", "arg1/p", "retval/i32" },
	{ "fopen", "arg1/s,arg2/s", "retval/p" },
	{ "fopen64", "arg1/s,arg2/s", "retval/p" },
	{ "fork", "", "retval/i32" },
	{ "fprintf", "arg1/p,arg2/s", "retval/i32" },
	{ "fputc", "arg1/c,arg2/p", "retval/i32" },
	{ "fputs", "arg1/s,arg2/p", "retval/i32" },
	{ "fread", "arg1/p,arg2/u64,arg3/u64,arg4/p", "retval/u64" },
	{ "free", "arg1/p", "" },
	{ "freeaddrinfo", "arg1/p", "" },
	{ "fseek", "arg1/p,arg2/i64,arg3/e:rec_whence", "retval/i32" },
	{ "fstat", "arg1/i32,arg2/p", "retval/i32" },
	{ "fstat64", "arg1/i32,arg2/p", "retval/i32" },
	{ "fsync", "arg1/i32", "retval/i32" },
	{ "ftell", "arg1/p", "retval/i64" },
	{ "ftruncate", "arg1/i32,arg2/i64", "retval/i32" },
	{ "fwrite", "arg1/p,arg2/u64,arg3/u64,arg4/p", "retval/u64" },
	{ "getaddrinfo", "arg1/s,arg2/s,arg3/p,arg4/p", "retval/i32" },
	{ "getcwd", "arg1/p,arg2/u64", "retval/s" },
	{ "getenv", "arg1/s", "retval/s" },
	{ "geteuid", "", "retval/u32" },
	{ "gethostname", "arg1/p,arg2/u64", "retval/i32" },
	{ "getline", "arg1/p,arg2/p,arg3/p", "retval/i64" },
	{ "getopt", "arg1/i32,arg2/p,arg3/s", "retval/i32" },
	{ "getopt_long", "arg1/i32,arg2/p,arg3/s,arg4/p,arg5/p", "retval/i32" },
	{ "getpid", "", "retval/i32" },
	{ "getppid", "", "retval/i32" },
	{ "getpwnam", "arg1/s", "retval/p" },
	{ "getpwuid", "arg1/u32", "retval/p" },
	{ "getrandom", "arg1/p,arg2/u64,arg3/x32", "retval/i64" },
	{ "gettimeofday", "arg1/p,arg2/p", "retval/i32" },
	{ "getuid", "", "retval/u32" },
	{ "gmtime", "arg1/p", "retval/p" },
	{ "ioctl", "arg1/i32,arg2/x64", "retval/i32" },
	{ "isatty", "arg1/i32", "retval/i32" },
	{ "kill", "arg1/i32,arg2/e:rec_signal", "retval/i32" },
	{ "link", "arg1/s,arg2/s", "retval/i32" },
	{ "listen", "arg1/i32,arg2/i32", "retval/i32" },
	{ "localtime", "arg1/p", "retval/p" },
	{ "lseek", "arg1/i32,arg2/i64,arg3/e:rec_whence", "retval/i64" },
	{ "lseek64", "arg1/i32,arg2/i64,arg3/e:rec_whence", "retval/i64" },
	{ "lstat", "arg1/s,arg2/p", "retval/i32" },
	{ "lstat64", "arg1/s,arg2/p", "retval/i32" },
	{ "madvise", "arg1/p,arg2/u64,arg3/e:rec_advice", "retval/i32" },
	{ "malloc", "arg1/u64", "retval/p" },
	{ "memchr", "arg1/p,arg2/i32,arg3/u64", "retval/p" },
	{ "memcmp", "arg1/p,arg2/p,arg3/u64", "retval/i32" },
	{ "memcpy", "arg1/p,arg2/p,arg3/u64", "retval/p" },
	{ "memmove", "arg1/p,arg2/p,arg3/u64", "retval/p" },
	{ "memset", "arg1/p,arg2/i32,arg3/u64", "retval/p" },
	{ "mkdir", "arg1/s,arg2/x32", "retval/i32" },
	{ "mkstemp", "arg1/s", "retval/i32" },
	{ "mmap", "arg1/p,arg2/u64,arg3/e:rec_prot,arg4/e:rec_map,arg5/i32,arg6/i64", "retval/p" },
	{ "mmap64", "arg1/p,arg2/u64,arg3/e:rec_prot,arg4/e:rec_map,arg5/i32,arg6/i64", "retval/p" },
	{ "mprotect", "arg1/p,arg2/u64,arg3/e:rec_prot", "retval/i32" },
	{ "munmap", "arg1/p,arg2/u64", "retval/i32" },
	{ "nanosleep", "arg1/p,arg2/p", "retval/i32" },
	{ "open", "arg1/s,arg2/e:rec_open_flags", "retval/i32" },
	{ "open64", "arg1/s,arg2/e:rec_open_flags", "retval/i32" },
	{ "openat", "arg1/i32,arg2/s,arg3/e:rec_open_flags", "retval/i32" },
	{ "openat64", "arg1/i32,arg2/s,arg3/e:rec_open_flags", "retval/i32" },
	{ "opendir", "arg1/s", "retval/p" },
	{ "perror", "arg1/s", "" },
	{ "pipe", "arg1/p", "retval/i32" },
	{ "pipe2", "arg1/p,arg2/e:rec_open_flags", "retval/i32" },
	{ "poll", "arg1/p,arg2/u64,arg3/i32", "retval/i32" },
	{ "popen", "arg1/s,arg2/s", "retval/p" },
	{ "posix_memalign", "arg1/p,arg2/u64,arg3/u64", "retval/i32" },
	{ "pread", "arg1/i32,arg2/p,arg3/u64,arg4/i64", "retval/i64" },
	{ "pread64", "arg1/i32,arg2/p,arg3/u64,arg4/i64", "retval/i64" },
	{ "printf", "arg1/s", "retval/i32" },
	{ "pthread_cond_broadcast", "arg1/p", "retval/i32" },
	{ "pthread_cond_signal", "arg1/p", "retval/i32" },
	{ "pthread_cond_timedwait", "arg1/p,arg2/p,arg3/p", "retval/i32" },
	{ "pthread_cond_wait", "arg1/p,arg2/p", "retval/i32" },
	{ "pthread_create", "arg1/p,arg2/p,arg3/p,arg4/p", "retval/i32" },
	{ "pthread_detach", "arg1/x64", "retval/i32" },
	{ "pthread_join", "arg1/x64,arg2/p", "retval/i32" },
	{ "pthread_key_create", "arg1/p,arg2/p", "retval/i32" },
	{ "pthread_kill", "arg1/x64,arg2/e:rec_signal", "retval/i32" },
	{ "pthread_mutex_destroy", "arg1/p", "retval/i32" },
	{ "pthread_mutex_init", "arg1/p,arg2/p", "retval/i32" },
	{ "pthread_mutex_lock", "arg1/p", "retval/i32" },
	{ "pthread_mutex_trylock", "arg1/p", "retval/i32" },
	{ "pthread_mutex_unlock", "arg1/p", "retval/i32" },
	{ "pthread_once", "arg1/p,arg2/p", "retval/i32" },
	{ "pthread_rwlock_rdlock", "arg1/p", "retval/i32" },
	{ "pthread_rwlock_unlock", "arg1/p", "retval/i32" },
	{ "pthread_rwlock_wrlock", "arg1/p", "retval/i32" },
	{ "pthread_self", "", "retval/x64" },
	{ "pthread_setname_np", "arg1/x64,arg2/s", "retval/i32" },
	{ "putchar", "arg1/c", "retval/i32" },
	{ "putenv", "arg1/s", "retval/i32" },
	{ "puts", "arg1/s", "retval/i32" },
	{ "pwrite", "arg1/i32,arg2/p,arg3/u64,arg4/i64", "retval/i64" },
	{ "pwrite64", "arg1/i32,arg2/p,arg3/u64,arg4/i64", "retval/i64" },
	{ "qsort", "arg1/p,arg2/u64,arg3/u64,arg4/p", "" },
	{ "raise", "arg1/e:rec_signal", "retval/i32" },
	{ "read", "arg1/i32,arg2/p,arg3/u64", "retval/i64" },
	{ "readdir", "arg1/p", "retval/p" },
	{ "readlink", "arg1/s,arg2/p,arg3/u64", "retval/i64" },
	{ "realloc", "arg1/p,arg2/u64", "retval/p" },
	{ "realpath", "arg1/s,arg2/p", "retval/s" },
	{ "recv", "arg1/i32,arg2/p,arg3/u64,arg4/x32", "retval/i64" },
	{ "recvfrom", "arg1/i32,arg2/p,arg3/u64,arg4/x32,arg5/p,arg6/p", "retval/i64" },
	{ "remove", "arg1/s", "retval/i32" },
	{ "rename", "arg1/s,arg2/s", "retval/i32" },
	{ "rewind", "arg1/p", "" },
	{ "rmdir", "arg1/s", "retval/i32" },
	{ "sched_yield", "", "retval/i32" },
	{ "select", "arg1/i32,arg2/p,arg3/p,arg4/p,arg5/p", "retval/i32" },
	{ "sem_post", "arg1/p", "retval/i32" },
	{ "sem_wait", "arg1/p", "retval/i32" },
	{ "send", "arg1/i32,arg2/p,arg3/u64,arg4/x32", "retval/i64" },
	{ "sendto", "arg1/i32,arg2/p,arg3/u64,arg4/x32,arg5/p,arg6/u32", "retval/i64" },
	{ "setenv", "arg1/s,arg2/s,arg3/i32", "retval/i32" },
	{ "setlocale", "arg1/i32,arg2/s", "retval/s" },
	{ "setsockopt", "arg1/i32,arg2/i32,arg3/i32,arg4/p,arg5/u32", "retval/i32" },
	{ "shutdown", "arg1/i32,arg2/i32", "retval/i32" },
	{ "sigaction", "arg1/e:rec_signal,arg2/p,arg3/p", "retval/i32" },
	{ "signal", "arg1/e:rec_signal,arg2/p", "retval/p" },
	{ "sleep", "arg1/u32", "retval/u32" },
	{ "snprintf", "arg1/p,arg2/u64,arg3/s", "retval/i32" },
	{ "socket", "arg1/e:rec_family,arg2/e:rec_socket,arg3/i32", "retval/i32" },
	{ "socketpair", "arg1/e:rec_family,arg2/e:rec_socket,arg3/i32,arg4/p", "retval/i32" },
	{ "sprintf", "arg1/p,arg2/s", "retval/i32" },
	{ "stat", "arg1/s,arg2/p", "retval/i32" },
	{ "stat64", "arg1/s,arg2/p", "retval/i32" },
	{ "strcasecmp", "arg1/s,arg2/s", "retval/i32" },
	{ "strcat", "arg1/s,arg2/s", "retval/s" },
	{ "strchr", "arg1/s,arg2/c", "retval/s" },
	{ "strcmp", "arg1/s,arg2/s", "retval/i32" },
	{ "strcpy", "arg1/p,arg2/s", "retval/s" },
	{ "strcspn", "arg1/s,arg2/s", "retval/u64" },
	{ "strdup", "arg1/s", "retval/s" },
	{ "strerror", "arg1/i32", "retval/s" },
	{ "strlen", "arg1/s", "retval/u64" },
	{ "strncasecmp", "arg1/s,arg2/s,arg3/u64", "retval/i32" },
	{ "strncmp", "arg1/s,arg2/s,arg3/u64", "retval/i32" },
	{ "strncpy", "arg1/p,arg2/s,arg3/u64", "retval/p" },
	{ "strndup", "arg1/s,arg2/u64", "retval/s" },
	{ "strnlen", "arg1/s,arg2/u64", "retval/u64" },
	{ "strpbrk", "arg1/s,arg2/s", "retval/s" },
	{ "strrchr", "arg1/s,arg2/c", "retval/s" },
	{ "strsep", "arg1/p,arg2/s", "retval/s" },
	{ "strspn", "arg1/s,arg2/s", "retval/u64" },
	{ "strstr", "arg1/s,arg2/s", "retval/s" },
	{ "strtok", "arg1/s,arg2/s", "retval/s" },
	{ "strtok_r", "arg1/s,arg2/s,arg3/p", "retval/s" },
	{ "strtol", "arg1/s,arg2/p,arg3/i32", "retval/i64" },
	{ "strtoll", "arg1/s,arg2/p,arg3/i32", "retval/i64" },
	{ "strtoul", "arg1/s,arg2/p,arg3/i32", "retval/u64" },
	{ "strtoull", "arg1/s,arg2/p,arg3/i32", "retval/u64" },
	{ "symlink", "arg1/s,arg2/s", "retval/i32" },
	{ "sysconf", "arg1/i32", "retval/i64" },
	{ "system", "arg1/s", "retval/i32" },
	{ "time", "arg1/p", "retval/i64" },
	{ "tolower", "arg1/c", "retval/c" },
	{ "toupper", "arg1/c", "retval/c" },
	{ "truncate", "arg1/s,arg2/i64", "retval/i32" },
	{ "ungetc", "arg1/c,arg2/p", "retval/i32" },
	{ "unlink", "arg1/s", "retval/i32" },
	{ "unsetenv", "arg1/s", "retval/i32" },
	{ "usleep", "arg1/u32", "retval/i32" },
	{ "vfprintf", "arg1/p,arg2/s,arg3/p", "retval/i32" },
	{ "vprintf", "arg1/s,arg2/p", "retval/i32" },
	{ "vsnprintf", "arg1/p,arg2/u64,arg3/s,arg4/p", "retval/i32" },
	{ "wait", "arg1/p", "retval/i32" },
	{ "waitpid", "arg1/i32,arg2/p,arg3/x32", "retval/i32" },
	{ "write", "arg1/i32,arg2/p,arg3/u64", "retval/i64" },
};

const size_t libcall_count = ARRAY_SIZE(libcalls);

#define N(name)		{ #name, name }

struct named_value {
	const char *name;
	int	    value;
};

static const struct named_value open_flags[] = {
	N(O_RDONLY), N(O_WRONLY), N(O_RDWR), N(O_CREAT), N(O_EXCL), N(O_NOCTTY), N(O_TRUNC), N(O_APPEND), N(O_NONBLOCK),
	N(O_DSYNC), N(O_ASYNC), N(O_DIRECT), N(O_DIRECTORY), N(O_NOFOLLOW), N(O_NOATIME), N(O_CLOEXEC), N(O_SYNC),
	N(O_PATH), N(O_TMPFILE), {}
};
static const struct named_value fcntl_commands[] = {
	N(F_DUPFD), N(F_GETFD), N(F_SETFD), N(F_GETFL), N(F_SETFL), N(F_GETLK), N(F_SETLK), N(F_SETLKW), N(F_SETOWN),
	N(F_GETOWN), N(F_DUPFD_CLOEXEC), N(F_SETPIPE_SZ), N(F_GETPIPE_SZ), N(F_ADD_SEALS), N(F_GET_SEALS), {}
};
static const struct named_value whences[] = { N(SEEK_SET), N(SEEK_CUR), N(SEEK_END), N(SEEK_DATA), N(SEEK_HOLE), {} };
static const struct named_value prots[] = { N(PROT_NONE), N(PROT_READ), N(PROT_WRITE), N(PROT_EXEC), {} };
static const struct named_value maps[] = {
	N(MAP_SHARED), N(MAP_PRIVATE), N(MAP_FIXED), N(MAP_ANONYMOUS), N(MAP_GROWSDOWN), N(MAP_LOCKED), N(MAP_NORESERVE),
	N(MAP_POPULATE), N(MAP_NONBLOCK), N(MAP_STACK), N(MAP_HUGETLB), N(MAP_FIXED_NOREPLACE), {}
};
static const struct named_value advices[] = {
	N(MADV_NORMAL), N(MADV_RANDOM), N(MADV_SEQUENTIAL), N(MADV_WILLNEED), N(MADV_DONTNEED), N(MADV_FREE),
	N(MADV_DONTFORK), N(MADV_DOFORK), N(MADV_HUGEPAGE), N(MADV_NOHUGEPAGE), N(MADV_DONTDUMP), {}
};
static const struct named_value families[] = {
	N(AF_UNSPEC), N(AF_UNIX), N(AF_INET), N(AF_INET6), N(AF_NETLINK), N(AF_PACKET), N(AF_VSOCK), {}
};
static const struct named_value sockets[] = {
	N(SOCK_STREAM), N(SOCK_DGRAM), N(SOCK_RAW), N(SOCK_SEQPACKET), N(SOCK_NONBLOCK), N(SOCK_CLOEXEC), {}
};
static const struct named_value signals[] = {
	N(SIGHUP), N(SIGINT), N(SIGQUIT), N(SIGILL), N(SIGTRAP), N(SIGABRT), N(SIGBUS), N(SIGFPE), N(SIGKILL), N(SIGUSR1),
	N(SIGSEGV), N(SIGUSR2), N(SIGPIPE), N(SIGALRM), N(SIGTERM), N(SIGCHLD), N(SIGCONT), N(SIGSTOP), N(SIGTSTP),
	N(SIGTTIN), N(SIGTTOU), N(SIGURG), N(SIGWINCH), N(SIGIO), N(SIGSYS), {}
};

/* Their names must not be those that a program uses. */
static const struct {
	const char *name;
	const struct named_value *value;
} enumeration[] = {
	{ "rec_open_flags", open_flags }, { "rec_fcntl", fcntl_commands }, { "rec_whence", whences },
	{ "rec_prot", prots }, { "rec_map", maps }, { "rec_advice", advices }, { "rec_family", families },
	{ "rec_socket", sockets }, { "rec_signal", signals },
};

static int by_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct libcall *)row)->name);
}

static void add_enumerations(struct debug *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(enumeration); i++) {
		char text[1024];
		size_t n = snprintf(text, sizeof(text), "%s{", enumeration[i].name);

		for (const struct named_value *v = enumeration[i].value; v->name; v++)
			n += snprintf(text + n, sizeof(text) - n, "%s=%d,", v->name, v->value);
		text[n - 1] = '}';
		(void)debug_add_enum(d, text);
	}
}

static bool is_c_library(const struct image *img)
{
	const char *slash = img->path ? strrchr(img->path, '/') : NULL;

	return slash && (!fnmatch("libc.so*", slash + 1, 0) || !fnmatch("libc-2*.so", slash + 1, 0) ||
			 !fnmatch("libpthread[.-]*", slash + 1, 0));
}

void libcalls_add(struct image *img)
{
	bool is_libc = is_c_library(img);
	struct debug *d = img->debug, known = *d;	/* those that debug information tells of come first */

	for (size_t i = 0; i < img->func_count; i++) {
		const struct func *f = &img->func[i];
		struct debug_func df = { .addr = f->addr };
		const struct libcall *row;

		if (!(f->flags & FUNC_PLT) && !is_libc)
			continue;
		row = bsearch(f->name, libcalls, libcall_count, sizeof(*libcalls), by_name);
		known.func = d->func;
		if (!row || debug_find(&known, f->addr))
			continue;
		df.args = debug_text(d, row->args);
		df.result = debug_text(d, row->result);
		(void)debug_add(d, &df);
	}
	if (d->count > known.count)
		add_enumerations(d);
	debug_sort(d);
}
