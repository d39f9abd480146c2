/*
 * uftrace.h - the parts of a uftrace.data directory.
 *
 *	uftrace.c	<tid>.dat: events become records
 *	args.c		syscalls as functions of a module of our own, with arguments (calls.h)
 *	gpu.c		what ran on a device, when that is known: tracks
 *	usdt.c		USDT probes, as functions of the same module
 *	tasks.c		task.txt: which task lives in which session
 *	maps.c		sid-*.map: what lies where in a session
 *	symbols.c	*.sym: the functions of a module
 *	specs.c		*.dbg: their arguments and results
 *	perf.c		perf-cpu0.dat: when tasks were on a CPU
 *	info.c		info: the recording itself
 *
 * Written for uftrace 0.13 and later. Where a rule looks odd, it is what that
 * version's reader needs; the comment names its file and function.
 */
#ifndef UFTRACE_H
#define UFTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "funcargs.h"
#include "record.h"

struct about;
struct image;
struct map;
struct out;
struct session;
struct task;

enum uf_type { UF_ENTRY, UF_EXIT, UF_LOST, UF_EVENT };

/* A time as the text files want it: seconds, and all nine digits behind the dot. */
#define UF_TIME		"%llu.%09llu"
#define UF_TIME_ARGS(t)	(unsigned long long)((t) / NSEC_PER_SEC), (unsigned long long)((t) % NSEC_PER_SEC)

/* uftrace.h:struct uftrace_record */
struct uf_record {
	uint64_t time;
	uint64_t word;		/* type, more, magic, depth, address */
};

static inline uint64_t uf_word(enum uf_type type, bool more, uint32_t depth, uint64_t addr)
{
	return type | (uint64_t)more << 2 | 5 << 3 | (uint64_t)(depth & 0x3ff) << 6 | addr << 16;
}

/* What may stand in a text of ours. */
enum uf_text {
	UF_WORD,		/* no spaces */
	UF_LINE,
	UF_JSON,		/* quotes with a backslash before them; elsewhere there are none */
};

/* @text made safe for a file read line by line: no control bytes, valid UTF-8, cut to @room - 1 bytes. */
void uf_clean(char *to, size_t room, const char *text, enum uf_text kind);

/* How an argument or the result of a function is shown: struct rec_value. */
struct uf_form {
	uint8_t index, format, size;
	char	type[32];		/* of a structure: its type's name; "": none is known */
};

struct uf_spec {
	uint64_t       addr;		/* of the function, relative to its module */
	const char    *name;		/* lent */
	unsigned       count;		/* of arg[]; 0: no entry had any so far */
	bool	       has_result;
	struct uf_form result;
	struct uf_form arg[ARGS_MAX];
};

/* --- symbols.c: modules, and the name each file of theirs gets --- */

struct uf_module {
	char		  *path;	/* in maps and headers: cleaned, unique among modules */
	char		  *real_path;	/* as the target sees it */
	char		  *file;	/* base name of the .sym */
	char		   build_id[41];
	bool		   is_copy;	/* another of its base name has the same build-id: readers are not told of this one's */
	const struct image *image;	/* NULL: no function of it is known */
	struct uf_spec	  *spec;	/* by addr, ascending */
	size_t		   spec_count, spec_room;
	struct uf_module  *next;	/* of the same hash */
	struct uf_module  *next_dirty;
	bool		   is_dirty;	/* its .sym or .dbg is not on disk, or out of date */
};

struct uf_modules {
	struct uf_module **hash;
	size_t		   hash_size, count;
	struct uf_module  *dirty;
	bool		   has_new_specs;	/* must be written before records that use them */
};

int  uf_modules_init(struct uf_modules *m);
void uf_modules_release(struct uf_modules *m);
int  uf_module_find(struct uf_modules *m, struct uf_module **ret, const char *path,
		    const struct image *image);
