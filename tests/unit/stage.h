/*
 * stage.h - a recording made up for a test: records in, and a sink that tells in words what it heard.
 */
#ifndef STAGE_H
#define STAGE_H

#include "base.h"
#include "flow/round.h"
#include "flow/segment.h"
#include "flow/tracker.h"
#include "record.h"

struct stage {
	struct segment *segment;
	struct tracker *tracker;
	uint32_t	pid, tid;	/* of the records that follow */
};

/* A stage with one task, 100, whose program is /prog with functions f0, f1, ... of ids 0, 1, ... */
void stage_set(struct stage *s);
void stage_clear(struct stage *s);

/* What the sink has heard since it was last asked: "100 f0{ 110 f1{ 120 } 130 }", "130 at 110 f1{" when told later. */
const char *told(struct stage *s);

void entered(struct stage *s, uint64_t time, unsigned func, uint64_t sp);
/* Entered at @began, which became known at @time. */
void held(struct stage *s, uint64_t time, uint64_t began, unsigned func, uint64_t sp);
void entered_without_exit(struct stage *s, uint64_t time, unsigned func, uint64_t sp);
void returned(struct stage *s, uint64_t time, unsigned func, uint64_t sp);
void sys_entered(struct stage *s, uint64_t time, uint32_t nr);
void sys_returned(struct stage *s, uint64_t time, uint32_t nr);
void forked(struct stage *s, uint64_t time, uint32_t pid, uint32_t tid);
void execed(struct stage *s, uint64_t time, const char *file);
void mapped(struct stage *s, uint64_t time, const char *file, uint64_t addr, uint64_t offset, uint16_t at);
void exited(struct stage *s, uint64_t time);

/* A record of @kind, all its fields zero, in a static buffer. */
void *record(struct stage *s, uint16_t kind, size_t size, uint64_t time);
void play(struct stage *s, const void *rec);

#endif
