/*
 * basdesk.h - a made-up recording told to the sink of bas text, and the lines it has written.
 */
#ifndef BASDESK_H
#define BASDESK_H

#include "about.h"
#include "base.h"
#include "flow/segment.h"
#include "flow/tracker.h"
#include "record.h"
#include "sink.h"

#define ROOT	100u	/* recorder */
#define PROG	200u	/* the command: each test finds it execed */
#define SPOOL	"out.part"

extern const struct sink_ops sink_bas;

struct basdesk {
	char	dir[64];
	int	dirfd, spoolfd;
	struct about	    about;
	struct sink_options options;
	struct segment	   *segment;
	struct tracker	   *tracker;
	uint32_t	    pid, tid, cpu;	/* of the records that follow */
	uint64_t	    now;		/* the time of the last */
	char		   *text;		/* what lines() gave last */
};

void basdesk_set(struct basdesk *d);			/* empty: nothing has happened, d->options may still be set */
void basdesk_start(struct basdesk *d);		/* the command has been execed and is at work */
void basdesk_stop(struct basdesk *d);			/* the recording ends, unless it has already */
void basdesk_clear(struct basdesk *d);

/*
 * What is in the file once the recording has ended, without INITCWD and times: "2:200 Close|fd=3" of seq 2 and tid 200.
 * Of the command's begin, which basdesk_start() tells, nothing.
 */
const char *lines(struct basdesk *d);
char *basdesk_file(struct basdesk *d, const char *name, size_t *len);	/* to be freed; NULL: there is none */

/* ---- records; each 1 us after the one before ---- */

void *made(struct basdesk *d, uint16_t kind, size_t size);		/* all zero, in a static buffer */
void plays(struct basdesk *d, const void *rec);
void forks(struct basdesk *d, uint32_t pid, uint32_t tid);		/* goes on with the parent */
void exits(struct basdesk *d, uint32_t status, uint16_t flags);
void turns_to(struct basdesk *d, uint32_t pid, uint32_t tid);

/* A record of a file is begun, gets its texts, and is played. */
struct rec_file *file(struct basdesk *d, enum file_op op, int ret, uint64_t a, uint64_t b, uint64_t c);
void with(struct rec_file *r, enum file_text which, unsigned flags, const char *text);		/* as passed */
void with_bytes(struct rec_file *r, enum file_text which, unsigned flags, const void *bytes, size_t len);
void with_path(struct rec_file *r, enum file_text which, unsigned flags, const char *path);	/* walked */

/* An exec with these arguments, each with its NUL, in pieces of @piece bytes. */
void execs(struct basdesk *d, uint32_t old_tid);			/* REC_TASK_EXEC */
struct rec_exec *begins_exec(struct basdesk *d, uint64_t args, uint64_t env);
void exec_with_bytes(struct rec_exec *r, enum file_text which, const void *bytes, size_t len);
void exec_with(struct rec_exec *r, enum file_text which, const char *text);
void exec_with_path(struct rec_exec *r, enum file_text which, const char *path);
void piece(struct basdesk *d, uint64_t at, const char *bytes, size_t len);
void starts(struct basdesk *d, const char *name, const char *interp, const char *args, size_t len, size_t piece);

#endif
