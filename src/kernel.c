/*
 * kernel.c - the feature table, and the report made from it.
 *
 * Each row is answered by trying the thing (src/trials.c). What a release
 * number would say is only told in the report: distributions move features.
 */
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "base.h"
#include "copies.h"
#include "trials.h"
#include "kernel.h"

static const struct feature {
	const char *name;
	const char *since;	/* mainline release, for the report only */
	const char *without;	/* what the user loses */
	bool (*probe)(void);
} features[KERNEL_FEATURES] = {
	[HAVE_BTF] = { "btf", "5.4",
		"nothing can be recorded", probe_btf },
	[HAVE_RINGBUF] = { "ringbuf", "5.8",
		"nothing can be recorded", probe_ringbuf },
	[HAVE_TP_BTF] = { "tp-btf", "5.5",
		"nothing can be recorded", probe_tp_btf },
	[HAVE_STEADY_TRACEPOINTS] = { "steady-tracepoints", "",
		"system calls and task life by perf events, more slowly", probe_steady_tracepoints },
	[HAVE_PERF_TRACEPOINTS] = { "perf-tracepoints", "6.12",
		"events are lost where there are no steady-tracepoints", probe_perf_tracepoints },
	[HAVE_TASK_STORAGE] = { "task-storage", "5.12",
		"nothing can be recorded", probe_task_storage },
	[HAVE_STORAGE_LOOKUPS] = { "storage-lookups", "6.2",
		"each call costs more", probe_storage_lookups },
	[HAVE_STORAGE_AT_FORKS] = { "storage-at-forks", "",
		"what is made while it is refused costs more (denied: all)", probe_storage_at_forks },
	[HAVE_BPF_LOOP] = { "bpf-loop", "5.17",
		"deep stacks are not mended when a program unwinds", probe_bpf_loop },
	[HAVE_UPROBE] = { "uprobe", "4.17",
		"no functions but by uprobe-multi or -tracefs", probe_uprobe },
	[HAVE_UPROBE_MULTI] = { "uprobe-multi", "6.6",
		"functions attach through tracefs, more slowly", probe_uprobe_multi },
	[HAVE_UPROBE_SESSION] = { "uprobe-session", "6.13",
		"two probes for each function: calls cost more", probe_uprobe_session },
	[HAVE_PROCESS_LINKS] = { "process-links", "6.13",
		"who else runs what -p names pays for its probes", probe_process_links },
	[HAVE_UPROBE_TRACEFS] = { "uprobe-tracefs", "3.5",
		"where no uprobe-multi: functions attach one by one", probe_uprobe_tracefs },
	[HAVE_UPROBE_SLEEPABLE] = { "uprobe-sleepable", "6.0",
		"no returns of functions in programs that unwind", probe_uprobe_sleepable },
	[HAVE_TASK_WORK] = { "task-work", "6.18",
		"who else execs or loads libraries meets breakpoints", probe_task_work },
	[HAVE_EXEC_HOOK] = { "exec-hook", "5.11",
		"where no task-work: static programs begin unprobed", probe_exec_hook },
	[HAVE_WRITE_USER] = { "write-user", "4.8",
		"programs that throw wait longer at each exception", probe_write_user },
	[HAVE_WRITE_OTHERS] = { "write-others", "3.2",
		"no returns of functions: who throws is written to", probe_write_others },
	[HAVE_FORCED_WRITES] = { "forced-writes", "2.6.39",
		"who maps a probed file to read it is traced meanwhile", probe_forced_writes },
	[HAVE_FILE_LEASE] = { "file-lease", "2.4",
		"a program that is rewritten and run at once may die", probe_file_lease },
	[HAVE_PRIVATE_LIBRARIES] = { "private-libraries", "5.15",
		"who else maps a library pays for its probes", probe_private_libraries },
	[HAVE_NOP5_FORK_SAFE] = { "nop5-fork-safe", "",
		"the fastest probe sites are not used (--nop5 insists)", probe_nop5_fork_safe },
	[HAVE_VECTOR_REGISTERS] = { "vector-registers", "6.0",
		"floating-point arguments and results are shown as nan", probe_vector_registers },
};

static struct {
	bool was_asked[KERNEL_FEATURES], answer[KERNEL_FEATURES];
	uint64_t denied;
} state;

bool kernel_has(enum kernel_feature f)
{
	if (state.denied & 1ull << f)
		return false;
	if (!state.was_asked[f]) {
		state.answer[f] = features[f].probe();
		state.was_asked[f] = true;
	}
	return state.answer[f];
}

void kernel_deny(uint64_t mask)
{
	state.denied |= mask;
}