/* As readers are told of it; "": not at all. */
const char *uf_module_build_id(const struct uf_module *mod);
/* Any module of that path, or NULL. */
struct func;
const char *uf_name(const struct func *f);	/* as it stands in .sym */
const struct uf_module *uf_module_at(const struct uf_modules *m, const char *path);
void uf_module_has_new_specs(struct uf_modules *m, struct uf_module *mod);
int  uf_modules_write(struct uf_modules *m, int dirfd);	/* the .sym and .dbg of those that changed */

/* --- specs.c: arguments and results of functions --- */

#define UF_VALUES_MAX	(ARGS_MAX * (VALUE_STRING_MAX + 8))

/*
 * What follows the record of a call of the function at @addr (relative) of @mod into
 * @payload, UF_VALUES_MAX bytes; @name is lent. @len 0: nothing.
 */
int  uf_values_show(struct uf_modules *m, struct uf_module *mod, uint64_t addr, const char *name,
		    const struct rec_func_args *rec, uint8_t *payload, size_t *len);
/* @v at @at, as a reader takes it; returns what is behind it. @shown: columns of texts so far. */
uint8_t *uf_value_put(uint8_t *at, const struct rec_value *v, unsigned *shown);
bool uf_specs_any(const struct uf_module *mod);	/* has it a .dbg? */
void uf_specs_put(struct out *o, const struct uf_module *mod);	/* the lines of its .dbg */

/* --- maps.c: sessions --- */

struct uf_map {
	uint64_t	  start, end;
	struct uf_module *module;
};

struct uf_session {
	const struct session *sess;	/* lent; NULL: an epoch that is over, its maps stay as they are */
	uint64_t	   id;
	char		   sid[17];
	uint32_t	   pid;		/* who exec'd it */
	uint64_t	   stack;
	char		  *exe;		/* NULL: not known yet */
	struct uf_map	  *map;
	size_t		   map_count, map_room;
	size_t		   images;	/* maps whose image was known when they were last looked at */
	unsigned	   checks;	/* checkpoints since it began */
	struct uf_session *next;	/* of all, the newest first */
	bool		   is_dirty;	/* its map file is out of date */
	bool		   is_on_disk;	/* it has one, and task.txt may refer to it */
};

struct uf_sessions {
	struct uf_session **session;	/* by id: the newest epoch of each */
	size_t		    room;
	struct uf_session  *all;
	unsigned	    epochs;	/* made so far */
};

void uf_sessions_release(struct uf_sessions *s);
int  uf_session_begin(struct uf_sessions *s, const struct session *sess);
struct uf_session *uf_session_at(const struct uf_sessions *s, uint64_t id);	/* NULL: never begun */

/*
 * @map was added to *@us. If it lies where another one lay, that one has been
 * unmapped, but the reader knows no such thing: then *@us becomes a new epoch of
 * the session, and the tasks that live in it must be told (uf_tasks_move()).
 */
int  uf_session_map(struct uf_sessions *s, struct uf_session **us, struct uf_modules *m,
		    const struct map *map);

/* Look at the maps again, before modules and maps are written: images become known after their maps. */
int  uf_sessions_update(struct uf_sessions *s, struct uf_modules *m, bool is_last);
int  uf_sessions_write(struct uf_sessions *s, int dirfd);	/* the maps that changed */

/* --- tasks.c: task.txt and the list of tasks --- */

struct uf_syscall;

struct uf_task {
	uint32_t	   tid, pid;
	char		   comm[REC_COMM + 1];	/* when it began */
	bool		   is_alive;
	bool		   is_dirty;	/* has records that are not in the file */
	bool		   is_listed;	/* has a line in task.txt, so may be named in info */
	bool		   has_session;	/* a SESS line bears its pid */
	struct out	  *dat;
	uint64_t	   last;	/* no record may be older: time of the newest, or of its line */
	uint64_t	   bound;	/* time of its newest line in task.txt */
	uint64_t	   lost;	/* to be told once the open syscall is written */
	struct uf_syscall *open;	/* the syscall it is in, if is_in_syscall */
	bool		   is_in_syscall;
	bool		   is_off_cpu;	/* as perf.c has told */
	struct uf_session *session;
	struct uf_task	  *next;	/* of the same hash */
	struct uf_task	  *next_dirty;
};

