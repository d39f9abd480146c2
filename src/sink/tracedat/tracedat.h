/*
 * tracedat.h - the parts of the trace.dat sink. The format: trace-cmd.dat.v7(5), and what its readers really do.
 *
 *	tracedat.c	the callbacks: events into payloads
 *	payload.c	a payload under construction
 *	pages.c		payloads into the sub-buffers of a CPU, these into its spool file
 *	codec.c		compression
 *	formats.c	the events there are, described as tracefs describes its own
 *	syscalls.c	those of system calls: one pair for each that occurs
 *	kevents.c	those of the kernel's own tracepoints
 *	stacks.c	who called
 *	kallsyms.c	names of the kernel's functions
 *	cuda.c		those of calls of the CUDA driver
 *	gpu.c		those of what ran on a device
 *	values.c	arguments and results of functions as text
 *	tasks.c		what is told of tasks and processes beside their events
 *	meta.c		all that the file holds besides events
 *	seal.c		the file, from a spool directory: at the end, or after recorder was killed
 *
 * While it is recorded, a spool directory holds the sub-buffers of each CPU in a file of its own, and,
 * as of the last checkpoint, what else the file needs. All numbers are little endian.
 */
#ifndef TRACEDAT_H
#define TRACEDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct about;
struct call;
struct cuda_device_time;
struct event;
struct frame;
struct out;
struct session;
struct task;

/* ---- payload.c ---- */

#define TD_PAGE		4096u
#define TD_PAYLOAD_MAX	4064u	/* bytes, on any page: beside its head, a count of lost events, and a length */

struct td_payload {
	uint32_t len;
	uint8_t	 bytes[TD_PAYLOAD_MAX];
};

/* Begin a payload of event @id in task @tid: @fixed bytes, zero, the 8 common ones included. */
void td_begin(struct td_payload *p, uint16_t id, uint32_t tid, uint32_t fixed);
void td_u32(struct td_payload *p, uint32_t at, uint32_t v);
void td_u64(struct td_payload *p, uint32_t at, uint64_t v);
void td_bytes(struct td_payload *p, uint32_t at, const void *data, uint32_t len);
/*
 * A text behind all that is there, its place noted at @at as __data_loc does. NULL: none, which has length 0. What is
 * longer than @most, or has no room, ends in "...".
 */
void td_text(struct td_payload *p, uint32_t at, const char *text, size_t len, size_t most);
#define TD_ALL	SIZE_MAX
void td_escaped(struct td_payload *p, uint32_t at, const char *text);	/* the program's, "": none */
/* Readers print line by line: what would break a line is shown as '?'. */
void td_clean(char to[REC_COMM + 1], const char *comm);
void td_comm(struct td_payload *p, uint32_t at, const char *comm);	/* into 16 bytes */

/* ---- codec.c ---- */

struct td_codec {
	const char *name;	/* as the file's header has it */
	const char *(*version)(void);
	size_t	  (*bound)(size_t len);					/* NULL: nothing is compressed */
	size_t	  (*pack)(void *to, size_t room, const void *from, size_t len);	/* 0: it could not be done */
};

/* "zstd", "zlib", "none"; NULL: the best there is. Returns NULL when this binary has no such. */
const struct td_codec *td_codec_find(const char *name);

/* ---- pages.c ---- */

struct td_lane;

/* What a CPU's statistics say. */
struct td_stat {
	uint64_t entries, lost, first, last;
};

int  td_lane_create(struct td_lane **ret, int spoolfd, unsigned cpu, const struct td_codec *codec);
void td_lane_destroy(struct td_lane *l);
/* An event at @time, or later if one before it was. Returns 0 or a negative errno. */
int  td_lane_add(struct td_lane *l, uint64_t time, const struct td_payload *p);
/* Before what is added next, @count events were lost. */
int  td_lane_lost(struct td_lane *l, uint64_t count);
/* @describe: called before events reach the file. @is_full: as out_set_aside() has it. */
void td_lane_set_hooks(struct td_lane *l, int (*describe)(void *ctx), void (*is_full)(void *ctx), void *ctx);
/* All that was added is in the file. */
int  td_lane_flush(struct td_lane *l);
const struct td_stat *td_lane_stat(const struct td_lane *l);
uint64_t td_lane_bytes(const struct td_lane *l);	/* of its file, when all that was added is in it */

