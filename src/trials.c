/*
 * trials.c - what this kernel can do, found by doing it.
 *
 * Probes are placed in a memory file nobody else maps, so no code of ours or of
 * anybody is rewritten. Taking a uprobe away makes the kernel wait 50 to 150 ms;
 * what places one does so in a process of its own, which answers at once and is
 * left to wait alone.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "base.h"
#include "bpflink.h"
#include "record.h"
#include "trialcode.h"
#include "trials.h"

static const struct bpf_insn nothing[] = { MOV_IMM(BPF_REG_0, 0), EXIT };

bool probe_btf(void)
{
	return !access("/sys/kernel/btf/vmlinux", R_OK);
}

bool probe_ringbuf(void)
{
	return trial_made(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "trial", 0, 0, sysconf(_SC_PAGESIZE), NULL));
}

#ifdef __aarch64__
/* In a task's thread_info, with which struct task_struct begins: in a union without a name. */
static int preempt_count_at(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "thread_info", BTF_KIND_STRUCT);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL, *in;

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;

		in = btf__type_by_id(btf, m->type);
		if (btf_is_union(in) && btf_vlen(in) &&
		    !strcmp(btf__name_by_offset(btf, btf_members(in)->name_off), "preempt_count"))
			return m->offset / 8;
	}
	return -ENOENT;
}
#else
/* A variable of each CPU's. */
static int preempt_count_at(const struct btf *btf)
{
	return btf__find_by_name_kind(btf, "__preempt_count", BTF_KIND_VAR);
}
#endif

const struct type_ids *trials_types(void)
{
	static struct type_ids ids;
	struct btf *btf;

	if (ids.sys_enter)
		return &ids;
	ids.sys_enter = -ENOENT;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return &ids;
	ids.sys_enter = btf__find_by_name_kind(btf, "btf_trace_sys_enter", BTF_KIND_TYPEDEF);
	ids.task_rename = btf__find_by_name_kind(btf, "btf_trace_task_rename", BTF_KIND_TYPEDEF);
	ids.exec_hook = btf__find_by_name_kind(btf, "bpf_lsm_bprm_check_security", BTF_KIND_FUNC);
	ids.preempt_count = preempt_count_at(btf);
	ids.storage_busy = btf__find_by_name_kind(btf, "bpf_task_storage_busy", BTF_KIND_VAR);
	ids.storage_get_recur = btf__find_by_name_kind(btf, "bpf_task_storage_get_recur", BTF_KIND_FUNC);
	ids.task_from_pid = btf__find_by_name_kind(btf, "bpf_task_from_pid", BTF_KIND_FUNC);
	ids.task_release = btf__find_by_name_kind(btf, "bpf_task_release", BTF_KIND_FUNC);
	ids.task_work = btf__find_by_name_kind(btf, "bpf_task_work_schedule_resume", BTF_KIND_FUNC);
	if (ids.task_work < 0)
		ids.task_work = btf__find_by_name_kind(btf, "bpf_task_work_schedule_resume_impl", BTF_KIND_FUNC);
	btf__free(btf);
	return &ids;
}

static int load_tp_btf(int tracepoint, const struct bpf_insn *insns, size_t count)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP,
		    .attach_btf_id = MAX(tracepoint, 0));

	return opts.attach_btf_id ? trial_load(BPF_PROG_TYPE_TRACING, insns, count, &opts) : -ENOENT;
}

bool probe_tp_btf(void)
{
	__cleanup(close_fd) int prog = load_tp_btf(trials_types()->sys_enter, nothing, ARRAY_SIZE(nothing));

	return prog >= 0 && trial_made(bpf_raw_tracepoint_open(NULL, prog));
}

/* ---- tracepoints, and who may come in between ---- */

#define LOAD_VAR(to, id)	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (to), \
				  .src_reg = BPF_PSEUDO_BTF_ID, .imm = (id) }, {}
#define LOAD_U32(to, from, at)	{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = (to), .src_reg = (from), .off = (at) }
#define STORE_REG(to, at, from)	{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = (to), .src_reg = (from), .off = (at) }

#define PREEMPT_OFF	0xffu	/* of the count: how often preemption was switched off; include/linux/preempt.h */

