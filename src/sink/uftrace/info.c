/*
 * info.c - info: the recording itself. A directory without this file cannot be opened.
 *
 * A header of 40 bytes, then text: for each bit of info_mask, in the order of
 * the bits, the lines that cmds/info.c:read_uftrace_info expects. A reader stops
 * at the first bit it does not know, so the newest come last. A line is read
 * into 4096 bytes, except for the list of tasks.
 */
#include <time.h>

#include "about.h"
#include "base.h"
#include "out.h"
#include "sink/uftrace/uftrace.h"

#ifndef VERSION
#define VERSION		"unknown"
#endif

#define FACT_MAX	3800	/* bytes of a fact in a line */
#define STACK_MIN	1024	/* frames; no more than needed: readers touch 40 bytes of each, per task */
#define STACK_MAX	65535	/* 16 bits */

enum feature {
	TASK_SESSION = 1 << 1, ARGUMENT = 1 << 3, RETVAL = 1 << 4, SYM_REL_ADDR = 1 << 5, MAX_STACK = 1 << 6,
	PERF_EVENT = 1 << 8, AUTO_ARGS = 1 << 9, DEBUG_INFO = 1 << 10,
};

/* A fact as text: a line of @key and @text. */
static void put_fact(struct out *o, const char *key, const char *text, enum uf_text kind)
{
	char clean[FACT_MAX];

	uf_clean(clean, sizeof(clean), text ?: "", kind);
	out_printf(o, "%s%s\n", key, clean);
}

static void put_exe(struct out *o, const struct uf_summary *sum)
{
	put_fact(o, "exename:", sum->about->exe ?: "/", UF_LINE);
}

static void put_build_id(struct out *o, const struct uf_summary *sum)
{
	put_fact(o, "build_id:", sum->build_id, UF_WORD);
}

static void put_exit_status(struct out *o, const struct uf_summary *sum)
{
	out_printf(o, "exit_status:%d\n", sum->about->exit_status);
}

/* dump --chrome copies it into JSON as it stands. */
static void put_cmdline(struct out *o, const struct uf_summary *sum)
{
	put_fact(o, "cmdline:", sum->about->cmdline, UF_JSON);
}

static void put_cpus(struct out *o, const struct uf_summary *sum)
{
	out_printf(o, "cpuinfo:lines=2\ncpuinfo:nr_cpus=%u / %u (online/possible)\n",
		   sum->about->cpus_online, sum->about->cpus_possible);
	put_fact(o, "cpuinfo:desc=", sum->about->cpu_model, UF_LINE);
}

static void put_memory(struct out *o, const struct uf_summary *sum)
{
	out_printf(o, "meminfo:%.1f / %.1f GB (free / total)\n",
		   (double)sum->about->mem_free / (1 << 30), (double)sum->about->mem_total / (1 << 30));
}

static void put_os(struct out *o, const struct uf_summary *sum)
{
	char distro[FACT_MAX];

	out_printf(o, "osinfo:lines=3\n");
	put_fact(o, "osinfo:kernel=", sum->about->kernel, UF_LINE);
	put_fact(o, "osinfo:hostname=", sum->about->hostname, UF_LINE);
	uf_clean(distro, sizeof(distro), sum->about->distro ?: "", UF_LINE);
	out_printf(o, "osinfo:distro=\"%s\"\n", distro);
}

static void put_tasks(struct out *o, const struct uf_summary *sum)
{
	out_printf(o, "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", sum->tid_count);
	out_bytes(o, sum->tids, sum->tid_count ? strlen(sum->tids) : 0);
	out_printf(o, "\n");
}

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

static void put_usage(struct out *o, const struct uf_summary *sum)
{
	const struct rusage *u = &sum->about->usage;

	out_printf(o, "usageinfo:lines=6\nusageinfo:systime=%f\nusageinfo:usrtime=%f\n",
		   seconds(u->ru_stime), seconds(u->ru_utime));
	out_printf(o, "usageinfo:ctxsw=%ld / %ld (voluntary / involuntary)\nusageinfo:maxrss=%ld\n",
		   u->ru_nvcsw, u->ru_nivcsw, u->ru_maxrss);
	out_printf(o, "usageinfo:pagefault=%ld / %ld (major / minor)\n", u->ru_majflt, u->ru_minflt);
	out_printf(o, "usageinfo:iops=%ld / %ld (read / write)\n", u->ru_inblock, u->ru_oublock);
}