/* ---- formats.c ---- */

/* Events of the kernel's names; our own from 20000 on. Below 32768: a reader keeps them in 16 signed bits. */
enum td_id {
	TD_KERNEL_STACK	= 4,	/* as the kernel has it: a format of ftrace's own */
	TD_PROCESS_FORK	= 300,
	TD_PROCESS_EXEC,
	TD_PROCESS_EXIT,
	TD_TASK_RENAME	= 310,
	TD_EVENTS	= 320,	/* enum kernel_event */
	TD_SYS_ENTER	= 400,	/* raw_syscalls */
	TD_SYS_EXIT,
	TD_TRACEPOINTS	= 1000,	/* by name, TRACEPOINTS_MAX at most */
	TD_SYSCALLS	= 3000,	/* two for each system call: enter, exit */
	TD_FUNC_ENTRY	= 20000,
	TD_FUNC_EXIT,
	TD_USDT,
	TD_CUDA		= 20010,
	TD_CUDA_LAUNCH	= TD_CUDA,
	TD_CUDA_MEMCPY,
	TD_CUDA_MEMSET,
	TD_CUDA_ALLOC	= 20014,	/* 20013 is nobody's */
	TD_CUDA_FREE,
	TD_CUDA_SYNC,
	TD_CUDA_MODULE,
	TD_CUDA_CALL,
	TD_CUDA_GRAPH_LAUNCH,
	TD_CALLERS	= 20020,
	TD_GPU_KERNEL	= 20030,
	TD_GPU_MEMCPY,
	TD_GPU_MEMSET,
	TD_GPU_END,
	TD_LOST		= 20200,
	TD_MARK,
	TD_IDS		= 32768
};

/* Which events occur: only they are described. */
struct td_used {
	uint8_t bits[TD_IDS / 8];
	bool	has_new;		/* since somebody made it false */
};

static inline void td_use(struct td_used *u, unsigned id)
{
	u->has_new |= !(u->bits[id / 8] >> id % 8 & 1);
	u->bits[id / 8] |= 1u << id % 8;
}

static inline bool td_is_used(const struct td_used *u, unsigned id)
{
	return u->bits[id / 8] >> id % 8 & 1;
}

/* One format text begins: name, id and the fields that every event has. */
void td_format_begin(struct out *o, const char *name, unsigned id);
void td_format_field(struct out *o, const char *declaration, unsigned offset, unsigned size, bool is_signed);

/* u64 bytes, and @text, which is destroyed. */
int  td_put_text(struct out *o, struct out *text);

/* The content of the section of event formats. */
struct td_syscalls;
struct tracepoints;
int  td_formats_ftrace(struct out *o, const struct td_used *used);	/* of those of ftrace's own */
int  td_formats_write(struct out *o, const struct td_used *used, const struct td_syscalls *calls,
		      const struct tracepoints *tps);

/* ---- syscalls.c ---- */

int  td_syscalls_create(struct td_syscalls **ret, bool raw, unsigned string_bytes);
void td_syscalls_destroy(struct td_syscalls *c);
void td_syscall_enter(struct td_syscalls *c, struct td_payload *p, uint32_t tid, const struct rec_sys_enter *rec,
		      struct td_used *used);
void td_syscall_exit(struct td_syscalls *c, struct td_payload *p, uint32_t tid, const struct rec_sys_exit *rec,
		     struct td_used *used);