/* Leaves r6 in @map, an array of one __u64. */
#define KEEP_R6(map)								\
		STORE_REG(BPF_REG_10, -8, BPF_REG_6),				\
		STORE_IMM(BPF_REG_10, -16, 0),					\
		LOAD_MAP(BPF_REG_1, map),					\
		MOV_REG(BPF_REG_2, BPF_REG_10),					\
		ADD_IMM(BPF_REG_2, -16),					\
		MOV_REG(BPF_REG_3, BPF_REG_10),					\
		ADD_IMM(BPF_REG_3, -8),						\
		MOV_IMM(BPF_REG_4, 0),						\
		CALL(BPF_FUNC_map_update_elem),					\
		MOV_IMM(BPF_REG_0, 0),						\
		EXIT

static int load_preempt_count(int tracepoint, int map)
{
	int at = trials_types()->preempt_count;
	const struct bpf_insn look[] = {
#ifdef __aarch64__
		CALL(BPF_FUNC_get_current_task_btf),
		LOAD_U32(BPF_REG_6, BPF_REG_0, at),
#else
		LOAD_VAR(BPF_REG_1, at),
		CALL(BPF_FUNC_this_cpu_ptr),
		LOAD_U32(BPF_REG_6, BPF_REG_0, 0),
#endif
		KEEP_R6(map),
	};

	return at > 0 ? load_tp_btf(tracepoint, look, ARRAY_SIZE(look)) : -ENOENT;
}

/* 6002 for 6.2, what the kernel calls itself. uname(2) says what setarch --uname-2.6 would have it say. */
static int kernel_release(void)
{
	__cleanup(close_file) FILE *f = fopen("/proc/sys/kernel/osrelease", "re");
	int major, minor;

	return f && fscanf(f, "%d.%d", &major, &minor) == 2 ? major * 1000 + minor : INT_MAX;
}

/* Tracepoints of our own: a system call, and the name we have already. */
static void pass_tracepoints(void)
{
	char name[REC_COMM];

	if (!prctl(PR_GET_NAME, name))
		prctl(PR_SET_NAME, name);
}

/* Is preemption off in a program of the typed @tracepoint? Where it cannot be told, it is taken to be. */
static bool is_steady(int tracepoint)
{
	uint64_t count = PREEMPT_OFF;
	__cleanup(close_fd) int map = -1, prog = -1, link = -1;
	uint32_t zero = 0;

	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "trial", sizeof(zero), sizeof(count), 1, NULL);
	if (map >= 0 && !bpf_map_update_elem(map, &zero, &count, BPF_ANY))
		prog = load_preempt_count(tracepoint, map);
	if (prog < 0)
		return true;
	link = bpf_raw_tracepoint_open(NULL, prog);
	pass_tracepoints();
	return bpf_map_lookup_elem(map, &zero, &count) || count & PREEMPT_OFF;
}

/* Up to 6.19 all were, whatever the kernel; 7.0 is in system calls' alone. */
bool probe_steady_tracepoints(void)
{
	static int answer = -1;		/* probe_task_work() asks, too */

	if (answer < 0)
		answer = kernel_release() < 7000 || (is_steady(trials_types()->sys_enter) && is_steady(trials_types()->task_rename));
	return answer;
}

int trials_kernel_call(enum kernel_call which)
{
	switch (which) {
	case KERNEL_TASK_FROM_PID:
		return trials_types()->task_from_pid;
	case KERNEL_TASK_RELEASE:
		return trials_types()->task_release;
	case KERNEL_TASK_WORK:
		return trials_types()->task_work;
	}
	return -ENOENT;
}

static int load_task_from_pid(void)
{
	int find = trials_kernel_call(KERNEL_TASK_FROM_PID), release = trials_kernel_call(KERNEL_TASK_RELEASE);
	const struct bpf_insn look_up[] = {
		MOV_IMM(BPF_REG_1, 1),
		CALL_KERNEL(find),
		SKIP_IF_0(BPF_REG_0, 2),
		MOV_REG(BPF_REG_1, BPF_REG_0),
		CALL_KERNEL(release),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};

	return find > 0 && release > 0 ? trial_load(BPF_PROG_TYPE_TRACEPOINT, look_up, ARRAY_SIZE(look_up), NULL) : -ENOENT;
}

/* Some kernels want CAP_SYS_ADMIN for it, by kernel.perf_event_paranoid, and ask ahead of looking for the event: there is none. */
static bool can_open_events(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = UINT32_MAX };
	__cleanup(close_fd) int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd >= 0 || (errno != EACCES && errno != EPERM);
}

