/*
 * kevent.c - the table of the kernel's events, and tracepoints as tracefs tells of them.
 */
#include <dirent.h>
#include <fnmatch.h>

#include "base.h"
#include "kernel.h"
#include "kevent.h"
#include "log.h"
#include "nearest.h"

#define COMMON_BYTES	8	/* that every event begins with */

const struct kernel_event_row kernel_events[EVENT_TRACEPOINT] = {
	[EVENT_SCHED_SWITCH]	 = { "sched", "sched", "sched_switch", sizeof(struct event_sched_switch) },
	[EVENT_SCHED_WAKEUP]	 = { "sched", "sched", "sched_wakeup", sizeof(struct event_sched_wakeup) },
	[EVENT_SCHED_WAKEUP_NEW] = { "sched", "sched", "sched_wakeup_new", sizeof(struct event_sched_wakeup) },
	[EVENT_SCHED_MIGRATE]	 = { "sched", "sched", "sched_migrate_task", sizeof(struct event_sched_migrate) },
	[EVENT_SIGNAL_GENERATE]	 = { "signal", "signal", "signal_generate", sizeof(struct event_signal_generate) },
	[EVENT_SIGNAL_DELIVER]	 = { "signal", "signal", "signal_deliver", sizeof(struct event_signal_deliver) },
	[EVENT_PAGE_FAULT]	 = { "fault", "exceptions", "page_fault_user", sizeof(struct event_page_fault) },
};

/* Recorded without being asked for, or in another way. */
static const struct {
	const char *system, *name, *how;
} elsewhere[] = {
	{ "syscalls", "*", "system calls are recorded by --syscalls=NAME" },
	{ "raw_syscalls", "*", "system calls are recorded by --raw-syscalls" },
	{ "sched", "sched_process_fork", "it is always recorded" },
	{ "sched", "sched_process_exec", "it is always recorded" },
	{ "sched", "sched_process_exit", "it is always recorded" },
	{ "task", "task_rename", "it is always recorded" },
};

size_t kernel_event_bytes(uint32_t event)
{
	return event < EVENT_TRACEPOINT ? kernel_events[event].bytes : 0;
}

bool kevent_is_group(const char *value)
{
	for (int i = 0; i < EVENT_TRACEPOINT; i++)
		if (!strcmp(kernel_events[i].group, value))
			return true;
	return strchr(value, ':');
}

/* ---- lists ---- */

static void release(struct tracepoint *tp)
{
	free(tp->system);
	free(tp->name);
	free(tp->format);
}

void tracepoints_release(struct tracepoints *tps)
{
	for (size_t i = 0; i < tps->count; i++)
		release(&tps->tp[i]);
	free(tps->tp);
	*tps = (struct tracepoints){};
}

/* Takes what @tp owns, also when it fails. */
static int add(struct tracepoints *tps, struct tracepoint *tp)
{
	if (grow(&tps->tp, &tps->room, tps->count, sizeof(*tps->tp))) {
		release(tp);
		return -ENOMEM;
	}
	tps->tp[tps->count++] = *tp;
	return 0;
}

int tracepoints_add(struct tracepoints *to, const struct tracepoint *tp)
{
	struct tracepoint copy = *tp;

	copy.system = strdup(tp->system);
	copy.name = strdup(tp->name);
	copy.format = strdup(tp->format);
	if (copy.system && copy.name && copy.format)
		return add(to, &copy);
	release(&copy);
	return -ENOMEM;
}

int tracepoints_copy(struct tracepoints *to, const struct tracepoints *from)
{
	int err = 0;

	for (size_t i = 0; i < from->count && !err; i++)
		err = tracepoints_add(to, &from->tp[i]);
	return err;
}

/* ---- what tracefs tells ---- */

/* The content of tracefs's file events/@system/@name/@file, to be freed; NULL: it cannot be read. */
static char *read_file(const char *system, const char *name, const char *file)
{
	__cleanup(free_ptr) char *path = NULL;
	__cleanup(close_file) FILE *f = NULL;
	__cleanup(free_ptr) char *text = NULL;
	size_t room = 0;

	if (asprintf(&path, "%s/%s/%s/%s", kernel_events_dir(), system, name, file) < 0)
		return path = NULL;
	f = fopen(path, "re");
	if (!f || getdelim(&text, &room, '\0', f) <= 0)
		return NULL;
	return TAKE(text);
}