bool kernel_denies(enum kernel_feature f)
{
	return state.denied & 1ull << f;
}

int kernel_feature_by_name(const char *name)
{
	for (int f = 0; f < KERNEL_FEATURES; f++)
		if (!strcmp(features[f].name, name))
			return f;
	return -1;
}

const char *kernel_feature_name(enum kernel_feature f)
{
	return features[f].name;
}

/* ---- privileges ---- */

/* CAP_SYS_ADMIN stands for the vital ones: it is what they were split from (5.8). */
static const struct cap {
	unsigned    number;
	bool	    is_vital;	/* without it nothing can be recorded */
	const char *name, *use;
} caps[] = {
	{ CAP_BPF,	       true,  "CAP_BPF",	     "to load BPF programs" },
	{ CAP_PERFMON,	       true,  "CAP_PERFMON",	     "to let them watch other processes" },
	{ CAP_SYS_ADMIN,       false, "CAP_SYS_ADMIN",	     "to write into a program that unwinds" },
	{ CAP_SYS_PTRACE,      false, "CAP_SYS_PTRACE",	     "to read the memory maps of other users" },
	{ CAP_DAC_READ_SEARCH, false, "CAP_DAC_READ_SEARCH", "to read programs only their owner may" },
	{ CAP_LEASE,	       false, "CAP_LEASE",	     "to hold up who rewrites a program that has probes" },
	{ CAP_SETUID,	       false, "CAP_SETUID",	     "to run the command as another user" },
	{ CAP_SETGID,	       false, "CAP_SETGID",	     "to run the command as another user" },
	{ CAP_CHOWN,	       false, "CAP_CHOWN",	     "to give the output to who called sudo" },
};

static bool has_cap(unsigned number)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data))
		return false;
	return data[number / 32].effective & 1u << number % 32;
}

bool kernel_may_trace_all(void)
{
	return has_cap(CAP_SYS_PTRACE);
}

static bool is_missing(const struct cap *c)
{
	return !has_cap(c->number) && !(c->is_vital && has_cap(CAP_SYS_ADMIN));
}

static const struct cap *vital_cap_missing(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		if (caps[i].is_vital && is_missing(&caps[i]))
			return &caps[i];
	return NULL;
}

/* ---- obstacles ---- */

const char *kernel_no_uprobes(void)
{
	return has_cap(CAP_SYS_ADMIN) ? "this kernel has no uprobes" :
	       "uprobes cannot be had without CAP_SYS_ADMIN, which some kernels want for them (kernel.perf_event_paranoid)";
}

/* The first line of a small file; "" when it cannot be read. */
static const char *first_line(const char *path, char *to, size_t size)
{
	__cleanup(close_file) FILE *f = fopen(path, "re");

	*to = '\0';
	if (f && fgets(to, size, f))
		to[strcspn(to, "\n")] = '\0';
	return to;
}

/* "none [integrity] confidentiality": the word in brackets. "" when securityfs does not say. */
static const char *lockdown(void)
{
	static char text[64];
	char *at;

	first_line("/sys/kernel/security/lockdown", text, sizeof(text));
	at = strchr(text, '[');
	if (!at || !strchr(at, ']'))
		return "";
	*strchr(at, ']') = '\0';
	return at + 1;
}

/* In a user namespace of its own, root's capabilities do not reach the kernel's BPF. */
static bool in_user_namespace(void)
{
	unsigned first, outside, count;
	char text[64];

	first_line("/proc/self/uid_map", text, sizeof(text));
	return sscanf(text, "%u %u %u", &first, &outside, &count) == 3 && count != UINT32_MAX;
}

static const char *privilege_obstacle(const char **hint)
{
	static char text[160];
	const struct cap *missing = vital_cap_missing();

	if (!missing && in_user_namespace()) {
		*hint = "running it outside of the container, or in one without a user namespace";
		return "this root is one of a user namespace only, which may not record";
	}
	if (!missing)
		return NULL;
	if (geteuid() != 0) {
		snprintf(text, sizeof(text), "recording needs root, or CAP_BPF and CAP_PERFMON; %s is missing",
			 missing->name);
		*hint = "sudo recorder ...";
	} else {
		snprintf(text, sizeof(text), "this root has no %s, which is needed %s", missing->name,
			 missing->use);
		*hint = "in a container: --cap-add BPF --cap-add PERFMON --cap-add SYS_PTRACE";
	}
	return text;
}