bool trials_are_events(const char *const *event, size_t count)
{
	const char *dir = trials_events();
	char path[300];

	for (size_t i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%s/id", dir ?: "", event[i]);
		if (!dir || access(path, R_OK))
			return false;
	}
	return can_open_events();
}

/* Of what bpf/point.bpf.h, kin.bpf.c and file.bpf.c name. The last is the newest, of 6.10. */
bool probe_perf_tracepoints(void)
{
	static const char *const events[] = { "sched/sched_process_exec", "raw_syscalls/sys_enter", "sched/sched_prepare_exec" };

	return trials_are_events(events, ARRAY_SIZE(events)) && trial_made(load_task_from_pid());
}

/* A map that hangs an int on tasks; the kernel wants its types described. */
static int create_task_storage(void)
{
	struct btf *btf = btf__new_empty();
	int type = btf ? btf__add_int(btf, "int", 4, BTF_INT_SIGNED) : -1;
	int fd = -1;

	if (type > 0 && !btf__load_into_kernel(btf)) {
		LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC, .btf_fd = btf__fd(btf),
			    .btf_key_type_id = type, .btf_value_type_id = type);

		fd = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "trial", 4, 4, 0, &opts);
	}
	btf__free(btf);
	return fd;
}

bool probe_task_storage(void)
{
	__cleanup(close_fd) int map = create_task_storage();
	const struct bpf_insn lookup[] = {
		CALL(BPF_FUNC_get_current_task_btf),
		MOV_REG(BPF_REG_2, BPF_REG_0),
		LOAD_MAP(BPF_REG_1, map),
		MOV_IMM(BPF_REG_3, 0),
		MOV_IMM(BPF_REG_4, 0),
		CALL(BPF_FUNC_task_storage_get),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};

	return map >= 0 && trial_made(load_tp_btf(trials_types()->sys_enter, lookup, ARRAY_SIZE(lookup))) &&
	       trial_made(trial_load(BPF_PROG_TYPE_KPROBE, lookup, ARRAY_SIZE(lookup), NULL));
}

/*
 * Before 7 (until 4a98c2efa613) storage is given on a CPU to one at a time, and who would have to wait is refused: where
 * another was preempted there, or sleeps for memory. To read the kernel's types takes long, so that is left to those that may not be so.
 */
bool probe_storage_at_forks(void)
{
	return kernel_release() >= 7000 && trials_types()->storage_busy < 0;
}

/* Before 6.2 a look for one's own is refused just so. Since then there is a second helper, for programs that meet themselves. */
bool probe_storage_lookups(void)
{
	return kernel_release() >= 6002 || trials_types()->storage_get_recur > 0;
}

bool probe_bpf_loop(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_loop, NULL) == 1;
}

bool probe_write_user(void)
{
	static const struct bpf_insn write_8[] = {
		STORE_IMM(BPF_REG_10, -8, 0),
		MOV_IMM(BPF_REG_1, 4096),
		MOV_REG(BPF_REG_2, BPF_REG_10),
		ADD_IMM(BPF_REG_2, -8),
		MOV_IMM(BPF_REG_3, 8),
		CALL(BPF_FUNC_probe_write_user),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};

	return trial_made(trial_load(BPF_PROG_TYPE_KPROBE, write_8, ARRAY_SIZE(write_8), NULL));
}

/* ---- uprobes ---- */

static int load_uprobe(int attach_type)
{
	/* What programs of such links ask: the cookie, and which address is probed (bpf/compat.bpf.h). */
	static const struct bpf_insn ask[] = {
		MOV_REG(BPF_REG_6, BPF_REG_1),
		CALL(BPF_FUNC_get_attach_cookie),
		MOV_REG(BPF_REG_1, BPF_REG_6),
		CALL(BPF_FUNC_get_func_ip),
		MOV_IMM(BPF_REG_0, 0),
		EXIT,
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach_type);

	return trial_load(BPF_PROG_TYPE_KPROBE, ask, ARRAY_SIZE(ask), &opts);
}

/*
 * A kernel that has such links finds that "/" is no file to probe: EBADF. One
 * that has not refuses sooner, with EINVAL. Either way nothing is placed.
 */
static bool knows_link(int attach_type)
{
	__cleanup(close_fd) int prog = load_uprobe(attach_type);
	unsigned long offset = 0;
	int fd;

	if (prog < 0)
		return false;
	fd = bpflink_uprobe_multi(prog, attach_type, "/", &offset, NULL, 1, 0, 0);
	return fd == -EBADF || trial_made(fd);
}