/* A line "field:DECLARATION; offset:N; size:N; signed:N;" */
static int take_field(struct tracepoint *tp, const char *line)
{
	const char *offset = strstr(line, "offset:"), *size = strstr(line, "size:");
	unsigned at = offset ? strtoul(offset + 7, NULL, 10) : 0, bytes = size ? strtoul(size + 5, NULL, 10) : 0;
	struct tracepoint_plan *p = &tp->plan;
	bool is_relative = strstr(line, "__rel_loc") && strstr(line, "__rel_loc") < offset;
	bool is_text = is_relative || (strstr(line, "__data_loc") && strstr(line, "__data_loc") < offset);

	if (!offset || !size)
		return -EINVAL;
	if (at < COMMON_BYTES)
		return 0;
	at -= COMMON_BYTES;
	if (bytes > TRACEPOINT_BYTES_MAX || at > TRACEPOINT_BYTES_MAX - bytes)
		return -E2BIG;
	p->bytes = MAX(p->bytes, at + bytes);
	if (is_text && p->text_count < TRACEPOINT_TEXTS) {
		p->text[p->text_count].at = at;
		p->text[p->text_count++].base = is_relative ? at + bytes + COMMON_BYTES : 0;
	}
	return 0;
}

static int read_fields(struct tracepoint *tp)
{
	const char *end = strstr(tp->format, "\nprint fmt:");
	int err = end ? 0 : -EINVAL;

	for (const char *line = tp->format; !err && line && line < end; line = strchr(line + 1, '\n'))
		if (!strncmp(line, "\n\tfield:", 8))
			err = take_field(tp, line + 1);
	return err;
}

static int read_tracepoint(struct tracepoint *tp, const char *system, const char *name)
{
	__cleanup(free_ptr) char *format = read_file(system, name, "format"), *id = read_file(system, name, "id");
	const char *fields = format ? strstr(format, "format:\n") : NULL;

	*tp = (struct tracepoint){};
	if (!fields || !id)
		return -ENOENT;
	tp->system = strdup(system);
	tp->name = strdup(name);
	tp->format = strdup(fields);
	tp->id = strtoul(id, NULL, 10);
	if (!tp->system || !tp->name || !tp->format)
		return -ENOMEM;
	return read_fields(tp);
}

/* ---- choosing ---- */

struct choice {
	unsigned	   *events;
	struct tracepoints *tps;
	const char	   *word, *system, *name;	/* the option as typed; globs */
	const char	   *how;	/* what was matched is recorded elsewhere, so */
	size_t		    found;
	struct nearest	    nearest;
	char		    near[64];	/* what it found */
};

static bool matches(const struct choice *c, const char *system, const char *name)
{
	return !fnmatch(c->system, system, 0) && !fnmatch(c->name, name, 0);
}

static bool has_program(const char *system, const char *name)
{
	for (int i = 0; i < EVENT_TRACEPOINT; i++)
		if (!strcmp(kernel_events[i].system, system) && !strcmp(kernel_events[i].name, name))
			return true;
	return false;
}

static bool is_elsewhere(struct choice *c, const char *system, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (!strcmp(elsewhere[i].system, system) && !fnmatch(elsewhere[i].name, name, 0)) {
			c->how = elsewhere[i].how;
			return true;
		}
	return false;
}

static bool is_chosen(const struct tracepoints *tps, const char *system, const char *name)
{
	for (size_t i = 0; i < tps->count; i++)
		if (!strcmp(tps->tp[i].system, system) && !strcmp(tps->tp[i].name, name))
			return true;
	return false;
}

/* @name does not stay. */
static void offer(struct choice *c, const char *name)
{
	nearest_offer(&c->nearest, name);
	if (c->nearest.found == name) {
		snprintf(c->near, sizeof(c->near), "%s", name);
		c->nearest.found = c->near;
	}
}

