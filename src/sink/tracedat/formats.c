/*
 * formats.c - the table of events, written as tracefs writes its own: names, fields and text are the kernel's where it
 * has the event, so that tools which look for it find it.
 */
#include "base.h"
#include "out.h"
#include "sink/tracedat/cudanames.h"
#include "sink/tracedat/tracedat.h"

struct field {
	const char *declaration;
	uint16_t    offset, size;
	bool	    is_signed;
};

struct event_format {
	uint16_t     id;
	const char  *system, *name;
	struct field field[24];
	const char  *print;
};

#define U(declaration, offset, size)	{ declaration, offset, size, false }	/* unsigned, or no number */
#define S(declaration, offset, size)	{ declaration, offset, size, true }
#define INDENT	"\"%*s"		/* by REC->depth */

#define WAKEUP_FIELDS									\
	U("char comm[16]", 8, 16), S("pid_t pid", 24, 4), S("int prio", 28, 4), S("int target_cpu", 32, 4)
#define WAKEUP_PRINT									\
	"\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu"

/* Of every call of the CUDA driver: fields, and what its text ends with. */
#define CUDA_FIELDS									\
	U("u64 duration", 8, 8), S("s32 result", 16, 4), U("u32 ending", 20, 4),	\
	U("u32 tgid", 24, 4), U("__data_loc char[] api", 28, 4)
#define CUDA_ENDS_TEXT	" result=%s %llu.%03u us%s"
#define CUDA_ENDS									\
	"__print_symbolic(REC->result, " CUDA_RESULT_NAMES "), REC->duration / 1000, "	\
	"REC->duration % 1000, REC->ending ? __print_symbolic(REC->ending, " CUDA_ENDING_NAMES ") : \"\""
#define CUDA_BY_TEXT	CUDA_ENDS_TEXT " by %s"
#define CUDA_BY		CUDA_ENDS ", __get_str(api)"
#define CUDA_FLAGS_TEXT	"%s%s"
#define CUDA_FLAGS									\
	"REC->flags ? \" flags=\" : \"\", "						\
	"REC->flags ? __print_flags(REC->flags, \"|\", " CUDA_FLAG_NAMES ") : \"\""
#define CUDA_KIND	"__print_symbolic(REC->kind, " CUDA_KIND_NAMES ")"
#define CUDA_MEMORY_FIELDS								\
	CUDA_FIELDS, U("u64 ptr", 32, 8), U("u64 bytes", 40, 8), U("u64 stream", 48, 8),	\
	U("u32 kind", 56, 4), U("u32 flags", 60, 4)

/* Of all that ran on a device. */
#define GPU_FIELDS									\
	U("u64 duration", 8, 8), U("u64 start", 16, 8), U("u64 end", 24, 8), U("u64 entry", 32, 8),	\
	U("u64 stream", 40, 8), U("u64 graph_node", 48, 8), U("u32 device", 56, 4), U("u32 context", 60, 4),	\
	U("u32 stream_id", 64, 4), U("u32 corr", 68, 4), U("u32 tgid", 72, 4), U("u32 tid", 76, 4),	\
	U("__data_loc char[] call", 80, 4)
#define GPU_TEXT	" dev=%u ctx=%u stream_id=%u start=%llu.%09llu end=%llu.%09llu took=%llu.%03uus%s corr=%u"
#define GPU										\
	"REC->device, REC->context, REC->stream_id, REC->start / 1000000000, REC->start % 1000000000, "	\
	"REC->end / 1000000000, REC->end % 1000000000, REC->duration / 1000, REC->duration % 1000, "	\
	"__get_str(call), REC->corr"

/* The reader goes to the record's end, however many there are. */
#define CALLER(n)	", (void *)REC->caller[" #n "]"
static const struct event_format kernel_stack = {
	TD_KERNEL_STACK, "ftrace", "kernel_stack", { S("int size", 8, 4), U("unsigned long caller[8]", 16, 64) },
	"\"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> %ps\\n\""
	CALLER(0) CALLER(1) CALLER(2) CALLER(3) CALLER(4) CALLER(5) CALLER(6) CALLER(7)
};

