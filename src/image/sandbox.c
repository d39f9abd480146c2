/*
 * sandbox.c - what the image child gives up before it looks at a foreign file.
 */
#include <asm/unistd.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base.h"
#include "child.h"

#define NOBODY		65534		/* the kernel's overflow uid: owns nothing */
#define MEMORY_MAX	(2ull << 30)	/* address space; a browser with symbols needs half of it */
#define CPU_SECONDS	600		/* of a whole recording; one file's time is the parent's to limit */
#define FDS_MAX		16

#if defined(__SANITIZE_ADDRESS__)
#define LIMITS_MEMORY	false		/* its shadow alone is larger than any limit */
#else
#define LIMITS_MEMORY	true
#endif

#if defined(__x86_64__)
#define ARCH_HERE	AUDIT_ARCH_X86_64
#else
#define ARCH_HERE	AUDIT_ARCH_AARCH64
#endif

static int limit(int resource, rlim_t value)
{
	struct rlimit now;

	if (getrlimit(resource, &now) < 0)
		return -errno;
	if (now.rlim_max != RLIM_INFINITY)
		value = MIN(value, now.rlim_max);
	return setrlimit(resource, &(struct rlimit){ value, value }) < 0 ? -errno : 0;
}

static int limit_resources(void)
{
	int err = 0;

	if (LIMITS_MEMORY)
		err = limit(RLIMIT_AS, MEMORY_MAX);
	err = err ?: limit(RLIMIT_CPU, CPU_SECONDS);
	err = err ?: limit(RLIMIT_NOFILE, FDS_MAX);
	err = err ?: limit(RLIMIT_FSIZE, 0);
	return err ?: limit(RLIMIT_CORE, 0);
}

/* Done, or as good as it gets. */
static bool is_left(int result)
{
	return !result || errno == EPERM;
}

/* A root who may not become another, as in a container, stays root, but without what root may do. */
static int become_nobody(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	if (geteuid() == 0 && !(is_left(setgroups(0, NULL)) && is_left(setresgid(NOBODY, NOBODY, NOBODY)) &&
				is_left(setresuid(NOBODY, NOBODY, NOBODY))))
		return -errno;
	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

int sandbox_leave_privileges(void)
{
	int err = become_nobody();

	if (err)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return -errno;
	return limit_resources();
}

/* Offset of a 32-bit half of the system call's argument @n; both machines are little endian. */
#define ARG_LOW(n)	(offsetof(struct seccomp_data, args) + 8 * (n))

#define LOAD(offset)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(what)	BPF_STMT(BPF_RET | BPF_K, (what))
#define KILL		RETURN(SECCOMP_RET_KILL_PROCESS)
#define ALLOW		RETURN(SECCOMP_RET_ALLOW)

/* Each leaves the call's number loaded for the next. */
#define ALLOW_CALL(nr)							\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), ALLOW
#define REFUSE_CALL(nr, err)						\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), RETURN(SECCOMP_RET_ERRNO | (err))
#define ALLOW_WITHOUT(nr, arg, bits)	/* when argument @arg has none of @bits */	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 4),			\
	LOAD(ARG_LOW(arg)),						\
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), KILL, ALLOW
#define ALLOW_IF(nr, arg, value)	/* when argument @arg is @value */	\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 4),			\
	LOAD(ARG_LOW(arg)),						\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 1, 0), KILL, ALLOW

int sandbox_filter_syscalls(void)
{
	static struct sock_filter filter[] = {
		LOAD(offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_HERE, 1, 0),
		KILL,
		LOAD(offsetof(struct seccomp_data, nr)),	/* x32's numbers have bit 30 set and match none below */
		ALLOW_CALL(__NR_pread64),
		ALLOW_CALL(__NR_read),
		ALLOW_CALL(__NR_write),
		ALLOW_CALL(__NR_recvmsg),
		ALLOW_CALL(__NR_close),
		ALLOW_CALL(__NR_lseek),
		ALLOW_CALL(__NR_fstat),
		ALLOW_IF(__NR_newfstatat, 3, 0x1000),		/* AT_EMPTY_PATH: how glibc spells fstat() */
		ALLOW_IF(__NR_fcntl, 1, F_GETFD),		/* libelf asks whether a descriptor is one */
		/* libdw would look for other files: those are not to be had, which it takes well */
		REFUSE_CALL(__NR_openat, EACCES),
#ifdef __NR_readlink
		REFUSE_CALL(__NR_readlink, EINVAL),		/* as of what is no link */
#endif
		REFUSE_CALL(__NR_readlinkat, EINVAL),
		ALLOW_CALL(__NR_brk),
		ALLOW_CALL(__NR_munmap),
		ALLOW_CALL(__NR_mremap),
		ALLOW_CALL(__NR_madvise),
		ALLOW_WITHOUT(__NR_mmap, 2, PROT_EXEC),
		ALLOW_WITHOUT(__NR_mprotect, 2, PROT_EXEC),
		ALLOW_CALL(__NR_futex),
		ALLOW_CALL(__NR_sysinfo),	/* glibc's qsort() asks how much memory there is */
		ALLOW_CALL(__NR_getrandom),
		ALLOW_CALL(__NR_clock_gettime),
		ALLOW_CALL(__NR_rt_sigreturn),
		ALLOW_CALL(__NR_exit),
		ALLOW_CALL(__NR_exit_group),
		KILL,
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}