/* How many formats of the system "syscalls" there are, and them. */
unsigned td_syscalls_count(const struct td_used *used);
int	 td_syscalls_formats(struct out *o, const struct td_used *used, const struct td_syscalls *calls);

bool	 td_syscall_is_exec(uint32_t nr, bool is_compat);

/* ---- kevents.c ---- */

struct td_kallsyms;
struct tracepoint;

uint16_t td_kevent(struct td_payload *p, const struct rec_event *rec);	/* returns the id it got */
/* Do the event's fields hold kernel functions that it shows by name? */
bool	 td_kevent_has_functions(const struct tracepoint *tp);
/* The file will have the names of those in @rec. */
void	 td_kevent_need(struct td_kallsyms *k, const struct about *about, const struct rec_event *rec);
/* Of those by name: how many systems there are, and their formats. */
unsigned td_kevents_systems(const struct tracepoints *tps, const struct td_used *used);
int	 td_kevents_formats(struct out *o, const struct tracepoints *tps, const struct td_used *used);

/* ---- kallsyms.c ---- */

int  td_kallsyms_create(struct td_kallsyms **ret);
void td_kallsyms_destroy(struct td_kallsyms *k);
void td_kallsyms_read(struct td_kallsyms *k, const struct about *about);	/* before the next two; again, it does nothing */
/* What the kernel has at @addr, with its module; "": that is not known. */
const char *td_kallsyms_name(const struct td_kallsyms *k, uint64_t addr);
void td_kallsyms_need(struct td_kallsyms *k, uint64_t addr);	/* it will be in the file */
int  td_kallsyms_write(struct out *o, const struct td_kallsyms *k);	/* the content of the section; NULL: none */

/* ---- stacks.c ---- */

/* Both return the id it got; 0: there is none to be told. */
uint16_t td_kernel_stack(struct td_payload *p, struct td_kallsyms *k, const struct about *about,
			 const struct rec_callers *r);
uint16_t td_callers(struct td_payload *p, const struct rec_callers *r, const struct frame *frame);

/* ---- cuda.c ---- */

/* Of an event of a call of the CUDA driver: how many of ours it makes; 0: it is another's turn. */
size_t	 td_cuda_events(const struct event *ev);
uint16_t td_cuda(struct td_payload *p, const struct event *ev, size_t n);	/* the @n-th; returns the id it got */

/* ---- gpu.c ---- */

#define TD_STREAMS	16	/* that have a place of their own; the last is shared by all others */

struct td_streams {
	unsigned count;
	struct {
		uint32_t pid, device, context, id;
	} stream[TD_STREAMS];
};

unsigned td_stream(struct td_streams *s, const struct cuda_device_time *d);	/* its place, below TD_STREAMS */
uint16_t td_gpu(struct td_payload *p, const struct cuda_device_time *d);	/* returns the id it got; 0: none is told */
uint16_t td_gpu_end(struct td_payload *p, const struct cuda_device_time *d);

/* ---- values.c ---- */

/* Of a sane record, struct rec_value each; returns the length, which is less than @size. */
int td_values_text(const char *values, uint32_t len, char *buf, size_t size);

/* ---- tasks.c ---- */

struct td_names;

/* What hangs on a task. */
struct td_task {
	struct td_task *next, **link;	/* of all alive */
	const struct task *task;
	bool	  is_in_exec;		/* whose exit is still to come, of this number */
	uint16_t  exec_flags;
	uint32_t  exec_nr;
	uint64_t *began;		/* of each open call, by depth */
	size_t	  began_room;
};

#define TD_LOG_NAMES	"names"	/* in the spool directory */
#define TD_LOG_MAPS	"maps"
#define TD_MAPS_MAX	(16u << 20)	/* bytes of one process in it */