static int choose_one(struct choice *c, const char *system, const char *name)
{
	__cleanup(release) struct tracepoint tp = {};
	struct tracepoint taken;
	int err;

	offer(c, name);
	if (!matches(c, system, name) || is_elsewhere(c, system, name) || has_program(system, name))
		return 0;
	if (is_chosen(c->tps, system, name)) {
		c->found++;
		return 0;
	}
	if (c->tps->count == TRACEPOINTS_MAX)
		return fail(0, "%s: more than %u events; the first is one too many: '%s:%s'", c->word, TRACEPOINTS_MAX, system,
			    name), -EINVAL;
	err = read_tracepoint(&tp, system, name);
	if (err == -ENOENT)
		return 0;		/* tracefs's own, which have no id */
	if (err) {
		fail(0, "%s: the event '%s:%s' is described in a way that is not understood", c->word, system, name);
		return -EINVAL;
	}
	c->found++;
	taken = tp;
	tp = (struct tracepoint){};
	return add(c->tps, &taken);
}

/* Call @each for every directory in tracefs's directory events/@system, or events. */
static int each_directory(struct choice *c, const char *system, int (*each)(struct choice *, const char *, const char *))
{
	__cleanup(free_ptr) char *path = NULL;
	struct dirent **entry = NULL;
	int count, err = 0;

	if (asprintf(&path, "%s/%s", kernel_events_dir(), system ?: "") < 0) {
		path = NULL;
		return -ENOMEM;
	}
	count = scandir(path, &entry, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (!err && entry[i]->d_type == DT_DIR && *entry[i]->d_name != '.')
			err = each(c, system ?: entry[i]->d_name, system ? entry[i]->d_name : NULL);
		free(entry[i]);
	}
	free(entry);
	return err;
}

static int choose_in_system(struct choice *c, const char *system, const char *none)
{
	(void)none;
	return fnmatch(c->system, system, 0) ? 0 : each_directory(c, system, choose_one);
}

static void choose_programs(struct choice *c, const char *group)
{
	for (int i = 0; i < EVENT_TRACEPOINT; i++) {
		const struct kernel_event_row *e = &kernel_events[i];

		if (group ? strcmp(e->group, group) : !matches(c, e->system, e->name))
			continue;
		*c->events |= EVENT_BIT(i);
		c->found++;
	}
}

static int no_group(const struct choice *c, const char *value)
{
	struct nearest n = { .word = value };

	for (int i = 0; i < EVENT_TRACEPOINT; i++)
		nearest_offer(&n, kernel_events[i].group);
	if (n.found)
		fail(0, "%s: '%s' is no group of events; the nearest is '%s'", c->word, value, n.found);
	else
		fail(0, "%s: '%s' is neither a group of events nor SUBSYS:EVENT", c->word, value);
	hint("sched, signal, fault, or such as 'net:*'; system calls have an option of their own: -e NAME");
	return -EINVAL;
}

static int nothing_found(const struct choice *c, const char *value)
{
	if (!strchr(value, ':'))
		return no_group(c, value);
	if (c->how) {
		fail(0, "%s: '%s': %s", c->word, value, c->how);
	} else if (!kernel_events_dir()) {
		fail(0, "%s: '%s' cannot be looked up: the kernel's tracepoints cannot be read", c->word, value);
		hint("mount -t tracefs tracefs /sys/kernel/tracing");
	} else if (c->nearest.found) {
		fail(0, "%s: this kernel has no event '%s'; the nearest is '%s'", c->word, value, c->nearest.found);
	} else {
		fail(0, "%s: this kernel has no event '%s'", c->word, value);
		hint("%sls %s/events", kernel_tracefs() ? "" : "mount -t tracefs tracefs /sys/kernel/tracing; ",
		     kernel_tracefs() ?: "/sys/kernel/tracing");
	}
	return -EINVAL;
}

int kevent_choose(unsigned *events, struct tracepoints *tps, const char *word, const char *value)
{
	const char *colon = strchr(value, ':');
	__cleanup(free_ptr) char *system = colon ? strndup(value, colon - value) : NULL;
	struct choice c = {
		.events = events, .tps = tps, .word = word, .system = system ?: "", .name = colon ? colon + 1 : "",
		.nearest = { .word = colon ? colon + 1 : value },
	};
	int err = 0;

	if (colon && !system)
		return -ENOMEM;
	choose_programs(&c, colon ? NULL : value);
	if (colon && *c.system && *c.name && kernel_events_dir())
		err = each_directory(&c, NULL, choose_in_system);
	return err || c.found ? err : nothing_found(&c, value);
}