static const struct event_format formats[] = {
	{ TD_PROCESS_FORK, "sched", "sched_process_fork", {
		U("__data_loc char[] parent_comm", 8, 4), S("pid_t parent_pid", 12, 4),
		U("__data_loc char[] child_comm", 16, 4), S("pid_t child_pid", 20, 4) },
	  "\"comm=%s pid=%d child_comm=%s child_pid=%d\", __get_str(parent_comm), REC->parent_pid, "
	  "__get_str(child_comm), REC->child_pid" },
	{ TD_PROCESS_EXEC, "sched", "sched_process_exec", {
		U("__data_loc char[] filename", 8, 4), S("pid_t pid", 12, 4), S("pid_t old_pid", 16, 4) },
	  "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid" },
	{ TD_PROCESS_EXIT, "sched", "sched_process_exit", {
		U("char comm[16]", 8, 16), S("pid_t pid", 24, 4), S("int prio", 28, 4),
		U("bool group_dead", 32, 1), S("int exit_code", 36, 4) },
	  "\"comm=%s pid=%d prio=%d group_dead=%s exit_code=%d\", REC->comm, REC->pid, REC->prio, "
	  "REC->group_dead ? \"true\" : \"false\", REC->exit_code" },
	{ TD_EVENTS + EVENT_SCHED_SWITCH, "sched", "sched_switch", {
		U("char prev_comm[16]", 8, 16), S("pid_t prev_pid", 24, 4), S("int prev_prio", 28, 4), S("long prev_state", 32, 8),
		U("char next_comm[16]", 40, 16), S("pid_t next_pid", 56, 4), S("int next_prio", 60, 4) },
	  "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, "
	  "REC->prev_pid, REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, \"|\", { 0x1, \"S\" }, "
	  "{ 0x2, \"D\" }, { 0x4, \"T\" }, { 0x8, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, { 0x40, \"P\" }, { 0x80, \"I\" }) "
	  ": \"R\", REC->prev_state & 0x100 ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio" },
	{ TD_EVENTS + EVENT_SCHED_WAKEUP, "sched", "sched_wakeup", { WAKEUP_FIELDS }, WAKEUP_PRINT },
	{ TD_EVENTS + EVENT_SCHED_WAKEUP_NEW, "sched", "sched_wakeup_new", { WAKEUP_FIELDS }, WAKEUP_PRINT },
	{ TD_EVENTS + EVENT_SCHED_MIGRATE, "sched", "sched_migrate_task", {
		U("char comm[16]", 8, 16), S("pid_t pid", 24, 4), S("int prio", 28, 4), S("int orig_cpu", 32, 4),
		S("int dest_cpu", 36, 4) },
	  "\"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", REC->comm, REC->pid, REC->prio, REC->orig_cpu, REC->dest_cpu" },
	{ TD_EVENTS + EVENT_SIGNAL_GENERATE, "signal", "signal_generate", {
		S("int sig", 8, 4), S("int errno", 12, 4), S("int code", 16, 4), U("char comm[16]", 20, 16), S("pid_t pid", 36, 4),
		S("int group", 40, 4), S("int result", 44, 4) },
	  "\"sig=%d errno=%d code=%d comm=%s pid=%d grp=%d res=%d\", REC->sig, REC->errno, REC->code, REC->comm, REC->pid, "
	  "REC->group, REC->result" },
	{ TD_EVENTS + EVENT_SIGNAL_DELIVER, "signal", "signal_deliver", {
		S("int sig", 8, 4), S("int errno", 12, 4), S("int code", 16, 4), U("unsigned long sa_handler", 24, 8),
		U("unsigned long sa_flags", 32, 8) },
	  "\"sig=%d errno=%d code=%d sa_handler=%lx sa_flags=%lx\", REC->sig, REC->errno, REC->code, REC->sa_handler, "
	  "REC->sa_flags" },
	{ TD_EVENTS + EVENT_PAGE_FAULT, "exceptions", "page_fault_user", {
		U("unsigned long address", 8, 8), U("unsigned long ip", 16, 8), U("unsigned long error_code", 24, 8) },
	  "\"address=0x%lx ip=0x%lx error_code=0x%lx\", REC->address, REC->ip, REC->error_code" },
	{ TD_TASK_RENAME, "task", "task_rename", {
		S("pid_t pid", 8, 4), U("char oldcomm[16]", 12, 16), U("char newcomm[16]", 28, 16),
		S("short oom_score_adj", 44, 2) },
	  "\"pid=%d oldcomm=%s newcomm=%s oom_score_adj=%hd\", REC->pid, REC->oldcomm, REC->newcomm, REC->oom_score_adj" },
	{ TD_SYS_ENTER, "raw_syscalls", "sys_enter", {
		S("long id", 8, 8), U("unsigned long args[6]", 16, 48) },
	  "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, REC->args[0], REC->args[1], REC->args[2], REC->args[3], "
	  "REC->args[4], REC->args[5]" },
	{ TD_SYS_EXIT, "raw_syscalls", "sys_exit", {
		S("long id", 8, 8), S("long ret", 16, 8) },
	  "\"NR %ld = %ld\", REC->id, REC->ret" },
	{ TD_FUNC_ENTRY, "user", "func_entry", {
		U("u64 addr", 8, 8), U("u32 depth", 16, 4), U("u32 tgid", 20, 4),
		U("__data_loc char[] func", 24, 4), U("__data_loc char[] module", 28, 4),
		U("__data_loc char[] args", 32, 4), U("u64 offset", 40, 8) },
	  INDENT "%s(%s) { [%s+0x%llx]\", REC->depth * 2, \"\", __get_str(func), __get_str(args), __get_str(module), "
	  "REC->offset" },
	{ TD_FUNC_EXIT, "user", "func_exit", {
		U("u64 addr", 8, 8), U("u32 depth", 16, 4), U("u32 tgid", 20, 4), U("u64 duration", 24, 8),
		U("__data_loc char[] func", 32, 4), U("__data_loc char[] ret", 36, 4), U("u32 is_inferred", 40, 4) },
	  INDENT "} /* %s%s%s */ %llu.%03u us%s\", REC->depth * 2, \"\", __get_str(func), "
	  "__get_dynamic_array_len(ret) ? \" = \" : \"\", __get_str(ret), REC->duration / 1000, REC->duration % 1000, "
	  "REC->is_inferred ? \" (inferred)\" : \"\"" },
	{ TD_USDT, "user", "usdt", {
		U("u32 depth", 8, 4), U("u32 tgid", 12, 4), U("__data_loc char[] probe", 16, 4), U("__data_loc char[] args", 20, 4) },
	  INDENT "%s(%s)\", REC->depth * 2, \"\", __get_str(probe), __get_str(args)" },
	{ TD_CALLERS, "user", "stack", {
		U("u32 tgid", 8, 4), U("u32 depth", 12, 4), U("__data_loc char[] frames", 16, 4), U("__data_loc u64[] ips", 20, 4) },
	  "\"%s\", __get_str(frames)" },
	{ TD_CUDA_LAUNCH, "cuda", "launch", {
		CUDA_FIELDS, U("u64 func", 32, 8), U("u64 stream", 40, 8), U("u64 seq", 48, 8),
		U("u32 gx", 56, 4), U("u32 gy", 60, 4), U("u32 gz", 64, 4),
		U("u32 bx", 68, 4), U("u32 by", 72, 4), U("u32 bz", 76, 4), U("u32 shmem", 80, 4), U("u32 flags", 84, 4),
		U("__data_loc char[] kernel", 88, 4), U("__data_loc char[] cluster", 92, 4) },
	  "\"%s<<<(%u,%u,%u),(%u,%u,%u),%u>>>%s%s stream=0x%llx seq=%llu func=0x%llx" CUDA_FLAGS_TEXT CUDA_BY_TEXT "\", "
	  "__get_str(kernel), REC->gx, REC->gy, REC->gz, REC->bx, REC->by, REC->bz, REC->shmem, "
	  "__get_dynamic_array_len(cluster) ? \" cluster=\" : \"\", __get_str(cluster), REC->stream, REC->seq, REC->func, "
	  CUDA_FLAGS ", " CUDA_BY },
	{ TD_CUDA_GRAPH_LAUNCH, "cuda", "graph_launch", {
		CUDA_FIELDS, U("u64 exec", 32, 8), U("u64 stream", 40, 8), U("u32 kernels", 48, 4), U("u32 flags", 52, 4) },
	  "\"exec=0x%llx kernels=%u stream=0x%llx" CUDA_FLAGS_TEXT CUDA_BY_TEXT "\", REC->exec, REC->kernels, REC->stream, "
	  CUDA_FLAGS ", " CUDA_BY },
	{ TD_CUDA_MEMCPY, "cuda", "memcpy", {
		CUDA_FIELDS, U("u64 dst", 32, 8), U("u64 src", 40, 8), U("u64 bytes", 48, 8), U("u64 stream", 56, 8),
		U("u32 kind", 64, 4), U("u32 flags", 68, 4) },
	  "\"%s %llu bytes 0x%llx -> 0x%llx stream=0x%llx" CUDA_FLAGS_TEXT CUDA_BY_TEXT "\", " CUDA_KIND ", REC->bytes, "
	  "REC->src, REC->dst, REC->stream, " CUDA_FLAGS ", " CUDA_BY },
	{ TD_CUDA_MEMSET, "cuda", "memset", { CUDA_MEMORY_FIELDS },
	  "\"%llu bytes at 0x%llx stream=0x%llx" CUDA_FLAGS_TEXT CUDA_BY_TEXT "\", REC->bytes, REC->ptr, REC->stream, "
	  CUDA_FLAGS ", " CUDA_BY },
	{ TD_CUDA_ALLOC, "cuda", "alloc", { CUDA_MEMORY_FIELDS },
	  "\"%s %llu bytes at 0x%llx stream=0x%llx" CUDA_FLAGS_TEXT CUDA_BY_TEXT "\", " CUDA_KIND ", REC->bytes, REC->ptr, "
	  "REC->stream, " CUDA_FLAGS ", " CUDA_BY },
	{ TD_CUDA_FREE, "cuda", "free", { CUDA_MEMORY_FIELDS },
	  "\"%s 0x%llx stream=0x%llx" CUDA_FLAGS_TEXT CUDA_BY_TEXT "\", " CUDA_KIND ", REC->ptr, REC->stream, "
	  CUDA_FLAGS ", " CUDA_BY },
	{ TD_CUDA_SYNC, "cuda", "sync", {
		CUDA_FIELDS, U("u64 stream", 32, 8), U("u64 event", 40, 8), U("u32 kind", 48, 4), U("u32 flags", 52, 4) },
	  "\"%s 0x%llx" CUDA_FLAGS_TEXT CUDA_BY_TEXT "\", " CUDA_KIND ", REC->stream | REC->event, " CUDA_FLAGS ", " CUDA_BY },
	{ TD_CUDA_MODULE, "cuda", "module", {
		CUDA_FIELDS, U("u64 handle", 32, 8), U("u64 of", 40, 8), U("__data_loc char[] image", 48, 4),
		U("__data_loc char[] name", 52, 4) },
	  "\"%s%shandle=0x%llx of=0x%llx%s%s" CUDA_BY_TEXT "\", __get_str(name), "
	  "__get_dynamic_array_len(name) ? \" \" : \"\", REC->handle, REC->of, "
	  "__get_dynamic_array_len(image) ? \" image=\" : \"\", __get_str(image), " CUDA_BY },
	{ TD_CUDA_CALL, "cuda", "call", {
		CUDA_FIELDS, U("__data_loc char[] args", 32, 4), U("u32 flags", 36, 4) },
	  "\"%s(%s)" CUDA_FLAGS_TEXT CUDA_ENDS_TEXT "\", __get_str(api), __get_str(args), " CUDA_FLAGS ", " CUDA_ENDS },
	{ TD_GPU_KERNEL, "cuda", "gpu_kernel", {
		GPU_FIELDS, U("u32 regs", 84, 4), U("u64 seq", 88, 8), U("u64 queued", 96, 8),
		U("u32 gx", 104, 4), U("u32 gy", 108, 4), U("u32 gz", 112, 4),
		U("u32 bx", 116, 4), U("u32 by", 120, 4), U("u32 bz", 124, 4), U("__data_loc char[] kernel", 128, 4) },
	  "\"%s%s<<<(%u,%u,%u),(%u,%u,%u)>>>" GPU_TEXT " regs=%u\", __get_dynamic_array_len(kernel) ? \"\" : \"unknown\", "
	  "__get_str(kernel), REC->gx, REC->gy, REC->gz, REC->bx, REC->by, REC->bz, " GPU ", REC->regs" },
	{ TD_GPU_MEMCPY, "cuda", "gpu_memcpy", {
		GPU_FIELDS, U("u32 copy_kind", 84, 4), U("u64 bytes", 88, 8) },
	  "\"%s %llu bytes" GPU_TEXT "\", __print_symbolic(REC->copy_kind, " GPU_COPY_NAMES "), REC->bytes, " GPU },
	{ TD_GPU_MEMSET, "cuda", "gpu_memset", { GPU_FIELDS, U("u64 bytes", 88, 8) },
	  "\"%llu bytes" GPU_TEXT "\", REC->bytes, " GPU },
	{ TD_GPU_END, "cuda", "gpu_end", {
		U("u32 device", 8, 4), U("u32 stream_id", 12, 4), U("u32 corr", 16, 4), U("u32 tgid", 20, 4) },
	  "\"dev=%u stream_id=%u corr=%u\", REC->device, REC->stream_id, REC->corr" },
	{ TD_LOST, "recorder", "lost", {
		U("u64 function", 8, 8), U("u64 syscall", 16, 8), U("u64 task", 24, 8), U("u64 event", 32, 8),
		U("u64 cuda", 40, 8) },
	  "\"%llu function, %llu syscall, %llu task, %llu event, %llu CUDA records\", REC->function, "
	  "REC->syscall, REC->task, REC->event, REC->cuda" },
	{ TD_MARK, "recorder", "mark", {
		U("u32 mark", 8, 4), U("u32 number", 12, 4), U("u32 signal", 16, 4), U("u32 tgid", 20, 4),
		U("__data_loc char[] what", 24, 4) },
	  "\"%s\", __get_str(what)" },
};

void td_format_begin(struct out *o, const char *name, unsigned id)
{
	out_printf(o, "name: %s\nID: %u\nformat:\n", name, id);
	td_format_field(o, "unsigned short common_type", 0, 2, false);
	td_format_field(o, "unsigned char common_flags", 2, 1, false);
	td_format_field(o, "unsigned char common_preempt_count", 3, 1, false);
	td_format_field(o, "int common_pid", 4, 4, true);
	out_printf(o, "\n");
}

void td_format_field(struct out *o, const char *declaration, unsigned offset, unsigned size, bool is_signed)
{
	out_printf(o, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", declaration, offset, size, is_signed);
}

int td_put_text(struct out *o, struct out *text)
{
	int err = out_error(text);

	out_u64(o, out_tell(text));
	out_bytes(o, out_data(text), out_tell(text));
	out_destroy(text);
	return err ?: out_error(o);
}

static int write_format(struct out *o, const struct event_format *e)
{
	struct out *text;
	int err = out_memory(&text);

	if (err)
		return err;
	td_format_begin(text, e->name, e->id);
	for (const struct field *f = e->field; f < e->field + ARRAY_SIZE(e->field) && f->declaration; f++)
		td_format_field(text, f->declaration, f->offset, f->size, f->is_signed);
	out_printf(text, "\nprint fmt: %s\n", e->print);
	return td_put_text(o, text);
}

int td_formats_ftrace(struct out *o, const struct td_used *used)
{
	bool is_used = td_is_used(used, kernel_stack.id);

	out_u32(o, is_used);
	return is_used ? write_format(o, &kernel_stack) : out_error(o);
}

static bool is_first_of_system(const struct event_format *e)
{
	return e == formats || strcmp(e->system, e[-1].system);
}

/* How many of the events of @e's system, whose first it is, occur. */
static unsigned count_used(const struct event_format *e, const struct td_used *used)
{
	const char *system = e->system;
	unsigned n = 0;

	for (; e < formats + ARRAY_SIZE(formats) && !strcmp(e->system, system); e++)
		n += td_is_used(used, e->id);
	return n;
}

static void begin_system(struct out *o, const char *name, unsigned count)
{
	out_bytes(o, name, strlen(name) + 1);
	out_u32(o, count);
}

int td_formats_write(struct out *o, const struct td_used *used, const struct td_syscalls *calls,
		     const struct tracepoints *tps)
{
	unsigned systems = (td_syscalls_count(used) > 0) + td_kevents_systems(tps, used);
	int err = 0;

	for (const struct event_format *e = formats; e < formats + ARRAY_SIZE(formats); e++)
		systems += is_first_of_system(e) && count_used(e, used);
	out_u32(o, systems);
	for (const struct event_format *e = formats; e < formats + ARRAY_SIZE(formats) && !err; e++) {
		if (is_first_of_system(e) && count_used(e, used))
			begin_system(o, e->system, count_used(e, used));
		if (td_is_used(used, e->id))
			err = write_format(o, e);
	}
	if (!err && td_syscalls_count(used)) {
		begin_system(o, "syscalls", td_syscalls_count(used));
		err = td_syscalls_formats(o, used, calls);
	}
	err = err ?: td_kevents_formats(o, tps, used);
	return err ?: out_error(o);
}