int  td_names_create(struct td_names **ret, int spoolfd);
void td_names_destroy(struct td_names *n);
/* The name of a task, perhaps one that is not recorded. */
void td_names_note(struct td_names *n, uint32_t tid, const char comm[REC_COMM]);
/* NULL: no memory. */
struct td_task *td_task_begin(struct td_names *n, const struct task *t);
void td_task_end(struct td_names *n, struct td_task *u);
/* The process @pid is in @sess from now on. */
int  td_names_process(struct td_names *n, uint32_t pid, const struct session *sess);
void td_names_set_aside(struct td_names *n, void (*is_full)(void *ctx), void *ctx);
/* What has ended goes to the files of the spool; before the next two, which tell of the others. */
int  td_names_settle(struct td_names *n);
int  td_names_write(struct out *o, const struct td_names *n);	/* the command lines */
int  td_names_maps(struct out *o, const struct td_names *n);	/* as TD_LOG_MAPS has them */
uint64_t td_names_bytes(const struct td_names *n);		/* of the two files */

/* ---- meta.c ---- */

#define TD_META		"meta"	/* its file in the spool directory */

enum td_section {
	TD_OPTIONS	  = 0,
	TD_PROCESSES	  = 1,		/* of the spool alone: as TD_LOG_MAPS */
	TD_BUFFER	  = 3,
	TD_STRINGS	  = 15,
	TD_HEADER_INFO	  = 16,
	TD_FTRACE_EVENTS,
	TD_EVENT_FORMATS,
	TD_KALLSYMS,
	TD_PRINTK,
	TD_CMDLINES,
	TD_METAS_END,
};

enum td_option {
	TD_O_CPUSTAT	= 2,
	TD_O_BUFFER	= 3,
	TD_O_TRACECLOCK = 4,
	TD_O_UNAME	= 5,
	TD_O_CPUCOUNT	= 8,
	TD_O_VERSION	= 9,
	TD_O_PROCMAPS	= 10,
	TD_O_TRACEID	= 11,
};

void td_option(struct out *o, uint16_t id, const void *data, uint32_t len);

struct td_meta_args {
	const struct about	 *about;
	const struct td_codec	 *codec;
	const struct td_used	 *used;
	const struct td_syscalls *calls;
	const struct td_kallsyms *kallsyms;
	struct td_names		 *names;
	struct td_lane *const	 *lane;	/* NULL where nothing happened */
	unsigned		  cpus;
};

/* Put TD_META into the spool directory, in place of what was there. @bytes: how long it is. @over: an empty file; or NULL. */
int td_meta_write(const struct td_meta_args *a, int spoolfd, const char *over, uint64_t *bytes);

/* ---- reserve.c ---- */

#define TD_RESERVE_FILE	"reserve"	/* becomes the file: room for all of it that is not events */
#define TD_RESERVE_META	"meta.next"	/* becomes TD_META */

/* An empty file in the spool directory for which room is set aside. */
struct td_reserve {
	const char *name;
	int	    spoolfd, fd;	/* lent; -1: not made yet */
	uint64_t    bytes;
	bool	    is_not_possible;	/* the filesystem sets nothing aside */
};

/* Set @bytes aside in all, if that is more than before. */
int  td_reserve_grow(struct td_reserve *r, uint64_t bytes);
/* Those that a recorder that was killed has left. */
void td_reserves_remove(int spoolfd);

/* ---- seal.c ---- */

/* Bytes of events, as the spool has them, that are not in the file; and how long that is. */
struct td_missing {
	uint64_t file;
	uint64_t cut;			/* the disk is full, they had no place */
	uint64_t torn;			/* the file of a CPU is gone, was cut short, or is damaged from there on */
	bool	 names;			/* not bytes: of tasks and processes that had ended names or maps are */
};

/* Make the file @name in @dirfd from what lies in the spool directory, which stays as it was. */
int td_seal(int spoolfd, int dirfd, const char *name, struct td_missing *missing);
/* The same of a spool that goes then: where the file does not fit beside it the events leave it as they get their place. */
int td_seal_moving(int spoolfd, int dirfd, const char *name, struct td_missing *missing);

#endif