const char *kernel_obstacle(const char **hint)
{
	const char *why = privilege_obstacle(hint);

	if (why)
		return why;
	if (!kernel_has(HAVE_BTF)) {
		*hint = "a kernel built with CONFIG_DEBUG_INFO_BTF=y, and /sys mounted";
		return "this kernel does not describe its types: /sys/kernel/btf/vmlinux cannot be read";
	}
	if (!strcmp(lockdown(), "confidentiality")) {
		*hint = "booting with lockdown=integrity, or without lockdown";
		return "kernel lockdown is in mode 'confidentiality', which forbids recording";
	}
	if (!kernel_has(HAVE_RINGBUF)) {
		*hint = "Linux 5.8 or newer; in a container, one whose seccomp profile allows bpf(2)";
		return "the kernel gives us no BPF ring buffer";
	}
	*hint = NULL;
	return state.denied & (1ull << HAVE_TP_BTF | 1ull << HAVE_TASK_STORAGE) ? kernel_obstacle_to_load() : NULL;
}

const char *kernel_obstacle_to_load(void)
{
	if (!kernel_has(HAVE_TP_BTF))
		return "the kernel gives us no typed tracepoints (tp-btf)";
	if (!kernel_has(HAVE_TASK_STORAGE))
		return "the kernel gives us no task storage (task-storage)";
	return NULL;
}

const char *kernel_tracefs(void)
{
	return trials_tracefs();
}

const char *kernel_events_dir(void)
{
	return trials_events();
}

int kernel_call(enum kernel_call which)
{
	return trials_kernel_call(which);
}

/* ---- --doctor ---- */

static void print_privileges(FILE *to)
{
	bool all = true;

	fprintf(to, "  %-18s%s", "running as", geteuid() ? "an ordinary user" : "root");
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		all = all && !is_missing(&caps[i]);
	fprintf(to, "%s\n", all ? " with all capabilities needed" : ", without");
	for (size_t i = 0; i < ARRAY_SIZE(caps); i++)
		if (is_missing(&caps[i]))
			fprintf(to, "  %-20s%s %s\n", "", caps[i].name, caps[i].use);
}

static void print_setting(FILE *to, const char *name, const char *path)
{
	char text[64];

	first_line(path, text, sizeof(text));
	fprintf(to, "  %-18s%s\n", name, *text ? text : "cannot be read");
}

static void print_header(FILE *to)
{
	const char *mode = lockdown();
	struct utsname uts = {};
	struct stat st;

	uname(&uts);
	fprintf(to, "  %-18s%s %s %s\n", "kernel", uts.sysname, uts.release, uts.machine);
	print_privileges(to);
	if (stat("/sys/kernel/btf/vmlinux", &st))
		fprintf(to, "  %-18snone\n", "kernel types");
	else
		fprintf(to, "  %-18s/sys/kernel/btf/vmlinux, %.1f MB\n", "kernel types", st.st_size / 1e6);
	fprintf(to, "  %-18s%s\n", "lockdown", *mode ? mode : "not known, securityfs does not say");
	fprintf(to, "  %-18s%s\n", "tracefs", kernel_tracefs() ?: "not mounted");
	print_setting(to, "BPF for users", "/proc/sys/kernel/unprivileged_bpf_disabled");
	print_setting(to, "perf paranoia", "/proc/sys/kernel/perf_event_paranoid");
}

static void print_features(FILE *to, bool can_ask)
{
	fprintf(to, "\n  %-18s%-8s%-7s%s\n", "feature", "here", "since", "without it");
	for (int f = 0; f < KERNEL_FEATURES; f++) {
		const char *here = state.denied & 1ull << f ? "denied" :
				   !can_ask ? "?" : kernel_has(f) ? "yes" : "no";

		fprintf(to, "  %-20s%-8s%-7s%s\n", features[f].name, here, features[f].since,
			features[f].without);
	}
	if (!can_ask)
		fprintf(to, "  ?: cannot be tried without these rights, nor can the load of the BPF programs\n");
}

int kernel_doctor(FILE *to, kernel_load_fn load, const struct config *cfg)
{
	const char *hint = NULL, *why = privilege_obstacle(&hint);
	char refused[256];

	print_header(to);
	print_features(to, !why);
	why = kernel_obstacle(&hint) ?: kernel_obstacle_to_load();
	if (!why && load(cfg, refused, sizeof(refused)))
		why = refused;
	if (!why) {
		fprintf(to, "\nrecording is possible here%s\n",
			kernel_has(HAVE_UPROBE) || kernel_has(HAVE_UPROBE_MULTI) || kernel_has(HAVE_UPROBE_TRACEFS) ? "" :
			", without functions");
		return 0;
	}
	fprintf(to, "\nrecording is not possible: %s\n", why);
	if (hint)
		fprintf(to, "try: %s\n", hint);
	return 1;
}