enum uf_line_kind { LINE_SESS, LINE_TASK, LINE_FORK };

struct uf_line {
	enum uf_line_kind  kind;
	uint64_t	   time;
	uint32_t	   tid, pid;	/* FORK: the parent's pid */
	struct uf_session *session;
	struct uf_task	  *task;
};

struct uf_tasks {
	int		 dirfd;		/* lent */
	struct uf_task **hash;
	size_t		 hash_size, count;
	struct uf_task	*first;		/* the first ever */
	struct uf_line	*line;		/* not yet in task.txt */
	size_t		 line_count, line_room;
	struct out	*txt;
	char		*tids;		/* "1,2,3": those with a line in task.txt */
	size_t		 tids_len, tids_room, listed;
};

/* The task with @tid, or NULL. */
struct uf_task *uf_task_find(const struct uf_tasks *t, uint32_t tid);
int  uf_tasks_init(struct uf_tasks *t, int dirfd);
void uf_tasks_release(struct uf_tasks *t);

/* Walk all tasks: NULL gives the first, NULL is what comes after the last. */
struct uf_task *uf_task_after(const struct uf_tasks *t, const struct uf_task *u);

int  uf_task_begin(struct uf_tasks *t, struct uf_task **ret, const struct task *task, struct uf_session *us);
int  uf_task_exec(struct uf_tasks *t, struct uf_task *u, struct uf_session *us, uint64_t time);
int  uf_task_move(struct uf_tasks *t, struct uf_task *u, struct uf_session *to, uint64_t time);
int  uf_tasks_move(struct uf_tasks *t, const struct uf_session *from, struct uf_session *to, uint64_t time);

/*
 * Write the lines that wait. One whose session has no name yet stays, with all
 * behind it, until the next checkpoint; when @is_last none stays. The maps of
 * their sessions must be on disk.
 */
int  uf_tasks_write(struct uf_tasks *t, bool is_last);

/* --- args.c, values.c, slots.c: syscalls --- */

/* A module that does not exist, at addresses where no program can have code. */
struct uf_unreal {
	uint64_t    start, end;
	const char *file;		/* its .sym and .dbg */
	const char *path;		/* as maps have it */
};

#ifdef __x86_64__
#define UF_CALLS_START	0x900000000000ull	/* not canonical, and below the kernel's */
#define UF_CALLS_END	0x900000100000ull
#define UF_CUDA_END	0x900000200000ull
#define UF_SLOT_BYTES	16
#else
#define UF_CALLS_START	0x1000ull		/* below vm.mmap_min_addr */
#define UF_CALLS_END	0xe000ull
#define UF_CUDA_END	0x10000ull
#define UF_SLOT_BYTES	1
#endif

enum uf_unreal_module { UF_CALLS, UF_CUDA, UF_UNREALS };	/* syscalls and probes; calls of the CUDA driver */

extern const struct uf_unreal uf_unreal[UF_UNREALS];

struct uf_syscall {
	uint64_t time;
	uint32_t nr, depth;
	bool	 is_compat;
	uint64_t arg[6];
	size_t	 text_len, text_room;
	char	*text;		/* struct rec_text each */
};

#define UF_PAYLOAD_MAX	640	/* six strings of 98 bytes, with their lengths */

/* A syscall as it will be shown: where it lies in our module, and what follows its two records. */
struct uf_shown {
	uint64_t addr;
	size_t	 entry_len, exit_len;	/* multiples of 8; 0: none */
	uint8_t	 entry[UF_PAYLOAD_MAX];
	uint8_t	 exit[8];
};

struct uf_calls;

int  uf_calls_create(struct uf_calls **ret, const struct about *about, enum uf_unreal_module which);
void uf_calls_destroy(struct uf_calls *c);

/* @exit NULL: its end was not seen. The texts are @exit's; @call's own if there is no exit or it has none. */
int  uf_calls_show(struct uf_calls *c, struct uf_shown *ret, const struct uf_syscall *call,
		   const struct rec_sys_exit *exit);

