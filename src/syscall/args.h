/*
 * args.h - the words the syscall table is written in.
 *
 * Private to src/syscall/. A row of table.c reads
 *
 *	{ N(  0,  63,   3,   3), "read", TD, { FD("fd"), BUF_RET("buf"), SIZE("count") } },
 *
 * where the result is left out when it is a plain number or an errno.
 */
#ifndef ARGS_H
#define ARGS_H

#include "syscall.h"

#define NO			(-1)	/* that ABI has no such call */
#define N(x86_64, arm64, i386, arm) \
	.nr = { [ABI_X86_64] = x86_64, [ABI_ARM64] = arm64, [ABI_I386] = i386, [ABI_ARM] = arm }

/* Classes, for --syscalls=SET. */
#define TF	0x001	/* %file: takes a file name */
#define TD	0x002	/* %desc: takes or gives a file descriptor */
#define TP	0x004	/* %process: starts, ends, waits for, signals a process */
#define TN	0x008	/* %network */
#define TS	0x010	/* %signal */
#define TM	0x020	/* %memory: changes or describes the address space */
#define TI	0x040	/* %ipc: System V */
#define TC	0x080	/* %creds: users, groups, capabilities */
#define TK	0x100	/* %clock: reads or sets the time of day */
#define TX	0x200	/* made by the kernel's uprobes, not by the program: never recorded */

/* What an argument is: decides how it is shown and what BPF takes along. kinds[] in show.c says how. */
enum arg_kind {
	ARG_NONE,
	ARG_INT, ARG_UINT, ARG_XINT,		/* 32 bits: signed, unsigned, hexadecimal */
	ARG_LONG, ARG_ULONG, ARG_HEX,		/* 64 bits: signed, unsigned, hexadecimal */
	ARG_SIZE,				/* bytes */
	ARG_PTR,				/* an address */
	ARG_WORD,				/* 64 bits that mean now a number, now an address */
	ARG_MODE, ARG_FILE_MODE,		/* permissions; type and permissions */
	ARG_FD, ARG_LFD, ARG_DIRFD,		/* LFD: declared long by the kernel; DIRFD: may be AT_FDCWD */
	ARG_PID, ARG_LPID, ARG_ID,		/* ID: a user or group; -1 leaves it as it is */
	ARG_PATH, ARG_STRING,			/* ends with a NUL */
	ARG_BUF,				/* bytes given; the next argument says how many */
	ARG_BUF_RET,				/* bytes got; the result says how many */
	ARG_CWD,				/* the same, and a NUL is counted */
	ARG_SOCKADDR,				/* a socket address given; the next argument is its length */
	ARG_FDS,				/* two file descriptors got */
	ARG_FLAGS, ARG_LFLAGS,			/* bits with names; 32 or 64 of them */
	ARG_ENUM, ARG_LENUM,			/* one value with a name */
	ARG_SIGNAL, ARG_DEV,
	ARG_IOCTL, ARG_FCNTL_ARG,
	ARG_PROTOCOL, ARG_SOCKOPT,		/* named by the family, by the level */
	ARG_QUOTACTL, ARG_IOPRIO,
	ARG_KINDS
};

