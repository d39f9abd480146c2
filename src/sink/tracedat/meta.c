/*
 * meta.c - all that a trace.dat holds besides events, in one file of the spool directory: so a recorder that was
 * killed leaves what it takes to seal the rest.
 *
 * The file: u64 magic; u32 how many CPUs; u32 bytes of the codec's name, and it; then blocks of u32 id, u32
 * zero, u64 bytes, and those: the six metadata sections by their numbers, under TD_OPTIONS the options but for
 * those that seal.c adds, under TD_BUFFER for each CPU how many bytes its spool file had, as u64.
 */
#include <sys/utsname.h>

#include "about.h"
#include "base.h"
#include "out.h"
#include "sink/tracedat/meta.h"
#include "sink/tracedat/tracedat.h"

static const char header_page[] =
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

static const char header_event[] =
	"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
	"\tpadding     : type == 29\n\ttime_extend : type == 30\n\ttime_stamp : type == 31\n\tdata max type_len  == 28\n";

/* Times are of CLOCK_MONOTONIC. */
static const char clocks[] = "local global counter uptime perf [mono] mono_raw boot x86-tsc tai\n";

void td_option(struct out *o, uint16_t id, const void *data, uint32_t len)
{
	out_u16(o, id);
	out_u32(o, len);
	out_bytes(o, data, len);
}

static void option_text(struct out *o, uint16_t id, const char *text)
{
	td_option(o, id, text, strlen(text) + 1);
}

static void write_text(struct out *o, const char *name, const char *text)
{
	out_bytes(o, name, strlen(name) + 1);
	out_u64(o, strlen(text));
	out_bytes(o, text, strlen(text));
}

static int write_section(struct out *o, enum td_section id, const struct td_meta_args *a)
{
	switch (id) {
	case TD_HEADER_INFO:
		write_text(o, "header_page", header_page);
		write_text(o, "header_event", header_event);
		return 0;
	case TD_EVENT_FORMATS:
		return td_formats_write(o, a->used, a->calls, &a->about->tracepoints);
	case TD_CMDLINES:
		return td_names_write(o, a->names);
	case TD_FTRACE_EVENTS:
		return td_formats_ftrace(o, a->used);
	case TD_KALLSYMS:
		return td_kallsyms_write(o, a->kallsyms);
	default:				/* no printk formats */
		out_u32(o, 0);
		return 0;
	}
}

/* As per_cpu/cpuN/stats has them: entries and bytes are what is still in the ring, read events what was taken out of it. A
 * reader overwrites the last byte. */
static void write_stat(struct out *o, unsigned cpu, const struct td_stat *s)
{
	char text[512];

	snprintf(text, sizeof(text), "CPU: %u\nentries: 0\noverrun: %lu\ncommit overrun: 0\nbytes: 0\n"
		 "oldest event ts: %lu.%06lu\nnow ts: %lu.%06lu\ndropped events: 0\nread events: %lu\n", cpu, s->lost,
		 (unsigned long)(s->first / NSEC_PER_SEC), (unsigned long)(s->first % NSEC_PER_SEC / 1000),
		 (unsigned long)(s->last / NSEC_PER_SEC), (unsigned long)(s->last % NSEC_PER_SEC / 1000), s->entries);
	option_text(o, TD_O_CPUSTAT, text);
}

/* Never zero, the same for the same recording. */
static uint64_t trace_id(const struct about *about)
{
	uint64_t id = about->start ^ (uint64_t)about->utc_offset * 0x9e3779b97f4a7c15ull;

	for (const char *c = about->hostname; c && *c; c++)
		id = (id ^ (uint8_t)*c) * 0x100000001b3ull;
	return id ?: 1;
}

static int write_options(struct out *o, const struct td_meta_args *a)
{
	uint64_t id = trace_id(a->about);
	uint32_t cpus = a->cpus;
	struct utsname host = {};
	char name[512];

	uname(&host);
	snprintf(name, sizeof(name), "%.64s %.200s %.128s %.32s", "Linux", a->about->hostname ?: "?",
		 a->about->kernel && strchr(a->about->kernel, ' ') ? strchr(a->about->kernel, ' ') + 1 : "?", host.machine);
	td_option(o, TD_O_CPUCOUNT, &cpus, sizeof(cpus));
	option_text(o, TD_O_TRACECLOCK, clocks);
	option_text(o, TD_O_UNAME, name);
	option_text(o, TD_O_VERSION, "recorder " VERSION);
	td_option(o, TD_O_TRACEID, &id, sizeof(id));
	for (unsigned cpu = 0; cpu < a->cpus; cpu++)
		write_stat(o, cpu, a->lane[cpu] ? td_lane_stat(a->lane[cpu]) : &(struct td_stat){});
	return out_error(o);
}

static int write_sizes(struct out *o, const struct td_meta_args *a)
{
	for (unsigned cpu = 0; cpu < a->cpus; cpu++)
		out_u64(o, a->lane[cpu] ? td_lane_bytes(a->lane[cpu]) : 0);
	return out_error(o);
}

static int write_content(struct out *o, uint32_t id, const struct td_meta_args *a)
{
	switch (id) {
	case TD_OPTIONS:
		return write_options(o, a);
	case TD_PROCESSES:
		return td_names_maps(o, a->names);
	case TD_BUFFER:
		return write_sizes(o, a);
	default:
		return write_section(o, id, a);
	}
}

static int write_block(struct out *o, uint32_t id, const struct td_meta_args *a)
{
	struct out *block;
	int err = out_memory(&block);

	if (err)
		return err;
	err = write_content(block, id, a);
	out_u32(o, id);
	out_u32(o, 0);
	out_u64(o, out_tell(block));
	out_bytes(o, out_data(block), out_tell(block));
	err = err ?: out_error(block);
	out_destroy(block);
	return err;
}

int td_meta_write(const struct td_meta_args *a, int spoolfd, const char *over, uint64_t *bytes)
{
	struct out *o;
	int err = over ? out_create_over(&o, spoolfd, over, TD_META) : out_create_replacing(&o, spoolfd, TD_META);

	if (err)
		return err;
	out_u64(o, TD_META_MAGIC);
	out_u32(o, a->cpus);
	out_u32(o, strlen(a->codec->name));
	out_bytes(o, a->codec->name, strlen(a->codec->name));
	for (uint32_t id = TD_HEADER_INFO; id < TD_METAS_END && !err; id++)
		err = write_block(o, id, a);
	err = err ?: write_block(o, TD_OPTIONS, a);
	err = err ?: write_block(o, TD_PROCESSES, a);
	err = err ?: write_block(o, TD_BUFFER, a);
	*bytes = out_tell(o);
	err = err ?: out_seal(o);
	out_destroy(o);
	return err;
}