bool uf_calls_is_exec(const struct uf_syscall *call);

/* The address of a function of that name, for one whose own is not known. */
uint64_t uf_calls_named(struct uf_calls *c, const char *name);

/* --- usdt.c: hits of USDT probes, as functions of the same module --- */

/* Where @rec lies in our module, and what follows its entry into @payload, UF_VALUES_MAX bytes. */
void uf_calls_probe(struct uf_calls *c, const struct rec_usdt *rec, uint64_t *addr, uint8_t *payload, size_t *len);

/* --- cuda.c: calls of the CUDA driver, as functions of another such module --- */

struct cuda_call;

/* Where @call lies there, 0: no memory, and what follows its entry into @payload, UF_VALUES_MAX bytes. */
uint64_t uf_cuda_entry(struct uf_calls *c, const struct cuda_call *call, uint8_t *payload, size_t *len);
/* The same of its exit, 8 bytes; @len 0 when its result was not seen. */
uint64_t uf_cuda_exit(struct uf_calls *c, const struct cuda_call *call, uint8_t *payload, size_t *len);

/* A kernel @name on the device: the same as uf_cuda_entry(), never 0. @payload: UF_SPAN_BYTES. */
#define UF_SPAN_BYTES	256
uint64_t uf_cuda_kernel(struct uf_calls *c, const char *name, const uint32_t grid[3], const uint32_t block[3], uint8_t *payload,
			size_t *len);

/* Must be written before records that use what is new: uftrace gives up on arguments it cannot read. */
bool uf_calls_must_write(const struct uf_calls *c);
int  uf_calls_write(struct uf_calls *c, int dirfd);	/* if anything changed */

/* --- gpu.c: what ran on a device --- */

struct cuda_device_time;

/* A kernel, copy or set. */
struct uf_span {
	uint64_t start, end;
	uint64_t process;	/* cuda_process.id */
	uint32_t pid, device, stream;
	uint64_t addr;		/* where its name is */
	size_t	 len;		/* of what follows the entry's record */
	uint8_t	 payload[UF_SPAN_BYTES];
};

/* Spans of one stream that do not overlap. */
struct uf_track {
	uint64_t	process;
	uint32_t	pid, device, stream, tid;
	uint64_t	end;		/* of the last */
	struct uf_task *task;		/* for who writes: NULL at first */
	uint64_t	addr;		/* likewise: of its name */
};

struct uf_tracks {
	struct uf_span	*span;		/* not written yet */
	size_t		 spans, span_room;
	struct uf_track *track;
	size_t		 tracks, track_room;
	uint32_t	 made;		/* ever */
	uint64_t	 left_out;
};

int  uf_tracks_add(struct uf_tracks *tr, struct uf_calls *c, const struct cuda_device_time *d);
/* Those that began until then, in order, to @fn. */
typedef int (*uf_span_fn)(void *ctx, struct uf_track *t, const struct uf_span *s);
int  uf_tracks_write(struct uf_tracks *tr, uint64_t until, uf_span_fn fn, void *ctx);
void uf_tracks_release(struct uf_tracks *tr);

/* --- info.c --- */

struct uf_summary {
	const struct about *about;
	const char *tids;		/* "1,2,3" */
	size_t	    tid_count;
	uint32_t    deepest;		/* depth of the deepest call */
	uint64_t    first, last;	/* times of the first and the last event */
	const char *build_id;		/* of the command; "": unknown */
	bool	    has_perf;		/* there is a perf-cpu0.dat */
};

/* ---- perf.c ---- */

struct uf_perf {
	int	    dirfd;		/* lent */
	struct out *out;		/* NULL: nothing was told yet */
};

/* A CPU goes from @prev to @next at @time; NULL: a task that is not recorded. */
int  uf_perf_switch(struct uf_perf *p, struct uf_task *prev, struct uf_task *next, uint64_t time);

int  uf_info_write(const struct uf_summary *sum, int dirfd);

#endif