#define INT(n)		{ n, NULL, ARG_INT }
#define UINT(n)		{ n, NULL, ARG_UINT }
#define XINT(n)		{ n, NULL, ARG_XINT }
#define LONG(n)		{ n, NULL, ARG_LONG }
#define ULONG(n)	{ n, NULL, ARG_ULONG }
#define HEX(n)		{ n, NULL, ARG_HEX }
#define SIZE(n)		{ n, NULL, ARG_SIZE }
#define PTR(n)		{ n, NULL, ARG_PTR }
#define WORD(n)		{ n, NULL, ARG_WORD }
#define MODE(n)		{ n, NULL, ARG_MODE }
#define FILE_MODE(n)	{ n, NULL, ARG_FILE_MODE }
#define FD(n)		{ n, NULL, ARG_FD }
#define LFD(n)		{ n, NULL, ARG_LFD }
#define DIRFD(n)	{ n, NULL, ARG_DIRFD }
#define PID(n)		{ n, NULL, ARG_PID }
#define LPID(n)		{ n, NULL, ARG_LPID }
#define ID(n)		{ n, NULL, ARG_ID }
#define PATH(n)		{ n, NULL, ARG_PATH }
#define STRING(n)	{ n, NULL, ARG_STRING }
#define BUF(n)		{ n, NULL, ARG_BUF }
#define BUF_RET(n)	{ n, NULL, ARG_BUF_RET }
#define CWD(n)		{ n, NULL, ARG_CWD }
#define SOCKADDR(n)	{ n, NULL, ARG_SOCKADDR }
#define FDS(n)		{ n, NULL, ARG_FDS }
#define FLAGS(n, set)	{ n, names_##set, ARG_FLAGS }
#define LFLAGS(n, set)	{ n, names_##set, ARG_LFLAGS }
#define ENUM(n, set)	{ n, names_##set, ARG_ENUM }
#define LENUM(n, set)	{ n, names_##set, ARG_LENUM }
#define SIGNAL(n)	{ n, NULL, ARG_SIGNAL }
#define DEV(n)		{ n, NULL, ARG_DEV }
#define IOCTL(n)	{ n, NULL, ARG_IOCTL }
#define FCNTL_ARG(n)	{ n, NULL, ARG_FCNTL_ARG }
#define PROTOCOL(n)	{ n, NULL, ARG_PROTOCOL }
#define SOCKOPT(n)	{ n, NULL, ARG_SOCKOPT }
#define QUOTACTL(n)	{ n, NULL, ARG_QUOTACTL }
#define IOPRIO(n)	{ n, NULL, ARG_IOPRIO }

/* What a result is. A negative one is always an errno. */
enum ret_kind {
	RET_DEC, RET_HEX, RET_OCT,
	RET_EXEC,	/* 0, in another program: the memory the arguments pointed to is gone */
	RET_NEVER,	/* the call does not come back */
};

/*
 * Values with names: names_*.c. A list ends in {}.
 *
 * In flags each entry stands for the bits of its mask; where those have its
 * value, it is named and they are done with. So wider flags stand before the
 * bits they are made of, and a field of several bits (O_ACCMODE) is one entry
 * per value. An entry with no bits at all names the whole value 0.
 */
struct name {
	uint64_t	   value;
	const char	  *name;
	uint64_t	   mask;
	const struct name *field;	/* instead of a name: the bits of the mask are named by this list */
};

#define NAME(c)			{ (uint64_t)(c), #c, (uint64_t)(c), NULL }
/* A value newer than some headers. */
#define VALUE(v, s)		{ (uint64_t)(v), s, (uint64_t)(v), NULL }
/* The bits of @m have a value. */
#define IN_FIELD(m, c)		{ (uint64_t)(c), #c, (uint64_t)(m), NULL }
#define VALUE_IN(m, v, s)	{ (uint64_t)(v), s, (uint64_t)(m), NULL }
/* The bits of @m, when any is set, are named by @list. */
#define FIELD(m, list)		{ 0, "", (uint64_t)(m), list }
/* The list to use when another argument is @key. */
#define UNDER(key, list)	{ (uint64_t)(key), "", 0, list }

extern const struct sysdef syscall_table[];	/* table.c */
extern const unsigned	   syscall_table_rows;

/* Text that grows in a buffer of fixed size, and counts what does not fit. */
struct textbuf {
	char  *buf;
	size_t size, len;
};