bool probe_uprobe_multi(void)
{
	return knows_link(BPFLINK_UPROBE_MULTI);
}

bool probe_uprobe_session(void)
{
	return knows_link(BPFLINK_UPROBE_SESSION);
}

/*
 * A link's process was one thread in 6.6, and all who share its memory in 6.10 (46ba0e49b642); sessions
 * came when it had become all of its threads (900f362e2062). To see it would take a probe that somebody meets.
 */
bool probe_process_links(void)
{
	return probe_uprobe_session();
}

const char *trials_tracefs(void)
{
	static char path[256];
	struct mntent *m;
	FILE *mounts;

	if (*path)
		return path;
	mounts = setmntent("/proc/self/mounts", "re");
	if (!mounts)
		return NULL;
	while ((m = getmntent(mounts))) {
		if (strcmp(m->mnt_type, "tracefs") || strlen(m->mnt_dir) >= sizeof(path))
			continue;
		strcpy(path, m->mnt_dir);
		break;
	}
	endmntent(mounts);
	return *path ? path : NULL;
}

/* Mounted nowhere, it can still be mounted where only we see it: at a descriptor, which is kept. */
static const char *mount_for_us(void)
{
	static char path[32];
	__cleanup(close_fd) int fs = fsopen("tracefs", FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs >= 0 && !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		fd = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

const char *trials_events(void)
{
	static char path[300];
	const char *tracefs;

	if (*path)
		return path;
	tracefs = trials_tracefs() ?: mount_for_us();
	if (!tracefs)
		return NULL;
	snprintf(path, sizeof(path), "%s/events", tracefs);
	return path;
}

bool probe_uprobe_tracefs(void)
{
	const char *tracefs = trials_tracefs();
	char path[300];

	if (!tracefs)
		return false;
	/* Never O_TRUNC: it would remove everybody's probes. */
	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs);
	return trial_made(open(path, O_WRONLY | O_APPEND | O_CLOEXEC));
}

/* Nothing of ours may stay open as long as this process does: our output, a pipe somebody reads to its end. */
static __attribute__((noreturn)) void answer_aside(bool (*trial)(void), int to)
{
	char yes;

	if (to > 0)
		syscall(SYS_close_range, 0, to - 1, 0);
	syscall(SYS_close_range, to + 1, ~0u, 0);
	yes = trial();
	(void)!write(to, &yes, 1);
	_exit(0);
}

/*
 * Ask @trial in a process of its own, whose end nobody waits for: it is a
 * grandchild, and belongs to init. Where there is no answer within ten seconds it is @silence:
 * while another recorder's probes are being let go, placing one has taken that long.
 */
static bool ask_aside(bool (*trial)(void), bool silence)
{
	struct pollfd answer = { .events = POLLIN };
	int pair[2];
	char yes = 0;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC))
		return false;
	pid = fork();
	if (pid == 0) {
		if (fork() == 0)
			answer_aside(trial, pair[1]);
		_exit(0);
	}
	close(pair[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	answer.fd = pair[0];
	if (pid > 0 && !poll(&answer, 1, 10000))
		yes = silence;
	else if (read(pair[0], &yes, 1) != 1)
		yes = 0;
	close(pair[0]);
	return yes;
}

/* A file nobody else maps, of one page: @code, then zeroes. Its path is left in @path. */
static int code_file(const void *code, size_t len, char path[32])
{
	int fd = memfd_create("recorder trial", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	if (ftruncate(fd, sysconf(_SC_PAGESIZE)) || pwrite(fd, code, len, 0) != (ssize_t)len) {
		close(fd);
		return -EIO;
	}
	return fd;
}

/* Some kernels, Debian's 7.2 for one, let only who traces a task do that (CONFIG_PROC_MEM_FORCE_PTRACE, proc_mem.force_override). */
bool probe_forced_writes(void)
{
	static const char here[] = "read only";
	__cleanup(close_fd) int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	return pwrite(mem, here, 1, (uintptr_t)here) == 1;
}

/* The file must not be open for writing, so it is opened again. */
bool probe_file_lease(void)
{
	char path[32];
	int writes = code_file("", 1, path);
	int reads = writes < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	bool yes;

	if (writes >= 0)
		close(writes);
	yes = reads >= 0 && !fcntl(reads, F_SETLEASE, F_RDLCK);
	return trial_made(reads) && yes;
}

static bool try_perf_uprobe(void)
{
	__cleanup(close_file) FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	__cleanup(close_fd) int prog = -1, event = -1, file = -1;
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char path[32];

	file = code_file("\x90", 1, path);
	prog = trial_load(BPF_PROG_TYPE_KPROBE, nothing, ARRAY_SIZE(nothing), NULL);
	if (!f || file < 0 || prog < 0 || fscanf(f, "%u", &attr.type) != 1)
		return false;
	attr.config1 = (uintptr_t)path;
	event = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return event >= 0 && bpf_link_create(prog, event, BPF_PERF_EVENT, NULL) >= 0;
}

bool probe_uprobe(void)
{
	return ask_aside(try_perf_uprobe, true);	/* a kernel without them says so at once */
}

/* ---- nop5 and fork ---- */

#ifdef __x86_64__
static void die_quietly(int sig)
{
	(void)sig;
	_exit(1);
}

/*
 * The kernel rewrites a probed 5-byte nop into a call of a page it mapped for
 * that. The call is copied to a forked child, in kernels with the fault the page
 * is not: the child's first call of the function is a SIGSEGV (probe-costs.md, 4).
 * Our own grandchild finds out. A handler keeps its death out of the kernel's log.
 */
static bool try_nop5_fork(void)
{
	static const unsigned char code[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3 };	/* nop5; ret */
	const struct sigaction act = { .sa_handler = die_quietly };
	unsigned long offset = 0;
	int file, prog, status;
	void (*function)(void);
	char path[32];
	pid_t pid;

	signal(SIGALRM, SIG_DFL);	/* ignored while a command runs */
	alarm(2);
	file = code_file(code, sizeof(code), path);
	prog = load_uprobe(BPFLINK_UPROBE_MULTI);
	if (file < 0 || prog < 0 ||
	    bpflink_uprobe_multi(prog, BPFLINK_UPROBE_MULTI, path, &offset, NULL, 1, 0, 0) < 0)
		return false;
	function = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
	if (function == MAP_FAILED)
		return false;
	for (int i = 0; i < 10; i++)	/* the first call has it rewritten */
		function();
	sigaction(SIGSEGV, &act, NULL);
	pid = fork();
	if (pid == 0) {
		function();
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* Only kernels with uprobe-multi can have the rewriting (6.18): without it there is nothing to fear. */
bool probe_nop5_fork_safe(void)
{
	return !probe_uprobe_multi() || ask_aside(try_nop5_fork, false);
}
#else
bool probe_nop5_fork_safe(void)
{
	return true;		/* no such sites: the rewriting is x86's */
}
#endif

/* ---- writing into others ---- */

#define NOBODY	65534

static uint64_t word_of_others;

/* Root's targets become other users as they like. Where this one cannot, they cannot either. */
static void __attribute__((noreturn)) be_written_to(int ready)
{
	if (geteuid() == 0)
		(void)!setresuid(NOBODY, NOBODY, NOBODY);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready, "", 1) == 1)
		pause();
	_exit(0);
}

static void __attribute__((noreturn)) write_to(pid_t other)
{
	struct iovec word = { &word_of_others, sizeof(word_of_others) };

	_exit(process_vm_writev(other, &word, 1, &word, 1, 0) != (ssize_t)sizeof(word_of_others));
}

/* Neither is the other's child, as with the agent and a target: Yama makes a difference. */
static bool try_write_others(void)
{
	int ready[2], status = 1;
	pid_t other, writer = -1;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return false;
	alarm(2);
	other = fork();
	if (other == 0)
		be_written_to(ready[1]);
	close(ready[1]);
	if (other > 0 && read(ready[0], &byte, 1) == 1)
		writer = fork();
	if (writer == 0)
		write_to(other);
	if (writer > 0)
		waitpid(writer, &status, 0);
	if (other > 0)
		kill(other, SIGKILL);
	return status == 0;
}

bool probe_write_others(void)
{
	return ask_aside(try_write_others, false);
}

/* ---- vector registers ---- */

/*
 * x86's. Without XSAVE what the kernel has saved does not say which of it is meant. That bpf_copy_from_user_task()
 * is there says the kernel is new enough to keep it in a struct fpstate (5.16).
 */
bool probe_vector_registers(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE && probe_uprobe_sleepable();
#else
	return false;
#endif
}