static void put_load(struct out *o, const struct uf_summary *sum)
{
	const double *load = sum->about->load;

	out_printf(o, "loadinfo:%.2f / %.2f / %.2f\n", load[0], load[1], load[2]);
}

/* All specs are in the .dbg file, which is only read with auto-args. */
static void put_args(struct out *o, const struct uf_summary *sum)
{
	(void)sum;
	out_printf(o, "argspec:lines=4\nargauto:\nretauto:\nenumauto:\nauto-args:1\n");
}

static void put_date(struct out *o, const struct uf_summary *sum)
{
	const struct about *a = sum->about;
	time_t start = (int64_t)(a->start + a->utc_offset) / (int64_t)NSEC_PER_SEC;
	uint64_t end = MAX(a->end, sum->last), elapsed = end > a->start ? end - a->start : 0;
	char date[32] = "";

	ctime_r(&start, date);		/* ends with a newline */
	out_printf(o, "record_date:%selapsed_time:" UF_TIME " sec\n", date, UF_TIME_ARGS(elapsed));
}

/* Not "simple": then the reader finds no spec at all, and gives up at the first argument. */
static void put_pattern(struct out *o, const struct uf_summary *sum)
{
	(void)sum;
	out_printf(o, "pattern_type:glob\n");
}

static void put_version(struct out *o, const struct uf_summary *sum)
{
	(void)sum;
	out_printf(o, "uftrace_version:recorder " VERSION " (for uftrace v0.13 and later)\n");
}

static void put_utc_offset(struct out *o, const struct uf_summary *sum)
{
	out_printf(o, "utc_offset:%lld\n", (long long)(sum->about->utc_offset / (int64_t)NSEC_PER_SEC));
}

/* By bit of info_mask. */
static void (*const put_line[])(struct out *o, const struct uf_summary *sum) = {
	put_exe, put_build_id, put_exit_status, put_cmdline, put_cpus, put_memory, put_os, put_tasks,
	put_usage, put_load, put_args, put_date, put_pattern, put_version, put_utc_offset
};

#define EXE_BUILD_ID	1	/* its bit; only an id of 40 digits may be written */
#define BUILD_ID_LEN	40

static void put_header(struct out *o, uint64_t mask, const struct uf_summary *sum)
{
	static const uint8_t is_elf_le64[] = { 1, 2 };		/* ELFDATA2LSB, ELFCLASS64 */

	out_bytes(o, "Ftrace!", 8);
	out_u32(o, 4);			/* version */
	out_u16(o, 40);			/* bytes of this header */
	out_bytes(o, is_elf_le64, sizeof(is_elf_le64));
	out_u64(o, TASK_SESSION | ARGUMENT | RETVAL | SYM_REL_ADDR | MAX_STACK | AUTO_ARGS | DEBUG_INFO |
		   (sum->has_perf ? PERF_EVENT : 0));
	out_u64(o, mask);
	out_u16(o, MIN(MAX(sum->deepest + 1, (uint32_t)STACK_MIN), (uint32_t)STACK_MAX));
	out_u16(o, 0);
	out_u32(o, 0);
}

int uf_info_write(const struct uf_summary *sum, int dirfd)
{
	uint64_t mask = (1ull << ARRAY_SIZE(put_line)) - 1;
	struct out *o;
	int err = out_create_replacing(&o, dirfd, "info");

	if (err)
		return err;
	if (strlen(sum->build_id) != BUILD_ID_LEN)
		mask &= ~(1ull << EXE_BUILD_ID);
	put_header(o, mask, sum);
	for (size_t i = 0; i < ARRAY_SIZE(put_line); i++)
		if (mask >> i & 1)
			put_line[i](o, sum);
	err = out_seal(o);
	out_destroy(o);
	return err;
}