void text_add(struct textbuf *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_add_escaped(struct textbuf *t, const void *bytes, size_t len);

/* @v as names joined with '|', what is left in hexadecimal. */
void names_add_flags(struct textbuf *t, const struct name *names, uint64_t v);
/* The one value @v by its name, or as a number: hexadecimal when large. */
void names_add_value(struct textbuf *t, const struct name *names, int64_t v);
/* NULL: no name. Only the lowest 32 bits count. */
const char *names_find(const struct name *names, uint32_t v);
/* The list for @key, of several; NULL: none. */
const struct name *names_under(const struct name *lists, uint32_t key);

/* What has no fixed form: args.c. */
struct argtext {
	const struct sysarg *arg;
	uint64_t	     value;	/* as syscall_arg_value() gives it */
	const uint64_t	    *args;	/* all six registers */
	unsigned	     index;	/* which of them it is */
};

void show_ptr(struct textbuf *t, const struct argtext *a);
void show_word(struct textbuf *t, const struct argtext *a);
void show_flags(struct textbuf *t, const struct argtext *a);
void show_value(struct textbuf *t, const struct argtext *a);
void show_dirfd(struct textbuf *t, const struct argtext *a);
void show_file_mode(struct textbuf *t, const struct argtext *a);
void show_signal(struct textbuf *t, const struct argtext *a);
void show_dev(struct textbuf *t, const struct argtext *a);
void show_ioctl(struct textbuf *t, const struct argtext *a);
void show_fcntl_arg(struct textbuf *t, const struct argtext *a);
void show_protocol(struct textbuf *t, const struct argtext *a);
void show_sockopt(struct textbuf *t, const struct argtext *a);
void show_quotactl(struct textbuf *t, const struct argtext *a);
void show_ioprio(struct textbuf *t, const struct argtext *a);
void show_sockaddr(struct textbuf *t, const void *bytes, size_t len);

/* names_file.c */
extern const struct name names_open_flags[], names_new_fd_flags[], names_fd_flags[], names_access_modes[],
	names_dirfds[], names_at_flags[], names_unlinkat_flags[], names_faccessat_flags[],
	names_execveat_flags[], names_name_to_handle_flags[], names_statx_mask[], names_file_types[],
	names_seek_whence[], names_flock_operations[], names_fcntl_commands[], names_seals[],
	names_lease_types[], names_rename_flags[], names_fallocate_modes[], names_fadvise_advices[],
	names_sync_file_range_flags[], names_splice_flags[], names_rwf_flags[], names_xattr_flags[],
	names_close_range_flags[], names_memfd_flags[], names_memfd_secret_flags[], names_eventfd_flags[],
	names_signalfd_flags[], names_timerfd_create_flags[], names_timerfd_settime_flags[],
	names_epoll_create_flags[], names_epoll_operations[], names_inotify_init_flags[],
	names_inotify_events[], names_fanotify_init_flags[], names_fanotify_mark_flags[],
	names_fanotify_events[], names_mount_flags[], names_umount_flags[], names_swap_flags[],
	names_fsopen_flags[], names_fspick_flags[], names_fsconfig_commands[], names_fsmount_flags[],
	names_mount_attrs[], names_open_tree_flags[], names_move_mount_flags[], names_listmount_flags[];
/* names_ioctl.c */
extern const struct name names_ioctls[];
/* names_kernel.c */
extern const struct name names_prctl_options[], names_arch_prctl_codes[], names_ptrace_requests[],
	names_syslog_actions[], names_personality_flags[], names_reboot_commands[],
	names_delete_module_flags[], names_finit_module_flags[], names_kexec_load_flags[],
	names_kexec_file_flags[], names_quota_commands[], names_quota_types[], names_key_ids[],
	names_keyctl_operations[], names_ioprio_which[], names_ioprio_classes[], names_perf_flags[],
	names_kcmp_types[], names_seccomp_operations[], names_seccomp_flags[], names_getrandom_flags[],
	names_bpf_commands[], names_userfaultfd_flags[], names_membarrier_commands[],
	names_membarrier_flags[], names_rseq_flags[], names_pidfd_flags[], names_pidfd_signal_flags[],
	names_io_uring_enter_flags[], names_io_uring_register_ops[], names_landlock_create_flags[],
	names_landlock_rule_types[], names_landlock_restrict_flags[], names_lsm_attributes[],
	names_lsm_flags[];
/* names_net.c */
extern const struct name names_socket_families[], names_socket_types[], names_accept_flags[],
	names_ip_protocols[], names_netlink_protocols[], names_protocols_by_family[], names_msg_flags[],
	names_shutdown_how[], names_socket_levels[], names_socket_options[], names_ip_options[],
	names_ipv6_options[], names_tcp_options[], names_udp_options[], names_netlink_options[],
	names_options_by_level[], names_socketcalls[];
/* names_task.c */
extern const struct name names_mem_prot[], names_map_flags[], names_mremap_flags[], names_msync_flags[],
	names_mlock2_flags[], names_mlockall_flags[], names_madvise_advices[], names_pkey_rights[],
	names_shadow_stack_flags[], names_mempolicy_modes[], names_mbind_flags[],
	names_get_mempolicy_flags[], names_clone_flags[], names_namespace_flags[], names_wait_options[],
	names_waitid_types[], names_rlimits[], names_rusage_who[], names_priority_which[],
	names_sched_policies[], names_futex_ops[], names_futex2_flags[], names_signals[],
	names_sigmask_how[], names_clock_ids[], names_timer_flags[], names_itimers[],
	names_ipc_get_flags[], names_shmget_flags[], names_ipc_msg_flags[], names_shmat_flags[], names_shm_commands[],
	names_msg_commands[], names_sem_commands[];

#endif
